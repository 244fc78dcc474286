//! Word error rate and speed on the clips of a manifest, for trying settings out.
//!
//! `recogniser_eval MODELS MANIFEST.tsv CLIPS [lm_weight=..] [word_bonus=..] [unknown_bonus=..] [width=..] [limit=..] [every=..]`
//!
//! CLIPS holds each clip as NAME.s16 (16 kHz mono, little-endian), NAME being its path in the manifest without extension.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use sauti_speech::recogniser::{BeamConfig, MixtureConfig, Recogniser};
use sauti_speech::{TranscribeEvent, TranscribeRequest};
use sauti_text::compare::{Errors, character_errors, comparable, word_errors};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [models, manifest, clips, options @ ..] = arguments.as_slice() else {
        return Err("recogniser_eval MODELS MANIFEST.tsv CLIPS [name=value ...]".into());
    };
    let number = |name: &str, default: f32| {
        let found = options
            .iter()
            .find_map(|o| o.strip_prefix(name)?.strip_prefix('='));
        found.map_or(Ok(default), str::parse)
    };
    let started = Instant::now();
    let mut recogniser = Recogniser::load(Path::new(models))?;
    eprintln!("loaded in {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    let usual = BeamConfig::default();
    recogniser.set_beam(BeamConfig {
        width: number("width", usual.width as f32)? as usize,
        lm_weight: number("lm_weight", usual.lm_weight)?,
        word_bonus: number("word_bonus", usual.word_bonus)?,
        languages: MixtureConfig {
            unknown_bonus: number("unknown_bonus", usual.languages.unknown_bonus)?,
            ..usual.languages
        },
        ..usual
    });
    let (mut words, mut characters) = (Errors::default(), Errors::default());
    let (mut audio, mut busy) = (0.0, 0.0);
    let every = number("every", 1.0)? as usize;
    let limit = number("limit", f32::MAX)? as usize;
    for line in std::fs::read_to_string(manifest)?
        .lines()
        .skip(1)
        .step_by(every)
        .take(limit)
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, .., text] = fields.as_slice() else {
            continue;
        };
        let clip = Path::new(clips).join(file).with_extension("s16");
        let samples: Vec<i16> = std::fs::read(&clip)?
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]))
            .collect();
        let request = TranscribeRequest {
            samples: samples.into(),
            ..TranscribeRequest::default()
        };
        let started = Instant::now();
        let mut heard = Vec::new();
        recogniser.transcribe(&request, &mut |event| {
            if let TranscribeEvent::Segment { segment, .. } = event {
                heard.extend(segment.words);
            }
            ControlFlow::Continue(())
        })?;
        busy += started.elapsed().as_secs_f64();
        audio += request.samples.len() as f64 / 16_000.0;
        let reference = comparable(text);
        let hypothesis: Vec<&str> = heard.iter().map(|word| word.word.as_str()).collect();
        let hypothesis = hypothesis.join(" ");
        let errors = word_errors(&reference, &hypothesis);
        println!(
            "{}/{}\t{file}\n  {reference}\n  {hypothesis}",
            errors.total(),
            errors.reference_len
        );
        words += errors;
        characters += character_errors(&reference, &hypothesis);
    }
    println!(
        "WER {:.2} % CER {:.2} % of {} words ({} substituted, {} inserted, {} deleted), real-time factor {:.4}",
        words.rate() * 100.0,
        characters.rate() * 100.0,
        words.reference_len,
        words.substitutions,
        words.insertions,
        words.deletions,
        busy / audio
    );
    Ok(())
}
