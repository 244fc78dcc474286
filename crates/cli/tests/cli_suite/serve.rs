//! The service as a process: the demonstration, its address, its end.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use crate::support::{command, folder, sauti};

pub struct Service {
    child: Child,
    shown: String,
    /// Read as it comes: a pipe that nobody empties holds a few hundred lines and no more.
    log: Option<JoinHandle<String>>,
}

impl Service {
    /// Started on a free port; returns when the instructions are complete.
    pub fn start(folder: &Path) -> Self {
        let mut child = command(folder)
            .args([
                "serve",
                "--demo",
                "--data",
                "data",
                "--listen",
                "127.0.0.1:0",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut err = child.stderr.take().expect("a pipe");
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            err.read_to_end(&mut log).expect("a log");
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut shown = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        while shown.matches("\n  curl ").count() < 2 || !shown.ends_with('\n') {
            if out.read_line(&mut shown).expect("text") == 0 {
                panic!("the service ended: {shown}{}", log.join().unwrap());
            }
        }
        Self {
            child,
            shown,
            log: Some(log),
        }
    }

    pub fn value(&self, name: &str) -> String {
        let line = self
            .shown
            .lines()
            .find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.shown))
            .trim()
            .to_owned()
    }

    /// Ends it as a service manager does; hands back its log.
    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .expect("kill runs")
                .success()
        );
        let log = self.log.take().expect("a log").join().unwrap();
        assert!(self.child.wait().expect("it ends").success(), "{log}");
        log
    }
}

/// What the service answers to the demonstration's key.
pub fn curl(folder: &Path, service: &Service, path: &str, more: &[&str]) -> String {
    let key = format!("Authorization: Bearer {}", service.value("API key"));
    let url = service.value("Console").replace("/console", path);
    let run = Command::new("curl")
        .args(["-sS", "--max-time", "60", "-H", &key, &url])
        .args(more)
        .current_dir(folder)
        .output()
        .expect("curl runs");
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).expect("text")
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn the_demonstration_speaks_and_hears_with_the_lines_it_prints() {
    let folder = folder();
    let service = Service::start(folder.path());
    let key = service.value("API key");
    assert!(service.value("Console").ends_with("/console"));
    let mut answers = Vec::new();
    for line in service
        .shown
        .lines()
        .filter(|line| line.starts_with("  curl "))
    {
        let run = Command::new("sh")
            .args(["-c", line])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        answers.push(String::from_utf8_lossy(&run.stdout).into_owned());
    }
    assert_eq!(
        &std::fs::read(folder.path().join("karibu.wav")).unwrap()[..4],
        b"RIFF"
    );
    let heard: serde_json::Value = serde_json::from_str(&answers[1]).unwrap();
    assert!(
        heard["text"]
            .as_str()
            .unwrap()
            .to_lowercase()
            .contains("kiswahili"),
        "{heard}"
    );

    // Another command works on the same data meanwhile, and both requests were paid for.
    let workspace = service.value("Workspace");
    let statement = sauti(
        folder.path(),
        &[
            "workspace",
            "statement",
            &workspace,
            "--csv",
            "--data",
            "data",
        ],
    );
    assert_eq!(statement.ok().lines().count(), 4);
    let log = service.stop();
    assert!(!log.contains(&key) && !log.contains("Leo ni siku"), "{log}");
    assert!(
        sauti(folder.path(), &["ledger", "check", "--data", "data"])
            .ok()
            .contains("add up")
    );

    let again = Service::start(folder.path());
    assert_eq!(again.value("API key"), key);
    again.stop();
}

#[test]
fn a_taken_port_is_named() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = sauti(
        folder.path(),
        &["serve", "--data", "data", "--listen", &address],
    )
    .failure();
    assert!(said.contains(&address), "{said}");
}

#[test]
fn the_doctor_finds_a_damaged_model_and_leaves_nothing_behind() {
    let folder = folder();
    let models = folder.path().join("models/voices");
    std::fs::create_dir_all(&models).unwrap();
    let manifest = r#"{"format": "sauti-voices-1", "model_version": "1", "files": {"w.bin": {"bytes": 3, "crc32": "352441c2", "sha256": "00"}}}"#;
    std::fs::write(models.join("manifest.json"), manifest).unwrap();
    std::fs::write(models.join("w.bin"), b"abc").unwrap();
    let said = sauti(
        folder.path(),
        &["doctor", "--quick", "--models", "models", "--data", "data"],
    );
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(
        said.out.contains("fail  models")
            && said.out.contains("w.bin")
            && said.out.contains("SHA-256"),
        "{}",
        said.out
    );
    assert!(!folder.path().join("data").exists());
}
