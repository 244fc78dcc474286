//! Tries search settings on clips that are listened to only once.
//!
//! `recogniser_tune MODELS MANIFEST.tsv CLIPS lm_weight,doubt_weight,word_bonus,unknown_bonus,width ...`

use std::path::Path;
use std::time::Instant;

use sauti_speech::recogniser::{BeamConfig, Recogniser};
use sauti_text::compare::{Errors, character_errors, comparable, word_errors};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [models, manifest, clips, settings @ ..] = arguments.as_slice() else {
        return Err("recogniser_tune MODELS MANIFEST.tsv CLIPS SETTING ...".into());
    };
    let mut recogniser = Recogniser::load(Path::new(models))?;
    let mut heard = Vec::new();
    for line in std::fs::read_to_string(manifest)?.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, .., text] = fields.as_slice() else {
            continue;
        };
        let samples: Vec<i16> = std::fs::read(Path::new(clips).join(file).with_extension("s16"))?
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]))
            .collect();
        // Longer clips would be cut by the voice detector first.
        if samples.len() <= 14 * 16_000 {
            heard.push((comparable(text), recogniser.listen(&samples)));
        }
    }
    let greedy = heard
        .iter()
        .fold(Errors::default(), |mut sum, (text, posteriors)| {
            sum += word_errors(text, &posteriors.greedy());
            sum
        });
    let doubt: f32 = heard.iter().map(|(_, posteriors)| posteriors.doubt()).sum();
    println!(
        "{} clips, greedy WER {:.2}, mean doubt {:.3}",
        heard.len(),
        greedy.rate() * 100.0,
        doubt / heard.len().max(1) as f32
    );
    for setting in settings {
        let values: Vec<f32> = setting
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let [lm_weight, doubt_weight, word_bonus, unknown_bonus, width] = values[..] else {
            return Err("a setting has five numbers".into());
        };
        recogniser.set_beam(BeamConfig {
            lm_weight,
            doubt_weight,
            word_bonus,
            unknown_bonus,
            width: width as usize,
            ..BeamConfig::default()
        });
        let (mut words, mut characters) = (Errors::default(), Errors::default());
        let started = Instant::now();
        let mut steps = 0;
        for (text, posteriors) in &heard {
            let found: Vec<String> = recogniser
                .read(posteriors)?
                .into_iter()
                .map(|w| w.word)
                .collect();
            let found = found.join(" ");
            words += word_errors(text, &found);
            characters += character_errors(text, &found);
            steps += posteriors.steps();
        }
        println!(
            "{setting}: WER {:.2} CER {:.2} ({} sub, {} ins, {} del), search real-time factor {:.4}",
            words.rate() * 100.0,
            characters.rate() * 100.0,
            words.substitutions,
            words.insertions,
            words.deletions,
            started.elapsed().as_secs_f64() / (steps as f64 * 0.04)
        );
    }
    Ok(())
}
