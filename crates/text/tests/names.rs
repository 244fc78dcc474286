//! Names of places and people, in Swahili and in English sentences.

use sauti_text::{Lexicon, Script, SpeechLanguage, SpokenWord};

fn words(text: &str, language: SpeechLanguage) -> Vec<SpokenWord> {
    let script = Script::from_text_in(text, &Lexicon::builtin(), language).unwrap();
    script.clauses.into_iter().flat_map(|c| c.words).collect()
}

fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("data/names.tsv").lines();
    lines.filter_map(|line| line.split_once('\t'))
}

#[test]
fn a_thousand_names_are_said_as_listed_in_both_languages() {
    use SpeechLanguage::{English, Swahili};
    assert!(names().count() > 1_000);
    for (name, phonemes) in names() {
        for (text, language, at) in [
            (name.to_owned(), Swahili, 0),
            (format!("Nilikutana na {name} huko."), Swahili, 2),
            (
                format!("Nilimpigia simu boss {name} kwa office."),
                Swahili,
                3,
            ),
            (format!("Yesterday we met {name} there."), English, 3),
        ] {
            let word = &words(&text, language)[at];
            let said = (word.phonemes.as_str(), word.english.as_deref());
            assert_eq!(said, (phonemes, None), "{text}");
        }
    }
}

#[test]
fn every_name_of_the_data_is_among_the_listed() {
    let data = include_str!("../data/names.tsv").lines();
    for (name, _) in data.filter_map(|line| line.split_once('\t')) {
        assert!(names().any(|(listed, _)| listed == name), "{name}");
    }
}

#[test]
fn names_belong_to_others_and_small_words_stay_words() {
    let said = |text, at: usize| words(text, SpeechLanguage::English)[at].phonemes.clone();
    assert_eq!(said("We saw Muthoni's house.", 2), "muðˈoniz");
    assert_eq!(said("We saw Cheptumo's house.", 2), "ʧeptˈumoz");
    assert_eq!(said("Were you there?", 0), "we");
    assert_eq!(said("It is the same.", 3), "sˈeim");
}

#[test]
fn a_tilde_makes_the_vowels_of_kikuyu() {
    let said = |text| words(text, SpeechLanguage::Swahili)[0].phonemes.clone();
    for gikuyu in ["Gĩkũyũ", "Gi\u{303}ku\u{303}yu\u{303}"] {
        assert_eq!(said(gikuyu), "ɡekˈojo");
    }
    assert_eq!(said("Gikuyu"), "ɡikˈuju");
}
