//! The Rust model against the PyTorch one: same symbols, same durations, same noise.
//! `training/voices/golden.py` makes the file.

use std::path::{Path, PathBuf};

use super::filter::{Filter, Transform};
use super::network::{BIN_OUTPUTS, BINS, Encoded, VoiceNetwork};
use super::plan::Manner;
use super::source::{HOP, Noise, Pitch};
use super::stream::VoiceStream;
use super::timeline::Timeline;
use crate::kernels::linear::Scratch;
use crate::weights::WeightsFile;

const VOICE: usize = 2;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> WeightsFile {
    WeightsFile::parse("golden", std::fs::read(path).unwrap()).unwrap()
}

fn golden() -> WeightsFile {
    let path = repository().join("crates/speech/tests/data/voice_golden.safetensors");
    read(&path)
}

fn network() -> VoiceNetwork {
    let path = repository().join("models/voices/voices.safetensors");
    VoiceNetwork::load(&read(&path)).unwrap()
}

struct Clause {
    encoded: Encoded,
    manners: Vec<Manner>,
    timeline: Timeline,
}

fn clause(network: &VoiceNetwork, golden: &WeightsFile) -> Clause {
    let symbols = golden.table("symbols").unwrap().values;
    let symbols: Vec<u16> = symbols.iter().map(|&s| s as u16).collect();
    let encoded = network.encode(&symbols, VOICE, &mut Scratch::default());
    let ends = golden.table("ends").unwrap().values;
    let timeline = Timeline::from_ends(ends.iter().map(|&e| e as usize).collect());
    let plain = Manner {
        pace: 1.0,
        log_pitch: 0.0,
        volume: 1.0,
    };
    Clause {
        encoded,
        manners: vec![plain; symbols.len()],
        timeline,
    }
}

fn decode(network: &VoiceNetwork, clause: &Clause, windows: &[usize]) -> Vec<f32> {
    let transform = Transform::new();
    let mut stream = VoiceStream::new(
        network,
        &transform,
        &clause.encoded,
        &clause.timeline,
        &clause.manners,
        VOICE,
    );
    let (mut scratch, mut noise, mut out) = (Scratch::default(), Noise::new(), Vec::new());
    for frames in windows.iter().cycle() {
        stream.advance(*frames, &mut scratch, &mut noise, &mut out);
        if stream.finished() {
            break;
        }
    }
    out
}

/// Mean distance of the magnitude spectra in dB, over frames of 1,024 samples.
fn spectral_distance_db(a: &[f32], b: &[f32]) -> f64 {
    let transform = sauti_fft::forward(1024);
    let spectrum = |samples: &[f32]| {
        let mut windowed: Vec<f32> = samples
            .iter()
            .enumerate()
            .map(|(i, s)| s * (std::f32::consts::PI * i as f32 / 1024.0).sin().powi(2))
            .collect();
        let mut out = transform.make_output_vec();
        transform.process(&mut windowed, &mut out).unwrap();
        out.iter()
            .map(|c| f64::from(c.norm()) + 1e-3)
            .collect::<Vec<_>>()
    };
    let starts = (0..a.len() - 1024).step_by(256);
    let distances: Vec<f64> = starts
        .map(|start| {
            let (x, y) = (
                spectrum(&a[start..start + 1024]),
                spectrum(&b[start..start + 1024]),
            );
            let squares = x
                .iter()
                .zip(&y)
                .map(|(x, y)| (20.0 * (x / y).log10()).powi(2));
            (squares.sum::<f64>() / x.len() as f64).sqrt()
        })
        .collect();
    distances.iter().sum::<f64>() / distances.len() as f64
}

#[test]
fn durations_are_those_of_the_float_model() {
    let (network, golden) = (network(), golden());
    let want = golden.table("frames").unwrap().values;
    let got = clause(&network, &golden).encoded.frames;
    assert_eq!(got.len(), want.len());
    let mean: f32 = got
        .iter()
        .zip(&want)
        .map(|(g, w)| (g - w).abs() / w)
        .sum::<f32>()
        / want.len() as f32;
    assert!(
        mean < 0.03,
        "durations differ by {mean} on average: {got:?} {want:?}"
    );
}

