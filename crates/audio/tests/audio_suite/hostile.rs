//! Bytes nobody should send: broken, cut off, absurd, or mutated at random. Every one must end in an answer, never in a panic.

use crate::common::mutate::{self, Noise};
use crate::common::{decode, floats, voice};
use proptest::prelude::*;
use sauti_audio::{AudioError, DecodeLimits, OutputFormat, RawFormat, decode_bytes, encode};

const VOICE_RATE_HZ: u32 = 24_000;

/// Small files of every container: ours, and some made once with ffmpeg for those we do not write.
fn specimens() -> Vec<(String, Vec<u8>)> {
    let speech = voice(VOICE_RATE_HZ, 0.6);
    let mut files: Vec<(String, Vec<u8>)> = [
        OutputFormat::Wav8000,
        OutputFormat::Ulaw8000,
        OutputFormat::Alaw8000,
        OutputFormat::Opus48000,
        OutputFormat::Mp344100,
        OutputFormat::Flac24000,
    ]
    .into_iter()
    .map(|format| {
        (
            format.to_string(),
            encode(&speech, VOICE_RATE_HZ, format).expect("encodes"),
        )
    })
    .collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        files.push((
            name.unwrap_or_default(),
            std::fs::read(&path).expect("readable"),
        ));
    }
    files
}

fn wav(tag: u16, channels: u16, rate_hz: u32, bits: u16, data: &[u8]) -> Vec<u8> {
    let block = channels.wrapping_mul(bits.div_ceil(8));
    let mut file = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    for field in [tag, channels] {
        file.extend(field.to_le_bytes());
    }
    file.extend(rate_hz.to_le_bytes());
    file.extend(rate_hz.wrapping_mul(u32::from(block)).to_le_bytes());
    file.extend(block.to_le_bytes());
    file.extend(bits.to_le_bytes());
    file.extend(b"data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    let riff_bytes = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&riff_bytes.to_le_bytes());
    file
}

#[test]
fn every_specimen_decodes_to_its_length() {
    for (name, bytes) in specimens() {
        let recording = decode(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            (recording.seconds - 0.6).abs() < 0.05,
            "{name}: {:.3} s",
            recording.seconds
        );
        assert!(
            floats(&recording.samples).iter().any(|s| s.abs() > 0.03),
            "{name} is silent"
        );
    }
}

#[test]
fn layer_2_is_read_in_wav_files_too() {
    let file = wav(0x50, 1, 48_000, 0, include_bytes!("../data/layer2.mp2"));
    let recording = decode(file).expect("decodes");
    assert_eq!(
        (recording.container, recording.codec.as_str()),
        ("wav", "mp2")
    );
    assert!((recording.seconds - 0.6).abs() < 0.05);
}

#[test]
fn nothing_and_nonsense_are_told_apart() {
    assert!(matches!(decode(vec![]), Err(AudioError::Empty)));
    for nonsense in [
        &b"RIFF"[..],
        b"hello, this is not sound",
        &[0; 5_000],
        &[0xff; 64],
        b"<html></html>",
        b"\x89PNG\r\n",
    ] {
        assert!(
            matches!(decode(nonsense.to_vec()), Err(AudioError::UnknownContainer)),
            "{nonsense:?}"
        );
    }
    assert!(matches!(
        decode(wav(1, 1, 16_000, 16, &[])),
        Err(AudioError::Empty)
    ));
    assert!(matches!(
        decode(b"RIFF\x04\0\0\0WAVE".to_vec()),
        Err(AudioError::Undecodable(_))
    ));
}

#[test]
fn a_file_without_its_index_is_called_cut_off() {
    let m4a = include_bytes!("../data/aac.m4a");
    let index = m4a.windows(4).position(|bytes| bytes == b"moov");
    let cut = m4a[..index.expect("it has an index")].to_vec();
    let refused = decode(cut).map(|_| ()).expect_err("it is not read");
    assert!(refused.to_string().ends_with("cut off"), "{refused}");
}

#[test]
fn another_codec_is_not_called_cut_off() {
    let speex = b"OggS\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\xaft\xe9\xdc\x01\x08Speex   ";
    let refused = decode(speex.to_vec())
        .map(|_| ())
        .expect_err("it is not read");
    assert!(refused.to_string().contains("not read here"), "{refused}");
}

#[test]
fn absurd_formats_are_refused_by_name() {
    let data = vec![0; 64_000];
    for (tag, channels, rate_hz, bits) in [
        (1, 1, 1, 16),
        (1, 1_000, 16_000, 16),
        (1, 0, 16_000, 16),
        (1, 1, u32::MAX, 16),
        (1, 1, 16_000, 64),
        (1, 1, 16_000, 0),
        (3, 1, 16_000, 16),
    ] {
        let answer = decode(wav(tag, channels, rate_hz, bits, &data));
        assert!(
            matches!(answer, Err(AudioError::AbsurdFormat(_))),
            "{tag} {channels} {rate_hz} {bits}: {answer:?}"
        );
    }
    let answer = decode(wav(0x1234, 1, 16_000, 16, &data));
    assert!(matches!(answer, Err(AudioError::Undecodable(_))));
    let raw = Some(RawFormat::Pcm16Le { rate_hz: 7 });
    let answer = decode_bytes(data, raw, &DecodeLimits::default(), &|| false);
    assert!(matches!(answer, Err(AudioError::AbsurdFormat(_))));
}

#[test]
fn samples_that_are_not_numbers_are_silence() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut data = vec![0; 4_000];
        data.extend(bad.to_le_bytes());
        data.resize(8_000, 0);
        let recording = decode(wav(3, 1, 16_000, 32, &data)).expect("decodes");
        assert_eq!(floats(&recording.samples), vec![0.0; 2_000], "{bad}");
    }
    let huge: Vec<u8> = [f32::MAX, f32::MIN]
        .iter()
        .cycle()
        .take(2_000)
        .flat_map(|s| s.to_le_bytes())
        .collect();
    assert!(
        decode(wav(3, 2, 16_000, 32, &huge)).is_ok(),
        "merely loud sound is sound"
    );
}

