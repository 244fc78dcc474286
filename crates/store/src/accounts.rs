//! People: e-mail, password hash, confirmation, deletion.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::database::{Backend, Tx};
use crate::ids::now_us;
use crate::sql::{check_text, found, is_set, is_unique_violation, row};
use crate::workspaces::Role;
use crate::{AccountId, SessionId, Store, StoreError, TokenPurpose, WorkspaceId};

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct Account {
        pub id: AccountId,
        pub email: String,
        pub name: String,
        #[serde(skip)]
        pub password_hash: String,
        pub operator: bool = i64 => is_set,
        pub confirmed_us: Option<i64>,
        pub created_us: i64,
    }
}

impl Account {
    pub fn is_confirmed(&self) -> bool {
        self.confirmed_us.is_some()
    }
}

const COLUMNS: &str = "id, email, name, password_hash, operator, confirmed_us, created_us";

/// What `create_account` would refuse, without making an account.
pub fn check_new_account(email: &str, name: &str) -> Result<(), StoreError> {
    parse_email(email)?;
    check_text("name", name, 0, 200)?;
    Ok(())
}

/// Trims and lower-cases an address; refuses what no letter could be sent to, and what a mail program would read as another
/// address with a name before it (`x<y@example.com>`).
pub(crate) fn parse_email(email: &str) -> Result<String, StoreError> {
    let email = folded_email(email);
    let is_address = email.len() <= 254
        && email
            .split_once('@')
            .is_some_and(|(user, host)| is_mailbox(user) && is_host(host));
    match is_address {
        true => Ok(email),
        false => Err(StoreError::invalid("email", "is not an e-mail address")),
    }
}

/// An address as it counts: whatever its case, and full-width letters as plain ones (NFKC), which is how mail programs take them.
pub fn folded_email(email: &str) -> String {
    email.trim().nfkc().collect::<String>().to_lowercase()
}

/// A dot-atom (RFC 5322), in any script (RFC 6531). What needs quotes is refused: nobody has it, and forgers do.
fn is_mailbox(user: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let is_atom = |atom: &str| !atom.is_empty() && atom.chars().all(fits);
    user.len() <= 64 && user.split('.').all(is_atom)
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    host.split('.').all(is_label)
}

impl Store {
    /// Makes an unconfirmed account. `password_hash` comes from [`crate::password::hash`].
    pub async fn create_account(
        &self,
        email: &str,
        password_hash: &str,
        name: &str,
    ) -> Result<Account, StoreError> {
        let account = Account {
            id: AccountId::generate(),
            email: parse_email(email)?,
            name: check_text("name", name, 0, 200)?,
            password_hash: password_hash.to_owned(),
            operator: false,
            confirmed_us: None,
            created_us: now_us(),
        };
        sqlx::query("insert into accounts (id, email, name, password_hash, created_us) values ($1, $2, $3, $4, $5)")
            .bind(&account.id)
            .bind(&account.email)
            .bind(&account.name)
            .bind(&account.password_hash)
            .bind(account.created_us)
            .execute(self.write())
            .await
            .map_err(|error| match is_unique_violation(&error) {
                true => StoreError::Exists("account"),
                false => error.into(),
            })?;
        Ok(account)
    }

    pub async fn account(&self, account_id: &AccountId) -> Result<Account, StoreError> {
        self.account_where("id = $1", account_id)
            .await?
            .ok_or(StoreError::NotFound("account"))
    }

    pub async fn account_by_email(&self, email: &str) -> Result<Option<Account>, StoreError> {
        let email = folded_email(email);
        // PostgreSQL takes no NUL.
        match email.contains(char::is_control) {
            false => self.account_where("email = $1", &email).await,
            true => Ok(None),
        }
    }

