//! Who did what. Rows are only ever added.

use serde::Serialize;

use crate::ids::{new_id, now_us};
use crate::{Store, StoreError, WorkspaceId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub id: String,
    pub workspace_id: Option<WorkspaceId>,
    /// An account, a key, or `cli`.
    pub actor: String,
    /// Such as `key.revoke`.
    pub action: String,
    pub target: String,
    /// JSON or plain words; never a secret.
    pub detail: String,
    pub created_us: i64,
}

/// Newest first; `before` is the last id of the page before.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// `None`: all workspaces, for operators.
    pub workspace_id: Option<WorkspaceId>,
    pub before: Option<String>,
    /// From this moment on, and before that one; `None`: no bound.
    pub from_us: Option<i64>,
    pub to_us: Option<i64>,
    pub limit: i64,
}

impl Store {
    pub async fn audit(
        &self,
        workspace_id: Option<&WorkspaceId>,
        actor: &str,
        action: &str,
        target: &str,
        detail: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "insert into audit (id, workspace_id, actor, action, target, detail, created_us)
             values ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(new_id("evt_"))
        .bind(workspace_id.cloned())
        .bind(tidy(actor, 200))
        .bind(tidy(action, 100))
        .bind(tidy(target, 300))
        .bind(tidy(detail, 4000))
        .bind(now_us())
        .execute(self.write())
        .await?;
        Ok(())
    }

    pub async fn audit_list(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        type Row = (
            String,
            Option<WorkspaceId>,
            String,
            String,
            String,
            String,
            i64,
        );
        let rows: Vec<Row> = sqlx::query_as(
            "select id, workspace_id, actor, action, target, detail, created_us from audit
             where ($1 = '' or workspace_id = $1) and ($2 = '' or id < $2) and created_us >= $4 and created_us < $5
             order by id desc limit $3",
        )
        .bind(query.workspace_id.as_deref().unwrap_or(""))
        .bind(query.before.as_deref().unwrap_or(""))
        .bind(query.limit.clamp(1, 10_000))
        .bind(query.from_us.unwrap_or(0))
        .bind(query.to_us.unwrap_or(i64::MAX))
        .fetch_all(self.read())
        .await?;
        let entry_of = |(id, workspace_id, actor, action, target, detail, created_us)| AuditEntry {
            id,
            workspace_id,
            actor,
            action,
            target,
            detail,
            created_us,
        };
        Ok(rows.into_iter().map(entry_of).collect())
    }
}

fn tidy(text: &str, characters_max: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(characters_max)
        .collect()
}
