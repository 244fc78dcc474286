use std::path::{Path, PathBuf};

use sauti_audio::{DecodeLimits, OutputFormat, decode_bytes, encode, loudness, pcm};
use serde_json::json;

use super::key::{self, ANCHOR, Trial, TrialKind};
use super::results::Report;
use super::{make, results};

const SENTENCES: usize = 6;

fn clip(path: &Path, hz: f32, loudness: f32) {
    let wave = |n: u32| (n as f32 * hz * std::f32::consts::TAU / 24_000.0).sin() * loudness;
    let samples: Vec<f32> = (0..24_000).map(wave).collect();
    let wav = encode(&samples, 24_000, OutputFormat::Wav24000).unwrap();
    std::fs::write(path, wav).unwrap();
}

/// Two systems, one much louder, and a page of their pairs.
fn made(folder: &Path, one_file: bool) -> make::Options {
    let mut list = "text\tours\ttheirs\n".to_owned();
    for n in 0..SENTENCES {
        clip(&folder.join(format!("ours-{n}.wav")), 300.0, 0.5);
        clip(&folder.join(format!("theirs-{n}.wav")), 400.0, 0.02);
        list += &format!("Habari </script> {n}\tours-{n}.wav\ttheirs-{n}.wav\n");
    }
    std::fs::write(folder.join("pairs.tsv"), list).unwrap();
    let options = make::Options {
        pairs: folder.join("pairs.tsv"),
        voices: Vec::new(),
        folder: folder.join("page"),
        key: folder.join("page.key.tsv"),
        scores: true,
        one_file,
        seed: 5,
    };
    assert_eq!(make_now(&options).unwrap().systems, ["ours", "theirs"]);
    options
}

fn make_now(options: &make::Options) -> anyhow::Result<make::Made> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(make::make(None, options))
}

/// A listener's file; `choose` says which system is better.
fn answers(
    options: &make::Options,
    listener: &str,
    choose: impl Fn(&Trial) -> Option<usize>,
) -> PathBuf {
    let trials = key::read(&options.key).unwrap();
    let answer = |trial: &Trial| {
        let score = |system: &String| match system.as_str() {
            "ours" => 4,
            "theirs" => 2,
            _ => 1,
        };
        json!({
            "trial": trial.name,
            "choice": choose(trial).map(|side| trial.clips[side].clone()),
            "scores": {
                &trial.clips[0]: score(&trial.systems[0]),
                &trial.clips[1]: score(&trial.systems[1]),
            },
        })
    };
    let list: Vec<_> = trials.iter().map(answer).collect();
    let file = json!({ "test": key::test_id(&trials), "listener": listener, "answers": list });
    let path = options.key.with_file_name(format!("{listener}.json"));
    std::fs::write(&path, file.to_string()).unwrap();
    path
}

fn side(trial: &Trial, system: &str) -> Option<usize> {
    trial.systems.iter().position(|one| one == system)
}

fn clean(trial: &Trial) -> Option<usize> {
    side(trial, "ours").filter(|_| trial.kind == TrialKind::Anchor)
}

fn counts(report: &Report) -> (usize, usize, usize) {
    let pair = &report.pairs[0];
    assert_eq!((pair.a.as_str(), pair.b.as_str()), ("ours", "theirs"));
    (pair.a_better, pair.b_better, pair.no_difference)
}

#[test]
fn answers_come_back_as_preferences_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    let options = made(folder.path(), false);
    let files = [
        answers(&options, "one", |trial| side(trial, "ours")),
        answers(&options, "two", |trial| {
            clean(trial).or(side(trial, "theirs").filter(|_| trial.sentence == 0))
        }),
        answers(&options, "always-left", |_| Some(0)),
    ];
    let report = results::run(&options.key, &files, false).unwrap();
    assert_eq!((report.listeners, report.answers), (2, 2 * SENTENCES));
    assert_eq!(counts(&report), (SENTENCES, 1, SENTENCES - 1));
    let pair = &report.pairs[0];
    assert!((pair.a_preferred_percent.unwrap() - 100.0 * 6.0 / 7.0).abs() < 1e-9);
    let apart = &report.set_apart[0];
    assert_eq!(apart.listener, "always-left");
    assert_eq!((apart.anchors, apart.anchors_missed), (2, 1));
    assert_eq!(apart.repeats_contradicted, apart.repeats);
    let means: Vec<_> = report.scores.iter().map(|s| (&*s.system, s.mean)).collect();
    assert_eq!(means, [(ANCHOR, 1.0), ("ours", 4.0), ("theirs", 2.0)]);
    assert_eq!(report.scores[1].interval.low, 4.0);
    assert!(report.text().contains("85.7 % prefer ours"));

    let everyone = results::run(&options.key, &files, true).unwrap();
    assert_eq!(everyone.listeners, 3);
    assert_eq!(counts(&everyone), (SENTENCES + 3, 4, SENTENCES - 1));
}

