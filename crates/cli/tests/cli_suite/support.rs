//! Runs the program itself, as a user would.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a finished command said.
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Said {
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("JSON on standard output")
    }

    /// What standard error says of a failure.
    pub fn failure(self) -> String {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        self.err
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// In `folder`, with the models of the checkout and none of the caller's settings.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sauti"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SAUTI_") {
            command.env_remove(name);
        }
    }
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    command
        .current_dir(folder)
        .env("SAUTI_MODELS", models)
        .stdin(Stdio::null());
    // The same tests through a queue, where one is named; each folder has a stream of its own.
    if let Ok(url) = std::env::var("SAUTI_TEST_NATS_URL") {
        let name: String = folder.display().to_string();
        let stream: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        command
            .env("SAUTI_NATS__URL", url)
            .env("SAUTI_NATS__STREAM", stream);
    }
    command
}

pub fn sauti(folder: &Path, args: &[&str]) -> Said {
    command(folder)
        .args(args)
        .output()
        .expect("the program starts")
        .into()
}

pub fn sauti_with_input(folder: &Path, args: &[&str], input: &[u8]) -> Said {
    let mut child = command(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input)
        .expect("input is taken");
    child.wait_with_output().expect("the program ends").into()
}

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}
