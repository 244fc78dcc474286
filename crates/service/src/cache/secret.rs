//! The secret that names of cached sounds are hashed with: without it, nobody can find out by
//! trying texts whether one of them was spoken here.
//!
//! A process on its own keeps it in the data folder. Processes that share a cache through Valkey
//! must come to the same names: they derive it from what they share already, the address of
//! Valkey with its password.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::CacheKey;

const FILE: &str = "cache.key";
const BYTES: usize = 32;

pub(crate) struct CacheSecret(Hmac<Sha256>);

impl CacheSecret {
    pub(crate) fn load(
        data_dir: &Path,
        valkey_url: Option<&SecretString>,
    ) -> io::Result<CacheSecret> {
        let secret: [u8; BYTES] = match valkey_url {
            Some(url) => {
                let mut digest = Sha256::new_with_prefix("sauti speech cache\n");
                digest.update(url.expose_secret());
                digest.finalize().into()
            }
            None => read_or_make(&data_dir.join(FILE))?,
        };
        let mac = Hmac::new_from_slice(&secret).map_err(io::Error::other)?;
        Ok(CacheSecret(mac))
    }

    /// What a sound is called on disk and in Valkey.
    pub(crate) fn name(&self, key: &CacheKey) -> CacheKey {
        let mut mac = self.0.clone();
        mac.update(&key.0);
        CacheKey(mac.finalize().into_bytes().into())
    }
}

impl std::fmt::Debug for CacheSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CacheSecret")
    }
}

/// Another process may make it at the same time: whoever comes first made it for both.
fn read_or_make(path: &Path) -> io::Result<[u8; BYTES]> {
    if let Ok(bytes) = std::fs::read(path)
        && let Ok(secret) = bytes.try_into()
    {
        return Ok(secret);
    }
    let mut secret = [0; BYTES];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().make_in(folder, |beside| {
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(beside)
    })?;
    file.write_all(&secret)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(secret),
        Err(_) => match std::fs::read(path)?.try_into() {
            Ok(secret) => Ok(secret),
            Err(_) => Err(io::Error::other(format!(
                "{} is damaged; delete it and the cache with it",
                path.display()
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_made_once_and_only_its_owner_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let key = CacheKey::of(&[b"habari"]);
        let first = CacheSecret::load(dir.path(), None).unwrap().name(&key);
        let again = CacheSecret::load(dir.path(), None).unwrap().name(&key);
        assert_eq!(first, again);
        assert_ne!(first, key);
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let elsewhere = tempfile::tempdir().unwrap();
        let other = CacheSecret::load(elsewhere.path(), None).unwrap();
        assert_ne!(other.name(&key), first);
    }

    #[test]
    fn processes_that_share_valkey_come_to_the_same_names() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let url = SecretString::from("redis://:siri@valkey:6379");
        let name = |dir: &Path| {
            let secret = CacheSecret::load(dir, Some(&url)).unwrap();
            secret.name(&CacheKey::of(&[b"habari"]))
        };
        assert_eq!(name(here.path()), name(there.path()));
    }
}