#[test]
fn melody_and_energy_are_those_of_the_float_model() {
    let (network, golden) = (network(), golden());
    let clause = clause(&network, &golden);
    let transform = Transform::new();
    let mut stream = VoiceStream::new(
        &network,
        &transform,
        &clause.encoded,
        &clause.timeline,
        &clause.manners,
        VOICE,
    );
    let frames = clause.timeline.frames();
    stream.advance(
        frames,
        &mut Scratch::default(),
        &mut Noise::new(),
        &mut Vec::new(),
    );
    let want = golden.table("contour").unwrap().values;
    assert_eq!(want.len(), 3 * frames);
    let (mut voicing_differs, mut both_voiced) = (0, 0);
    let (mut pitch_apart, mut energy_apart) = (0.0, 0.0);
    for (got, want) in stream.contours().iter().zip(want.chunks_exact(3)) {
        let voiced = want[1] > 0.0;
        voicing_differs += usize::from((got[1] > 0.5) != voiced);
        energy_apart += (got[2] - want[2]).abs() / frames as f32;
        if voiced && got[1] > 0.5 {
            both_voiced += 1;
            pitch_apart += (got[0] - want[0]).abs();
        }
    }
    // A hundredth in log pitch is a sixth of a semitone.
    let pitch_apart = pitch_apart / both_voiced as f32;
    assert!(
        both_voiced * 2 > frames,
        "only {both_voiced} of {frames} frames are voiced"
    );
    assert!(
        pitch_apart < 0.01,
        "log pitch differs by {pitch_apart} on average"
    );
    assert!(
        energy_apart < 0.1,
        "energy differs by {energy_apart} on average"
    );
    assert!(
        voicing_differs * 50 < frames,
        "{voicing_differs} of {frames} frames differ in voicing"
    );
}

#[test]
fn the_filter_agrees_with_the_float_model_to_rounding() {
    let frames = 12;
    let mut pitch = Pitch::default();
    for frame in 0..frames {
        pitch.push(110.0 + 9.0 * frame as f32, f32::from(frame % 5 != 4));
    }
    let mut rows = vec![0.0; frames * BINS * BIN_OUTPUTS];
    for (t, row) in rows.chunks_exact_mut(BINS * BIN_OUTPUTS).enumerate() {
        let t = t as f64;
        for bin in 0..BINS {
            let b = bin as f64;
            let values = [
                -1.0 - b / 200.0,
                (b * 0.05 + t).sin(),
                -3.0 + (b * 0.01 * t).cos(),
                -4.0 - b / 100.0,
                3.0 * (b * 0.3 + t * t).sin(),
            ];
            for (part, value) in values.iter().enumerate() {
                row[part * BINS + bin] = *value as f32;
            }
        }
    }
    let transform = Transform::new();
    let mut out = Vec::new();
    Filter::new(&transform, frames).push(&rows, &pitch, &mut Noise::new(), &mut out);
    let want = golden().table("filtered").unwrap().values;
    assert_eq!(out.len(), want.len());
    let worst = out
        .iter()
        .zip(&want)
        .map(|(o, w)| (o - w).abs())
        .fold(0.0, f32::max);
    assert!(worst < 1e-3, "samples differ by up to {worst}");
}

#[test]
fn speech_sounds_like_that_of_the_float_model() {
    let (network, golden) = (network(), golden());
    let clause = clause(&network, &golden);
    let out = decode(&network, &clause, &[10_000]);
    let want = golden.table("speech").unwrap().values;
    assert_eq!(out.len(), want.len());
    assert_eq!(out.len(), clause.timeline.frames() * HOP);
    let distance = spectral_distance_db(&out, &want);
    assert!(distance < 3.0, "{distance} dB apart");
}

#[test]
fn windows_give_the_same_samples_as_the_whole_clause() {
    let (network, golden) = (network(), golden());
    let clause = clause(&network, &golden);
    let whole = decode(&network, &clause, &[10_000]);
    for windows in [&[1][..], &[7, 31], &[64], &[79, 128]] {
        assert!(
            decode(&network, &clause, windows) == whole,
            "windows of {windows:?}"
        );
    }
}
