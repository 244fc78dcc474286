//! A prompt, as OpenAI's clients send it: a list of names, a sentence about the recording, or the text before it. Its
//! words are weak key terms, and its names are written as they stand there.

/// Of a long prompt the end counts, which is nearest to the recording.
const WORDS_MAX: usize = 200;
const WORD_LETTERS_MIN: usize = 3;

/// The words that are listened for a little.
pub(super) fn prompt_words(prompt: &str) -> Vec<String> {
    let words = tokens(prompt).filter(|word| word.chars().count() >= WORD_LETTERS_MIN);
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.drain(..words.len().saturating_sub(WORDS_MAX));
    words
}

/// The words that are names by their capitals; one that begins a sentence has its capital from there.
pub(super) fn prompt_names(prompt: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut starts_sentence = true;
    for piece in prompt.split_whitespace() {
        let word = bare(piece);
        let after_first = word.chars().skip(1).any(char::is_uppercase);
        let is_listed = piece.ends_with(',');
        let is_name = word.starts_with(char::is_uppercase) && (!starts_sentence || is_listed);
        if (is_name || after_first) && word.chars().count() >= WORD_LETTERS_MIN {
            names.push(word.to_owned());
        }
        starts_sentence = piece.ends_with(['.', '!', '?', ':']);
    }
    names.drain(..names.len().saturating_sub(WORDS_MAX));
    names
}

fn tokens(prompt: &str) -> impl Iterator<Item = &str> {
    prompt
        .split_whitespace()
        .map(bare)
        .filter(|word| !word.is_empty())
}

/// Without the marks around it.
fn bare(piece: &str) -> &str {
    piece.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_beginnings_of_sentences() {
        let prompt = "Mkutano wa M-Pesa na Wanjiku. Karibu NHIF, tafadhali.";
        assert_eq!(prompt_names(prompt), ["M-Pesa", "Wanjiku", "NHIF"]);
        assert_eq!(
            prompt_names("Zuchu, Kariakoo, Fuliza"),
            ["Zuchu", "Kariakoo", "Fuliza"]
        );
        assert!(prompt_names("Salamu kwa wageni.").is_empty());
    }

    #[test]
    fn of_a_long_prompt_the_end_counts() {
        let words = prompt_words(&format!("{}mwisho", "neno ".repeat(WORDS_MAX)));
        assert_eq!(words.len(), WORDS_MAX);
        assert_eq!(words.last().map(String::as_str), Some("mwisho"));
    }
}
