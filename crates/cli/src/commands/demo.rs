//! `sauti serve --demo`: everything needed for a first try, made once and shown at every start.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sauti_service::config::Config;
use sauti_speech::voice::VoiceInfo;
use sauti_store::{AccountId, Permissions, Store, WorkspaceId};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::bootstrap;

const EMAIL: &str = "demo@sauti.localhost";
const CREDIT_MICRO: i64 = 1_000_000_000;
const SENTENCE: &str = "Karibu sana. Leo ni siku njema ya kusema Kiswahili.";

/// Kept in the data folder, readable by its owner only: the demonstration's key is made to be
/// shown again, unlike any other.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Demo {
    email: String,
    password: String,
    account_id: AccountId,
    workspace_id: WorkspaceId,
    api_key: String,
}

/// What is there already, or a new demonstration where the data folder holds no accounts yet.
/// `None` where it holds real ones.
pub(super) async fn prepare(store: &Store, config: &Config) -> anyhow::Result<Option<Demo>> {
    let path = file(config);
    if let Some(demo) = read(&path)? {
        return Ok(Some(demo));
    }
    if !store.list_accounts(None, 1).await?.is_empty() {
        return Ok(None);
    }
    let permissions = Permissions::all();
    let tenant = bootstrap::make(store, config, EMAIL, "Demo", CREDIT_MICRO, permissions).await?;
    store.set_operator(&tenant.account_id, true).await?;
    let demo = Demo {
        email: EMAIL.to_owned(),
        password: tenant.password.expose_secret().to_owned(),
        account_id: tenant.account_id,
        workspace_id: tenant.workspace_id,
        api_key: tenant.api_key.expose_secret().to_owned(),
    };
    write(&path, &demo).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(demo))
}

fn file(config: &Config) -> PathBuf {
    config.data.dir.join("demo.json")
}

fn read(path: &Path) -> anyhow::Result<Option<Demo>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let demo = serde_json::from_reader(std::io::BufReader::new(file));
    Ok(Some(demo.with_context(|| {
        format!("{} is damaged", path.display())
    })?))
}

fn write(path: &Path, demo: &Demo) -> anyhow::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&serde_json::to_vec_pretty(demo)?)?;
    file.sync_all()?;
    Ok(())
}

impl Demo {
    /// What to try, ready to paste. The second line transcribes what the first one said.
    pub(super) fn instructions(&self, base_url: &str, voice: Option<&VoiceInfo>) -> String {
        let voice_id = voice.map_or("asha", |voice| &voice.voice_id);
        let Self {
            email,
            password,
            workspace_id,
            api_key,
            ..
        } = self;
        format!(
            "Sauti is ready to try.

  API key    {api_key}
  Console    {base_url}/console
  Sign in    {email}
  Password   {password}
  Workspace  {workspace_id}

Speak into karibu.wav:

  curl -sS -o karibu.wav {base_url}/v1/audio/speech -H 'Authorization: Bearer {api_key}' -H 'Content-Type: application/json' -d '{{\"text\": \"{SENTENCE}\", \"voice_id\": \"{voice_id}\"}}'

Transcribe karibu.wav:

  curl -sS {base_url}/v1/audio/transcriptions -H 'Authorization: Bearer {api_key}' -F file=@karibu.wav
"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_for_its_owner_only_and_reads_back() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("demo.json");
        assert!(read(&path).unwrap().is_none());
        let demo = Demo {
            email: EMAIL.into(),
            password: "p".into(),
            account_id: "acc_1".parse().unwrap(),
            workspace_id: "ws_1".parse().unwrap(),
            api_key: "sauti_live_k".into(),
        };
        write(&path, &demo).unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let shown = read(&path)
            .unwrap()
            .unwrap()
            .instructions("http://localhost:1", None);
        assert!(
            shown.contains("-H 'Authorization: Bearer sauti_live_k'"),
            "{shown}"
        );
        assert_eq!(shown.matches("\n  curl ").count(), 2, "{shown}");
    }
}
