//! Model files that are missing, damaged or of another version name themselves and the remedy.

use std::fs;
use std::path::{Path, PathBuf};

use sauti_speech::SpeechError;
use sauti_speech::voice::{Synthesiser, catalogue};

const FILES: [&str; 4] = [
    "catalogue.json",
    "manifest.json",
    "symbols.json",
    "voices.safetensors",
];

/// A copy of the models that a test may damage; gone when dropped.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("sauti-voices-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("voices")).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/voices");
        for file in FILES {
            fs::copy(source.join(file), folder.join("voices").join(file)).unwrap();
        }
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join("voices").join(name)
    }

    fn error(&self) -> String {
        match Synthesiser::load(&self.0) {
            Err(SpeechError::Model(message)) => message,
            other => panic!("loaded: {other:?}"),
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whole_files_load() {
    let copy = Copy::new("whole");
    assert_eq!(Synthesiser::load(&copy.0).unwrap().voices().len(), 4);
}

#[test]
fn a_flipped_bit_is_found() {
    let copy = Copy::new("flipped");
    let path = copy.file("voices.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = copy.error();
    assert!(
        error.contains("voices.safetensors") && error.contains("CRC-32"),
        "{error}"
    );
}

#[test]
fn a_cut_off_file_is_found() {
    let copy = Copy::new("cut");
    let path = copy.file("voices.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(copy.error().contains("bytes instead of"));
}

#[test]
fn a_missing_file_is_named() {
    for file in FILES {
        let copy = Copy::new(&format!("missing-{file}"));
        fs::remove_file(copy.file(file)).unwrap();
        let error = copy.error();
        assert!(error.contains(file), "{error}");
    }
}

#[test]
fn a_manifest_of_another_format_is_refused() {
    let copy = Copy::new("format");
    let path = copy.file("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, manifest.replace("sauti-voices-1", "sauti-voices-9")).unwrap();
    assert!(copy.error().contains("sauti-voices-9"));
}

#[test]
fn a_catalogue_of_another_model_is_refused() {
    let copy = Copy::new("catalogue");
    let path = copy.file("catalogue.json");
    let text = fs::read_to_string(&path).unwrap();
    let version = catalogue(&copy.0).unwrap()[0].model_version.clone();
    fs::write(
        &path,
        text.replace(&format!("\"{version}\""), "\"0.0.0-other\""),
    )
    .unwrap();
    assert!(copy.error().contains("asha"));
}
