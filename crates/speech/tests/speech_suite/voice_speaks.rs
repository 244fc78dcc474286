//! The voices from the outside: what any script must give, and what none may.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sauti_speech::voice::{Synthesiser, catalogue};
use sauti_speech::{SpeakEvent, SpeakRequest, SpeechError, Speed, Word};
use sauti_text::{Clause, ClauseEnd, Script, SpokenWord};

const SAMPLE_RATE_HZ: f64 = 24_000.0;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

static VOICES: LazyLock<Synthesiser> = LazyLock::new(|| Synthesiser::load(&models()).unwrap());

fn clause(phonemes: &[&str], end: ClauseEnd) -> Clause {
    let words = phonemes.iter().map(|phonemes| SpokenWord {
        text: phonemes.replace('ˈ', ""),
        phonemes: (*phonemes).to_owned(),
        source: 0..0,
        english: None,
    });
    Clause {
        words: words.collect(),
        end,
        break_after_ms: None,
        rate: 1.0,
    }
}

fn script(clauses: Vec<Clause>) -> Script {
    Script { clauses }
}

fn greeting() -> Script {
    script(vec![
        clause(&["habˈaɾi", "za", "asubˈuhi"], ClauseEnd::Comma),
        clause(&["ɾafˈiki", "jˈaŋɡu"], ClauseEnd::Full),
        clause(&["kaɾˈibu", "sˈana"], ClauseEnd::Full),
    ])
}

#[derive(Default)]
struct Spoken {
    samples: Vec<f32>,
    words: Vec<Word>,
    parts: usize,
    seconds: Option<f64>,
}

fn speak(voice_id: &str, script: Script, speed: f32) -> Result<Spoken, SpeechError> {
    let request = SpeakRequest {
        voice_id: voice_id.to_owned(),
        script,
        speed: Speed::new(f64::from(speed)).unwrap(),
    };
    let mut spoken = Spoken::default();
    VOICES.clone().speak(&request, &mut |event| {
        match event {
            SpeakEvent::Audio { samples, words } => {
                spoken.samples.extend(samples);
                spoken.words.extend(words);
                spoken.parts += 1;
            }
            SpeakEvent::Done { seconds } => spoken.seconds = Some(seconds),
        }
        ControlFlow::Continue(())
    })?;
    Ok(spoken)
}

fn level_db(samples: &[f32]) -> f64 {
    let square: f64 = samples.iter().map(|s| f64::from(*s).powi(2)).sum();
    10.0 * (square / samples.len() as f64 + 1e-12).log10()
}

#[test]
fn every_voice_of_the_catalogue_speaks() {
    let voices = catalogue(&models()).unwrap();
    let ids: Vec<&str> = voices.iter().map(|v| v.voice_id.as_str()).collect();
    assert_eq!(ids, ["asha", "zuri", "juma", "baraka"]);
    for id in ids {
        let spoken = speak(id, greeting(), 1.0).unwrap();
        let seconds = spoken.samples.len() as f64 / SAMPLE_RATE_HZ;
        assert!((2.0..5.0).contains(&seconds), "{id}: {seconds} s");
        assert_eq!(spoken.seconds, Some(seconds), "{id}");
        let level = level_db(&spoken.samples);
        assert!((-26.0..-12.0).contains(&level), "{id}: {level} dB");
        assert!(spoken.parts > 1, "{id}: the audio came in one part");
    }
}

#[test]
fn the_same_request_gives_the_same_samples() {
    let first = speak("asha", greeting(), 1.0).unwrap();
    let second = speak("asha", greeting(), 1.0).unwrap();
    assert!(first.samples == second.samples);
    assert_eq!(first.words, second.words);
}

#[test]
fn voices_differ() {
    let asha = speak("asha", greeting(), 1.0).unwrap();
    let juma = speak("juma", greeting(), 1.0).unwrap();
    assert!(asha.samples != juma.samples);
}