#[test]
fn streamed_headers_with_any_placeholder_read_to_the_end() {
    let speech = voice(VOICE_RATE_HZ, 0.5);
    let whole = encode(&speech, VOICE_RATE_HZ, OutputFormat::Wav16000).expect("encodes");
    for placeholder in [0u32, u32::MAX, 0x7fff_ffff, 0x7fff_f000, 0x8000_0000] {
        let mut streamed = whole.clone();
        streamed[4..8].copy_from_slice(&placeholder.to_le_bytes());
        streamed[40..44].copy_from_slice(&placeholder.to_le_bytes());
        let recording =
            decode(streamed).unwrap_or_else(|error| panic!("{placeholder:#x}: {error}"));
        assert_eq!(recording.samples.len(), 8_000, "{placeholder:#x}");
    }
}

#[test]
fn a_file_cut_off_near_its_end_gives_what_is_there() {
    for (name, bytes) in specimens() {
        let cut = bytes[..bytes.len() * 8 / 10].to_vec();
        // An MP4 or CAF file has its index at the end unless it was written for streaming, and these streams are one page long.
        let in_one_piece = [".m4a", ".mp4", ".caf", ".ogg", "opus_48000"]
            .iter()
            .any(|end| name.ends_with(end));
        if in_one_piece {
            assert!(decode(cut).is_err(), "{name}");
            continue;
        }
        let recording = decode(cut).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            recording.seconds > 0.3,
            "{name}: {:.3} s",
            recording.seconds
        );
    }
}

#[test]
fn an_ogg_file_cut_off_loses_only_its_last_page() {
    let speech = voice(VOICE_RATE_HZ, 6.0);
    let bytes = encode(&speech, VOICE_RATE_HZ, OutputFormat::Opus48000).expect("encodes");
    let recording = decode(bytes[..bytes.len() * 9 / 10].to_vec()).expect("decodes");
    assert!(
        (4.0..5.5).contains(&recording.seconds),
        "{} s",
        recording.seconds
    );
}

#[test]
fn a_webm_file_with_its_size_in_its_header_may_be_cut_off() {
    let mut bytes = include_bytes!("../data/recorder.webm").to_vec();
    let segment = bytes.windows(4).position(|id| id == b"\x18S\x80g");
    let size = segment.expect("it has a segment") + 4;
    let rest = (bytes.len() - size - 8) as u64;
    bytes[size..size + 8].copy_from_slice(&(rest | 1 << 56).to_be_bytes());
    let whole = decode(bytes.clone()).expect("decodes").seconds;
    let cut = decode(bytes[..bytes.len() * 8 / 10].to_vec()).expect("decodes");
    assert!(
        (whole * 0.5..whole).contains(&cut.seconds),
        "{} s",
        cut.seconds
    );
}

#[test]
fn every_beginning_of_a_file_gets_an_answer() {
    for (name, bytes) in specimens() {
        let step = (bytes.len() / 150).max(1);
        for end in (0..bytes.len().min(400)).chain((400..bytes.len()).step_by(step)) {
            if let Ok(recording) = decode(bytes[..end].to_vec()) {
                assert!(recording.seconds < 0.7, "{name} cut at {end}");
            }
        }
    }
}

