//! The recogniser on a second and a half of a storyteller's voice, with the shipped models.

use std::ops::ControlFlow;
use std::path::Path;

use sauti_speech::recogniser::{LiveEvent, LiveSession, Recogniser, subtitles};
use sauti_speech::{Expect, TranscribeEvent, TranscribeRequest, Transcript};

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn speech() -> Vec<i16> {
    std::fs::read(here("tests/data/recogniser/mel-input.s16"))
        .unwrap()
        .chunks_exact(2)
        .map(|b| i16::from_le_bytes([b[0], b[1]]))
        .collect()
}

fn request(samples: Vec<i16>) -> TranscribeRequest {
    TranscribeRequest {
        samples: samples.into(),
        ..TranscribeRequest::default()
    }
}

fn transcribe(recogniser: &mut Recogniser, request: &TranscribeRequest) -> Transcript {
    let mut done = None;
    let mut emit = |event| {
        if let TranscribeEvent::Done(transcript) = event {
            done = Some(transcript);
        }
        ControlFlow::Continue(())
    };
    recogniser.transcribe(request, &mut emit).unwrap();
    done.expect("a transcript comes last")
}

#[test]
fn speech_is_heard_whole_in_pieces_and_live() {
    let mut recogniser = Recogniser::load(&here("../../models")).unwrap();

    let alone = transcribe(&mut recogniser, &request(speech()));
    assert!(!alone.no_speech);
    let words = &alone.segments[0].words;
    assert!(words.len() >= 2, "{alone:?}");
    assert!(
        words
            .iter()
            .all(|word| word.start < word.end && word.end <= 1.6)
    );
    assert!(words.windows(2).all(|pair| pair[0].end <= pair[1].start));
    assert!(
        words
            .iter()
            .all(|word| (0.0..=1.0).contains(&word.confidence))
    );
    assert!(alone.text.starts_with(char::is_uppercase), "{}", alone.text);

    // Ten times with two seconds of silence between: longer than the encoder takes at once.
    let mut long = Vec::new();
    for _ in 0..10 {
        long.extend(speech());
        long.extend([0; 32_000]);
    }
    let heard = transcribe(&mut recogniser, &request(long.clone()));
    assert_eq!(heard.segments.len(), 10);
    assert!(
        heard
            .segments
            .windows(2)
            .all(|pair| pair[0].end <= pair[1].start)
    );
    assert!(subtitles::cues(&heard).len() >= 10);

    let mut live = LiveSession::new(&recogniser, &request(Vec::new())).unwrap();
    let mut events = Vec::new();
    for piece in long[..3 * 56_000].chunks(1600) {
        events.extend(live.push(piece).unwrap());
    }
    events.extend(live.finish().unwrap());
    let finals = events
        .iter()
        .filter(|event| matches!(event, LiveEvent::Final(_)));
    assert_eq!(finals.count(), 3);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, LiveEvent::Partial(_)))
    );
}

#[test]
fn answers_that_were_not_given_are_not_heard() {
    let mut recogniser = Recogniser::load(&here("../../models")).unwrap();
    for expect in [Expect::Digits, Expect::YesNo, Expect::Amount] {
        let wanted = TranscribeRequest {
            expect: expect.clone(),
            ..request(speech())
        };
        let heard = transcribe(&mut recogniser, &wanted);
        assert_eq!(heard.text, "", "{expect:?}");
        assert!(heard.not_understood && !heard.no_speech, "{expect:?}");
    }
}

#[test]
fn a_choice_that_was_said_is_found_among_others() {
    let mut recogniser = Recogniser::load(&here("../../models")).unwrap();
    let said = transcribe(&mut recogniser, &request(speech()));
    let words: Vec<&str> = said.segments[0]
        .words
        .iter()
        .map(|w| w.word.as_str())
        .collect();
    let choices = [
        "Huduma kwa wateja".to_owned(),
        words.join(" "),
        "Salio langu".to_owned(),
    ];
    let wanted = TranscribeRequest {
        expect: Expect::Choices(choices.to_vec()),
        ..request(speech())
    };
    assert_eq!(transcribe(&mut recogniser, &wanted).text, choices[1]);
}

#[test]
fn a_caller_who_leaves_stops_the_work() {
    let mut recogniser = Recogniser::load(&here("../../models")).unwrap();
    let mut long = speech();
    long.extend([0; 32_000]);
    let long = long.repeat(6);
    let mut events = 0;
    let mut emit = |_| {
        events += 1;
        ControlFlow::Break(())
    };
    recogniser.transcribe(&request(long), &mut emit).unwrap();
    assert_eq!(events, 1);
}

#[test]
fn a_damaged_model_is_refused_by_name() {
    let dir = std::env::temp_dir().join(format!("sauti-damaged-{}", std::process::id()));
    let folder = dir.join("recogniser");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["manifest.json", "vad.safetensors", "readable.safetensors"] {
        std::fs::copy(
            here("../../models/recogniser").join(name),
            folder.join(name),
        )
        .unwrap();
    }
    std::fs::write(folder.join("languages.lm"), b"SAUTILM1 but not really").unwrap();
    let error = Recogniser::load(&dir).unwrap_err().to_string();
    assert!(error.contains("languages.lm"), "{error}");
    std::fs::write(folder.join("vad.safetensors"), b"changed").unwrap();
    let error = Recogniser::load(&dir).unwrap_err().to_string();
    assert!(
        error.contains("vad.safetensors") && error.contains("install"),
        "{error}"
    );
    std::fs::remove_dir_all(&dir).unwrap();
}
