//! A workspace's own pronunciations.

use serde::{Deserialize, Serialize};

use crate::ids::now_us;
use crate::sql::check_text;
use crate::{Store, StoreError, WorkspaceId};

const ENTRIES_MAX: i64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alphabet {
    /// Written as Swahili would spell it.
    Respelling,
    Ipa,
}

impl Alphabet {
    fn as_str(self) -> &'static str {
        match self {
            Self::Respelling => "respelling",
            Self::Ipa => "ipa",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pronunciation {
    pub word: String,
    pub spoken: String,
    pub alphabet: Alphabet,
}

impl Store {
    /// Adds or replaces a word; words are kept in lower case.
    pub async fn set_pronunciation(
        &self,
        workspace_id: &WorkspaceId,
        entry: &Pronunciation,
    ) -> Result<(), StoreError> {
        let word = check_text("word", &entry.word, 1, 100)?.to_lowercase();
        let spoken = check_text("spoken", &entry.spoken, 1, 300)?;
        let done = sqlx::query(
            "insert into lexicon (workspace_id, word, spoken, alphabet, updated_us)
             select w.id, $2, $3, $4, $5 from workspaces w
             where w.id = $1 and (select count(*) from lexicon l where l.workspace_id = $1 and l.word <> $2) < $6
             on conflict (workspace_id, word) do update
             set spoken = excluded.spoken, alphabet = excluded.alphabet, updated_us = excluded.updated_us",
        )
        .bind(workspace_id)
        .bind(word)
        .bind(spoken)
        .bind(entry.alphabet.as_str())
        .bind(now_us())
        .bind(ENTRIES_MAX)
        .execute(self.write())
        .await?;
        if done.rows_affected() == 0 {
            self.workspace(workspace_id).await?;
            return Err(StoreError::Refused("the lexicon is full"));
        }
        Ok(())
    }

    pub async fn remove_pronunciation(
        &self,
        workspace_id: &WorkspaceId,
        word: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query("delete from lexicon where workspace_id = $1 and word = $2")
            .bind(workspace_id)
            .bind(word.trim().to_lowercase())
            .execute(self.write())
            .await?;
        if done.rows_affected() == 0 {
            Err(StoreError::NotFound("word"))
        } else {
            Ok(())
        }
    }

    /// All words of a workspace, in order.
    pub async fn pronunciations(
        &self,
        workspace_id: &WorkspaceId,
    ) -> Result<Vec<Pronunciation>, StoreError> {
        let rows: Vec<(String, String, String)> = sqlx::query_as(
            "select word, spoken, alphabet from lexicon where workspace_id = $1 order by word",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?;
        let entry_of = |(word, spoken, alphabet): (String, String, String)| Pronunciation {
            word,
            spoken,
            alphabet: if alphabet == "ipa" {
                Alphabet::Ipa
            } else {
                Alphabet::Respelling
            },
        };
        Ok(rows.into_iter().map(entry_of).collect())
    }
}