#[test]
fn a_recording_of_exactly_the_longest_length_is_not_too_long() {
    let limits = DecodeLimits {
        seconds_max: 60.0,
        ..DecodeLimits::default()
    };
    for (frames, fits) in [(60 * 8_000, true), (60 * 8_000 + 80, false)] {
        let minute = wav(1, 1, 8_000, 16, &vec![0; frames * 2]);
        let answer = decode_bytes(minute, None, &limits, &|| false);
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
    }
}

#[test]
fn a_recording_over_the_limit_is_refused_and_a_cancelled_one_stops() {
    let limits = DecodeLimits {
        seconds_max: 0.3,
        ..DecodeLimits::default()
    };
    for (name, bytes) in specimens() {
        let answer = decode_bytes(bytes.clone(), None, &limits, &|| false);
        assert!(
            matches!(answer, Err(AudioError::TooLong { .. })),
            "{name}: {answer:?}"
        );
        let answer = decode_bytes(bytes, None, &DecodeLimits::default(), &|| true);
        assert!(matches!(answer, Err(AudioError::Cancelled)), "{name}");
    }
}

#[test]
fn thousands_of_random_mutations_get_an_answer() {
    let limits = DecodeLimits {
        seconds_max: 20.0,
        ..DecodeLimits::default()
    };
    let mut noise = Noise(0x5eed_5eed_5eed_5eed);
    for (name, bytes) in specimens() {
        for round in 0..mutate::rounds(300) {
            let mut mutated = bytes.clone();
            mutate::damage(&mut mutated, &mut noise);
            if let Ok(recording) = decode_bytes(mutated, None, &limits, &|| false) {
                assert!(
                    recording.seconds <= 20.1,
                    "{name}, round {round}: {} s",
                    recording.seconds
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_after_any_signature_get_an_answer(
        signature in prop::sample::select(vec![
            &b"RIFF\xff\xff\xff\xffWAVEfmt "[..], b"RIFX\xff\xff\xff\xffWAVEfmt ", b".snd\0\0\0\x18\xff\xff\xff\xff",
            b"FORM\xff\xff\xff\xffAIFCCOMM\0\0\0\x18", b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20", b"OggS\0\x02", b"fLaC\0\0\0\x22", b"\x1a\x45\xdf\xa3",
            b"\0\0\0\x18ftypM4A ", b"ID3\x04\0\0\0\0\0\0", b"\xff\xfb\x90\x44", b"\xff\xf1\x50\x80", b"",
        ]),
        body in prop::collection::vec(any::<u8>(), 0..2_000),
        declared in prop::option::of(prop::sample::select(vec![RawFormat::Ulaw8000, RawFormat::Alaw8000])),
    ) {
        let mut bytes = signature.to_vec();
        bytes.extend(body);
        let _ = decode_bytes(bytes, declared, &DecodeLimits::default(), &|| false);
    }

    #[test]
    fn a_wav_file_with_any_header_fields_gets_an_answer(
        tag in prop::sample::select(vec![1u16, 2, 3, 6, 7, 0x11, 0x55, 0xfffe]),
        channels in any::<u16>(), rate_hz in any::<u32>(), bits in any::<u16>(),
        body in prop::collection::vec(any::<u8>(), 0..3_000),
    ) {
        let _ = decode(wav(tag, channels, rate_hz, bits, &body));
        let _ = decode(wav(tag, channels % 3, 8_000, [4, 8, 16, 24, 32, 64][usize::from(bits % 6)], &body));
    }

    #[test]
    fn any_samples_encode_and_decode_again(
        samples in prop::collection::vec(prop::num::f32::ANY, 0..4_000),
        format in prop::sample::select(OutputFormat::ALL.to_vec()),
        rate_hz in prop::sample::select(vec![8_000u32, 16_000, 22_050, 24_000, 48_000]),
    ) {
        let bytes = encode(&samples, rate_hz, format).expect("every signal encodes");
        if format.file_extension() != "pcm" && !format.name().starts_with("raw") {
            match decode(bytes) {
                Ok(recording) => {
                    let seconds = samples.len() as f64 / f64::from(rate_hz);
                    prop_assert!((recording.seconds - seconds).abs() < 0.001, "{} for {seconds}", recording.seconds);
                }
                Err(error) => prop_assert!(samples.is_empty(), "{format}: {error}"),
            }
        }
    }
}