#[test]
fn what_is_sent_does_not_tell_who_made_a_clip() {
    let folder = tempfile::tempdir().unwrap();
    let options = made(folder.path(), false);
    let page = std::fs::read_to_string(options.folder.join("index.html")).unwrap();
    assert!(!page.contains("ours-") && !page.contains("\"ours\"") && !page.contains("theirs"));
    assert!(!page.contains("Habari </script>") && page.contains("Habari \\u003c/script>"));
    let trials = key::read(&options.key).unwrap();
    let left = |trial: &&Trial| trial.kind == TrialKind::Pair && trial.systems[0] == "ours";
    assert_eq!(trials.iter().filter(left).count(), SENTENCES / 2);
    for entry in std::fs::read_dir(options.folder.join("clips")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let limits = DecodeLimits {
            rate_hz: 24_000,
            ..DecodeLimits::default()
        };
        let clip = decode_bytes(bytes, None, &limits, &|| false).unwrap();
        assert_eq!(clip.source_rate_hz, 24_000);
        let samples: Vec<f32> = clip
            .samples
            .all()
            .unwrap()
            .iter()
            .map(|&s| pcm::f32_from_i16(s))
            .collect();
        assert!((loudness::lufs(&samples, 24_000) + 20.0).abs() < 0.5);
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name.len() == 16 && name.chars().all(|c| c.is_ascii_hexdigit()));
    }
    let again = make_now(&options).unwrap_err().to_string();
    assert!(again.contains("holds clips already"), "{again}");
}

#[test]
fn one_file_holds_its_clips() {
    let folder = tempfile::tempdir().unwrap();
    let options = made(folder.path(), true);
    assert_eq!(std::fs::read_dir(&options.folder).unwrap().count(), 1);
    let page = std::fs::read_to_string(options.folder.join("index.html")).unwrap();
    assert!(page.contains("data:audio/wav;base64,UklGR"));
}

#[test]
fn what_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = made(folder.path(), true);
    let refusal = |list: &str, key: &str| {
        std::fs::write(&good.pairs, list).unwrap();
        let options = make::Options {
            key: folder.path().join(key),
            ..good.clone()
        };
        format!("{:#}", make_now(&options).unwrap_err())
    };
    std::fs::write(folder.path().join("noise.wav"), b"no sound").unwrap();
    clip(&folder.path().join("silent.wav"), 300.0, 0.0);
    for (list, key, words) in [
        ("words\ta\tb\nx\ty\tz\n", "key", "no column \"text\""),
        ("text\ta\nx\ty\n", "key", "needs two systems"),
        ("text\ta\ta\nx\ty\tz\n", "key", "called \"a\""),
        ("text\ta\tb\n", "key", "no sentences"),
        ("text\ta\tb\nx\tours-0.wav\n", "key", "fewer than two clips"),
        ("text\ta\tb\nx\ty.wav\tz\n", "key", "y.wav"),
        ("text\ta\tb\nx\tnoise.wav\tz\n", "key", "noise.wav"),
        (
            "text\ta\tb\nx\tsilent.wav\tz\n",
            "key",
            "nothing can be heard",
        ),
        ("text\ta\tb\nx\ty\tz\n", "page/key", "listeners get"),
    ] {
        let refusal = refusal(list, key);
        assert!(refusal.contains(words), "{words}: {refusal}");
    }

    let file = folder.path().join("answers.json");
    let refusal = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let files = std::slice::from_ref(&file);
        format!("{:#}", results::run(&good.key, files, false).unwrap_err())
    };
    assert!(refusal("[]").contains("no file of answers"));
    let other = r#"{"test": "x", "listener": "y", "answers": []}"#;
    assert!(refusal(other).contains("another test"));
    let test = key::test_id(&key::read(&good.key).unwrap());
    let unknown =
        json!({"test": test, "listener": "y", "answers": [{"trial": "1", "choice": "z"}]});
    assert!(refusal(&unknown.to_string()).contains("no clip \"z\""));
}
