//! What judges outside this program say of recordings: how natural they sound, and what another recogniser hears.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use sauti_text::SpeechLanguage;

/// How to call the judges.
#[derive(Debug, Clone)]
pub struct Judge {
    pub python: PathBuf,
    pub script: PathBuf,
    /// The folder of Whisper's weights; without it nobody else listens for words.
    pub whisper: Option<PathBuf>,
    /// English where the sentences are read in it, else Swahili: Whisper is not asked which.
    pub language: SpeechLanguage,
}

/// What was said of one recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// Figures by the judge's name.
    pub figures: BTreeMap<String, f64>,
    /// What Whisper heard.
    pub heard: Option<String>,
}

/// The word that stands in a judge's place in lines that carry a transcript.
const HEARD: &str = "heard";

impl Judge {
    /// The judge gets the folder and answers with lines of FILE, a tab, JUDGE, a tab, FIGURE.
    pub fn verdicts(&self, audio_dir: &Path) -> anyhow::Result<BTreeMap<String, Verdict>> {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).arg(audio_dir);
        if let Some(folder) = &self.whisper {
            let english = self.language == SpeechLanguage::English;
            command.arg("--whisper").arg(folder);
            command.args(["--language", if english { "en" } else { "sw" }]);
        }
        // Its progress and its complaints belong on the caller's terminal.
        let ran = command.stderr(Stdio::inherit()).output();
        let output = ran.with_context(|| format!("cannot run {}", self.python.display()))?;
        if !output.status.success() {
            bail!(
                "the judge {} failed ({})",
                self.script.display(),
                output.status
            );
        }
        let verdicts = parse(&String::from_utf8_lossy(&output.stdout))?;
        ensure!(
            !verdicts.is_empty(),
            "the judge said nothing of the recordings"
        );
        Ok(verdicts)
    }
}

fn parse(answer: &str) -> anyhow::Result<BTreeMap<String, Verdict>> {
    let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
    for line in answer.lines().filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, judge, said] = cells[..] else {
            bail!("the judge's line {line:?} is not FILE, JUDGE, FIGURE");
        };
        let verdict = verdicts.entry(file.to_owned()).or_default();
        if judge == HEARD {
            verdict.heard = Some(said.to_owned());
        } else {
            let figure: f64 = said
                .trim()
                .parse()
                .with_context(|| format!("the judge's line {line:?} has no figure"))?;
            ensure!(
                figure.is_finite(),
                "the judge's line {line:?} has no figure"
            );
            verdict.figures.insert(judge.to_owned(), figure);
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_transcripts_are_told_apart() {
        let verdicts = parse("a.wav\tDistillMOS\t4.5\na.wav\theard\tKaribu sana.\n\n").unwrap();
        let verdict = &verdicts["a.wav"];
        assert_eq!(verdict.figures["DistillMOS"], 4.5);
        assert_eq!(verdict.heard.as_deref(), Some("Karibu sana."));
    }

    #[test]
    fn a_line_that_is_no_verdict_is_an_error() {
        for wrong in [
            "loading weights",
            "a.wav\tDistillMOS\tgood",
            "a.wav\tDNSMOS\tNaN",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