#[test]
fn words_are_timed_in_order_and_where_the_sound_is() {
    let spoken = speak("zuri", greeting(), 1.0).unwrap();
    let names: Vec<&str> = spoken.words.iter().map(|w| w.word.as_str()).collect();
    let want = [
        "habaɾi", "za", "asubuhi", "ɾafiki", "jaŋɡu", "kaɾibu", "sana",
    ];
    assert_eq!(names, want);
    let mut end = 0.0;
    for word in &spoken.words {
        assert!(word.start >= end - 1e-9, "{word:?} starts before {end}");
        assert!(word.end > word.start, "{word:?}");
        end = word.end;
        let at = |seconds: f64| (seconds * SAMPLE_RATE_HZ) as usize;
        let level = level_db(&spoken.samples[at(word.start)..at(word.end)]);
        assert!(level > -40.0, "{word:?} is at {level} dB");
    }
    assert!(end <= spoken.seconds.unwrap());
}

#[test]
fn sound_starts_and_ends_without_a_click() {
    for voice in ["asha", "zuri", "juma", "baraka"] {
        let samples = speak(voice, greeting(), 1.0).unwrap().samples;
        assert!(samples[0].abs() < 1e-3, "{voice} starts at {}", samples[0]);
        let last = samples.last().unwrap();
        assert!(last.abs() < 1e-2, "{voice} ends at {last}");
        assert!(
            samples.iter().all(|s| s.abs() <= 0.9),
            "{voice} is overloaded"
        );
        let mean = samples.iter().sum::<f32>() / samples.len() as f32;
        assert!(mean.abs() < 1e-3, "{voice} has an offset of {mean}");
    }
}

#[test]
fn a_word_that_begins_with_a_nasal_is_not_cut_off() {
    for voice in ["asha", "zuri", "juma", "baraka"] {
        for word in ["ⁿzˈuɾi", "m̩tˈoto", "ɲˈaɲa"] {
            let text = script(vec![clause(&[word, "sˈana"], ClauseEnd::Full)]);
            let samples = speak(voice, text, 1.0).unwrap().samples;
            // 10 ms at the start, and the loudest 10 ms of all.
            let loudest = samples.chunks(240).map(level_db).fold(f64::MIN, f64::max);
            let start = level_db(&samples[..240]);
            assert!(
                start < loudest - 20.0,
                "{voice} begins {word} at {start:.0} dB, its loudest is {loudest:.0} dB"
            );
        }
    }
}

/// The strongest period between 60 and 400 Hz over the loudest half second.
fn pitch_hz(samples: &[f32]) -> f64 {
    let width = 12_000.min(samples.len());
    let start = (0..=samples.len() - width)
        .step_by(1_200)
        .max_by(|a, b| {
            level_db(&samples[*a..a + width]).total_cmp(&level_db(&samples[*b..b + width]))
        })
        .unwrap();
    let part = &samples[start..start + width];
    let likeness = |lag: usize| -> f32 { part.iter().zip(&part[lag..]).map(|(a, b)| a * b).sum() };
    let lag = (60..400)
        .max_by(|a, b| likeness(*a).total_cmp(&likeness(*b)))
        .unwrap();
    SAMPLE_RATE_HZ / lag as f64
}

#[test]
fn speed_changes_the_length_and_not_the_pitch() {
    let vowels = || {
        script(vec![clause(
            &["lalalalalalala", "lalalalalala"],
            ClauseEnd::Full,
        )])
    };
    let normal = speak("juma", vowels(), 1.0).unwrap();
    let fast = speak("juma", vowels(), 1.6).unwrap();
    let slow = speak("juma", vowels(), 0.7).unwrap();
    let ratio = |other: &Spoken| other.samples.len() as f64 / normal.samples.len() as f64;
    assert!(
        (0.5..0.75).contains(&ratio(&fast)),
        "fast: {}",
        ratio(&fast)
    );
    assert!((1.2..1.6).contains(&ratio(&slow)), "slow: {}", ratio(&slow));
    let pitch = pitch_hz(&normal.samples);
    for other in [fast, slow] {
        let ratio = pitch_hz(&other.samples) / pitch;
        assert!((0.8..1.25).contains(&ratio), "the pitch moved by {ratio}");
    }
}

