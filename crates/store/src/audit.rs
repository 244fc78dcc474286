//! Who did what. Rows are only ever added.
//!
//! One word for one deed, whichever door it came through: [`AuditAction`].

use serde::Serialize;

use crate::ids::{new_id, now_us};
use crate::sql::row;
use crate::text_columns::text_enum;
use crate::{Store, StoreError, WorkspaceId};

text_enum! {
    /// A deed that the audit trail tells of. Words are contract: they may be added to, never renamed.
    pub enum AuditAction ("action") {
        AccountCreated = "account.created",
        AccountConfirmed = "account.confirmed",
        AccountDeleted = "account.deleted",
        AccountOperator = "account.operator",
        SignedIn = "sign_in",
        SignInFailed = "sign_in.failed",
        SessionsRevoked = "sessions.revoked",
        PasswordChanged = "password.changed",
        PasswordReset = "password.reset",
        KeyCreated = "key.created",
        KeyRotated = "key.rotated",
        KeyRevoked = "key.revoked",
        MemberInvited = "member.invited",
        MemberUninvited = "member.uninvited",
        MemberJoined = "member.joined",
        MemberRole = "member.role",
        MemberRemoved = "member.removed",
        WorkspaceCreated = "workspace.created",
        WorkspaceChanged = "workspace.changed",
        WorkspaceCredited = "workspace.credited",
        WorkspaceCorrected = "workspace.corrected",
        WorkspaceWelcomed = "workspace.welcomed",
        WorkspaceBootstrapped = "workspace.bootstrapped",
        WebhookCreated = "webhook.created",
        WebhookRemoved = "webhook.removed",
        LexiconSet = "lexicon.set",
        LexiconRemoved = "lexicon.removed",
        VocabularySet = "vocabulary.set",
        VocabularyRemoved = "vocabulary.removed",
        BatchCreated = "batch.created",
        BatchCancelled = "batch.cancelled",
        LimitsSet = "limits.set",
        LimitsReset = "limits.reset",
        StoreRestored = "store.restored",
        StoreMoved = "store.moved",
        StoreClockTrusted = "store.clock_trusted",
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct AuditEntry {
        pub id: String,
        pub workspace_id: Option<WorkspaceId>,
        /// An account, a key, or `cli`.
        pub actor: String,
        /// Such as `key.revoked`.
        pub action: String,
        pub target: String,
        /// JSON or plain words; never a secret.
        pub detail: String,
        pub created_us: i64,
    }
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
        action: AuditAction,
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
        .bind(action)
        .bind(tidy(target, 300))
        .bind(tidy(detail, 4000))
        .bind(now_us())
        .execute(self.write())
        .await?;
        Ok(())
    }

    pub async fn audit_list(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        Ok(sqlx::query_as(
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
        .await?)
    }
}

fn tidy(text: &str, characters_max: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(characters_max)
        .collect()
}
