//! What stands around a token. Every look is bounded, so that reading stays linear in the length of the text.

use super::agreement::{Class, class_of};
use super::roman::roman_value;
use super::token::{Kind, Token};
use crate::lexicon::is_name;
use crate::shape::is_swahili_shaped;
use crate::tables::WordList;

/// How many words back a rule may look for its context.
const WORDS_BACK_MAX: usize = 8;

/// Abbreviations that a number follows; their dot ends no sentence.
static NUMBER_ABBREVIATIONS: WordList = WordList::named("number-abbreviations");

pub(crate) struct TokenContext<'a> {
    tokens: Vec<Token<'a>>,
    /// Most words are capitals: a capital says nothing then.
    pub shouting: bool,
    /// The numbers of lists, in order: "1. Maziwa 2. Mayai".
    items: Vec<usize>,
    /// The last word before each token, and before the end, in the same sentence.
    words_before: Vec<Option<usize>>,
}

impl<'a> TokenContext<'a> {
    pub(super) fn new(tokens: Vec<Token<'a>>) -> Self {
        let (mut words, mut caps) = (0, 0);
        for token in tokens
            .iter()
            .filter(|t| t.kind == Kind::Word && t.text.len() > 1)
        {
            words += 1;
            caps += usize::from(token.is_all_caps());
        }
        let mut context = Self {
            shouting: words >= 3 && caps * 3 >= words * 2,
            items: item_numbers(&tokens),
            words_before: Vec::with_capacity(tokens.len()),
            tokens,
        };
        let mut last = None;
        for i in 0..context.len() {
            context.words_before.push(last);
            last = match context.word(i) {
                Some(_) => Some(i),
                None => last.filter(|_| !context.ends_sentence(i)),
            };
        }
        context.words_before.push(last);
        context
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn token(&self, i: usize) -> &Token<'a> {
        &self.tokens[i]
    }

