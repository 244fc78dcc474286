//! A workspace's own pronunciations.

use serde::{Deserialize, Serialize};

use crate::ids::now_us;
use crate::sql::{check_text, found, row};
use crate::text_columns::text_enum;
use crate::{Store, StoreError, WorkspaceId};

const ENTRIES_MAX: i64 = 10_000;

text_enum! {
    pub enum Alphabet ("alphabet") {
        /// Written as Swahili would spell it.
        Respelling = "respelling",
        Ipa = "ipa",
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Pronunciation {
        pub word: String,
        pub spoken: String,
        pub alphabet: Alphabet,
    }
}

impl Store {
    /// Adds or replaces a word; words are kept in lower case.
    pub async fn set_pronunciation(
        &self,
        workspace_id: &WorkspaceId,
        entry: &Pronunciation,
    ) -> Result<(), StoreError> {
        let word = check_text("word", &entry.word, 1, 100)?.to_lowercase();
        let spoken = check_text("said", &entry.spoken, 1, 300)?;
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
        .bind(entry.alphabet)
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
        found(&done, "word")
    }

    /// All words of a workspace, in order.
    pub async fn pronunciations(
        &self,
        workspace_id: &WorkspaceId,
    ) -> Result<Vec<Pronunciation>, StoreError> {
        Ok(sqlx::query_as(
            "select word, spoken, alphabet from lexicon where workspace_id = $1 order by word",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?)
    }
}
