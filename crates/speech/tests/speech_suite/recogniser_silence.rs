//! Sounds that are not speech must give no words at all.

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::path::Path;

use sauti_speech::recogniser::Recogniser;
use sauti_speech::{Expect, TranscribeEvent, TranscribeRequest, Transcript};

const RATE_HZ: f64 = 16_000.0;
const SECONDS: usize = 6;

fn sound(sample: impl FnMut(f64) -> f64) -> Vec<i16> {
    let times = (0..SECONDS * 16_000).map(|i| i as f64 / RATE_HZ);
    let samples = times.map(sample);
    samples
        .map(|x| (x.clamp(-1.0, 1.0) * 32_767.0) as i16)
        .collect()
}

/// Uniform noise from -1 to 1, the same in every run.
fn noise(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// Noise whose high tones are weaker, as rain, wind and traffic have it.
fn coloured(seed: u64, smoothing: f64, level: f64) -> Vec<i16> {
    let mut next = noise(seed);
    let mut state = 0.0;
    sound(|_| {
        state = state * smoothing + next() * (1.0 - smoothing);
        state * level / (1.0 - smoothing).sqrt()
    })
}

fn melody(semitones: &[i32], harmonics: usize, beat_seconds: f64) -> Vec<i16> {
    sound(|t| {
        let note = semitones[(t / beat_seconds) as usize % semitones.len()];
        let hz = 220.0 * 2f64.powf(f64::from(note) / 12.0);
        let fade = (-3.0 * (t % beat_seconds)).exp();
        let tones = (1..=harmonics).map(|h| (TAU * hz * h as f64 * t).sin() / h as f64);
        0.25 * fade * tones.sum::<f64>()
    })
}

fn chords(seed: u64) -> Vec<i16> {
    let mut next = noise(seed);
    sound(|t| {
        let roots = [0, 5, 7, 3];
        let root = roots[(t / 1.5) as usize % roots.len()];
        let triad = [0, 4, 7, 12].map(|step| 130.8 * 2f64.powf(f64::from(root + step) / 12.0));
        let pad: f64 = triad
            .iter()
            .map(|hz| (TAU * hz * t).sin() + 0.3 * (TAU * 3.0 * hz * t).sin())
            .sum();
        let beat = t % 0.5;
        let drum = (TAU * 60.0 * beat).sin() * (-12.0 * beat).exp();
        let hat = next() * (-60.0 * (t % 0.25)).exp();
        0.06 * pad + 0.5 * drum + 0.08 * hat
    })
}

fn sounds() -> Vec<(&'static str, Vec<i16>)> {
    let mut out = vec![
        ("nothing", Vec::new()),
        ("silence", sound(|_| 0.0)),
        ("one bit of silence", {
            let mut next = noise(3);
            sound(|_| next() / 32_767.0)
        }),
        (
            "mains hum",
            sound(|t| 0.2 * (TAU * 50.0 * t).sin() + 0.1 * (TAU * 150.0 * t).sin()),
        ),
        ("a 440 Hz tone", sound(|t| 0.5 * (TAU * 440.0 * t).sin())),
        ("a 1 kHz tone", sound(|t| 0.9 * (TAU * 1000.0 * t).sin())),
        (
            "a dial tone",
            sound(|t| 0.3 * (TAU * 350.0 * t).sin() + 0.3 * (TAU * 440.0 * t).sin()),
        ),
        (
            "a ringing tone",
            sound(|t| match t % 3.0 < 1.0 {
                true => 0.3 * (TAU * 425.0 * t).sin(),
                false => 0.0,
            }),
        ),
        (
            "touch tones",
            sound(|t| match t % 0.4 < 0.2 {
                true => 0.3 * (TAU * 770.0 * t).sin() + 0.3 * (TAU * 1336.0 * t).sin(),
                false => 0.0,
            }),
        ),
        (
            "a rising tone",
            sound(|t| 0.4 * (TAU * (100.0 * t + 150.0 * t * t)).sin()),
        ),
        (
            "a siren",
            sound(|t| 0.4 * (TAU * 700.0 * t + 150.0 * (TAU * 0.5 * t).sin()).sin()),
        ),
        (
            "a square buzz",
            sound(|t| 0.3 * (TAU * 120.0 * t).sin().signum()),
        ),
        ("clicks", sound(|t| if t % 0.5 < 0.001 { 0.9 } else { 0.0 })),
        (
            "full-scale clipping",
            sound(|t| 5.0 * (TAU * 80.0 * t).sin()),
        ),
        ("a constant", sound(|_| 0.7)),
        ("a melody", melody(&[0, 4, 7, 12, 7, 4, 2, 5], 6, 0.4)),
        ("a bass line", melody(&[-24, -17, -19, -12], 12, 0.6)),
        ("a fast melody", melody(&[12, 16, 19, 24, 21, 17], 4, 0.15)),
        ("chords and drums", chords(11)),
        (
            "an engine",
            sound(|t| {
                let turns = TAU * (28.0 * t + 2.0 * (TAU * 0.3 * t).sin());
                (1..12)
                    .map(|n| (turns * f64::from(n)).sin() / f64::from(n))
                    .sum::<f64>()
                    * 0.2
            }),
        ),
        (
            "crickets",
            sound(|t| match t % 0.6 < 0.35 {
                true => 0.2 * (TAU * 4_300.0 * t).sin() * (TAU * 30.0 * t).sin().max(0.0),
                false => 0.0,
            }),
        ),
        (
            "birds",
            sound(|t| {
                let since = t % 0.45;
                0.3 * (TAU * (3_000.0 * since - 2_500.0 * since * since)).sin()
                    * (-9.0 * since).exp()
            }),
        ),
        (
            "a busy tone",
            sound(|t| match t % 1.0 < 0.5 {
                true => 0.3 * (TAU * 425.0 * t).sin(),
                false => 0.0,
            }),
        ),
        (
            "a fax machine",
            sound(|t| {
                let step = f64::from(((t * 300.0) as u32).wrapping_mul(2_654_435_761) >> 31);
                0.3 * (TAU * (1_650.0 + 200.0 * step) * t).sin()
            }),
        ),
    ];
    for (name, smoothing, level) in [
        ("white noise", 0.0, 0.3),
        ("loud white noise", 0.0, 1.0),
        ("faint white noise", 0.0, 0.005),
        ("rain", 0.5, 0.3),
        ("wind", 0.98, 0.5),
        ("rumble", 0.998, 0.5),
    ] {
        out.push((name, coloured(7, smoothing, level)));
    }
    let mut gusts = noise(5);
    let mut state = 0.0;
    out.push((
        "gusts",
        sound(|t| {
            state = state * 0.9 + gusts() * 0.1;
            2.0 * state * (TAU * 0.7 * t).sin().abs()
        }),
    ));
    out
}

fn transcribe(recogniser: &mut Recogniser, samples: Vec<i16>, expect: Expect) -> Transcript {
    let request = TranscribeRequest {
        samples: samples.into(),
        keyterms: vec!["Sauti".to_owned()],
        prompt: String::new(),
        expect,
        digits: true,
        ..TranscribeRequest::default()
    };
    let mut done = None;
    recogniser
        .transcribe(&request, &mut |event| {
            if let TranscribeEvent::Done(transcript) = event {
                done = Some(transcript);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    done.expect("a transcript comes last")
}

#[test]
fn sounds_that_are_not_speech_give_no_words() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut recogniser = Recogniser::load(&models).unwrap();
    let mut invented = Vec::new();
    for (name, samples) in sounds() {
        for expect in [Expect::Any, Expect::Digits, Expect::YesNo] {
            let transcript = transcribe(&mut recogniser, samples.clone(), expect.clone());
            if !transcript.text.is_empty() || !transcript.no_speech {
                invented.push(format!("{name} ({expect:?}): {:?}", transcript.text));
            }
        }
    }
    assert!(invented.is_empty(), "{invented:#?}");
}