    pub(super) fn get(&self, i: usize) -> Option<&Token<'a>> {
        self.tokens.get(i)
    }

    pub(super) fn kind(&self, i: usize) -> Option<Kind> {
        self.tokens.get(i).map(|t| t.kind)
    }

    pub(super) fn kind_before(&self, i: usize) -> Option<Kind> {
        i.checked_sub(1).and_then(|before| self.kind(before))
    }

    pub(super) fn is_mark(&self, i: usize, mark: char) -> bool {
        self.kind(i) == Some(Kind::Mark(mark))
    }

    pub(super) fn word(&self, i: usize) -> Option<&Token<'a>> {
        self.tokens.get(i).filter(|t| t.kind == Kind::Word)
    }

    /// One of these words stands at `i`.
    pub(super) fn is_word(&self, i: usize, words: &[&str]) -> bool {
        self.word(i).is_some_and(|word| word.is_one_of(words))
    }

    pub(super) fn is_capitalised(&self, i: usize) -> bool {
        self.word(i).is_some_and(Token::is_capitalised)
    }

    pub(super) fn digits(&self, i: usize) -> Option<&'a str> {
        self.tokens
            .get(i)
            .filter(|t| t.kind == Kind::Digits)
            .map(|t| t.text)
    }

    /// The figures from `i` on that have this mark between them, and the token after the last.
    pub(super) fn joined_figures(&self, i: usize, mark: char) -> (Vec<&'a str>, usize) {
        const PARTS_MAX: usize = 8;
        let parts = (0..PARTS_MAX).map_while(|n| {
            let joined = n == 0 || self.is_mark(i + 2 * n - 1, mark);
            self.digits(i + 2 * n).filter(|_| joined)
        });
        let parts: Vec<&str> = parts.collect();
        let end = i + (2 * parts.len()).saturating_sub(1);
        (parts, end)
    }

    /// The value of at most so many figures.
    pub(super) fn value(&self, i: usize, figures_max: usize) -> Option<u64> {
        let figures = self
            .digits(i)
            .filter(|figures| figures.len() <= figures_max)?;
        figures.parse().ok()
    }

    /// Past a space that does not end the line.
    pub(super) fn skip_space(&self, i: usize) -> usize {
        let space = self
            .tokens
            .get(i)
            .is_some_and(|t| t.kind == Kind::Space && !t.text.contains('\n'));
        if space { i + 1 } else { i }
    }

    /// The number at `i` counts the items of a list.
    pub(super) fn is_item_number(&self, i: usize) -> bool {
        self.items.binary_search(&i).is_ok()
    }

    /// The token before, spaces left out; there is none before the number of a list.
    pub(super) fn before(&self, i: usize) -> Option<usize> {
        if self.is_item_number(i) {
            return None;
        }
        self.tokens[..i].iter().rposition(|t| t.kind != Kind::Space)
    }

    /// The word right before, with nothing but a space between.
    pub(super) fn word_before(&self, i: usize) -> Option<&Token<'a>> {
        self.before(i).and_then(|j| self.word(j))
    }

    /// One of these words stands right before.
    pub(super) fn follows(&self, i: usize, words: &[&str]) -> bool {
        self.word_before(i).is_some_and(|w| w.is_one_of(words))
    }

    /// Figures stand right before.
    pub(super) fn follows_figures(&self, i: usize) -> bool {
        self.before(i).is_some_and(|j| self.digits(j).is_some())
    }

    /// One of these words comes next, perhaps behind a space.
    pub(super) fn comes_next(&self, i: usize, words: &[&str]) -> bool {
        self.is_word(self.skip_space(i), words)
    }

    /// Figures come next, perhaps behind a space.
    pub(super) fn figures_follow(&self, i: usize) -> bool {
        self.digits(self.skip_space(i)).is_some()
    }

    /// One of these words is among the last so many of the sentence.
    pub(super) fn is_near(&self, i: usize, words_max: usize, words: &[&str]) -> bool {
        let mut before = self.words_back(i).take(words_max);
        before.any(|word| word.is_one_of(words))
    }

    /// The words before in the same sentence, nearest first.
    pub(super) fn words_back(&self, i: usize) -> impl Iterator<Item = &Token<'a>> {
        let before = |j: usize| self.words_before.get(j).copied().flatten();
        std::iter::successors(before(i), move |j| before(*j))
            .take(WORDS_BACK_MAX)
            .take_while(move |j| i - j <= WORDS_BACK_MAX * 3)
            .map(|j| &self.tokens[j])
    }

    fn ends_sentence(&self, i: usize) -> bool {
        match self.tokens[i].kind {
            Kind::Mark('!' | '?' | ';') => true,
            Kind::Mark('.') => !self.is_abbreviation_dot(i),
            _ => self.tokens[i].text.contains('\n'),
        }
    }

    /// The dot of "Till No. 832145" or "tar. 5/6/2024": the sentence goes on behind it.
    pub(super) fn is_abbreviation_dot(&self, i: usize) -> bool {
        let short = i > 0
            && self
                .word(i - 1)
                .is_some_and(|w| w.is_one_of(&NUMBER_ABBREVIATIONS));
        let next = self.get(self.skip_space(i + 1));
        let goes_on = next.is_some_and(|token| match token.kind {
            Kind::Digits => true,
            Kind::Word => {
                let numeral = roman_value(token.text).is_some();
                numeral || !token.is_capitalised() || token.is_one_of(&NUMBER_ABBREVIATIONS)
            }
            _ => false,
        });
        short && goes_on && self.is_mark(i, '.')
    }

    /// The mark at `i` stands for inches: it closes no quotation.
    pub(super) fn is_inch(&self, i: usize) -> bool {
        const TOKENS_BACK_MAX: usize = 256;
        if !self.is_mark(i, '"') {
            return false;
        }
        let mut quotes = (0..i)
            .rev()
            .take(TOKENS_BACK_MAX)
            .filter(|j| self.is_mark(*j, '"'))
            .map(|j| self.kind_before(j));
        let last = quotes.find(|before| *before != Some(Kind::Digits));
        let closed = matches!(
            last,
            None | Some(Some(Kind::Word | Kind::Mark('.' | ',' | '!' | '?')))
        );
        // "Sheria ya 1979\"" closes one that was opened in another way.
        let short = i > 0 && self.digits(i - 1).is_some_and(|figures| figures.len() <= 2);
        closed && short
    }

    /// The mark at `i` stands for minutes: it closes no quotation, and no word or number goes on behind it.
    pub(super) fn is_minute(&self, i: usize) -> bool {
        const TOKENS_BACK_MAX: usize = 256;
        let opens = |j: usize| {
            let before = self.kind_before(j);
            self.is_mark(j, '\'') && matches!(before, None | Some(Kind::Space | Kind::Mark(_)))
        };
        let goes_on = matches!(self.kind(i + 1), Some(Kind::Word | Kind::Digits));
        self.is_mark(i, '\'') && !goes_on && !(0..i).rev().take(TOKENS_BACK_MAX).any(opens)
    }

    pub(super) fn starts_line(&self, i: usize) -> bool {
        starts_line(&self.tokens, i)
    }

    pub(super) fn starts_sentence(&self, i: usize) -> bool {
        self.before(i).is_none_or(|j| {
            matches!(self.tokens[j].kind, Kind::Mark('.' | '!' | '?' | ':' | '"'))
                && !self.is_abbreviation_dot(j)
        })
    }

    /// "Simba 3 (Kibu 12', 45')", "Simba 3 Yanga 0": goals of a team, not lions.
    fn counts_goals(&self, i: usize) -> bool {
        const SCORER_TOKENS_MAX: usize = 8;
        let next = self.skip_space(i + 1);
        let mut scorers = next..next + SCORER_TOKENS_MAX;
        let scored = self.is_mark(next, '(') && scorers.any(|j| self.is_minute(j));
        let other = self.word(next).is_some_and(Token::is_capitalised);
        let against = other && self.digits(self.skip_space(next + 1)).is_some();
        scored || against && self.follows(i, &["simba"])
    }

    /// The class of the noun before the number at `i`; in "watu 2 au 3" it reaches over the first number.
    pub(super) fn class_before(&self, i: usize) -> Option<Class> {
        let j = self.before(i).filter(|_| !self.counts_goals(i))?;
        let word = self.word(j)?;
        if word.is_one_of(&["au", "hadi", "mpaka", "ama", "na"]) {
            let number = self
                .before(j)
                .filter(|k| self.kind(*k) == Some(Kind::Digits))?;
            let noun = self.before(number)?;
            return self.noun_class(noun);
        }
        self.noun_class(j)
    }

    fn noun_class(&self, j: usize) -> Option<Class> {
        // The unit of "250mg" is no noun.
        let word = self
            .word(j)
            .filter(|_| self.kind_before(j) != Some(Kind::Digits))?;
        let first = self.starts_sentence(j) || self.starts_line(j) && !is_name(word.text);
        let name = word.is_capitalised() && !first && !word.is_all_caps();
        // "MR 1" and "VIPs 3" are read by their letters.
        let stem = word.text.strip_suffix('s').unwrap_or(word.text);
        let short = (2..=4).contains(&stem.len());
        let capitals = short && stem.bytes().all(|b| b.is_ascii_uppercase());
        let letters = capitals && !is_swahili_shaped(&stem.to_ascii_lowercase());
        if name || letters {
            None
        } else {
            class_of(word.text)
        }
    }
}

