//! Vocabularies: taken in, built in the background, and ready to listen with. What a process leaves unbuilt the next one builds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sauti_speech::recogniser::{Recogniser, VocabularyModel, VocabularySource, VocabularyWord};
use sauti_store::{
    AuditAction, BuildState, NewVocabulary, StoredVocabulary, VocabularyInfo, WorkspaceId,
};

use super::{FieldError, Reason, ServiceError, audit};
use crate::app::App;

/// Models kept in memory; each takes a few megabytes at most.
const KEPT_MAX: usize = 32;
/// Another replica may have left one behind.
const LOOK_EVERY: Duration = Duration::from_secs(60);
const LOOK_EVERY_LOADING: Duration = Duration::from_secs(2);
const NAME_CHARS_MAX: usize = 64;

/// Models that were listened with lately, each with the time that its version was written.
#[derive(Debug, Default)]
pub struct Vocabularies {
    known: Mutex<HashMap<(WorkspaceId, String), KnownModel>>,
}

type KnownModel = (i64, Arc<VocabularyModel>);

/// Letters, figures, `-` and `_`: a name stands in addresses.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(fits)
}

/// The part of a word that says nothing to listen for.
pub fn wrong_part(word: &VocabularyWord) -> Option<(&'static str, Reason)> {
    let sounds = &word.sounds;
    let is_blank = |sound: &String| sound.trim().is_empty();
    let has_letters = |sound: &String| sound.contains(|c: char| c.is_ascii_alphabetic());
    let can_be_said = |sound: &String| has_letters(sound) || is_blank(sound);
    let expected = "words with letters";
    match word.word.trim() {
        "" => Some(("word", Reason::Empty)),
        _ if !sounds.is_empty() && sounds.iter().all(is_blank) => Some(("sounds", Reason::Empty)),
        _ if !sounds.iter().all(can_be_said) => Some(("sounds", Reason::Malformed { expected })),
        _ if word.spoken().is_empty() => Some(("word", Reason::Malformed { expected })),
        _ => None,
    }
}

/// Writes down a new version and has it built.
pub async fn set(
    app: &App,
    workspace_id: &WorkspaceId,
    actor: &str,
    name: &str,
    source: &VocabularySource,
) -> Result<VocabularyInfo, ServiceError> {
    let json = serde_json::to_string(source).map_err(ServiceError::internal)?;
    let new = NewVocabulary {
        name: name.to_owned(),
        words: source.word_count() as i64,
        bytes: json.len() as i64,
        source: json,
        names_max: i64::from(app.config.limits.vocabularies_max),
    };
    let info = app.store.add_vocabulary(workspace_id, &new).await?;
    app.vocabulary_bell.notify_one();
    audit(&app.store, Some(workspace_id), actor)
        .did(AuditAction::VocabularySet, name)
        .await;
    Ok(info)
}

pub async fn remove(
    app: &App,
    workspace_id: &WorkspaceId,
    actor: &str,
    name: &str,
) -> Result<(), ServiceError> {
    app.store.remove_vocabulary(workspace_id, name).await?;
    let known = (workspace_id.clone(), name.to_owned());
    app.vocabularies.known.lock().remove(&known);
    audit(&app.store, Some(workspace_id), actor)
        .did(AuditAction::VocabularyRemoved, name)
        .await;
    Ok(())
}

/// The vocabulary that a request names, if it names one.
pub async fn named(
    app: &App,
    workspace_id: &WorkspaceId,
    name: Option<&str>,
) -> Result<Option<Arc<VocabularyModel>>, ServiceError> {
    let Some(name) = name else { return Ok(None) };
    let ready_us = ready_us(app, workspace_id, name).await?;
    let key = (workspace_id.clone(), name.to_owned());
    if let Some((written_us, kept)) = app.vocabularies.get(&key)
        && ready_us == written_us
    {
        return Ok(Some(kept));
    }
    let Some(stored) = app.store.ready_vocabulary(workspace_id, name).await? else {
        return Err(not_ready(app, workspace_id, name).await);
    };
    let written_us = stored.created_us;
    let made = tokio::task::spawn_blocking(move || model(&stored)).await;
    let made = Arc::new(made.map_err(ServiceError::internal)??);
    app.vocabularies.keep(key, (written_us, Arc::clone(&made)));
    Ok(Some(made))
}

/// When the version to listen with was written; a refusal where there is none.
pub async fn ready_us(
    app: &App,
    workspace_id: &WorkspaceId,
    name: &str,
) -> Result<i64, ServiceError> {
    match app.store.ready_vocabulary_us(workspace_id, name).await? {
        Some(ready_us) => Ok(ready_us),
        None => Err(not_ready(app, workspace_id, name).await),
    }
}

