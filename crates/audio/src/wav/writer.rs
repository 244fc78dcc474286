/// What the data chunk of a file we write holds; always one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WavCoding {
    Pcm16,
    Alaw,
    Ulaw,
}

impl WavCoding {
    pub(crate) fn sample_bytes(self) -> u64 {
        if self == Self::Pcm16 { 2 } else { 1 }
    }
}

/// The bytes before the samples. `data_bytes` is `None` for a stream, whose sizes are then the usual placeholder.
pub(crate) fn write_header(coding: WavCoding, rate_hz: u32, data_bytes: Option<u32>) -> Vec<u8> {
    let sample_bytes = coding.sample_bytes() as u32;
    let (tag, extra): (u16, bool) = match coding {
        WavCoding::Pcm16 => (1, false),
        WavCoding::Alaw => (6, true),
        WavCoding::Ulaw => (7, true),
    };
    let mut body = b"WAVEfmt ".to_vec();
    body.extend((if extra { 18u32 } else { 16 }).to_le_bytes());
    body.extend(tag.to_le_bytes());
    body.extend(1u16.to_le_bytes());
    body.extend(rate_hz.to_le_bytes());
    body.extend((rate_hz * sample_bytes).to_le_bytes());
    body.extend((sample_bytes as u16).to_le_bytes());
    body.extend((8 * sample_bytes as u16).to_le_bytes());
    if extra {
        // Codings other than PCM carry an extension size and a fact chunk with the number of samples.
        let samples = data_bytes.map_or(u32::MAX, |bytes| bytes / sample_bytes);
        body.extend(0u16.to_le_bytes());
        body.extend(b"fact");
        body.extend(4u32.to_le_bytes());
        body.extend(samples.to_le_bytes());
    }
    body.extend(b"data");
    body.extend(data_bytes.unwrap_or(u32::MAX).to_le_bytes());

    let riff_bytes = data_bytes.map_or(u32::MAX, |bytes| {
        (body.len() as u32)
            .saturating_add(bytes)
            .saturating_add(bytes & 1)
    });
    [b"RIFF", &riff_bytes.to_le_bytes()[..], &body].concat()
}
