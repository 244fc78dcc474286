//! The store, for commands about accounts and money. They may run beside a running server.

use anyhow::{Context, bail};
use sauti_service::config::Config;
use sauti_service::data_folder;
use sauti_store::{Account, Environment, Store};
use secrecy::{ExposeSecret, SecretString};

use super::Common;
use crate::offline;

/// What the audit trail names as the one who did it.
pub(super) const ACTOR: &str = "cli";

/// Opens the store that is there, runs the work and closes the store whatever came of it. A mistyped folder must not
/// pass for a service without accounts, of which a copy could be made.
pub(super) fn with_store<T>(
    common: &Common,
    work: impl AsyncFnOnce(&Store, &Config) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    existing(common)?;
    with_new_store(common, work)
}

/// The same for commands that only look: the tables may be those of an older program that is running on them.
pub(super) fn with_store_as_it_is<T>(
    common: &Common,
    work: impl AsyncFnOnce(&Store, &Config) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let config = existing(common)?;
    let state = offline::block_on(async {
        let url = config.database_url();
        sauti_store::migration_state(url.expose_secret()).await
    })?;
    let pending = state.context("cannot open the data store")?.pending;
    if pending > 0 {
        bail!(
            "{}: look with the program that runs on it, or start this one",
            pending_migrations(pending)
        );
    }
    with_store(common, work)
}

pub(super) fn pending_migrations(pending: usize) -> String {
    match pending {
        1 => "the database is older than this program: 1 migration is pending".to_owned(),
        _ => format!("the database is older than this program: {pending} migrations are pending"),
    }
}

/// The settings, where the database that they name is there.
pub(super) fn existing(common: &Common) -> anyhow::Result<Config> {
    let config = common.load()?;
    if let Some(file) = config.database_file().filter(|file| !file.exists()) {
        bail!(
            "there is no database {}: name its folder with --data",
            file.display()
        );
    }
    Ok(config)
}

/// The same for commands that a service begins with: the store is made where there is none.
pub(super) fn with_new_store<T>(
    common: &Common,
    work: impl AsyncFnOnce(&Store, &Config) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let config = common.load()?;
    offline::block_on(async {
        let store = open(&config).await?;
        let result = work(&store, &config).await;
        store.close().await?;
        result
    })?
}

pub(super) async fn open(config: &Config) -> anyhow::Result<Store> {
    data_folder::prepare(config)?;
    let url = config.database_url();
    Store::open(url.expose_secret())
        .await
        .context("cannot open the data store")
}

/// What new keys are made for.
pub(super) fn key_environment(config: &Config) -> anyhow::Result<Environment> {
    config.keys.environment.parse().context("keys.environment")
}

/// An account by its id or its e-mail address.
pub(super) async fn find_account(store: &Store, named: &str) -> anyhow::Result<Account> {
    if let Ok(account_id) = named.parse() {
        return Ok(store.account(&account_id).await?);
    }
    store
        .account_by_email(named)
        .await?
        .with_context(|| format!("there is no account {named}"))
}

pub(super) async fn hash_password(password: SecretString) -> anyhow::Result<String> {
    let hashing = tokio::task::spawn_blocking(move || sauti_store::password::hash(&password));
    Ok(hashing.await.context("hashing broke off")??)
}

/// Twenty letters and digits: 116 random bits.
pub(super) fn random_password() -> anyhow::Result<SecretString> {
    const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    // Bytes past the last full round would favour the first letters.
    let fair = 256 / LETTERS.len() * LETTERS.len();
    let mut password = String::new();
    let mut bytes = [0u8; 64];
    while password.len() < 20 {
        getrandom::fill(&mut bytes).context("no random numbers from the system")?;
        let letters = bytes.iter().map(|byte| usize::from(*byte));
        let letters = letters.filter(|byte| *byte < fair);
        password.extend(letters.map(|byte| char::from(LETTERS[byte % LETTERS.len()])));
    }
    password.truncate(20);
    Ok(password.into())
}
