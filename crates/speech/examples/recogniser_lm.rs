//! Builds the language model from a folder of plain texts and prints what came out.
//!
//! `recogniser_lm TEXTS SPEECH OUTPUT [THRESHOLD] [VOCABULARY_MIN]`: sentences in SPEECH/*.tsv are left out,
//! so that no test clip's text is known beforehand.

use sauti_speech::recogniser::lm::{BuildConfig, Source, build};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [texts, speech, output, rest @ ..] = arguments.as_slice() else {
        return Err("recogniser_lm TEXTS SPEECH OUTPUT [THRESHOLD] [VOCABULARY_MIN]".into());
    };
    let number = |i: usize, default: f64| rest.get(i).map_or(Ok(default), |text| text.parse());
    let source = |name: &str, vocabulary_weight, is_target| Source {
        name: name.to_owned(),
        path: std::path::Path::new(texts).join(format!("{name}.txt")),
        vocabulary_weight,
        is_target,
    };
    let mut excluded: Vec<std::path::PathBuf> = std::fs::read_dir(speech)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    excluded.retain(|path| path.extension().is_some_and(|extension| extension == "tsv"));
    excluded.sort();
    let report = build(&BuildConfig {
        sources: vec![
            source("common-voice-sentences", 1.0, true),
            source("general", 1.0, true),
            source("bible", 0.7, false),
            source("parliament", 0.25, false),
        ],
        excluded,
        source_weight_min: 0.08,
        vocabulary_weight_min: number(1, 2.0)?,
        prune_threshold: number(0, 1e-8)?,
        output: output.into(),
    })?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
