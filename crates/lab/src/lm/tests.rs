use std::path::Path;

use sauti_speech::recogniser::lm::{FIRST_WORD, LanguageModels, Lm, SENTENCE_END, UNKNOWN};

use super::build::{BuildConfig, LanguageReport, LanguageTexts, TextSource, build};

/// What the recogniser's own tests read.
#[test]
fn the_small_models_of_the_recogniser_tests_are_built_from_these_texts() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../speech/tests/data/recogniser");
    let (models, _) = small_models(0.0, true);
    let english = models.english().unwrap();
    assert!(std::fs::read(dir.join("small.lm")).unwrap() == models.swahili().bytes());
    assert!(std::fs::read(dir.join("small-english.lm")).unwrap() == english.bytes());
}

fn small_models(threshold: f64, with_english: bool) -> (LanguageModels, super::BuildReport) {
    let dir = std::env::temp_dir().join(format!(
        "sauti-lm-{}-{:?}-{threshold}-{with_english}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(&dir).unwrap();
    let text = sentences(
        ["mama", "baba", "mtoto", "mwalimu", "dada"],
        ["anapika", "analala", "anasoma", "anakula", "anaimba"],
        ["chakula", "kitabu", "nyumbani", "shuleni", "wimbo"],
        "leo",
    );
    let english = sentences(
        [
            "the teacher",
            "my sister",
            "the driver",
            "your child",
            "our neighbour",
        ],
        ["reads", "buys", "carries", "finds", "sells"],
        ["a book", "the water", "some bread", "the phone", "a chair"],
        "today",
    );
    std::fs::write(dir.join("english.txt"), &english).unwrap();
    std::fs::write(dir.join("a.txt"), &text).unwrap();
    std::fs::write(
        dir.join("b.txt"),
        "mama anapika wali leo\nmama anapika ugali leo\n",
    )
    .unwrap();
    let source = |name: &str| TextSource {
        name: name.to_owned(),
        path: dir.join(format!("{name}.txt")),
        vocabulary_weight: 1.0,
        is_target: true,
    };
    let texts = |sources| LanguageTexts {
        sources,
        vocabulary_weight_min: 1.0,
        source_weight_min: 0.0,
        prune_threshold: threshold,
    };
    let config = BuildConfig {
        swahili: texts(vec![source("a"), source("b")]),
        english: with_english.then(|| texts(vec![source("english")])),
        excluded: Vec::new(),
        output: dir.join("out.lm"),
    };
    let report = build(&config).unwrap();
    let models = LanguageModels::open(&config.output).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    (models, report)
}

/// Two in three of what the parts make up.
fn sentences(subjects: [&str; 5], verbs: [&str; 5], objects: [&str; 5], last: &str) -> String {
    let mut text = String::new();
    for (i, subject) in subjects.iter().enumerate() {
        for (j, verb) in verbs.iter().enumerate() {
            for (k, object) in objects.iter().enumerate() {
                if (i * 7 + j * 3 + k) % 3 != 0 {
                    text.push_str(&format!("{subject} {verb} {object} {last}\n"));
                }
            }
        }
    }
    text
}

fn small_model(threshold: f64) -> (Lm, LanguageReport) {
    let (models, report) = small_models(threshold, false);
    (models.swahili().clone(), report.swahili)
}

#[test]
fn english_lies_behind_swahili_in_one_file() {
    let (alone, single) = small_models(0.0, false);
    let (models, report) = small_models(0.0, true);
    let english = models.english().unwrap();
    assert!(alone.english().is_none() && models.swahili().bytes() == alone.bytes());
    assert!(english.lexicon().find("teacher").is_some());
    assert!(models.swahili().lexicon().find("teacher").is_none());
    assert!(report.bytes > single.bytes + english.bytes().len());
}

fn total_probability(lm: &Lm, report: &LanguageReport, history: &[&str]) -> f64 {
    let mut state = lm.start();
    for word in history {
        state = lm.score(state, lm.lexicon().find(word).unwrap()).1;
    }
    let words = (FIRST_WORD..FIRST_WORD + report.vocabulary as u32).chain([UNKNOWN, SENTENCE_END]);
    words.map(|w| f64::from(lm.score(state, w).0).exp()).sum()
}

#[test]
fn probabilities_sum_to_one_in_every_context() {
    for threshold in [0.0, 1e-4] {
        let (lm, report) = small_model(threshold);
        for history in [
            &[][..],
            &["mama"],
            &["mama", "anapika"],
            &["mtoto", "anasoma", "kitabu"],
            &["kitabu", "kitabu"],
        ] {
            let total = total_probability(&lm, &report, history);
            // Eight-bit logarithms cost a little exactness.
            assert!((total - 1.0).abs() < 0.06, "{history:?} {total}");
        }
    }
}

#[test]
fn pruning_makes_the_file_smaller_and_keeps_the_common_words() {
    let (lm, whole) = small_model(0.0);
    let (pruned, report) = small_model(1e-3);
    assert!(report.bytes < whole.bytes);
    assert!(pruned.counts()[3] < lm.counts()[3]);
    assert_eq!(report.vocabulary, whole.vocabulary);
}

#[test]
fn a_seen_continuation_is_likelier_than_an_unseen_one() {
    let (lm, _) = small_model(0.0);
    let find = |word| lm.lexicon().find(word).unwrap();
    let state = lm.score(lm.start(), find("mama")).1;
    let (verb, after_verb) = lm.score(state, find("anapika"));
    assert!(verb > lm.score(state, find("leo")).0);
    assert!(lm.score(after_verb, find("chakula")).0 > lm.score(after_verb, find("mtoto")).0);
}

#[test]
fn the_same_texts_give_the_same_bytes() {
    let [one, again] = [0, 1].map(|_| small_models(0.0, true).1.sha256);
    assert_eq!(one, again);
}

#[test]
fn damaged_files_are_refused() {
    let (lm, _) = small_model(0.0);
    let bytes = lm.bytes().to_vec();
    assert!(LanguageModels::from_bytes(bytes[..bytes.len() - 1].to_vec()).is_none());
    assert!(LanguageModels::from_bytes(Vec::new()).is_none());
    let mut wrong = bytes.clone();
    wrong[0] ^= 1;
    assert!(LanguageModels::from_bytes(wrong).is_none());
    let mut wrong = bytes;
    wrong[8] ^= 0xff;
    assert!(LanguageModels::from_bytes(wrong).is_none());
}
