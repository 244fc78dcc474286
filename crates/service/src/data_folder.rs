//! The data folder is for its owner only: it holds addresses, password hashes, letters and recordings.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::Mode;

use crate::config::Config;

/// Makes the folder, and closes to others what an older program left open in it. Whatever this process writes from now on
/// (database, letters, backups) is for its owner only, whatever umask it was started with.
pub fn prepare(config: &Config) -> anyhow::Result<()> {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let dir = &config.data.dir;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot make the data folder {}", dir.display()))?;
    make_private(dir);
    if let Some(database) = config.database_file() {
        for file in with_log_files(&database) {
            make_private(&file);
        }
    }
    Ok(())
}

/// SQLite's write-ahead log takes the mode of its database, but only when it is made.
fn with_log_files(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Leaves alone what is not there or not ours, such as a volume that the platform mounts.
fn make_private(path: &Path) {
    let Ok(found) = path.metadata() else { return };
    let mode = found.mode() & 0o7777;
    if mode & 0o077 == 0 || found.uid() != rustix::process::geteuid().as_raw() {
        return;
    }
    let private = Permissions::from_mode(mode & 0o7700);
    if let Err(error) = std::fs::set_permissions(path, private) {
        tracing::warn!(%error, path = %path.display(), "others may read this");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_program_left_open_is_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("data");
        let config = Config::with_overrides(&[("data.dir", dir.to_str().unwrap())]).unwrap();
        prepare(&config).unwrap();
        let database = config.database_file().unwrap();
        std::fs::write(&database, "").unwrap();
        let open = |path: &Path, mode| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        open(&dir, 0o755);
        open(&database, 0o644);
        prepare(&config).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&database)), (0o700, 0o600));
        let letter = dir.join("letter");
        std::fs::write(&letter, "").unwrap();
        assert_eq!(mode(&letter), 0o600);
    }
}
