//! The voices from the outside: what any script must give, and what none may.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sauti_speech::voice::{Synthesiser, catalogue};
use sauti_speech::{
    Direction, PitchShift, SpeakEvent, SpeakRequest, SpeechError, Speed, VolumeGain, Word,
};
use sauti_text::{Clause, ClauseEnd, Prosody, Script, SpokenWord};

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
        prosody: Prosody::default(),
    }
}

fn script(clauses: Vec<Clause>) -> Script {
    Script {
        clauses,
        ..Script::default()
    }
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
    let direction = Direction {
        speed: Speed::new(f64::from(speed)).unwrap(),
        ..Direction::default()
    };
    directed(voice_id, script, direction)
}

fn directed(voice_id: &str, script: Script, direction: Direction) -> Result<Spoken, SpeechError> {
    let request = SpeakRequest {
        voice_id: voice_id.to_owned(),
        script,
        direction,
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

fn pitched(semitones: f64) -> Direction {
    Direction {
        pitch: PitchShift::new(semitones).unwrap(),
        ..Direction::default()
    }
}

fn at_volume(decibels: f64) -> Direction {
    Direction {
        volume: VolumeGain::new(decibels).unwrap(),
        ..Direction::default()
    }
}

/// The pitch every 30 ms, where there is one between these bounds.
fn pitches(samples: &[f32], lowest_hz: f64, highest_hz: f64) -> Vec<Option<f64>> {
    let rate_hz = 8_000.0;
    let samples: Vec<f32> = samples.chunks_exact(3).map(|c| c.iter().sum()).collect();
    let lags = (rate_hz / highest_hz) as usize..(rate_hz / lowest_hz) as usize;
    let power = |values: &[f32]| values.iter().map(|v| v * v).sum::<f32>();
    let pitch = |part: &[f32]| {
        let head = &part[..part.len() - lags.end];
        let likeness = |lag: usize| {
            let lagged = &part[lag..lag + head.len()];
            let product: f32 = head.iter().zip(lagged).map(|(a, b)| a * b).sum();
            product / (power(head) * power(lagged)).sqrt().max(1e-6)
        };
        let all: Vec<f32> = lags.clone().map(likeness).collect();
        let best = all.iter().copied().fold(0.0, f32::max);
        // The shortest period of those that fit as well: not its double.
        let at = (1..all.len() - 1).find(|&at| {
            all[at] > 0.93 * best && all[at] >= all[at - 1] && all[at] >= all[at + 1]
        })?;
        // The top of the parabola through the three.
        let (before, after) = (all[at - 1], all[at + 1]);
        let bend = before - 2.0 * all[at] + after;
        let off = f64::from(0.5 * (before - after) / bend.min(-1e-6));
        (best > 0.85).then(|| rate_hz / ((lags.start + at) as f64 + off))
    };
    let width = 2 * lags.end + 160;
    samples.windows(width).step_by(240).map(pitch).collect()
}

/// How much higher the second is, in semitones: the middle of all frames in which both have a pitch.
fn semitones_between(lower: &Spoken, higher: &Spoken, bounds_hz: (f64, f64)) -> f64 {
    let of = |spoken: &Spoken| pitches(&spoken.samples, bounds_hz.0, bounds_hz.1);
    let both = of(lower).into_iter().zip(of(higher));
    let mut ratios: Vec<f64> = both.filter_map(|(a, b)| Some(b? / a?)).collect();
    assert!(ratios.len() > 20, "{} voiced frames", ratios.len());
    ratios.sort_by(f64::total_cmp);
    12.0 * ratios[ratios.len() / 2].log2()
}

#[test]
fn the_pitch_moves_as_far_as_asked_and_the_time_does_not() {
    for (voice, shifts) in [("juma", [-4.0, 4.0, 12.0]), ("asha", [-6.0, -3.0, 4.0])] {
        let plain = directed(voice, greeting(), pitched(0.0)).unwrap();
        for shift in shifts {
            let moved = directed(voice, greeting(), pitched(shift)).unwrap();
            let difference = moved.samples.len().abs_diff(plain.samples.len());
            assert!(difference < 2_400, "{voice} {shift}: {difference} samples");
            let measured = semitones_between(&plain, &moved, (60.0, 500.0));
            assert!(
                (measured - shift).abs() < 0.5,
                "{voice}: {shift} semitones became {measured}"
            );
        }
    }
}

#[test]
fn no_pitch_leaves_what_the_decoder_knows() {
    for (voice, shift) in [("asha", 12.0), ("baraka", -12.0)] {
        let spoken = directed(voice, greeting(), pitched(shift)).unwrap();
        let found: Vec<f64> = pitches(&spoken.samples, 45.0, 700.0)
            .into_iter()
            .flatten()
            .collect();
        let within = found.iter().filter(|hz| (48.0..490.0).contains(*hz));
        let share = within.count() as f64 / found.len() as f64;
        assert!(
            found.len() > 8 && share > 0.95,
            "{voice}: {share} of {}",
            found.len()
        );
    }
}

#[test]
fn six_decibels_double_the_level_and_nothing_overloads() {
    let soft = directed("asha", greeting(), at_volume(-12.0)).unwrap();
    let less_soft = directed("asha", greeting(), at_volume(-6.0)).unwrap();
    let rise = level_db(&less_soft.samples) - level_db(&soft.samples);
    assert!((rise - 6.0).abs() < 0.1, "{rise} dB");
    let plain = speak("asha", greeting(), 1.0).unwrap();
    let loud = directed("asha", greeting(), at_volume(12.0)).unwrap();
    let rise = level_db(&loud.samples) - level_db(&plain.samples);
    assert!((3.0..12.0).contains(&rise), "{rise} dB");
    assert!(loud.samples.iter().all(|sample| sample.abs() <= 0.85));
    assert_eq!(loud.words, plain.words);
}

#[test]
fn a_clause_has_a_volume_of_its_own_and_silence_takes_its_time() {
    let with = |volume_db| {
        let mut script = greeting();
        script.clauses[1].prosody.volume_db = volume_db;
        directed("zuri", script, at_volume(-12.0)).unwrap()
    };
    let (plain, louder, silent) = (with(0.0), with(6.0), with(f32::NEG_INFINITY));
    assert_eq!(plain.words, silent.words);
    assert_eq!(plain.samples.len(), silent.samples.len());
    let level = |spoken: &Spoken, first: usize, last: usize| {
        let at = |seconds: f64| (seconds * SAMPLE_RATE_HZ) as usize;
        let (from, to) = (spoken.words[first].start, spoken.words[last].end);
        level_db(&spoken.samples[at(from) + 480..at(to) - 480])
    };
    let rise = level(&louder, 3, 4) - level(&plain, 3, 4);
    assert!((rise - 6.0).abs() < 0.2, "{rise} dB");
    assert!(level(&silent, 3, 4) < -100.0);
    for (first, last) in [(0, 2), (5, 6)] {
        let rise = level(&silent, first, last) - level(&plain, first, last);
        assert!(rise.abs() < 0.2, "the others moved by {rise} dB");
    }
}

#[test]
fn a_word_in_a_sentence_is_said_higher_without_a_pause() {
    let middle = |prosody| {
        let mut clauses = vec![
            clause(&["habˈaɾi", "za"], ClauseEnd::None),
            clause(&["asubˈuhi"], ClauseEnd::None),
            clause(&["ɾafˈiki", "jˈaŋɡu"], ClauseEnd::Full),
        ];
        clauses[1].prosody = prosody;
        speak("juma", script(clauses), 1.0).unwrap()
    };
    let plain = middle(Prosody::default());
    let higher = middle(Prosody {
        pitch_semitones: 5.0,
        ..Prosody::default()
    });
    assert_eq!(plain.words, higher.words);
    let gap = plain.words[2].start - plain.words[1].end;
    assert!(gap < 0.08, "a pause of {gap} s");
    let part = |spoken: &Spoken| {
        let at = |seconds: f64| (seconds * SAMPLE_RATE_HZ) as usize;
        let word = &spoken.words[2];
        spoken.samples[at(word.start)..at(word.end)].to_vec()
    };
    let both = [&plain, &higher].map(|spoken| pitches(&part(spoken), 60.0, 400.0));
    let mut ratios: Vec<f64> = (both[0].iter().zip(&both[1]))
        .filter_map(|(a, b)| Some((*b)? / (*a)?))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let semitones = 12.0 * ratios[ratios.len() / 2].log2();
    assert!((semitones - 5.0).abs() < 1.0, "{semitones} semitones");
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
        clause.prosody.rate = 0.7;
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
        odd.clauses[0].prosody = Prosody {
            rate,
            pitch_semitones: rate,
            volume_db: rate,
        };
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
        direction: sauti_speech::Direction::default(),
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
