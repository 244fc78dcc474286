use std::io::{Read, SeekFrom};

use super::header::{Chunks, Coding, DataChunk, WavFormat, read_au};
use crate::AudioError;
use crate::decode::{AudioSource, DecodeSession, Decoded, Window, media};
use crate::g711;
use crate::gsm;
use crate::pcm::f32_from_i16;

const READ_BYTES: usize = 1 << 16;

/// Decodes a file of chunks, WAV or AIFF, into the session's sink.
pub(crate) fn decode(
    container: &'static str,
    mut source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    let file_bytes = source.byte_len().unwrap_or(u64::MAX);
    let mut chunks = Chunks::default();
    let mut codec = None;
    while let Some(data) = chunks.next_data(&mut source, file_bytes)? {
        let unknown = || AudioError::undecodable("the file does not say its format");
        let format = chunks.format.as_mut().ok_or_else(unknown)?;
        if let Coding::Mpeg = format.coding {
            let data = Window::new(source, data.start, data.bytes)?;
            return media::decode_mpeg(Box::new(data), session);
        }
        decode_data(&mut source, &data, format, session)?;
        codec.get_or_insert_with(|| format.codec_name());
    }
    Ok(Decoded {
        container,
        codec: codec.ok_or_else(|| AudioError::undecodable("the file has no sound in it"))?,
    })
}

/// Decodes a file of Sun's, which is a shorter header before the same samples.
pub(crate) fn decode_au(
    mut source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    let (mut format, start) = read_au(&mut source)?;
    let data = DataChunk {
        start,
        bytes: source.byte_len().unwrap_or(u64::MAX).saturating_sub(start),
        frames_declared: None,
    };
    decode_data(&mut source, &data, &mut format, session)?;
    Ok(Decoded {
        container: "au",
        codec: format.codec_name(),
    })
}

fn decode_data(
    source: &mut AudioSource,
    data: &DataChunk,
    format: &mut WavFormat,
    session: &mut DecodeSession,
) -> Result<(), AudioError> {
    session.begin(format.rate_hz, format.channels)?;
    let unit_bytes = format.unit_bytes();
    session.expect_frames(
        data.bytes / unit_bytes as u64 * format.unit_frames() as u64,
        format.rate_hz,
    )?;
    source.seek(SeekFrom::Start(data.start))?;
    let mut bytes = source.take(data.bytes);
    let mut buffer = vec![0; (READ_BYTES / unit_bytes).max(1) * unit_bytes];
    let mut samples = Vec::new();
    let mut frames_left = data
        .frames_declared
        .filter(|_| format.is_adpcm())
        .unwrap_or(u64::MAX);
    loop {
        let filled = read_full(&mut bytes, &mut buffer)?;
        samples.clear();
        format.samples(&mut buffer[..filled], &mut samples);
        let lanes = usize::from(format.channels);
        let frames = (samples.len() / lanes) as u64;
        samples.truncate(frames.min(frames_left) as usize * lanes);
        frames_left = frames_left.saturating_sub(frames);
        session.push(&samples)?;
        if filled < buffer.len() {
            return Ok(());
        }
    }
}

fn read_full(data: &mut impl Read, buffer: &mut [u8]) -> Result<usize, AudioError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match data.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

impl WavFormat {
    fn is_adpcm(&self) -> bool {
        matches!(self.coding, Coding::ImaAdpcm(_) | Coding::MsAdpcm(_))
    }

    /// Bytes that must be decoded together: a frame, or a block of ADPCM.
    fn unit_bytes(&self) -> usize {
        let lanes = usize::from(self.channels);
        match &self.coding {
            Coding::Int { bytes } | Coding::Float { bytes } => bytes * lanes,
            Coding::SignedByte | Coding::Alaw | Coding::Ulaw | Coding::Mpeg => lanes,
            Coding::ImaAdpcm(layout) => layout.block_bytes,
            Coding::MsAdpcm(layout) => layout.block_bytes,
            Coding::Gsm(_) => gsm::BLOCK_BYTES,
        }
    }

    fn unit_frames(&self) -> usize {
        match &self.coding {
            Coding::ImaAdpcm(layout) => layout.frames_per_block(),
            Coding::MsAdpcm(layout) => layout.frames_per_block(),
            Coding::Gsm(_) => gsm::BLOCK_FRAMES * gsm::FRAME_SAMPLES,
            _ => 1,
        }
    }

    fn codec_name(&self) -> String {
        match &self.coding {
            Coding::SignedByte => "pcm_s8".into(),
            Coding::Int { bytes: 1 } => "pcm_u8".into(),
            Coding::Int { bytes } => format!("pcm_s{}", bytes * 8),
            Coding::Float { bytes } => format!("pcm_f{}", bytes * 8),
            Coding::Alaw => "alaw".into(),
            Coding::Ulaw => "ulaw".into(),
            Coding::ImaAdpcm(_) => "adpcm_ima".into(),
            Coding::MsAdpcm(_) => "adpcm_ms".into(),
            Coding::Gsm(_) => "gsm".into(),
            Coding::Mpeg => "mp3".into(),
        }
    }

    fn samples(&mut self, bytes: &mut [u8], out: &mut Vec<f32>) {
        if let (true, Coding::Int { bytes: width } | Coding::Float { bytes: width }) =
            (self.is_big_endian, &self.coding)
        {
            bytes.chunks_exact_mut(*width).for_each(<[u8]>::reverse);
        }
        let bytes = &*bytes;
        let companded = |linear: fn(u8) -> i16| bytes.iter().map(move |&b| f32_from_i16(linear(b)));
        match &mut self.coding {
            Coding::Int { bytes: 1 } => {
                out.extend(bytes.iter().map(|&b| (f32::from(b) - 128.0) / 128.0))
            }
            Coding::SignedByte => {
                let samples = bytes.iter().map(|&byte| f32::from(byte.cast_signed()));
                out.extend(samples.map(|sample| sample / 128.0));
            }
            Coding::Int { bytes: width } => out.extend(bytes.chunks_exact(*width).map(int_sample)),
            Coding::Float { bytes: width } => float_samples(bytes, *width, out),
            Coding::Alaw => out.extend(companded(g711::linear_from_alaw)),
            Coding::Ulaw => out.extend(companded(g711::linear_from_ulaw)),
            Coding::ImaAdpcm(layout) => {
                let blocks = bytes.chunks(layout.block_bytes);
                blocks.for_each(|block| layout.decode(block, out));
            }
            Coding::MsAdpcm(layout) => {
                let blocks = bytes.chunks(layout.block_bytes);
                blocks.for_each(|block| layout.decode(block, out));
            }
            Coding::Gsm(decoder) => {
                let blocks = bytes.chunks(gsm::BLOCK_BYTES);
                blocks.for_each(|block| decoder.block(block, out));
            }
            Coding::Mpeg => {}
        }
    }
}

/// Two to four bytes, little-endian and left-justified.
fn int_sample(bytes: &[u8]) -> f32 {
    let mut wide = [0; 4];
    wide[4 - bytes.len()..].copy_from_slice(bytes);
    i32::from_le_bytes(wide) as f32 / 2_147_483_648.0
}

fn float_samples(bytes: &[u8], width: usize, out: &mut Vec<f32>) {
    if width == 4 {
        let (singles, _) = bytes.as_chunks::<4>();
        out.extend(singles.iter().map(|&b| f32::from_le_bytes(b)));
    } else {
        let (doubles, _) = bytes.as_chunks::<8>();
        out.extend(doubles.iter().map(|&b| f64::from_le_bytes(b) as f32));
    }
}
