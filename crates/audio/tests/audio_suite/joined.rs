//! Files laid end to end: callers who join recordings with `cat` get the words of all of them.

use crate::common::{correlation, decode, floats, voice};
use sauti_audio::{DecodeLimits, OutputFormat, RawFormat, decode_bytes, encode};

const VOICE_RATE_HZ: u32 = 24_000;

fn joined(parts: &[&[u8]]) -> sauti_audio::Recording {
    decode(parts.concat()).expect("decodes")
}

/// Silence that encoders put at the ends of a file: more for low rates, whose frames are longer.
const BETWEEN_S: f64 = 0.25;

#[test]
fn two_mp3_files_joined_are_decoded_to_both_parts() {
    let tagged = include_bytes!("../data/tagged.mp3").as_slice();
    let speech = voice(VOICE_RATE_HZ, 2.0);
    let ours = encode(&speech, VOICE_RATE_HZ, OutputFormat::Mp344100).expect("encodes");
    for (name, file) in [("tagged", tagged), ("ours", &ours)] {
        let one = joined(&[file]);
        let two = joined(&[file, file]);
        let three = joined(&[file, file, file]);
        let over = [
            two.seconds - 2.0 * one.seconds,
            three.seconds - 3.0 * one.seconds,
        ];
        for (more, over) in over.into_iter().enumerate() {
            let allowed = BETWEEN_S * (more + 1) as f64;
            assert!(
                (-0.01..allowed).contains(&over),
                "{name}: {over} s beyond {}",
                one.seconds
            );
        }
        let first = floats(&one.samples);
        let second = floats(&two.samples).split_off(first.len());
        let (alike, _) = correlation(&second, &first, 3_200);
        assert!(
            alike > 0.95,
            "{name}: the second part is {alike} like the first"
        );
    }
}

/// A WAV file of 16 kHz with its samples in so many chunks, one after another.
fn wav_of_chunks(data: &[&[u8]]) -> Vec<u8> {
    let whole = encode(&[], VOICE_RATE_HZ, OutputFormat::Wav16000).expect("encodes");
    let mut file = whole[..36].to_vec();
    for chunk in data {
        file.extend(b"data");
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(*chunk);
    }
    let riff_bytes = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&riff_bytes.to_le_bytes());
    file
}

#[test]
fn every_data_chunk_of_a_wav_file_is_read_and_so_are_files_joined() {
    let speech = voice(VOICE_RATE_HZ, 1.0);
    let file = encode(&speech, VOICE_RATE_HZ, OutputFormat::Wav16000).expect("encodes");
    let (samples, one) = (&file[44..], floats(&joined(&[&file]).samples));
    let (first, second) = samples.split_at(10_000);
    for chunks in [&[first, second][..], &[&[], samples], &[samples, &[]]] {
        let recording = joined(&[&wav_of_chunks(chunks)]);
        assert_eq!(floats(&recording.samples), one, "{} chunks", chunks.len());
    }
    let two = joined(&[&file, &file]);
    assert_eq!(two.samples.len(), 2 * one.len());
}

#[test]
fn what_stands_before_a_file_is_skipped() {
    let speech = voice(VOICE_RATE_HZ, 1.0);
    let wav = encode(&speech, VOICE_RATE_HZ, OutputFormat::Wav16000).expect("encodes");
    let opus = encode(&speech, VOICE_RATE_HZ, OutputFormat::Opus48000).expect("encodes");
    let tag = [b"ID3\x04\0\0\0\0\0\x20".as_slice(), &[0; 32]].concat();
    for before in [&tag[..], b"\xef\xbb\xbf"] {
        for file in [&wav, &opus] {
            let recording = joined(&[before, file]);
            assert_eq!(recording.samples.len(), 16_000, "{}", recording.container);
        }
    }
}

#[test]
fn an_mp3_file_of_another_kind_may_follow() {
    let low = include_bytes!("../data/tagged.mp3").as_slice();
    let speech = voice(VOICE_RATE_HZ, 2.0);
    let high = encode(&speech, VOICE_RATE_HZ, OutputFormat::Mp344100).expect("encodes");
    let (alone, other) = (joined(&[low]).seconds, joined(&[&high]).seconds);
    for both in [joined(&[low, &high]), joined(&[&high, low])] {
        let over = both.seconds - alone - other;
        assert!(
            (-0.15..2.0 * BETWEEN_S).contains(&over),
            "{over} s beyond {alone} and {other}"
        );
    }
}

#[test]
fn the_padding_at_the_end_of_one_file_is_still_cut_off() {
    for seconds in [0.5, 0.77, 1.3, 2.0] {
        let speech = voice(VOICE_RATE_HZ, seconds);
        let file = encode(&speech, VOICE_RATE_HZ, OutputFormat::Mp344100).expect("encodes");
        let over = joined(&[&file]).seconds - seconds;
        assert!((-0.01..0.08).contains(&over), "{over} s beyond {seconds}");
    }
}

/// As `curl` keeps a broadcast: from wherever it was when the listener came.
#[test]
fn a_stream_that_begins_in_the_middle_of_a_frame_is_decoded() {
    let speech = voice(VOICE_RATE_HZ, 3.0);
    let mp3 = encode(&speech, VOICE_RATE_HZ, OutputFormat::Mp344100).expect("encodes");
    let aac = include_bytes!("../data/bare.aac").as_slice();
    let layer_2 = include_bytes!("../data/layer2.mp2").as_slice();
    for (name, file) in [("mp3", mp3.as_slice()), ("aac", aac), ("layer 2", layer_2)] {
        let whole = joined(&[file]).seconds;
        for cut in [701, 999, 1_234] {
            let rest = &file[cut..];
            let missing = whole * cut as f64 / file.len() as f64;
            let lost = whole - joined(&[rest]).seconds - missing;
            assert!((-0.1..0.15).contains(&lost), "{name} from {cut}: {lost} s");
            // But raw sound holds any bytes.
            let raw = Some(RawFormat::Ulaw8000);
            let told = decode_bytes(rest.to_vec(), raw, &DecodeLimits::default(), &|| false);
            assert_eq!(told.expect("decodes").container, "raw", "{name} from {cut}");
        }
    }
}
