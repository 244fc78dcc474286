//! Recordings at a rate that the caller chooses.

use sauti_audio::{DecodeLimits, OutputFormat, decode_bytes, encode};

#[test]
fn a_tone_above_8_khz_is_kept_at_24_khz_and_lost_at_16_khz() {
    let tone: Vec<f32> = (0..48_000)
        .map(|n| (n as f32 * 10_000.0 * std::f32::consts::TAU / 24_000.0).sin() * 0.5)
        .collect();
    for name in ["wav_24000", "flac_24000", "opus_48000"] {
        let format = OutputFormat::ALL
            .into_iter()
            .find(|format| format.to_string() == name);
        let bytes = encode(&tone, 24_000, format.expect(name)).unwrap();
        let loudness = |rate_hz| {
            let limits = DecodeLimits {
                rate_hz,
                ..DecodeLimits::default()
            };
            let recording = decode_bytes(bytes.clone(), None, &limits, &|| false).unwrap();
            assert!((recording.seconds - 2.0).abs() < 0.01, "{name}");
            assert_eq!(
                recording.samples.len(),
                (recording.seconds * f64::from(rate_hz)).round() as usize
            );
            let samples = recording.samples.all().unwrap();
            let sum: f64 = samples.iter().map(|s| f64::from(*s).powi(2)).sum();
            (sum / recording.samples.len() as f64).sqrt()
        };
        assert!(loudness(24_000) > 5_000.0, "{name}");
        assert!(loudness(16_000) < 500.0, "{name}");
    }
}
