//! One-use tokens sent by e-mail: the text goes out once, its SHA-256 stays.

use std::time::Duration;

use crate::ids::{hash_hex, now_us, random_base62};
use crate::sql::found;
use crate::text_columns::text_enum;
use crate::{AccountId, Store, StoreError};

text_enum! {
    pub enum TokenPurpose ("purpose") {
        Confirm = "confirm",
        Reset = "reset",
    }
}

impl TokenPurpose {
    fn lifetime(self) -> Duration {
        match self {
            Self::Confirm => Duration::from_secs(3 * 24 * 3600),
            Self::Reset => Duration::from_secs(3600),
        }
    }
}

impl Store {
    /// Makes a token for a link. Earlier tokens of the same purpose stop working.
    pub async fn issue_token(
        &self,
        account_id: &AccountId,
        purpose: TokenPurpose,
    ) -> Result<String, StoreError> {
        let token = random_base62(43)?;
        let now = now_us();
        let mut tx = self.begin_write().await?;
        sqlx::query("delete from one_use_tokens where account_id = $1 and purpose = $2")
            .bind(account_id)
            .bind(purpose)
            .execute(&mut *tx)
            .await?;
        let made = sqlx::query(
            "insert into one_use_tokens (token_hash, account_id, purpose, created_us, expires_us)
             select $1, id, $3, $4, $5 from accounts where id = $2 and deleted_us is null",
        )
        .bind(hash_hex(&token))
        .bind(account_id)
        .bind(purpose)
        .bind(now)
        .bind(now + purpose.lifetime().as_micros() as i64)
        .execute(&mut *tx)
        .await?;
        found(&made, "account")?;
        tx.commit().await?;
        Ok(token)
    }

    /// Confirms the account that the token was made for, and returns its id. Works once. With a welcome above zero, an
    /// account that was not confirmed before is owed it from then on (`welcomes_due`).
    pub async fn confirm_account(
        &self,
        token: &str,
        welcome_micro: i64,
    ) -> Result<AccountId, StoreError> {
        let mut tx = self.begin_write().await?;
        let account_id = self
            .spend_token(&mut tx, token, TokenPurpose::Confirm)
            .await?;
        owe_welcome(&mut tx, &account_id, welcome_micro).await?;
        sqlx::query("update accounts set confirmed_us = $2 where id = $1 and confirmed_us is null")
            .bind(&account_id)
            .bind(now_us())
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        self.inner.keys.clear();
        Ok(account_id)
    }

    /// Sets a new password by a reset token, ends every session, and confirms the address that received the token.
    pub async fn reset_password(
        &self,
        token: &str,
        password_hash: &str,
        welcome_micro: i64,
    ) -> Result<AccountId, StoreError> {
        let mut tx = self.begin_write().await?;
        let account_id = self
            .spend_token(&mut tx, token, TokenPurpose::Reset)
            .await?;
        owe_welcome(&mut tx, &account_id, welcome_micro).await?;
        sqlx::query(
            "update accounts set password_hash = $2, confirmed_us = coalesce(confirmed_us, $3) where id = $1",
        )
        .bind(&account_id)
        .bind(password_hash)
        .bind(now_us())
        .execute(&mut *tx)
        .await?;
        sqlx::query("delete from sessions where account_id = $1")
            .bind(&account_id)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        self.inner.keys.clear();
        Ok(account_id)
    }

    /// Accounts that were confirmed and have not got their welcome yet, and how much it is.
    pub async fn welcomes_due(&self) -> Result<Vec<(AccountId, i64)>, StoreError> {
        let sql =
            "select account_id, amount_micro from welcomes_due order by account_id limit 1000";
        Ok(sqlx::query_as(sql).fetch_all(self.read()).await?)
    }

    /// The ledger has it: nothing is owed any more.
    pub async fn welcome_given(&self, account_id: &AccountId) -> Result<(), StoreError> {
        sqlx::query("delete from welcomes_due where account_id = $1")
            .bind(account_id)
            .execute(self.write())
            .await?;
        Ok(())
    }

    async fn spend_token(
        &self,
        tx: &mut crate::database::Tx,
        token: &str,
        purpose: TokenPurpose,
    ) -> Result<AccountId, StoreError> {
        // The lookup is by hash, so how long it takes says nothing about the token itself.
        let spent: Option<AccountId> = sqlx::query_scalar(
            "update one_use_tokens set used_us = $3
             where token_hash = $1 and purpose = $2 and used_us is null and expires_us > $3
               and account_id in (select id from accounts where deleted_us is null)
             returning account_id",
        )
        .bind(hash_hex(token))
        .bind(purpose)
        .bind(now_us())
        .fetch_optional(&mut **tx)
        .await?;
        spent.ok_or(StoreError::TokenRefused)
    }
}

/// Before the confirmation itself, for only an account that is not confirmed yet is welcomed.
async fn owe_welcome(
    tx: &mut crate::database::Tx,
    account_id: &AccountId,
    amount_micro: i64,
) -> Result<(), StoreError> {
    if amount_micro > 0 {
        sqlx::query(
            "insert into welcomes_due (account_id, amount_micro)
             select id, $2 from accounts where id = $1 and confirmed_us is null on conflict (account_id) do nothing",
        )
        .bind(account_id)
        .bind(amount_micro)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}
