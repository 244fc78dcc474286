//! About how long a recording is, told from a few of its bytes. Nothing is decoded and nothing is believed: whoever
//! asks only wants to know whether decoding it is worth while now.

use super::RawFormat;
use crate::gsm;

/// How much of the beginning and of the end is worth handing over.
pub const GUESS_BYTES: usize = 64 * 1024;

/// No codec gets by with less.
const BYTES_PER_SECOND_MIN: f64 = 500.0;
/// Files that do not say: speech as telephones and browsers send it.
const BYTES_PER_SECOND_WEBM: f64 = 4_000.0;
const BYTES_PER_SECOND_OTHER: f64 = 8_000.0;
const OPUS_HZ: f64 = 48_000.0;
const GSM_HEAD_BYTES: usize = 100 * gsm::FRAME_BYTES;
const GSM_SECONDS_PER_BYTE: f64 = 0.02 / gsm::FRAME_BYTES as f64;

/// The longest that a file of this size can be.
pub fn seconds_at_most(bytes: u64) -> f64 {
    bytes as f64 / BYTES_PER_SECOND_MIN
}

/// `head` and `tail` are the first and last bytes of a file that has `bytes` of them.
pub fn guess_seconds(head: &[u8], tail: &[u8], bytes: u64, declared: Option<RawFormat>) -> f64 {
    let size = bytes as f64;
    let raw = declared
        .map(|format| size / f64::from(format.sample_bytes()) / f64::from(format.rate_hz()));
    let told = match head.get(..4) {
        Some(b"RIFF" | b"RF64") => wav(head, size),
        Some(b"OggS") => ogg(head, tail),
        Some(b"fLaC") => flac(head),
        Some(b"FORM") => aiff(head),
        Some(b".snd") => au(head, size),
        Some(b"caff") => caf(head, size),
        Some([0x1a, 0x45, 0xdf, 0xa3]) => Some(size / BYTES_PER_SECOND_WEBM),
        _ => None,
    };
    let gsm = (raw.is_none() && gsm::is_frames(&head[..head.len().min(GSM_HEAD_BYTES)]))
        .then_some(size * GSM_SECONDS_PER_BYTE);
    // As in decoding: a real signature wins over what is declared.
    let guess = told
        .or(raw)
        .or(gsm)
        .unwrap_or(size / BYTES_PER_SECOND_OTHER);
    match guess.is_finite() {
        true => guess.clamp(0.0, seconds_at_most(bytes)),
        false => seconds_at_most(bytes),
    }
}

fn wav(head: &[u8], size: f64) -> Option<f64> {
    let format = find(head, b"fmt ")? + 8;
    let bytes_per_second = u32::from_le_bytes(array(head, format + 8)?);
    Some(size / f64::from(bytes_per_second))
}

/// The last page says how many samples came before its end.
fn ogg(head: &[u8], tail: &[u8]) -> Option<f64> {
    let rate_hz = match find(head, b"\x01vorbis") {
        Some(at) => f64::from(u32::from_le_bytes(array(head, at + 12)?)),
        None => OPUS_HZ,
    };
    let page = tail.windows(4).rposition(|window| window == b"OggS")?;
    let samples = i64::from_le_bytes(array(tail, page + 6)?);
    Some(samples as f64 / rate_hz)
}

fn flac(head: &[u8]) -> Option<f64> {
    // 20 bits of rate, 8 of shape, 36 of length.
    let packed = u64::from_be_bytes(array(head, 18)?);
    let (rate_hz, samples) = (packed >> 44, packed & 0xf_ffff_ffff);
    (samples > 0).then(|| samples as f64 / rate_hz as f64)
}

/// The rate is an 80-bit float, its 64 bits of mantissa a whole number.
fn aiff(head: &[u8]) -> Option<f64> {
    let common = find(head, b"COMM")? + 8;
    let frames = u32::from_be_bytes(array(head, common + 2)?);
    let exponent = i32::from(u16::from_be_bytes(array(head, common + 8)?)) - 16_383 - 63;
    let mantissa = u64::from_be_bytes(array(head, common + 10)?);
    Some(f64::from(frames) / (mantissa as f64 * f64::from(exponent).exp2()))
}

