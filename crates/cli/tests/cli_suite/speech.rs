//! Speaking and transcribing without a server, with the real models.

use std::path::Path;

use crate::support::{folder, sauti, sauti_with_input};

const SENTENCE: &str = "Habari za asubuhi, karibu nyumbani.";

fn say(folder: &Path, file: &str, more: &[&str]) -> Vec<u8> {
    sauti(
        folder,
        &[
            &["speak", "--voice", "asha", "--out", file],
            more,
            &[SENTENCE],
        ]
        .concat(),
    )
    .ok();
    std::fs::read(folder.join(file)).expect("the file is there")
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

#[test]
fn speech_is_written_with_exact_sizes_and_the_right_format_tags() {
    let folder = folder();
    let wav = say(folder.path(), "a.wav", &[]);
    assert_eq!((&wav[..4], &wav[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    assert_eq!(u32_at(&wav, 4), wav.len() - 8);
    assert_eq!(u32_at(&wav, 24), 24_000);

    let telephone = say(folder.path(), "b.wav", &["--format", "ulaw_8000"]);
    assert_eq!((telephone[20], u32_at(&telephone, 24)), (7, 8_000));
    assert_eq!(&say(folder.path(), "c.flac", &[])[..4], b"fLaC");
    assert_eq!(&say(folder.path(), "d.ogg", &[])[..4], b"OggS");
}

#[test]
fn speech_can_be_checked_by_ear() {
    let folder = folder();
    let arguments = [
        "speak",
        "--check",
        "--format",
        "alaw_8000",
        "--out",
        "a.wav",
        SENTENCE,
    ];
    let said = sauti(folder.path(), &arguments);
    let heard = said.err.to_lowercase();
    said.ok();
    assert!(
        heard.contains("heard: habari") && heard.contains("nyumbani"),
        "{heard}"
    );
    assert!(heard.contains("character errors"), "{heard}");
}

#[test]
fn what_cannot_be_spoken_is_refused_and_no_file_is_left() {
    let folder = folder();
    let said = sauti(
        folder.path(),
        &["speak", "--voice", "nobody", "--out", "x.wav", "Habari"],
    );
    let said = said.failure();
    assert!(said.contains("nobody") && said.contains("asha"), "{said}");
    sauti(folder.path(), &["speak", "--out", "x.wav", "  "]).failure();
    assert!(
        sauti(folder.path(), &["speak", "--out", "x.doc", "Habari"])
            .failure()
            .contains(".doc")
    );
    assert_eq!(
        sauti(
            folder.path(),
            &["speak", "--speed", "9", "--out", "x.wav", "Habari"]
        )
        .code,
        2
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_told_by_the_callers_own_path() {
    let folder = folder();
    let said = sauti(folder.path(), &["speak", "--out", "none/x.wav", "Habari"]);
    let said = said.failure();
    assert!(said.contains("cannot write none/x.wav: No such"), "{said}");
    assert!(!said.contains(".tmp"), "{said}");
}

#[test]
fn a_text_is_directed_and_its_marks_are_told() {
    let folder = folder();
    let ssml = "<speak>Habari <mark name=\"hapa\"/>yako.</speak>";
    let out = ["speak", "--out", "x.wav"];
    let said = sauti(
        folder.path(),
        &[&out[..], &["--pitch", "-3", "--volume=-6", ssml]].concat(),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("mark hapa: 0."), "{}", said.err);
    for (option, wrong) in [("--pitch", "13"), ("--volume", "-99")] {
        let said = sauti(folder.path(), &[&out[..], &[option, wrong, ssml]].concat());
        assert_eq!(said.code, 2);
        assert!(said.err.contains("must be a number from -"), "{}", said.err);
    }
}

#[test]
fn what_was_spoken_is_heard_in_order_and_a_bad_file_keeps_its_place() {
    let folder = folder();
    say(folder.path(), "a.wav", &[]);
    say(folder.path(), "b.mp3", &["--speed", "0.9"]);
    std::fs::write(folder.path().join("bad.wav"), b"not a recording at all").unwrap();

    let said = sauti(folder.path(), &["transcribe", "a.wav", "bad.wav", "b.mp3"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("bad.wav"), "{}", said.err);
    let lines: Vec<String> = said.out.lines().map(str::to_lowercase).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].contains("habari") && lines[0].contains("nyumbani"),
        "{lines:?}"
    );
    assert_eq!(lines[1], "");
    assert!(lines[2].contains("karibu"), "{lines:?}");
}

#[test]
fn json_has_times_and_standard_input_is_taken() {
    let folder = folder();
    let wav = say(folder.path(), "a.wav", &[]);
    let heard = sauti_with_input(folder.path(), &["transcribe", "--json", "-"], &wav).json();
    assert_eq!(heard["file"], "-");
    assert_eq!(heard["no_speech"], false);
    let seconds = (wav.len() - 44) as f64 / 48_000.0;
    assert!(
        (heard["seconds"].as_f64().unwrap() - seconds).abs() < 0.01,
        "{heard}"
    );
    assert!(
        heard["segments"][0]["words"][0]["start"].is_f64(),
        "{heard}"
    );
}

#[test]
fn the_voices_are_listed_with_what_the_interface_shows() {
    let folder = folder();
    let voices = sauti(folder.path(), &["voices", "--json"]).json();
    let ids: Vec<_> = voices["voices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["voice_id"])
        .collect();
    assert!(ids.iter().any(|id| *id == "asha"), "{ids:?}");
    assert!(sauti(folder.path(), &["voices"]).ok().contains("juma"));
}

#[test]
fn prompts_are_built_once_and_again_only_when_they_change() {
    let folder = folder();
    let build = |list: &str, more: &[&str]| {
        std::fs::write(folder.path().join("menu.csv"), list).unwrap();
        let args = [
            "prompts",
            "build",
            "menu.csv",
            "--out",
            "sounds",
            "--format",
            "raw_ulaw_8000",
        ];
        sauti(folder.path(), &[&args[..], more].concat())
    };
    let said = build(
        "id,text,voice\nmenu/a,Karibu.,juma\nb,\"Bonyeza 1, tafadhali.\",\n",
        &[],
    )
    .ok();
    assert!(said.contains("2 spoken, 0 unchanged"), "{said}");
    let sound = std::fs::read(folder.path().join("sounds/menu/a.ulaw")).unwrap();

    // Written otherwise, spoken the same: nothing to do.
    let said = build(
        "id,text,voice\nmenu/a,Karibu.,juma\nb,\"Bonyeza moja, tafadhali.\",\n",
        &[],
    )
    .ok();
    assert!(said.contains("0 spoken, 2 unchanged"), "{said}");
    // Tags direct the voice; they are not read out.
    let said = build(
        "id,text,voice\nmenu/a,<speak>Karibu.</speak>,juma\n",
        &["--prune"],
    )
    .ok();
    assert!(said.contains("0 spoken, 1 unchanged, 1 deleted"), "{said}");
    let said = build("id,text,voice\nmenu/a,Karibu.,asha\n", &[]).ok();
    assert!(said.contains("1 spoken, 0 unchanged, 0 deleted"), "{said}");
    assert_ne!(
        std::fs::read(folder.path().join("sounds/menu/a.ulaw")).unwrap(),
        sound
    );
    assert!(!folder.path().join("sounds/b.ulaw").exists());

    let said = build("id,text\n../evil,Habari\nx,\n", &[]).failure();
    assert!(said.contains("line 2") && said.contains("line 3"), "{said}");
}

#[test]
fn prompts_are_written_as_the_telephone_system_plays_them() {
    let folder = folder();
    std::fs::write(folder.path().join("menu.csv"), "id,text\na,Karibu.\n").unwrap();
    let build = |more: &[&str]| {
        let args = ["prompts", "build", "menu.csv", "--out", "sounds"];
        sauti(folder.path(), &[&args[..], more].concat())
    };
    build(&[]).ok();
    let sound = std::fs::read(folder.path().join("sounds/a.ulaw")).unwrap();
    assert!(!sound.starts_with(b"RIFF"));
    build(&["--format", "sln16", "--format", "wav"]).ok();
    let wide = std::fs::read(folder.path().join("sounds/sln16/a.sln16")).unwrap();
    let samples = (wide.len() / 2 / 2, sound.len());
    assert!(samples.0.abs_diff(samples.1) <= 1, "{samples:?}");
    let wav = std::fs::read(folder.path().join("sounds/wav/a.wav")).unwrap();
    assert_eq!((&wav[..4], &wav[20..22]), (&b"RIFF"[..], &[1, 0][..]));

    let said = build(&["--format", "gsm"]);
    assert_eq!(said.code, 2, "a mistake in the command: {}", said.out);
    assert!(said.err.contains("ulaw"), "{}", said.err);
    let help = sauti(folder.path(), &["prompts", "build", "--help"]).ok();
    assert!(
        help.contains("sln16") && help.contains("mp3_44100"),
        "{help}"
    );
}

#[test]
fn recognition_is_measured_on_a_list_and_shown_on_a_page() {
    let folder = folder();
    say(folder.path(), "a.wav", &[]);
    let list =
        format!("file\tspeaker\ttext\na.wav\tasha\t{SENTENCE}\na.wav\tx\tkitu kingine kabisa\n");
    std::fs::write(folder.path().join("set.tsv"), list).unwrap();
    let args = [
        "eval",
        "transcription",
        "set.tsv",
        "--mulaw",
        "--noise-db",
        "30",
        "--html",
        "p.html",
        "--json",
    ];
    let figures = sauti(folder.path(), &args).json();
    assert_eq!(figures["all"]["clips"], 2);
    assert!(
        figures["speakers"]["asha"]["wer_percent"].as_f64().unwrap() < 50.0,
        "{figures}"
    );
    assert!(
        figures["speakers"]["x"]["wer_percent"].as_f64().unwrap() >= 100.0,
        "{figures}"
    );
    let page = std::fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(
        page.contains("<audio") && page.contains("kingine"),
        "{page}"
    );
}

#[test]
fn voices_are_measured_and_can_be_listened_to() {
    let folder = folder();
    std::fs::write(
        folder.path().join("p.tsv"),
        format!("domain\tsentence\nmenu\t{SENTENCE}\n"),
    )
    .unwrap();
    let args = [
        "eval", "speech", "p.tsv", "--voice", "juma", "--html", "v.html", "--json",
    ];
    let figures = sauti(folder.path(), &args).json();
    let juma = &figures["voices"]["juma"];
    assert!(juma["cer_percent"].as_f64().unwrap() < 50.0, "{figures}");
    assert!(
        juma["first_sound_ms_median"].as_f64().unwrap() > 0.0,
        "{figures}"
    );
    assert!(folder.path().join("v.audio/juma-0000.wav").exists());
}

#[test]
fn a_transcript_says_who_speaks() {
    let folder = folder();
    say(folder.path(), "a.wav", &[]);
    let heard = sauti(folder.path(), &["transcribe", "--diarize", "a.wav"]);
    assert!(heard.out.starts_with("A: Habari"), "{}", heard.out);
    heard.ok();
    let refused = sauti(
        folder.path(),
        &["transcribe", "--channels", "separate", "a.wav"],
    );
    assert!(refused.err.contains("two"), "{}", refused.err);
    assert_eq!(refused.code, 1);
}
