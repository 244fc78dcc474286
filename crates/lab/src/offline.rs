//! The engine without a server, for commands that speak and transcribe on their own.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use sauti_speech::recogniser::{VocabularyModel, VocabularySource};
use sauti_speech::{
    Engine, Job, Priority, Readiness, SpeakRequest, Spoken, TranscribeRequest, Transcript,
};
use tokio::task::{JoinError, JoinHandle};

/// Nobody waits behind an offline command, so its jobs may take as long as they need.
pub const DEADLINE: Duration = Duration::from_secs(24 * 3600);
const READY_POLL: Duration = Duration::from_millis(10);

pub async fn wait_ready(engine: &Engine) -> anyhow::Result<()> {
    loop {
        match engine.readiness() {
            Readiness::Ready => return Ok(()),
            Readiness::Failed(message) => bail!("the models cannot be loaded: {message}"),
            Readiness::Draining => bail!("the engine is shutting down"),
            Readiness::Loading => tokio::time::sleep(READY_POLL).await,
        }
    }
}

fn job() -> Job {
    Job {
        tenant: "cli".to_owned(),
        deadline: Instant::now() + DEADLINE,
        priority: Priority::Interactive,
    }
}

pub async fn speak(engine: &Engine, request: SpeakRequest) -> anyhow::Result<Spoken> {
    Ok(engine.speak(job(), request, None)?.finish().await?)
}

/// Hands back the transcript; `progress` hears how many seconds are done.
pub async fn transcribe(
    engine: &Engine,
    request: TranscribeRequest,
    progress: impl FnMut(f64),
) -> anyhow::Result<Transcript> {
    let handle = engine.transcribe(job(), request, None)?;
    Ok(handle.finish_with(progress).await?)
}

/// A vocabulary from a file, built as the service builds it.
pub fn vocabulary(engine: &Engine, file: &Path) -> anyhow::Result<Arc<VocabularyModel>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let source = VocabularySource::from_lines(&text);
    ensure!(source.word_count() > 0, "{} has no words", file.display());
    let recogniser = engine.recogniser().context("the models are not loaded")?;
    let weight = recogniser.fit_vocabulary(&source);
    Ok(Arc::new(VocabularyModel::new(&source, weight)))
}

/// A line on the terminal that is written over. Silent where standard error is not a terminal.
pub struct Progress {
    shown: bool,
}

impl Progress {
    pub fn on_terminal() -> Self {
        Self {
            shown: std::io::stderr().is_terminal(),
        }
    }

    pub fn show(&self, line: &str) {
        if self.shown {
            let line: String = line.chars().take(78).collect();
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        }
    }

    pub fn clear(&self) {
        self.show("");
    }
}

/// The named voice, or the first of the catalogue, with its sample rate.
pub fn choose_voice(engine: &Engine, named: Option<&str>) -> anyhow::Result<(String, u32)> {
    let voices = engine.voices();
    let chosen = match named {
        Some(id) => voices.iter().find(|voice| voice.voice_id == id),
        None => voices.first(),
    };
    let Some(voice) = chosen else {
        let known: Vec<&str> = voices.iter().map(|voice| voice.voice_id.as_str()).collect();
        bail!(
            "there is no voice {:?}; there are {}",
            named.unwrap_or_default(),
            known.join(", ")
        )
    };
    Ok((voice.voice_id.clone(), voice.sample_rate))
}

/// Hands the results of tasks to `each` in the order of the tasks. The iterator starts a task when
/// it is asked for one, and is asked for no more than `ahead_max` that are not yet handed over.
pub async fn in_order<T>(
    mut tasks: impl Iterator<Item = JoinHandle<T>>,
    ahead_max: usize,
    mut each: impl FnMut(Result<T, JoinError>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut running = VecDeque::new();
    loop {
        running.extend(
            tasks
                .by_ref()
                .take(ahead_max.max(1).saturating_sub(running.len())),
        );
        let Some(task) = running.pop_front() else {
            return Ok(());
        };
        each(task.await)?;
    }
}
