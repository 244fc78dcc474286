//! Swahili verbs that the search has parted: the language models know prefixes as words, from "nime confirm", and a caller's
//! "lipa" then makes "nime lipa" of "nimelipa".

use std::collections::HashMap;

use super::beam::Hypothesis;
use super::mixture::Mixture;
use super::posteriors::log_add;
use super::text::Spellings;
use crate::SpokenLanguage;

/// "Ali", a name, and "wali", rice, are none of them. "Ana" and its like stand alone too, before nouns.
#[rustfmt::skip]
const PREFIXES: [&str; 42] = [
    "nime", "ume", "ame", "tume", "mme", "wame", "ime", "lime", "yame", "kime", "vime", "zime",
    "nita", "uta", "ata", "tuta", "mta", "wata", "yata", "zita", "nili", "uli", "tuli", "mli", "zili",
    "nina", "una", "ana", "tuna", "mna", "wana",
    "sija", "hatuja", "hamja", "hawaja", "hauja", "haija", "hatuta", "hamta", "hawata", "haita", "ku",
];
/// ln p by which one word must be likelier than two: "ana paka" ("he has a cat") is nearly as likely as "anapaka" ("he paints").
const MARGIN: f32 = 2.0;

/// The hypotheses with such verbs as one word, where the language models without the caller's words find that likelier; those
/// that then read alike are one. English verbs stay apart, as does what the caller spells so.
pub(super) fn with_verbs_joined(
    hypotheses: Vec<Hypothesis>,
    mixture: &Mixture<'_>,
    callers: &Spellings,
) -> Vec<Hypothesis> {
    let mixture = mixture.without_own();
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut is_verb = |prefix: &str, stem: &str| {
        let apart = format!("{prefix} {stem}");
        if let Some(known) = known.get(&apart) {
            return *known;
        }
        let joined = format!("{prefix}{stem}");
        let is_known = |word: &str| mixture.knows_in_swahili(word);
        let is_verb = (is_known(&joined) || is_known(&format!("ku{stem}")))
            && mixture.languages(&[stem]) == [SpokenLanguage::Swahili]
            && mixture.log_p(&[&joined]) > mixture.log_p(&[prefix, stem]) + MARGIN
            && !callers.knows(&apart);
        known.insert(apart, is_verb);
        is_verb
    };
    let mut out: Vec<Hypothesis> = Vec::with_capacity(hypotheses.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut hypothesis in hypotheses {
        let mut text = String::with_capacity(hypothesis.text.len());
        let mut before = "";
        for word in hypothesis.text.split(' ') {
            let joins = PREFIXES.contains(&before) && is_verb(before, word);
            if !joins && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            before = if joins { "" } else { word };
        }
        match places.get(&text) {
            Some(&place) => out[place].score = log_add(out[place].score, hypothesis.score),
            None => {
                places.insert(text.clone(), out.len());
                hypothesis.text = text;
                out.push(hypothesis);
            }
        }
    }
    out.sort_by(|a, b| b.score.total_cmp(&a.score));
    out
}

#[cfg(test)]
mod tests {
    use super::super::beam::BeamConfig;
    use super::super::lm::LanguageModels;
    use super::*;

    fn joined(texts: &[(&str, f32)], keyterms: &[&str]) -> Vec<Hypothesis> {
        let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let lms = LanguageModels::open(&models.join("recogniser/languages.lm")).unwrap();
        let mixture = Mixture::new(&lms, None, BeamConfig::default().languages, None);
        let texts = texts.iter().map(|(text, score)| Hypothesis {
            text: (*text).to_owned(),
            score: *score,
        });
        let terms: Vec<String> = keyterms.iter().map(|term| (*term).to_owned()).collect();
        with_verbs_joined(texts.collect(), &mixture, &Spellings::new(&terms, None))
    }

    #[test]
    fn a_swahili_verb_is_one_word_and_an_english_one_stands_apart() {
        for (text, expected) in [
            ("nime lipa", "nimelipa"),
            ("nita lipa kesho", "nitalipa kesho"),
            ("nataka ku lipa na ku tuma", "nataka kulipa na kutuma"),
            ("tume lipa kodi ya nyumba", "tumelipa kodi ya nyumba"),
            ("nina lipa", "ninalipa"),
            ("sija lipa bado", "sijalipa bado"),
        ] {
            let joined = joined(&[(text, 0.0)], &["Lipa na M-Pesa"]);
            assert_eq!(joined[0].text, expected);
        }
        for text in [
            "nime confirm booking na nita share file",
            "nataka ku download app na ku book",
            "ana paka na wana pesa",
            "nime fuliza",
            "tulikula wali na nyama",
            "nime",
            "",
        ] {
            assert_eq!(joined(&[(text, 0.0)], &["lipa"])[0].text, text);
        }
        assert_eq!(joined(&[("ku lipa", 0.0)], &["Ku Lipa"])[0].text, "ku lipa");
    }

    #[test]
    fn readings_that_come_to_the_same_are_one() {
        let readings = [
            ("nime lipa", 0.0),
            ("mimi lipa", -0.1),
            ("nimelipa", -0.5),
            ("nime pita", -0.2),
        ];
        let joined = joined(&readings, &[]);
        let texts: Vec<&str> = joined.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["nimelipa", "mimi lipa", "nimepita"]);
        assert_eq!(joined[0].score, log_add(0.0, -0.5));
        assert_eq!(joined[1].score, -0.1);
    }
}
