//! A workspace's own vocabularies for the recogniser: what each is made of, and how far it is. A version that is being built
//! stands beside the one in use and takes its place when it is ready.

use serde::Serialize;

use crate::ids::now_us;
use crate::sql::{found, is_unique_violation, row};
use crate::text_columns::text_enum;
use crate::{Store, StoreError, WorkspaceId};

/// Two who write the same name at once want the same version; one of them takes the next.
const TRIES_MAX: usize = 5;

text_enum! {
    pub enum BuildState ("build state") {
        Building = "building",
        Ready = "ready",
        Failed = "failed",
    }
}

row! {
    /// A vocabulary's newest version.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct VocabularyInfo {
        pub name: String,
        pub version: i64,
        pub state: BuildState,
        pub words: i64,
        pub bytes: i64,
        pub created_us: i64,
    }
}

row! {
    /// One version with all that it is made of.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StoredVocabulary {
        pub workspace_id: WorkspaceId,
        pub name: String,
        pub version: i64,
        pub source: String,
        pub weight_ppm: i64,
        pub created_us: i64,
    }
}

/// What is written down of a new version.
#[derive(Debug, Clone)]
pub struct NewVocabulary {
    pub name: String,
    pub source: String,
    pub words: i64,
    pub bytes: i64,
    /// Names that a workspace may have.
    pub names_max: i64,
}

impl Store {
    /// Adds a version, which is yet to be built.
    pub async fn add_vocabulary(
        &self,
        workspace_id: &WorkspaceId,
        new: &NewVocabulary,
    ) -> Result<VocabularyInfo, StoreError> {
        let mut tries = 0;
        let done = loop {
            tries += 1;
            let done = sqlx::query(
                "insert into vocabularies (workspace_id, name, version, state, source, words, bytes, weight_ppm, created_us)
                 select w.id, $2, (select coalesce(max(v.version), 0) + 1 from vocabularies v where v.workspace_id = $1 and v.name = $2),
                        $3, $4, $5, $6, 0, $7
                 from workspaces w where w.id = $1 and w.closed_us is null
                 and (select count(distinct v.name) from vocabularies v where v.workspace_id = $1 and v.name <> $2) < $8",
            )
            .bind(workspace_id)
            .bind(&new.name)
            .bind(BuildState::Building)
            .bind(&new.source)
            .bind(new.words)
            .bind(new.bytes)
            .bind(now_us())
            .bind(new.names_max)
            .execute(self.write())
            .await;
            match done {
                Err(error) if is_unique_violation(&error) && tries < TRIES_MAX => {}
                done => break done?,
            }
        };
        if done.rows_affected() == 0 {
            self.workspace(workspace_id).await?;
            return Err(StoreError::TooManyVocabularies { max: new.names_max });
        }
        self.vocabulary(workspace_id, &new.name).await
    }

    /// The newest version of each, by name.
    pub async fn vocabularies(
        &self,
        workspace_id: &WorkspaceId,
    ) -> Result<Vec<VocabularyInfo>, StoreError> {
        Ok(sqlx::query_as(
            "select v.name, v.version, v.state, v.words, v.bytes, v.created_us from vocabularies v
             where v.workspace_id = $1
             and v.version = (select max(o.version) from vocabularies o where o.workspace_id = $1 and o.name = v.name)
             order by v.name",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?)
    }

    pub async fn vocabulary(
        &self,
        workspace_id: &WorkspaceId,
        name: &str,
    ) -> Result<VocabularyInfo, StoreError> {
        let info = sqlx::query_as(
            "select name, version, state, words, bytes, created_us from vocabularies
             where workspace_id = $1 and name = $2 order by version desc limit 1",
        )
        .bind(workspace_id)
        .bind(name)
        .fetch_optional(self.read())
        .await?;
        info.ok_or(StoreError::NotFound("vocabulary"))
    }

    /// When the version to listen with was written, which tells it from any other; `None` where there is none yet.
    pub async fn ready_vocabulary_us(
        &self,
        workspace_id: &WorkspaceId,
        name: &str,
    ) -> Result<Option<i64>, StoreError> {
        Ok(sqlx::query_scalar(
            "select created_us from vocabularies
             where workspace_id = $1 and name = $2 and state = $3 order by version desc limit 1",
        )
        .bind(workspace_id)
        .bind(name)
        .bind(BuildState::Ready)
        .fetch_optional(self.read())
        .await?)
    }

    /// The version to listen with.
    pub async fn ready_vocabulary(
        &self,
        workspace_id: &WorkspaceId,
        name: &str,
    ) -> Result<Option<StoredVocabulary>, StoreError> {
        Ok(sqlx::query_as(
            "select workspace_id, name, version, source, weight_ppm, created_us from vocabularies
             where workspace_id = $1 and name = $2 and state = $3 order by version desc limit 1",
        )
        .bind(workspace_id)
        .bind(name)
        .bind(BuildState::Ready)
        .fetch_optional(self.read())
        .await?)
    }

    /// One that is yet to be built, the oldest first: also what a process left unfinished.
    pub async fn unbuilt_vocabulary(&self) -> Result<Option<StoredVocabulary>, StoreError> {
        Ok(sqlx::query_as(
            "select workspace_id, name, version, source, weight_ppm, created_us from vocabularies
             where state = $1 order by created_us limit 1",
        )
        .bind(BuildState::Building)
        .fetch_optional(self.read())
        .await?)
    }

    /// Notes how the building ended. A version that is ready takes the place of those before it.
    pub async fn finish_vocabulary(
        &self,
        built: &StoredVocabulary,
        state: BuildState,
        weight_ppm: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.write().begin().await?;
        sqlx::query(
            "update vocabularies set state = $4, weight_ppm = $5
             where workspace_id = $1 and name = $2 and version = $3",
        )
        .bind(&built.workspace_id)
        .bind(&built.name)
        .bind(built.version)
        .bind(state)
        .bind(weight_ppm)
        .execute(&mut *tx)
        .await?;
        if state == BuildState::Ready {
            sqlx::query(
                "delete from vocabularies where workspace_id = $1 and name = $2 and version < $3",
            )
            .bind(&built.workspace_id)
            .bind(&built.name)
            .bind(built.version)
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    pub async fn remove_vocabulary(
        &self,
        workspace_id: &WorkspaceId,
        name: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query("delete from vocabularies where workspace_id = $1 and name = $2")
            .bind(workspace_id)
            .bind(name)
            .execute(self.write())
            .await?;
        found(&done, "vocabulary")
    }
}
