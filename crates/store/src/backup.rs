//! A whole copy of a SQLite database while it is in use, and the way back. PostgreSQL has tools of its own for both.

use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use sqlx::{AnyConnection, Connection};

use crate::StoreError;
use crate::database::{Backend, Target};
use crate::folder::{folder_of, owned_like_folder, with_ending};
use crate::ids::now_us;
use crate::instances::is_in_use;

/// Writes a checked copy of the database of `url` to `file`, which must not exist. Readers and writers go on meanwhile; the
/// copy holds what was committed when it began, in the tables as they are. A copy that fails leaves nothing behind.
pub async fn backup(url: &str, file: &Path) -> Result<(), StoreError> {
    let target = Target::parse(url)?;
    if target.backend() == Backend::Postgres {
        return Err(StoreError::Refused("PostgreSQL is backed up with pg_dump"));
    }
    if file.exists() {
        return Err(failed(file, "there is such a file already"));
    }
    let folder = File::open(folder_of(file)).map_err(|error| failed(file, error))?;
    if let Err(TryLockError::WouldBlock) = folder.try_lock() {
        return Err(failed(
            file,
            "another copy is being written into its folder",
        ));
    }
    let part = folder_of(file).join(part_of(&target));
    remove_part(&part);
    let done = copy_to(&target, file, &part).await;
    if done.is_err() {
        remove_part(&part);
    }
    done
}

/// One name for each database, so that its next copy clears away what one that was killed left.
fn part_of(target: &Target) -> String {
    let mut hasher = DefaultHasher::new();
    target.url_of_existing().hash(&mut hasher);
    format!(".sauti-backup-{:016x}.part", hasher.finish())
}

async fn copy_to(target: &Target, file: &Path, part: &Path) -> Result<(), StoreError> {
    let path = part
        .to_str()
        .ok_or_else(|| failed(file, "the name must be UTF-8"))?;
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&target.url_of_existing()).await?;
    sqlx::query("vacuum into $1")
        .bind(path)
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    check_file(part).await?;
    let moved = File::open(part)
        .and_then(|copy| copy.sync_all())
        .and_then(|()| fs::rename(part, file))
        .and_then(|()| sync_folder(file));
    moved.map_err(|error| failed(file, error))
}

fn remove_part(part: &Path) {
    fs::remove_file(part).ok();
    fs::remove_file(with_ending(part, "-journal")).ok();
}

/// Puts a copy in the place of the database of `url`, which no process may be using. What stood there is kept beside it;
/// returns where, if there was something.
pub async fn restore(url: &str, copy: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Target::Sqlite { file, .. } = Target::parse(url)? else {
        return Err(StoreError::Refused(
            "PostgreSQL is restored with pg_restore",
        ));
    };
    check_file(copy).await?;
    if is_in_use(&file) {
        return Err(StoreError::Refused(
            "a process is using the database: stop it first",
        ));
    }
    put_in_place(copy, &file).map_err(|error| failed(&file, error))
}

fn put_in_place(copy: &Path, file: &Path) -> std::io::Result<Option<PathBuf>> {
    let fresh = with_ending(file, "-restore");
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(copy, &fresh)?;
    owned_like_folder(&fresh)?;
    File::open(&fresh)?.sync_all()?;
    let mut kept = None;
    if file.exists() {
        kept = Some(set_aside(file, "before")?);
    }
    fs::rename(&fresh, file)?;
    sync_folder(file)?;
    Ok(kept)
}

/// Gives a database another name beside its old one, and its log with it, which would be replayed into a file that took its
/// place.
pub(crate) fn set_aside(file: &Path, why: &str) -> std::io::Result<PathBuf> {
    let aside = with_ending(file, &format!("-{why}-{}", now_us()));
    for ending in ["-wal", "-shm"] {
        let log = with_ending(file, ending);
        if log.exists() {
            fs::rename(&log, with_ending(&aside, ending))?;
        }
    }
    fs::rename(file, &aside)?;
    sync_folder(file)?;
    Ok(aside)
}

/// Whether every page of the file is sound and it holds our tables.
async fn check_file(file: &Path) -> Result<(), StoreError> {
    if !file.is_file() {
        return Err(failed(file, "there is no such file"));
    }
    let unsound =
        |error: sqlx::Error| failed(file, format!("is no sound copy of a database: {error}"));
    sqlx::any::install_default_drivers();
    let Target::Sqlite { url, .. } = Target::parse(&format!("sqlite://{}", file.display()))? else {
        return Err(failed(file, "is no file"));
    };
    let mut connection = AnyConnection::connect(&url.replace("mode=rwc", "mode=ro"))
        .await
        .map_err(unsound)?;
    let (verdict,): (String,) = sqlx::query_as("pragma integrity_check(1)")
        .fetch_one(&mut connection)
        .await
        .map_err(unsound)?;
    sqlx::query("select count(*) from balances")
        .execute(&mut connection)
        .await
        .map_err(unsound)?;
    connection.close().await.map_err(unsound)?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(failed(file, format!("is damaged: {verdict}"))),
    }
}

fn sync_folder(file: &Path) -> std::io::Result<()> {
    File::open(folder_of(file))?.sync_all()
}

fn failed(file: &Path, why: impl std::fmt::Display) -> StoreError {
    StoreError::Open(format!("{}: {why}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, chown};

    use super::*;

    #[test]
    fn what_root_makes_belongs_to_the_owner_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        fs::write(&copy, "a database").unwrap();
        let is_root = fs::metadata(&copy).unwrap().uid() == 0;
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        if is_root {
            chown(&data, Some(1234), Some(1235)).unwrap();
        }
        let (file, wanted) = (data.join("sauti.db"), fs::metadata(&data).unwrap());
        put_in_place(&copy, &file).unwrap();
        drop(crate::instances::lock_for_migration(&file).unwrap());
        for made in [
            "sauti.db",
            "sauti.db-processes",
            "sauti.db-processes/migration",
        ] {
            let found = fs::metadata(data.join(made)).unwrap();
            assert_eq!(
                (found.uid(), found.gid()),
                (wanted.uid(), wanted.gid()),
                "{made}"
            );
        }
        assert_eq!(folder_of(Path::new("b.db")), Path::new("."));
    }
}
