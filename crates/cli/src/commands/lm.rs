use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use clap::{Args, Subcommand};
use sauti_lab::lm::{BuildConfig, LanguageTexts, TextSource, build};

use super::output;

#[derive(Debug, Subcommand)]
pub(super) enum LmCommand {
    Build(Build),
}

/// Build a language model from plain texts
///
/// Texts are UTF-8, a sentence a line. How much each text counts in the mixture is fitted on
/// held-out lines of the --target texts: name there what sounds most like your callers. Prints the
/// figures as JSON. The same texts and options give the same file, byte for byte.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti lm build --target calls.txt --target news.txt --text bible.txt=0.7 \\
      --english english.txt --exclude test.tsv --out languages.lm")]
pub(super) struct Build {
    /// A text that sounds like what will be recognised; may be repeated. FILE=WEIGHT says how much
    /// its words count when the vocabulary is chosen
    #[arg(long, value_name = "FILE[=WEIGHT]", required = true, value_parser = parse_text)]
    target: Vec<Text>,
    /// A text that only adds words; may be repeated
    #[arg(long, value_name = "FILE[=WEIGHT]", value_parser = parse_text)]
    text: Vec<Text>,
    /// Leave out the sentences of this test list (its last column); may be repeated
    #[arg(long, value_name = "FILE.tsv")]
    exclude: Vec<PathBuf>,
    /// A word is known from this weighted count on
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    vocabulary_min: f64,
    /// Word sequences that matter less than this are dropped
    #[arg(long, value_name = "X", default_value_t = 1e-8)]
    prune: f64,
    /// An English text; may be repeated. With one, the file holds a model of each language
    #[arg(long, value_name = "FILE[=WEIGHT]", value_parser = parse_text)]
    english: Vec<Text>,
    /// An English text that only adds words; may be repeated
    #[arg(long, value_name = "FILE[=WEIGHT]", value_parser = parse_text, requires = "english")]
    english_text: Vec<Text>,
    /// --vocabulary-min for English
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    english_vocabulary_min: f64,
    /// --prune for English
    #[arg(long, value_name = "X", default_value_t = 1e-8)]
    english_prune: f64,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Clone)]
struct Text {
    path: PathBuf,
    weight: f64,
}

fn parse_text(text: &str) -> Result<Text, String> {
    let Some((path, weight)) = text.rsplit_once('=') else {
        return Ok(Text {
            path: text.into(),
            weight: 1.0,
        });
    };
    match weight.parse::<f64>() {
        Ok(weight) if weight > 0.0 && weight <= 100.0 => Ok(Text {
            path: path.into(),
            weight,
        }),
        _ => Err(format!("{weight:?} is not a weight above 0 and up to 100")),
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

impl LmCommand {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Self::Build(options) = self;
        let positive = |x: f64| x.is_finite() && x >= 0.0;
        for (name, value) in [
            ("--vocabulary-min", options.vocabulary_min),
            ("--prune", options.prune),
            ("--english-vocabulary-min", options.english_vocabulary_min),
            ("--english-prune", options.english_prune),
        ] {
            ensure!(positive(value), "{name} must not be negative");
        }
        let source = |text: &Text, is_target| TextSource {
            name: stem(&text.path),
            path: text.path.clone(),
            vocabulary_weight: text.weight,
            is_target,
        };
        let targets = options.target.iter().map(|text| source(text, true));
        let others = options.text.iter().map(|text| source(text, false));
        let english = options.english.iter().map(|text| source(text, true));
        let english_others = options.english_text.iter().map(|text| source(text, false));
        let texts = |sources, vocabulary_weight_min, prune_threshold| LanguageTexts {
            sources,
            vocabulary_weight_min,
            source_weight_min: 0.08,
            prune_threshold,
        };
        let report = build(&BuildConfig {
            swahili: texts(
                targets.chain(others).collect(),
                options.vocabulary_min,
                options.prune,
            ),
            english: (!options.english.is_empty()).then(|| {
                texts(
                    english.chain(english_others).collect(),
                    options.english_vocabulary_min,
                    options.english_prune,
                )
            }),
            excluded: options.exclude,
            output: options.out,
        })?;
        output::print_json(&report)
    }
}

#[cfg(test)]
mod tests {
    use super::parse_text;

    #[test]
    fn a_weight_may_follow_the_file() {
        assert_eq!(parse_text("a.txt").unwrap().weight, 1.0);
        let text = parse_text("x=y.txt=0.25").unwrap();
        assert_eq!((text.path.to_str(), text.weight), (Some("x=y.txt"), 0.25));
        assert!(parse_text("a.txt=heavy").is_err() && parse_text("a.txt=0").is_err());
    }
}