#[test]
fn a_break_is_as_long_as_asked() {
    let with_break = |break_after_ms| {
        let mut script = greeting();
        script.clauses[1].break_after_ms = Some(break_after_ms);
        speak("baraka", script, 1.0).unwrap().samples.len() as f64 / SAMPLE_RATE_HZ
    };
    let more = with_break(1_500) - with_break(500);
    assert!((more - 1.0).abs() < 1e-6, "a second more became {more}");
}

#[test]
fn a_slower_rate_in_the_script_takes_longer() {
    let mut slow = greeting();
    for clause in &mut slow.clauses {
        clause.rate = 0.7;
    }
    let ratio = speak("asha", slow, 1.0).unwrap().samples.len() as f64
        / speak("asha", greeting(), 1.0).unwrap().samples.len() as f64;
    assert!((1.2..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn a_script_with_nothing_to_say_is_refused() {
    let unknown = clause(&["漢字", "123"], ClauseEnd::Full);
    for nothing in [vec![], vec![clause(&[], ClauseEnd::Full)], vec![unknown]] {
        let result = speak("asha", script(nothing), 1.0);
        assert!(matches!(result, Err(SpeechError::Unspeakable(_))));
    }
}

#[test]
fn an_unknown_voice_is_refused() {
    let unknown = speak("nobody", greeting(), 1.0);
    assert!(matches!(unknown, Err(SpeechError::UnknownVoice(id)) if id == "nobody"));
}

#[test]
fn strange_scripts_end_and_stay_in_bounds() {
    let long_word = "ka".repeat(150);
    let long_hum = "m".repeat(700);
    let words = vec!["mˈama"; 120];
    let cases: Vec<(&str, Vec<Clause>)> = vec![
        ("one phoneme", vec![clause(&["a"], ClauseEnd::None)]),
        ("one consonant", vec![clause(&["s"], ClauseEnd::Question)]),
        ("only a stress mark", vec![clause(&["ˈ"], ClauseEnd::Full)]),
        (
            "a word of 300 letters",
            vec![clause(&[&long_word], ClauseEnd::Full)],
        ),
        (
            "a hum of 700 letters",
            vec![clause(&[&long_hum], ClauseEnd::Comma)],
        ),
        ("no punctuation", vec![clause(&words, ClauseEnd::None)]),
        (
            "marks only between",
            vec![
                clause(&["a"], ClauseEnd::Colon),
                clause(&["o"], ClauseEnd::Comma),
            ],
        ),
    ];
    for (name, clauses) in cases {
        let symbols: usize = clauses
            .iter()
            .flat_map(|c| &c.words)
            .map(|w| w.phonemes.chars().count() + 1)
            .sum();
        let spoken = speak("zuri", script(clauses), 1.0).unwrap();
        let seconds = spoken.samples.len() as f64 / SAMPLE_RATE_HZ;
        let limit = 1.5 + symbols as f64 * 0.3;
        assert!(seconds < limit, "{name}: {seconds} s for {symbols} symbols");
        assert!(
            spoken
                .samples
                .iter()
                .all(|s| s.is_finite() && s.abs() <= 0.9),
            "{name}"
        );
    }
}

#[test]
fn rates_that_are_no_numbers_do_no_harm() {
    for rate in [f32::NAN, f32::INFINITY, -3.0, 0.0, 1e30] {
        let mut odd = greeting();
        odd.clauses[0].rate = rate;
        let spoken = speak("asha", odd, 1.0).unwrap();
        assert!(spoken.samples.len() < 24_000 * 20, "rate {rate}");
    }
}

#[test]
fn a_caller_who_leaves_stops_the_work() {
    let clauses = (0..50).map(|_| clause(&["kaɾˈibu", "sˈana"], ClauseEnd::Full));
    let request = SpeakRequest {
        voice_id: "asha".into(),
        script: script(clauses.collect()),
        speed: sauti_speech::Speed::default(),
    };
    let mut events = 0;
    let result = VOICES.clone().speak(&request, &mut |event| {
        assert!(!matches!(event, SpeakEvent::Done { .. }));
        events += 1;
        if events == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(result.is_ok());
    assert_eq!(events, 3);
}
