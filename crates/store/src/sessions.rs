//! Console sessions: a random token in the browser's cookie, its SHA-256 here.

use std::time::Duration;

use serde::Serialize;

use crate::accounts::Account;
use crate::ids::{hash_hex, now_us, random_base62};
use crate::sql::{found, row};
use crate::{AccountId, SessionId, Store, StoreError};

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct Session {
        pub id: SessionId,
        pub account_id: AccountId,
        pub created_us: i64,
        pub expires_us: i64,
        pub user_agent: String,
    }
}

/// The token is shown here and never again.
#[derive(Debug, Clone)]
pub struct IssuedSession {
    pub token: secrecy::SecretString,
    pub session: Session,
}

impl Store {
    pub async fn create_session(
        &self,
        account_id: &AccountId,
        lifetime: Duration,
        user_agent: &str,
    ) -> Result<IssuedSession, StoreError> {
        let token = random_base62(43)?;
        let created_us = now_us();
        let session = Session {
            id: SessionId::generate(),
            account_id: account_id.clone(),
            created_us,
            expires_us: created_us.saturating_add(lifetime.as_micros() as i64),
            user_agent: user_agent
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect(),
        };
        let made = sqlx::query(
            "insert into sessions (id, token_hash, account_id, created_us, expires_us, user_agent)
             select $1, $2, id, $4, $5, $6 from accounts where id = $3 and deleted_us is null",
        )
        .bind(&session.id)
        .bind(hash_hex(&token))
        .bind(account_id)
        .bind(session.created_us)
        .bind(session.expires_us)
        .bind(&session.user_agent)
        .execute(self.write())
        .await?;
        found(&made, "account")?;
        Ok(IssuedSession {
            token: token.into(),
            session,
        })
    }

    /// The living session of a token with its account, or nothing.
    pub async fn session_by_token(
        &self,
        token: &str,
    ) -> Result<Option<(Session, Account)>, StoreError> {
        let session: Option<Session> = sqlx::query_as(
            "select id, account_id, created_us, expires_us, user_agent from sessions
             where token_hash = $1 and expires_us > $2",
        )
        .bind(hash_hex(token))
        .bind(now_us())
        .fetch_optional(self.read())
        .await?;
        let Some(session) = session else {
            return Ok(None);
        };
        match self.account(&session.account_id).await {
            Ok(account) => Ok(Some((session, account))),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn list_sessions(&self, account_id: &AccountId) -> Result<Vec<Session>, StoreError> {
        Ok(sqlx::query_as(
            "select id, account_id, created_us, expires_us, user_agent from sessions
             where account_id = $1 and expires_us > $2 order by id",
        )
        .bind(account_id)
        .bind(now_us())
        .fetch_all(self.read())
        .await?)
    }

    pub async fn revoke_session(
        &self,
        account_id: &AccountId,
        session_id: &SessionId,
    ) -> Result<(), StoreError> {
        let done = sqlx::query("delete from sessions where id = $1 and account_id = $2")
            .bind(session_id)
            .bind(account_id)
            .execute(self.write())
            .await?;
        found(&done, "session")
    }

    /// Signing out; a token that is not known is signed out already.
    pub async fn revoke_session_by_token(&self, token: &str) -> Result<(), StoreError> {
        sqlx::query("delete from sessions where token_hash = $1")
            .bind(hash_hex(token))
            .execute(self.write())
            .await?;
        Ok(())
    }

    pub async fn revoke_all_sessions(&self, account_id: &AccountId) -> Result<u64, StoreError> {
        let done = sqlx::query("delete from sessions where account_id = $1")
            .bind(account_id)
            .execute(self.write())
            .await?;
        Ok(done.rows_affected())
    }
}
