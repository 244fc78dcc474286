//! How long each conversion takes, as a part of the time the sound lasts: `cargo run --release -p sauti-audio --example speed`.

use std::time::Instant;

use sauti_audio::{DecodeLimits, OutputFormat, decode_bytes, encode, loudness, resample};

const SECONDS: usize = 60;
const RATE_HZ: u32 = 24_000;

fn main() -> Result<(), sauti_audio::AudioError> {
    let mut state = 1u32;
    let speech: Vec<f32> = (0..RATE_HZ as usize * SECONDS)
        .map(|n| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let t = n as f32 / RATE_HZ as f32;
            let syllable = 0.5 - 0.5 * (t * 23.0).cos();
            let noise = state as f32 / u32::MAX as f32 - 0.5;
            syllable * (0.2 * (t * 800.0).sin() + 0.1 * (t * 5_000.0).sin() + 0.02 * noise)
        })
        .collect();

    for to_hz in [8_000, 16_000, 44_100, 48_000] {
        report(&format!("resample to {to_hz}"), || {
            resample(&speech, RATE_HZ, to_hz).len()
        });
    }
    report("loudness", || loudness::lufs(&speech, RATE_HZ) as usize);
    let mut copy = speech.clone();
    report("normalise", || {
        loudness::normalise(
            &mut copy,
            RATE_HZ,
            loudness::SPEECH_LUFS,
            loudness::CEILING_DBFS,
        );
        copy.len()
    });
    for format in OutputFormat::ALL {
        report(&format!("encode {format}"), || {
            encode(&speech, RATE_HZ, format).map_or(0, |bytes| bytes.len())
        });
    }
    let decodable = OutputFormat::ALL
        .into_iter()
        .filter(|f| !f.name().starts_with("raw") && f.name() != "pcm_24000");
    for format in decodable {
        let bytes = encode(&speech, RATE_HZ, format)?;
        report(&format!("decode {format}"), || {
            decode_bytes(bytes, None, &DecodeLimits::default(), &|| false)
                .map_or(0, |r| r.samples.len())
        });
    }
    Ok(())
}

fn report(what: &str, work: impl FnOnce() -> usize) {
    let start = Instant::now();
    let size = work();
    let part = start.elapsed().as_secs_f64() / SECONDS as f64;
    println!("{what:24} {part:.5} of real time ({size})");
}
