//! Terms that the caller expects: names, products, places. Spelling one of them costs no more than
//! saying a common word, whatever the language model thinks of it.

use super::posteriors::{CLASSES, SPACE, class_of};

const TERMS_MAX: usize = 1000;
const TERM_LETTERS_MAX: usize = 64;

/// Score for each letter of a term.
pub(super) const LETTER_BONUS: f32 = 0.5;

/// The terms as a tree of letters.
#[derive(Debug, Clone)]
pub(super) struct Bias {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    children: Vec<(u8, u16)>,
    ends_term: bool,
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
    pub(super) fn new(terms: &[String]) -> Self {
        let mut bias = Self {
            nodes: vec![Node::new()],
        };
        for term in terms.iter().take(TERMS_MAX) {
            let spoken = sauti_text::compare::comparable(term);
            if !spoken.is_empty() && spoken.len() <= TERM_LETTERS_MAX {
                bias.insert(&spoken);
            }
        }
        bias
    }

    fn insert(&mut self, term: &str) {
        let mut at = 0usize;
        for class in term.bytes().filter_map(class_of) {
            at = match self.child(at, class) {
                Some(child) => child,
                None if self.nodes.len() < usize::from(u16::MAX) => {
                    self.nodes.push(Node::new());
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
            _ => LETTER_BONUS,
        }
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
    fn new() -> Self {
        Self {
            children: Vec::new(),
            ends_term: false,
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
            for (i, letter) in word.bytes().enumerate() {
                state = bias.after_letter(state, class_of(letter).unwrap(), i == 0);
            }
            (in_term, state) = bias.after_word(state);
        }
        in_term
    }

    #[test]
    fn terms_are_followed_across_words() {
        let bias = Bias::new(&["Kariakoo Shopping".to_owned(), "Zuchu".to_owned()]);
        assert!(walk(&bias, "zuchu"));
        assert!(walk(&bias, "kariakoo shopping"));
        assert!(walk(&bias, "kariakoo zuchu"));
        assert!(!walk(&bias, "zuch"));
        assert!(!walk(&bias, "zuchus"));
        assert!(!walk(&bias, "shopping"));
    }

    #[test]
    fn absurd_terms_are_left_out() {
        let bias = Bias::new(&["a".repeat(1000), "!!!".to_owned(), String::new()]);
        assert_eq!(bias.nodes.len(), 1);
    }
}