    async fn account_where(
        &self,
        condition: &'static str,
        value: &str,
    ) -> Result<Option<Account>, StoreError> {
        let sql =
            format!("select {COLUMNS} from accounts where {condition} and deleted_us is null");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(value)
            .fetch_optional(self.read())
            .await?)
    }

    /// Accounts by age, after the id `after`.
    pub async fn list_accounts(
        &self,
        after: Option<&AccountId>,
        limit: i64,
    ) -> Result<Vec<Account>, StoreError> {
        let sql = format!(
            "select {COLUMNS} from accounts where id > $1 and deleted_us is null order by id limit $2"
        );
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(after.map_or("", AccountId::as_str))
            .bind(limit.clamp(1, 1000))
            .fetch_all(self.read())
            .await?)
    }

    /// Confirms without a token: for the command line and the demonstration.
    pub async fn confirm_account_by_id(&self, account_id: &AccountId) -> Result<(), StoreError> {
        let done = sqlx::query(
            "update accounts set confirmed_us = coalesce(confirmed_us, $2) where id = $1 and deleted_us is null",
        )
        .bind(account_id)
        .bind(now_us())
        .execute(self.write())
        .await?;
        self.inner.keys.clear();
        found(&done, "account")
    }

    /// Changes the password; ends every session but the one named, and the links that set a new one.
    pub async fn set_password(
        &self,
        account_id: &AccountId,
        password_hash: &str,
        keep_session: Option<&SessionId>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        let done = sqlx::query(
            "update accounts set password_hash = $2 where id = $1 and deleted_us is null",
        )
        .bind(account_id)
        .bind(password_hash)
        .execute(&mut *tx)
        .await?;
        found(&done, "account")?;
        // Whoever has an older link in their mail must not set another one.
        sqlx::query("delete from one_use_tokens where account_id = $1 and purpose = $2")
            .bind(account_id)
            .bind(TokenPurpose::Reset)
            .execute(&mut *tx)
            .await?;
        sqlx::query("delete from sessions where account_id = $1 and id <> $2")
            .bind(account_id)
            .bind(keep_session.map_or("", SessionId::as_str))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn rename_account(
        &self,
        account_id: &AccountId,
        name: &str,
    ) -> Result<(), StoreError> {
        let done =
            sqlx::query("update accounts set name = $2 where id = $1 and deleted_us is null")
                .bind(account_id)
                .bind(check_text("name", name, 0, 200)?)
                .execute(self.write())
                .await?;
        found(&done, "account")
    }

    /// An operator may credit workspaces from the console.
    pub async fn set_operator(
        &self,
        account_id: &AccountId,
        operator: bool,
    ) -> Result<(), StoreError> {
        let done =
            sqlx::query("update accounts set operator = $2 where id = $1 and deleted_us is null")
                .bind(account_id)
                .bind(i64::from(operator))
                .execute(self.write())
                .await?;
        found(&done, "account")
    }

    /// Forgets a person: address, name, password, sessions, memberships and invitations. A workspace that nobody else is in is
    /// closed, its keys are revoked and its name, words and webhooks go; its ledger stays. Refused for the only owner of a shared workspace, and while a
    /// workspace that would be closed holds money, unless that is given up.
    pub async fn delete_account(
        &self,
        account_id: &AccountId,
        gives_up_money: bool,
    ) -> Result<(), StoreError> {
        let now = now_us();
        let mut tx = self.begin_write().await?;
        self.overwrite_deleted(&mut tx, "on").await?;
        let memberships: Vec<(WorkspaceId, Role)> = sqlx::query_as(
            "select workspace_id, role from members where account_id = $1 order by workspace_id",
        )
        .bind(account_id)
        .fetch_all(&mut *tx)
        .await?;
        for (workspace_id, role) in memberships {
            self.lock_workspace(&mut tx, &workspace_id).await?;
            let (others, other_owners): (i64, i64) = sqlx::query_as(
                "select count(*), count(case when role = 'owner' then 1 end)
                 from members where workspace_id = $1 and account_id <> $2",
            )
            .bind(&workspace_id)
            .bind(account_id)
            .fetch_one(&mut *tx)
            .await?;
            if others > 0 && role == Role::Owner && other_owners == 0 {
                return Err(StoreError::Refused(
                    "hand the workspace to another owner first",
                ));
            }
            if others == 0 {
                let left: Option<(i64,)> = sqlx::query_as(
                    "select b.available_micro + b.reserved_micro from balances b join workspaces w on w.id = b.workspace_id
                     where w.id = $1 and w.closed_us is null and b.available_micro + b.reserved_micro > 0",
                )
                .bind(&workspace_id)
                .fetch_optional(&mut *tx)
                .await?;
                if let Some((left_micro,)) = left.filter(|_| !gives_up_money) {
                    return Err(StoreError::MoneyLeft {
                        workspace_id,
                        left_micro,
                    });
                }
                for close in [
                    // It may bear the person's name.
                    "update workspaces set name = id, closed_us = coalesce(closed_us, $2) where id = $1",
                    "update api_keys set revoked_us = $2 where workspace_id = $1 and revoked_us is null",
                ] {
                    sqlx::query(close)
                        .bind(&workspace_id)
                        .bind(now)
                        .execute(&mut *tx)
                        .await?;
                }
                for forget in [
                    "delete from invites where workspace_id = $1",
                    "update api_keys set name = '' where workspace_id = $1",
                    // Their targets are words.
                    "update audit set target = '' where workspace_id = $1
                       and (action like 'lexicon.%' or action like 'vocabulary.%')",
                    // Deleted at the next turn; a running one, some time after its end.
                    "update batches set expires_us = 0 where workspace_id = $1 and state <> 'running'",
                    "delete from vocabularies where workspace_id = $1",
                    "delete from lexicon where workspace_id = $1",
                    "delete from webhook_deliveries where workspace_id = $1",
                    "delete from webhook_endpoints where workspace_id = $1",
                ] {
                    sqlx::query(forget)
                        .bind(&workspace_id)
                        .execute(&mut *tx)
                        .await?;
                }
            }
        }
        for forget in [
            "delete from invites where email = (select email from accounts where id = $1)",
            "delete from invites where invited_by = $1 and accepted_us is null",
            // Failed sign-ins name the network address they came from.
            "update audit set target = '' where actor = $1 and action = 'sign_in.failed'",
            "delete from members where account_id = $1",
            "delete from sessions where account_id = $1",
            "delete from one_use_tokens where account_id = $1",
        ] {
            sqlx::query(forget)
                .bind(account_id)
                .execute(&mut *tx)
                .await?;
        }
        let done = sqlx::query(
            "update accounts set email = id, name = '', password_hash = '', operator = 0, deleted_us = $2
             where id = $1 and deleted_us is null",
        )
        .bind(account_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        found(&done, "account")?;
        self.overwrite_deleted(&mut tx, "fast").await?;
        tx.commit().await?;
        self.inner.keys.clear();
        Ok(())
    }

    /// SQLite: whole pages too, or only rows on pages that are written anyway.
    async fn overwrite_deleted(&self, tx: &mut Tx, how: &str) -> Result<(), StoreError> {
        if self.backend() == Backend::Sqlite {
            let pragma = format!("pragma secure_delete = {how}");
            sqlx::query(sqlx::AssertSqlSafe(pragma))
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_lower_cased_and_nonsense_is_refused() {
        assert_eq!(
            parse_email("  Asha@Example.COM ").unwrap(),
            "asha@example.com"
        );
        for right in ["o'neil+m-pesa@duka.co.ke", "a@b", "fátima@exämple.com"] {
            assert_eq!(parse_email(right).unwrap(), right);
        }
        let full_width = "asha@\u{ff25}xample\u{ff0e}com";
        assert_eq!(parse_email(full_width).unwrap(), "asha@example.com");
        for wrong in [
            "",
            "asha",
            "@x",
            "a@",
            "a@b@c",
            "a b@c",
            "a@.c",
            "a@c.",
            "a\0@c",
            "x<asha@example.com>",
            "\"x\"<asha@example.com>",
            "\"a b\"@c",
            "a..b@c",
            ".a@c",
            "a,b@c",
            "a(b)@c",
            "a\u{202e}b@c",
            "a@b..c",
            "a@-b.c",
            "a@[10.0.0.1]",
        ] {
            assert!(parse_email(wrong).is_err(), "{wrong:?}");
        }
    }
}
