//! Terms that the caller expects: names, products, places. Spelling one of them costs no more than
//! saying a common word, whatever the language model thinks of it. Words of a prompt are favoured less.

use super::posteriors::{CLASSES, SPACE, class_of};

const TERMS_MAX: usize = 1000;
const TERM_LETTERS_MAX: usize = 64;

/// How much a term is favoured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Favour {
    /// Score for each letter.
    pub letter_bonus: f32,
    /// ln p that a word of it is given at least.
    pub log_p_min: f32,
}

const KEY_TERM: Favour = Favour {
    letter_bonus: 0.5,
    log_p_min: -5.0,
};
const PROMPT_WORD: Favour = Favour {
    letter_bonus: 0.15,
    log_p_min: -7.0,
};

/// The terms as a tree of letters.
#[derive(Debug, Clone)]
pub(super) struct Bias {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    children: Vec<(u8, u16)>,
    ends_term: bool,
    /// That of the first term that came this way: key terms come before a prompt's words.
    favour: Favour,
}

/// How far into a term the text has come; none at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BiasState(u16);

impl BiasState {
    pub(super) fn is_inside(self) -> bool {
        self.0 != 0
    }
}

impl Bias {
    /// Terms beyond the limits are left out, as are letters that no word has.
    pub(super) fn new(key_terms: &[String], prompt_words: &[String]) -> Self {
        let mut bias = Self {
            nodes: vec![Node::new(KEY_TERM)],
        };
        let key_terms = key_terms.iter().map(|term| (term, KEY_TERM));
        let prompt_words = prompt_words.iter().map(|word| (word, PROMPT_WORD));
        for (term, favour) in key_terms.chain(prompt_words).take(TERMS_MAX) {
            let spoken = sauti_text::compare::comparable(term);
            if !spoken.is_empty() && spoken.len() <= TERM_LETTERS_MAX {
                bias.insert(&spoken, favour);
            }
        }
        bias
    }

    fn insert(&mut self, term: &str, favour: Favour) {
        let mut at = 0usize;
        for class in term.bytes().filter_map(class_of) {
            at = match self.child(at, class) {
                Some(child) => child,
                None if self.nodes.len() < usize::from(u16::MAX) => {
                    self.nodes.push(Node::new(favour));
                    let child = self.nodes.len() - 1;
                    self.nodes[at].children.push((class as u8, child as u16));
                    child
                }
                None => return,
            };
        }
        self.nodes[at].ends_term = true;
    }

    fn child(&self, at: usize, class: usize) -> Option<usize> {
        debug_assert!(class < CLASSES);
        let children = &self.nodes[at].children;
        let found = children.iter().find(|(c, _)| usize::from(*c) == class);
        found.map(|(_, child)| usize::from(*child))
    }

    /// The most that one letter can earn.
    pub(super) fn letter_bonus_max(&self) -> f32 {
        match self.nodes.len() {
            1 => 0.0,
            _ => KEY_TERM.letter_bonus,
        }
    }

    /// How much the term is favoured that the text is in.
    pub(super) fn favour(&self, state: BiasState) -> Favour {
        self.nodes[usize::from(state.0)].favour
    }

    /// The state after a letter of a word; `starts_word` allows a term to begin.
    pub(super) fn after_letter(
        &self,
        state: BiasState,
        class: usize,
        starts_word: bool,
    ) -> BiasState {
        if !starts_word && !state.is_inside() {
            return state;
        }
        let at = usize::from(state.0);
        // A term of several words may have been left at a word's start; another may begin there.
        let next = self.child(at, class).or_else(|| match starts_word {
            true => self.child(0, class),
            false => None,
        });
        BiasState(next.unwrap_or(0) as u16)
    }

    /// The state at the end of a whole word.
    pub(super) fn after_letters(&self, state: BiasState, word: &str) -> BiasState {
        let classes = word.bytes().filter_map(class_of).enumerate();
        classes.fold(state, |state, (i, class)| {
            self.after_letter(state, class, i == 0)
        })
    }

    /// Whether the finished word is in a term, and the state before the next word.
    pub(super) fn after_word(&self, state: BiasState) -> (bool, BiasState) {
        let at = usize::from(state.0);
        let onward = match state.is_inside() {
            true => self.child(at, SPACE),
            false => None,
        };
        let in_term = state.is_inside() && (self.nodes[at].ends_term || onward.is_some());
        (in_term, BiasState(onward.unwrap_or(0) as u16))
    }
}

impl Node {
    fn new(favour: Favour) -> Self {
        Self {
            children: Vec::new(),
            ends_term: false,
            favour,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bias: &Bias, text: &str) -> bool {
        let mut state = BiasState::default();
        let mut in_term = false;
        for word in text.split(' ') {
            (in_term, state) = bias.after_word(bias.after_letters(state, word));
        }
        in_term
    }

    #[test]
    fn terms_are_followed_across_words() {
        let bias = Bias::new(&["Kariakoo Shopping".to_owned(), "Zuchu".to_owned()], &[]);
        assert!(walk(&bias, "zuchu"));
        assert!(walk(&bias, "kariakoo shopping"));
        assert!(walk(&bias, "kariakoo zuchu"));
        assert!(!walk(&bias, "zuch"));
        assert!(!walk(&bias, "zuchus"));
        assert!(!walk(&bias, "shopping"));
    }

    #[test]
    fn a_word_of_a_prompt_is_favoured_less_than_a_key_term() {
        let bias = Bias::new(
            &["Zuchu".to_owned()],
            &["zuchu".to_owned(), "zari".to_owned()],
        );
        let favour = |text: &str| bias.favour(bias.after_letters(BiasState::default(), text));
        assert_eq!(favour("zuchu"), KEY_TERM);
        assert_eq!(favour("zari"), PROMPT_WORD);
    }

    #[test]
    fn absurd_terms_are_left_out() {
        let bias = Bias::new(&["a".repeat(1000), "!!!".to_owned(), String::new()], &[]);
        assert_eq!(bias.nodes.len(), 1);
    }
}
