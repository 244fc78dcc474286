//! Forms that other measurements and the trained voices depend on.

use sauti_text::compare::comparable;
use sauti_text::{Lexicon, Script, swahili_phonemes};

fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
}

#[test]
fn transcripts_are_compared_in_the_form_of_the_first_measurements() {
    let mut count = 0;
    for (text, expected) in rows(include_str!("../data/comparable-golden.tsv")) {
        assert_eq!(comparable(text), expected, "{text}");
        count += 1;
    }
    assert!(count > 200);
}

#[test]
fn swahili_words_sound_as_the_voices_were_trained() {
    let lexicon = Lexicon::builtin();
    let mut count = 0;
    for (word, expected) in rows(include_str!("../data/phonemes-golden.tsv")) {
        assert_eq!(swahili_phonemes(word), expected, "{word}");
        let script = Script::from_text(word, &lexicon).unwrap();
        let spoken: Vec<&str> = script
            .clauses
            .iter()
            .flat_map(|c| &c.words)
            .map(|w| w.phonemes.as_str())
            .collect();
        assert_eq!(spoken, [expected], "{word}");
        count += 1;
    }
    assert!(count >= 300);
}
