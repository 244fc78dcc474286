//! Names of places and people, in Swahili and in English sentences; numbers and lists with their pauses.

use sauti_text::{Lexicon, Script, SpeechLanguage, SpokenWord};

fn words(text: &str, language: SpeechLanguage) -> Vec<SpokenWord> {
    let script = Script::from_text_in(text, &Lexicon::builtin(), language).unwrap();
    script.clauses.into_iter().flat_map(|c| c.words).collect()
}

fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../data/names.tsv").lines();
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
    let data = include_str!("../../data/names.tsv").lines();
    for (name, _) in data.filter_map(|line| line.split_once('\t')) {
        assert!(names().any(|(listed, _)| listed == name), "{name}");
    }
}

#[test]
fn names_belong_to_others_and_small_words_stay_words() {
    let said = |text, at: usize| words(text, SpeechLanguage::English)[at].phonemes.clone();
    assert_eq!(said("We saw Muthoni's house.", 2), "muðˈoniz");
    assert_eq!(said("We saw Cheptumo's house.", 2), "ʧeptˈumoz");
    assert_eq!(said("Were you there?", 0), "wɜː");
    assert_eq!(said("It is the same.", 3), "sˈAm");
}

#[test]
fn a_tilde_makes_the_vowels_of_kikuyu() {
    let said = |text| words(text, SpeechLanguage::Swahili)[0].phonemes.clone();
    for gikuyu in ["Gĩkũyũ", "Gi\u{303}ku\u{303}yu\u{303}"] {
        assert_eq!(said(gikuyu), "ɡekˈojo");
    }
    assert_eq!(said("Gikuyu"), "ɡikˈuju");
}

#[test]
fn long_numbers_and_codes_are_read_in_groups() {
    for (text, language, spoken) in [
        (
            "Till 832145.",
            SpeechLanguage::Swahili,
            "Till nane tatu mbili, moja nne tano.",
        ),
        (
            "Lipa kwa KDA 123B",
            SpeechLanguage::Swahili,
            "Lipa kwa kei di ei, moja mbili tatu bi.",
        ),
        (
            "Your code is QX7T9PLK2.",
            SpeechLanguage::English,
            "Your code is Q X seven, T nine, P L K two.",
        ),
        (
            "NIDA 19900101-12345-00001-23",
            SpeechLanguage::Swahili,
            "nida moja tisa tisa sifuri, sifuri moja sifuri moja, moja mbili tatu nne tano, \
             sifuri sifuri sifuri sifuri moja, mbili tatu.",
        ),
        (
            "ATMs za KCB",
            SpeechLanguage::Swahili,
            "ei ti emus za kei si bi.",
        ),
    ] {
        let script = Script::from_text_in(text, &Lexicon::builtin(), language).unwrap();
        assert_eq!(script.spoken(), spoken, "{text}");
    }
}

#[test]
fn a_prefix_leaves_the_stress_to_its_english_stem() {
    let said = words("Nime-save number.", SpeechLanguage::Swahili);
    assert_eq!(said[0].phonemes, "nime");
    let letters = words("ATMs", SpeechLanguage::English);
    assert_eq!(letters[2].phonemes, "ˈɛmz");
}

#[test]
fn rows_of_a_list_end_clauses_and_lines_of_prose_do_not() {
    for (written, said) in [
        ("- unga 9\n- sukari 5", "unga tisa. sukari tano."),
        (
            "nyanya 6\nvitunguu 7\nkaroti",
            "nyanya sita. vitunguu saba. karoti.",
        ),
        ("Watoto\n3. Kalamu", "Watoto. tatu. Kalamu."),
        (
            "Simu\n0712345678",
            "Simu sifuri saba moja mbili, tatu nne tano, sita saba nane.",
        ),
        (
            "Jumla ya watu\n6 walifika\njana",
            "Jumla ya watu sita walifika jana.",
        ),
        (
            "Tuonane kesho saa 4\nasubuhi",
            "Tuonane kesho saa nne asubuhi.",
        ),
        ("watu waliofika\nleo", "watu waliofika leo."),
    ] {
        let script = Script::from_text(written, &Lexicon::builtin()).unwrap();
        assert_eq!(script.spoken(), said, "{written}");
    }
}