fn starts_line(tokens: &[Token<'_>], i: usize) -> bool {
    i == 0 || tokens[i - 1].text.contains('\n')
}

/// The line before ends in the midst of a phrase: "saa⏎5. Kisha".
fn goes_on(tokens: &[Token<'_>], i: usize) -> bool {
    static JOINTS: WordList = WordList::named("line-joints");
    i > 1 && tokens[i - 2].is_one_of(&JOINTS)
}

/// "1. Watu" and "1) Watu" at the start of a line, and further ones in the same line: "Orodha: 1. Maziwa 2. Mayai".
fn item_numbers(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut items = Vec::new();
    let mut next = 1;
    for i in 0..tokens.len() {
        if tokens[i].text.contains('\n') {
            next = 1;
        }
        let Some([number, mark, item]) = tokens[i..].first_chunk() else {
            break;
        };
        // "1.Salio 2.Taarifa".
        let glued = item.is_capitalised() && item.text.len() > 1 && mark.kind == Kind::Mark('.');
        let written = number.kind == Kind::Digits
            && number.text.len() <= 2
            && matches!(mark.kind, Kind::Mark('.' | ')'))
            && (item.kind == Kind::Space || glued);
        let Some(value) = number.text.parse::<u64>().ok().filter(|_| written) else {
            continue;
        };
        let apart = i > 1 && tokens[i - 1].kind == Kind::Space;
        let opens = apart && (value > 1 || matches!(tokens[i - 2].kind, Kind::Mark(_)));
        // What menus end with: "0. Rudi 98. Zaidi".
        let last = apart && next > 2 && matches!(number.text, "0" | "00" | "98" | "99");
        if starts_line(tokens, i) && !goes_on(tokens, i) || value == next && opens {
            items.push(i);
            next = value + 1;
        } else if last {
            items.push(i);
        }
    }
    items
}
