//! Where things lie once every "empty means" of the settings is resolved.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use super::Config;

impl Config {
    /// The base of links, without a slash at its end.
    pub fn public_url(&self) -> String {
        if self.server.public_url.is_empty() {
            format!("http://{}", self.server.listen)
        } else {
            self.server.public_url.trim_end_matches('/').to_owned()
        }
    }

    pub fn database_url(&self) -> SecretString {
        if !self.database.url.expose_secret().is_empty() {
            return self.database.url.clone();
        }
        let dir = std::path::absolute(&self.data.dir).unwrap_or_else(|_| self.data.dir.clone());
        SecretString::from(format!("sqlite://{}", dir.join("sauti.db").display()))
    }

    /// The database's file, where it is one.
    pub fn database_file(&self) -> Option<PathBuf> {
        let url = self.database_url();
        let path = url.expose_secret().strip_prefix("sqlite://")?;
        Some(path.split('?').next().unwrap_or(path).into())
    }

    pub(crate) fn cache_dir(&self) -> PathBuf {
        self.cache
            .dir
            .clone()
            .unwrap_or_else(|| self.data.dir.join("cache"))
    }

    pub fn outbox_dir(&self) -> PathBuf {
        self.mail
            .outbox_dir
            .clone()
            .unwrap_or_else(|| self.data.dir.join("outbox"))
    }

    /// The first folder that holds models; `./models` where none does, so that the error names it.
    pub fn models_dir(&self) -> PathBuf {
        let variable = std::env::var_os("SAUTI_MODELS").filter(|v| !v.is_empty());
        if let Some(named) = self.models.dir.clone().or(variable.map(PathBuf::from)) {
            return named;
        }
        let program = std::env::current_exe().unwrap_or_default();
        find_models(Path::new("."), &program).unwrap_or_else(|| PathBuf::from("models"))
    }
}

/// Looks in the working folder, then beside the program and in the folders above it, which finds
/// the models of a checkout from target/debug as well as those of an unpacked release.
fn find_models(working_dir: &Path, program: &Path) -> Option<PathBuf> {
    let beside = program
        .ancestors()
        .skip(1)
        .take(4)
        .map(|dir| dir.join("models"));
    let installed = program
        .parent()
        .and_then(Path::parent)
        .map(|prefix| prefix.join("share").join("sauti").join("models"));
    std::iter::once(working_dir.join("models"))
        .chain(beside)
        .chain(installed)
        .find(|dir| dir.join("voices").is_dir() || dir.join("recogniser").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_the_working_folder_go_before_those_beside_the_program() {
        let root = tempfile::tempdir().unwrap();
        let (here, there) = (root.path().join("here"), root.path().join("there"));
        std::fs::create_dir_all(there.join("models/voices")).unwrap();
        std::fs::create_dir_all(here.join("models")).unwrap();
        let program = there.join("target/debug/sauti");

        assert_eq!(find_models(&here, &program), Some(there.join("models")));
        std::fs::create_dir_all(here.join("models/recogniser")).unwrap();
        assert_eq!(find_models(&here, &program), Some(here.join("models")));
    }
}
