//! The folder that an SQLite database lies in.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

/// What root leaves in the service's folder must not keep the service from opening it.
pub(crate) fn owned_like_folder(made: &Path) -> std::io::Result<()> {
    let folder = fs::metadata(folder_of(made))?;
    match fs::metadata(made)?.uid() == 0 && folder.uid() != 0 {
        true => chown(made, Some(folder.uid()), Some(folder.gid())),
        false => Ok(()),
    }
}

pub(crate) fn folder_of(file: &Path) -> &Path {
    let folder = file.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    file.with_file_name(name)
}