/// As if samples had 16 bits.
fn au(head: &[u8], size: f64) -> Option<f64> {
    let rate_hz = u32::from_be_bytes(array(head, 16)?);
    let channels = u32::from_be_bytes(array(head, 20)?);
    Some(size / 2.0 / f64::from(channels) / f64::from(rate_hz))
}

/// Packets of changing size say nothing.
fn caf(head: &[u8], size: f64) -> Option<f64> {
    let rate_hz = f64::from_be_bytes(array(head, 20)?);
    let packet_bytes = u32::from_be_bytes(array(head, 36)?);
    let packet_frames = u32::from_be_bytes(array(head, 40)?);
    let frames = size / f64::from(packet_bytes) * f64::from(packet_frames);
    (packet_bytes > 0).then(|| frames / rate_hz)
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> f64 {
        let head = &bytes[..bytes.len().min(GUESS_BYTES)];
        let tail = &bytes[bytes.len().saturating_sub(GUESS_BYTES)..];
        guess_seconds(head, tail, bytes.len() as u64, None)
    }

    #[test]
    fn what_we_encode_is_guessed_to_the_tenth_of_a_second() {
        let samples = vec![0.1_f32; 24_000 * 3];
        for name in ["wav_24000", "wav_8000", "ulaw_8000", "opus_48000"] {
            let format = name.parse().expect("a format");
            let file = crate::encode_speech(&samples, 24_000, format).expect("encoded");
            let guess = of(&file);
            assert!((2.9..3.1).contains(&guess), "{name}: {guess}");
        }
    }

    #[test]
    fn frames_of_gsm_are_counted() {
        let guess = of(include_bytes!("../../tests/data/voice.gsm"));
        assert!((0.59..0.61).contains(&guess), "{guess}");
    }

    #[test]
    fn the_headers_of_macintoshes_and_suns_are_read() {
        let aiff = of(include_bytes!("../../tests/data/voice.aiff"));
        assert!((0.63..0.64).contains(&aiff), "{aiff}");
        let au = of(include_bytes!("../../tests/data/voice.au"));
        assert!((0.31..0.33).contains(&au), "{au}");
        let mut caf = b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20".to_vec();
        caf.extend(16_000_f64.to_be_bytes());
        caf.extend(b"lpcm\0\0\0\x02\0\0\0\x02\0\0\0\x01");
        assert_eq!(guess_seconds(&caf, &[], 96_000, None), 3.0);
    }

    #[test]
    fn a_flac_file_says_in_its_header_how_long_it_is() {
        let mut head = [b"fLaC".as_slice(), &[0; 14]].concat();
        let packed: u64 = (16_000 << 44) | 48_000;
        head.extend(packed.to_be_bytes());
        assert_eq!(guess_seconds(&head, &[], 50_000, None), 3.0);
    }

    #[test]
    fn files_that_lie_or_are_cut_are_guessed_within_what_their_size_allows() {
        let samples = vec![0.1_f32; 24_000];
        for name in ["wav_24000", "opus_48000", "flac_24000", "mp3_44100"] {
            let format = name.parse().expect("a format");
            let file = crate::encode_speech(&samples, 24_000, format).expect("encoded");
            for cut in [0, 1, 4, 12, 20, 26, 40, 60, file.len() / 2] {
                let guess = of(&file[..cut.min(file.len())]);
                assert!(
                    (0.0..=seconds_at_most(cut as u64)).contains(&guess),
                    "{name} {cut}"
                );
            }
            for at in 0..file.len().min(80) {
                for value in [0, 0xff] {
                    let mut lie = file.clone();
                    lie[at] = value;
                    let guess = of(&lie);
                    assert!(
                        (0.0..=seconds_at_most(lie.len() as u64)).contains(&guess),
                        "{name} {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn raw_sound_is_as_long_as_its_declaration_says() {
        let pcm = Some(RawFormat::Pcm16Le { rate_hz: 8_000 });
        assert_eq!(guess_seconds(&[], &[], 32_000, pcm), 2.0);
        assert_eq!(
            guess_seconds(&[], &[], 32_000, Some(RawFormat::Ulaw8000)),
            4.0
        );
        let absurd = Some(RawFormat::Pcm16Le { rate_hz: 0 });
        assert_eq!(guess_seconds(&[], &[], 32_000, absurd), 64.0);
    }
}