async fn not_ready(app: &App, workspace_id: &WorkspaceId, name: &str) -> ServiceError {
    let info = app.store.vocabulary(workspace_id, name).await;
    let (english, swahili) = match info.map(|info| info.state) {
        Ok(BuildState::Building) => (
            "it is still being built; try again in a moment.",
            "bado inaandaliwa; jaribu tena baada ya muda mfupi.",
        ),
        Ok(_) => ("it could not be built.", "haikuweza kuandaliwa."),
        Err(_) => (
            "there is no such vocabulary in this workspace.",
            "hakuna msamiati kama huo katika nafasi hii ya kazi.",
        ),
    };
    let reason = Reason::Refused {
        english: english.to_owned(),
        swahili: swahili.to_owned(),
    };
    ServiceError::Fields(vec![FieldError::new("vocabulary", reason)])
}

impl Vocabularies {
    fn get(&self, key: &(WorkspaceId, String)) -> Option<(i64, Arc<VocabularyModel>)> {
        self.known.lock().get(key).cloned()
    }

    fn keep(&self, key: (WorkspaceId, String), made: (i64, Arc<VocabularyModel>)) {
        let mut known = self.known.lock();
        if known.len() >= KEPT_MAX
            && let Some(any) = known.keys().next().cloned()
        {
            known.remove(&any);
        }
        known.insert(key, made);
    }
}

fn parsed(stored: &StoredVocabulary) -> Result<VocabularySource, ServiceError> {
    serde_json::from_str(&stored.source).map_err(ServiceError::internal)
}

fn model(stored: &StoredVocabulary) -> Result<VocabularyModel, ServiceError> {
    let weight = stored.weight_ppm as f32 / 1e6;
    Ok(VocabularyModel::new(&parsed(stored)?, weight))
}

/// Builds what was written down, one after the other.
pub async fn build_forever(app: App) {
    loop {
        let (built, look_after) = match app.engine.recogniser() {
            Some(recogniser) => (build_next(&app, recogniser).await, LOOK_EVERY),
            None => (Ok(false), LOOK_EVERY_LOADING),
        };
        let built = built.unwrap_or_else(|error| {
            tracing::error!(%error, "a vocabulary could not be built");
            false
        });
        if !built {
            let bell = app.vocabulary_bell.notified();
            tokio::time::timeout(look_after, bell).await.ok();
        }
    }
}

/// False where there is nothing to build.
async fn build_next(app: &App, recogniser: Recogniser) -> Result<bool, ServiceError> {
    let Some(stored) = app.store.unbuilt_vocabulary().await? else {
        return Ok(false);
    };
    tracing::info!(version = stored.version, "a vocabulary is being built");
    let to_fit = parsed(&stored);
    let fitted = match to_fit {
        Ok(source) => tokio::task::spawn_blocking(move || recogniser.fit_vocabulary(&source))
            .await
            .map_err(ServiceError::internal),
        Err(error) => Err(error),
    };
    let (state, weight) = match fitted {
        Ok(weight) => (BuildState::Ready, weight),
        Err(error) => {
            tracing::error!(%error, "a vocabulary could not be built");
            (BuildState::Failed, 0.0)
        }
    };
    let weight_ppm = (weight * 1e6) as i64;
    let finished = app.store.finish_vocabulary(&stored, state, weight_ppm);
    finished.await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_word_that_cannot_be_heard_is_named() {
        let part = |word: &str, sounds: &[&str]| {
            let sounds = sounds.iter().map(|sound| (*sound).to_owned()).collect();
            let word = word.to_owned();
            wrong_part(&VocabularyWord { word, sounds }).map(|(part, _)| part)
        };
        for (word, sounds) in [
            ("M-Pesa", &["em pesa"][..]),
            ("Wanjiku", &[]),
            ("4G", &["foo ji", ""]),
            ("*144#", &["nyota moja nne nne"]),
        ] {
            assert_eq!(part(word, sounds), None, "{word}");
        }
        for sounds in [&["123"][..], &["em pesa", "!"], &["", " "]] {
            assert_eq!(part("M-Pesa", sounds), Some("sounds"), "{sounds:?}");
        }
        for (word, sounds) in [(" ", &["em pesa"][..]), ("--", &[])] {
            assert_eq!(part(word, sounds), Some("word"));
        }
    }

    #[test]
    fn a_name_fits_into_an_address() {
        assert!(is_name("benki-2024") && is_name("a"));
        for wrong in ["", "Benki", "ben ki", "../x", "maneno/2", &"a".repeat(65)] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
