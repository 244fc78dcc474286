//! The pronunciations of each workspace, kept for a few seconds between requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use sauti_store::{Alphabet, Store, StoreError, WorkspaceId};
use sauti_text::{Lexicon, LexiconEntry};
use sha2::{Digest, Sha256};

/// Another replica's change is heard after this long; a change made here at once.
const FRESH: Duration = Duration::from_secs(5);
const WORKSPACES_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub struct Lexicons {
    known: Mutex<HashMap<WorkspaceId, (Instant, Arc<VersionedLexicon>)>>,
}

#[derive(Debug)]
pub struct VersionedLexicon {
    pub lexicon: Lexicon,
    /// Changes whenever a word does.
    pub version: [u8; 32],
}

impl VersionedLexicon {
    /// For what the service itself wants to say.
    pub fn builtin() -> VersionedLexicon {
        VersionedLexicon {
            lexicon: Lexicon::builtin(),
            version: [0; 32],
        }
    }
}

impl Lexicons {
    pub async fn of(
        &self,
        store: &Store,
        workspace_id: &WorkspaceId,
    ) -> Result<Arc<VersionedLexicon>, StoreError> {
        if let Some((since, found)) = self.lock().get(workspace_id)
            && since.elapsed() < FRESH
        {
            return Ok(Arc::clone(found));
        }
        let loaded = Arc::new(load(store, workspace_id).await?);
        let mut known = self.lock();
        if known.len() >= WORKSPACES_MAX {
            known.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        known.insert(workspace_id.clone(), (Instant::now(), Arc::clone(&loaded)));
        Ok(loaded)
    }

    pub fn forget(&self, workspace_id: &WorkspaceId) {
        self.lock().remove(workspace_id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkspaceId, (Instant, Arc<VersionedLexicon>)>> {
        self.known.lock()
    }
}

async fn load(store: &Store, workspace_id: &WorkspaceId) -> Result<VersionedLexicon, StoreError> {
    let rows = store.pronunciations(workspace_id).await?;
    // Its own in every workspace, though none has a word: what one had read must not be read faster for another.
    let mut digest = Sha256::new_with_prefix(format!("{workspace_id}\n"));
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let said = as_written(row.alphabet, &row.spoken);
        digest.update(format!("{}\t{said}\n", row.word));
        // What was stored was checked before; a word of an older version that no longer parses
        // is said by the rules.
        if let Some(pronunciation) = LexiconEntry::parse(&said) {
            entries.push((row.word, pronunciation));
        }
    }
    let lexicon = Lexicon::builtin().with_entries(entries);
    Ok(VersionedLexicon {
        lexicon,
        version: digest.finalize().into(),
    })
}

/// IPA stands between slashes where a text has to say which of the two it is.
pub fn as_written(alphabet: Alphabet, spoken: &str) -> String {
    match alphabet {
        Alphabet::Ipa => format!("/{spoken}/"),
        Alphabet::Respelling => spoken.to_owned(),
    }
}
