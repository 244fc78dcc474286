//! Capitals and marks for words as they were heard. Rules only, and careful ones: a mark comes where the speaker paused,
//! a question mark where the words ask. A model may take this place when it does better on the same evaluation.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A word and the silence after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardWord<'a> {
    pub text: &'a str,
    pub pause_after_ms: u32,
}

/// A pause that ends a sentence, and one that ends a clause. Newsreaders leave 0.6 to 0.9 s between sentences, and word
/// times are good to a few hundredths.
const SENTENCE_PAUSE_MS: u32 = 560;
const CLAUSE_PAUSE_MS: u32 = 280;
/// Before these words a shorter pause is enough for a comma.
const TURN_PAUSE_MS: u32 = 150;
const TURNS: &[&str] = &["lakini", "ingawa", "bali", "ijapokuwa", "ila"];
/// A sentence or clause of fewer words is likelier a hesitation.
const SENTENCE_WORDS_MIN: usize = 3;
const CLAUSE_WORDS_MIN: usize = 2;

/// Words that make a question where they open or close it.
const OPENING: &[&str] = &[
    "je", "kwanini", "mbona", "nani", "lini", "vipi", "wapi", "ngapi",
];
const CLOSING: &[&str] = &[
    "nani", "nini", "wapi", "lini", "gani", "vipi", "ngapi", "je",
];
/// A word that hangs on the next one cannot end anything.
const HANGING: &[&str] = &[
    "na", "ya", "wa", "la", "za", "cha", "vya", "kwa", "katika", "ni", "si", "pa", "mwa", "au",
    "kama", "kuwa", "kwamba", "hadi", "mpaka", "kutoka", "kwenye", "wakati", "ili", "baada",
    "kabla", "bila", "kila", "zaidi", "juu", "chini",
];

fn names() -> &'static HashMap<String, &'static str> {
    static NAMES: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let lines = include_str!("../../data/names.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        lines.map(|name| (name.to_lowercase(), name)).collect()
    })
}

/// One text with capitals and marks.
pub fn readable(words: &[HeardWord<'_>]) -> String {
    readable_words(words).join(" ")
}

/// The same word by word, each with its own capital and the mark behind it.
pub fn readable_words(words: &[HeardWord<'_>]) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len());
    let mut sentence = 0;
    let mut clause = 0;
    for (i, word) in words.iter().enumerate() {
        let mark = mark_after(words, i, sentence, clause);
        let mut text = cased(word.text, i == sentence, words, i);
        text.push_str(mark);
        out.push(text);
        match mark {
            "" => {}
            "," => clause = i + 1,
            _ => (sentence, clause) = (i + 1, i + 1),
        }
    }
    out
}

fn mark_after(words: &[HeardWord<'_>], i: usize, sentence: usize, clause: usize) -> &'static str {
    let said = &words[sentence..=i];
    let Some(next) = words.get(i + 1) else {
        return sentence_mark(said);
    };
    let pause_ms = words[i].pause_after_ms;
    // Whoever pauses and says "je" asks something new.
    if next.text == "je" && pause_ms >= CLAUSE_PAUSE_MS {
        return sentence_mark(said);
    }
    if HANGING.contains(&words[i].text) {
        return "";
    }
    if pause_ms >= SENTENCE_PAUSE_MS && said.len() >= SENTENCE_WORDS_MIN {
        return sentence_mark(said);
    }
    let turns = TURNS.contains(&next.text) && pause_ms >= TURN_PAUSE_MS;
    let long_enough = i + 1 - clause >= CLAUSE_WORDS_MIN;
    if (pause_ms >= CLAUSE_PAUSE_MS && long_enough) || turns {
        ","
    } else {
        ""
    }
}

fn sentence_mark(said: &[HeardWord<'_>]) -> &'static str {
    let opens = said
        .first()
        .is_some_and(|word| OPENING.contains(&word.text));
    let opens_in_two = matches!(said, [first, second, ..] if asks_in_two(first.text, second.text));
    let closes = said.last().is_some_and(|word| {
        CLOSING.contains(&word.text) || word.text.ends_with("ngapi") || asks_how(word.text)
    });
    if opens || opens_in_two || closes {
        "?"
    } else {
        "."
    }
}

/// "kwa nini", "ni nani", "watu wangapi".
fn asks_in_two(first: &str, second: &str) -> bool {
    const AFTER_NI: [&str; 10] = [
        "nani", "nini", "wapi", "lini", "gani", "kwanini", "vipi", "kipi", "yupi", "ipi",
    ];
    let how_many = second.ends_with("ngapi");
    match first {
        "kwa" => second == "nini",
        "ni" => how_many || AFTER_NI.contains(&second),
        _ => how_many || second == "gani",
    }
}

/// "unaitwaje", "tutafanyaje": a verb with the question's ending.
fn asks_how(word: &str) -> bool {
    word.len() >= 7 && (word.ends_with("aje") || word.ends_with("eje"))
}

fn cased(word: &str, opens: bool, words: &[HeardWord<'_>], i: usize) -> String {
    let beside = |text: &str, at: Option<usize>| {
        at.and_then(|at| words.get(at))
            .is_some_and(|w| w.text == text)
    };
    // Dar es Salaam is the one name of several small words that everybody writes.
    let salaam = (word == "dar" && beside("es", Some(i + 1)))
        || (word == "salaam" && beside("es", i.checked_sub(1)));
    match names().get(word) {
        Some(name) => (*name).to_owned(),
        None if opens || salaam => capitalised(word),
        None => word.to_owned(),
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &'static str) -> Vec<HeardWord<'static>> {
        // "|" stands for a clause's pause, "/" for a sentence's.
        let mut words: Vec<HeardWord<'static>> = Vec::new();
        for token in text.split_whitespace() {
            let pause_ms = match token {
                "|" => 400,
                "/" => 900,
                _ => {
                    words.push(HeardWord {
                        text: token,
                        pause_after_ms: 40,
                    });
                    continue;
                }
            };
            if let Some(last) = words.last_mut() {
                last.pause_after_ms = pause_ms;
            }
        }
        words
    }

    #[test]
    fn pauses_become_marks_and_names_get_capitals() {
        assert_eq!(
            readable(&heard(
                "juma anaishi dar es salaam | karibu na bahari / anapenda kuogelea"
            )),
            "Juma anaishi Dar es Salaam, karibu na bahari. Anapenda kuogelea."
        );
    }

    #[test]
    fn questions_get_their_mark() {
        assert_eq!(
            readable(&heard("je unaweza kunisaidia")),
            "Je unaweza kunisaidia?"
        );
        assert_eq!(
            readable(&heard("jina lako ni nani / mimi ninaitwa asha")),
            "Jina lako ni nani? Mimi ninaitwa Asha."
        );
        assert_eq!(readable(&heard("unaendeleaje")), "Unaendeleaje?");
    }

    #[test]
    fn a_question_may_follow_a_short_pause() {
        assert_eq!(
            readable(&heard("bei ni shilingi mia tano | je ulikuwepo")),
            "Bei ni shilingi mia tano. Je ulikuwepo?"
        );
        assert_eq!(readable(&heard("sijui habari je")), "Sijui habari je?");
    }

    #[test]
    fn a_hesitation_is_no_sentence() {
        assert_eq!(
            readable(&heard("nilienda / na / mama")),
            "Nilienda na mama."
        );
    }
}
