//! The two sides of a call, taken apart.

use crate::common::{correlation, floats, voice};
use sauti_audio::{AudioError, Channels, DecodeLimits, decode_bytes};

/// 16-bit PCM with these channels.
fn wav(rate_hz: u32, channels: &[&[f32]]) -> Vec<u8> {
    let frame_bytes = channels.len() as u32 * 2;
    let data_bytes = channels[0].len() as u32 * frame_bytes;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + data_bytes).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend((channels.len() as u16).to_le_bytes());
    file.extend(rate_hz.to_le_bytes());
    file.extend((rate_hz * frame_bytes).to_le_bytes());
    file.extend((frame_bytes as u16).to_le_bytes());
    file.extend(b"\x10\0data");
    file.extend(data_bytes.to_le_bytes());
    for at in 0..channels[0].len() {
        for channel in channels {
            file.extend(((channel[at] * 32_000.0) as i16).to_le_bytes());
        }
    }
    file
}

fn separated(file: Vec<u8>) -> Result<sauti_audio::Recording, AudioError> {
    let limits = DecodeLimits {
        channels: Channels::Separate,
        ..DecodeLimits::default()
    };
    decode_bytes(file, None, &limits, &|| false)
}

#[test]
fn each_side_comes_back_for_itself() {
    let first = voice(8_000, 2.0);
    let second: Vec<f32> = first.iter().rev().copied().collect();
    let recording = separated(wav(8_000, &[&first, &second])).unwrap();
    let heard_second = recording.second_channel.unwrap();
    assert_eq!(recording.samples.len(), heard_second.len());
    assert_eq!(recording.seconds, 2.0);
    let wide = |side: &[f32]| sauti_audio::resample(side, 8_000, 16_000);
    for (heard, said, other) in [
        (recording.samples, &first, &second),
        (heard_second, &second, &first),
    ] {
        assert!(correlation(&floats(&heard), &wide(said), 160).0 > 0.99);
        assert!(correlation(&floats(&heard), &wide(other), 160).0 < 0.5);
    }
}

#[test]
fn mixed_down_there_is_no_second_one() {
    let side = voice(8_000, 0.5);
    let recording = crate::common::decode(wav(8_000, &[&side, &side])).unwrap();
    assert!(recording.second_channel.is_none());
}

#[test]
fn a_recording_without_two_channels_cannot_be_taken_apart() {
    let side = voice(8_000, 0.5);
    for channels in [1, 3] {
        let file = wav(8_000, &vec![side.as_slice(); channels]);
        let refused = separated(file).unwrap_err();
        let said = refused.to_string();
        assert!(
            matches!(refused, AudioError::NotTwoChannels { .. }),
            "{said}"
        );
        assert!(said.contains(&channels.to_string()), "{said}");
    }
}

#[test]
fn channels_that_would_cancel_each_other_are_heard() {
    let side = voice(8_000, 3.0);
    let turned: Vec<f32> = side.iter().map(|sample| -sample * 0.9).collect();
    let other: Vec<f32> = side.iter().rev().copied().collect();
    let wide = sauti_audio::resample(&side, 8_000, 16_000);
    let mixed = |second: &[f32]| {
        floats(
            &crate::common::decode(wav(8_000, &[&side, second]))
                .unwrap()
                .samples,
        )
    };
    assert!(correlation(&mixed(&turned), &wide, 160).0 > 0.99);
    let level = |sound: &[f32]| sound.iter().map(|sample| sample * sample).sum::<f32>();
    assert!(level(&mixed(&turned)) > 0.8 * level(&wide));
    // Two people, the same twice, and one with nothing beside are mixed as they stand.
    let sum: Vec<f32> = side
        .iter()
        .zip(&other)
        .map(|(a, b)| (a + b) / 2.0)
        .collect();
    let sum = sauti_audio::resample(&sum, 8_000, 16_000);
    for (second, expected) in [
        (&other, &sum),
        (&side, &wide),
        (&vec![0.0; side.len()], &wide),
    ] {
        assert!(correlation(&mixed(second), expected, 160).0 > 0.99);
    }
}
