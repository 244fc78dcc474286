//! From letter probabilities to words: CTC beam search with the language model.
//!
//! A hypothesis is a text so far. While a word is unfinished it is scored by the best word it can
//! still become, so that gluing words together never looks cheap; words outside the vocabulary are
//! scored by their spelling, so that names come out as letters.

use super::bias::{Bias, BiasState};
use super::mixture::{Mixture, MixtureConfig, MixtureState, OpenWord};
use super::posteriors::{BLANK, CLASSES, Posteriors, SPACE, letter_of, log_add};

const IMPOSSIBLE: f32 = -1e30;
const NO_PREFIX: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub struct BeamConfig {
    /// Hypotheses kept after each step.
    pub width: usize,
    /// Of the language model against the acoustic model.
    pub lm_weight: f32,
    /// Added to that weight for each unit of doubt in the letters: a clear voice needs less guessing.
    pub doubt_weight: f32,
    /// For each word, against the language model's liking for few words.
    pub word_bonus: f32,
    /// Added to ln p of the blank in each step: below nothing, faint letters are heard sooner.
    pub blank_bonus: f32,
    pub languages: MixtureConfig,
    /// Of the rescorer's score of the best hypotheses, against the language model's weight.
    pub rescore: f32,
    /// So much of the language model's own score of these is taken back, against its weight.
    pub forget: f32,
    /// Letters less likely than this in a step are not tried.
    pub letter_log_p_min: f32,
    pub letters_per_step: usize,
    /// Hypotheses this far behind the best one are dropped.
    pub score_margin: f32,
}

impl BeamConfig {
    /// The same settings with the weights that suit these probabilities.
    pub fn suited_to(&self, posteriors: &Posteriors) -> Self {
        let lm_weight = (self.lm_weight + self.doubt_weight * posteriors.doubt()).min(1.2);
        Self {
            // What a word costs grows with the weight, so its bonus must too.
            word_bonus: self.word_bonus * lm_weight / self.lm_weight.max(0.05),
            lm_weight,
            ..self.clone()
        }
    }
}

impl Default for BeamConfig {
    fn default() -> Self {
        Self {
            width: 640,
            lm_weight: 0.35,
            doubt_weight: 3.5,
            word_bonus: 0.25,
            blank_bonus: 0.0,
            languages: MixtureConfig {
                switch_log_p: -4.5,
                english_log_p: -1.6,
                unknown_bonus: 2.5,
            },
            rescore: 0.5,
            forget: 0.6,
            letter_log_p_min: -8.0,
            letters_per_step: 8,
            score_margin: 16.0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hypothesis {
    pub text: String,
    pub score: f32,
}

impl Hypothesis {
    /// Its probability, by that of the first of all.
    pub(super) fn weight(&self, all: &[Hypothesis]) -> f32 {
        (self.score - all[0].score).exp()
    }
}

/// A text so far. Prefixes form a tree; each is its parent and one more letter.
struct Prefix {
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    class: u8,
    word_letters: u8,
    word: OpenWord,
    before: MixtureState,
    /// SpokenLanguage model and bonuses of the finished words, weighted.
    done: f32,
    /// The best that the unfinished word can become, weighted.
    ahead: f32,
    bias: BiasState,
    term_letters: u8,
}

#[derive(Clone, Copy)]
struct Active {
    prefix: u32,
    /// ln p of all alignments that end in a blank, and in the last letter.
    blank: f32,
    letter: f32,
    rank: f32,
}

impl Active {
    fn total(&self) -> f32 {
        log_add(self.blank, self.letter)
    }
}

pub(super) struct BeamSearch<'a> {
    config: &'a BeamConfig,
    mixture: &'a Mixture<'a>,
    bias: &'a Bias,
    prefixes: Vec<Prefix>,
    /// Where a prefix stands among the next step's hypotheses, and for which step that holds.
    places: Vec<(u32, u32)>,
    step: u32,
    /// How far behind the best one a new hypothesis may be: about as far as the last that were kept.
    margin: f32,
}

/// How much further behind than in the step before a hypothesis may be and still be tried.
const MARGIN_SLACK: f32 = 3.0;

impl<'a> BeamSearch<'a> {
    pub(super) fn new(config: &'a BeamConfig, mixture: &'a Mixture<'a>, bias: &'a Bias) -> Self {
        Self {
            config,
            mixture,
            bias,
            prefixes: Vec::new(),
            places: Vec::new(),
            step: 0,
            margin: config.score_margin,
        }
    }

    /// The best texts, best first, up to the beam's width.
    pub(super) fn decode(
        mut self,
        posteriors: &Posteriors,
        context: MixtureState,
    ) -> Vec<Hypothesis> {
        self.push_prefix(Prefix {
            parent: NO_PREFIX,
            first_child: NO_PREFIX,
            next_sibling: NO_PREFIX,
            class: SPACE as u8,
            word_letters: 0,
            word: OpenWord::EMPTY,
            before: context,
            done: 0.0,
            ahead: 0.0,
            bias: BiasState::default(),
            term_letters: 0,
        });
        let mut active = vec![Active {
            prefix: 0,
            blank: 0.0,
            letter: IMPOSSIBLE,
            rank: 0.0,
        }];
        let mut next = Vec::new();
        for row in posteriors.rows() {
            self.advance(row, &active, &mut next);
            self.prune(&mut next);
            std::mem::swap(&mut active, &mut next);
        }
        self.finish(&active)
    }

    fn advance(&mut self, row: &[f32], active: &[Active], next: &mut Vec<Active>) {
        next.clear();
        self.step += 1;
        let (classes, count) = self.likely_classes(row);
        let classes = &classes[..count];
        let mut best = IMPOSSIBLE;
        for hypothesis in active {
            let prefix = &self.prefixes[hypothesis.prefix as usize];
            let (last, known) = (usize::from(prefix.class), prefix.done + prefix.ahead);
            let total = hypothesis.total();
            let stays = total + row[BLANK] + self.config.blank_bonus;
            best = best.max(stays + known);
            let place = self.place(hypothesis.prefix, next);
            next[place].blank = log_add(next[place].blank, stays);
            if hypothesis.letter > IMPOSSIBLE {
                let again = hypothesis.letter + row[last];
                best = best.max(again + known);
                next[place].letter = log_add(next[place].letter, again);
            }
        }
        for hypothesis in active {
            let prefix = &self.prefixes[hypothesis.prefix as usize];
            let last = usize::from(prefix.class);
            let total = hypothesis.total();
            let (with_letter, with_space) = self.best_after(prefix);
            for &class in classes {
                let class = usize::from(class);
                // The same letter twice needs a blank between.
                let from = if class == last && hypothesis.prefix != 0 {
                    hypothesis.blank
                } else {
                    total
                };
                let reached = from + row[class];
                let hoped = reached
                    + if class == SPACE {
                        with_space
                    } else {
                        with_letter
                    };
                if hoped < best - self.margin {
                    continue;
                }
                // A space after a space says nothing.
                let target = if class == SPACE && last == SPACE {
                    hypothesis.prefix
                } else {
                    self.child(hypothesis.prefix, class)
                };
                let prefix = &self.prefixes[target as usize];
                best = best.max(reached + prefix.done + prefix.ahead);
                let place = self.place(target, next);
                next[place].letter = log_add(next[place].letter, reached);
            }
        }
    }

    /// The most that the language model can give to this prefix with a letter more, and with a space.
    fn best_after(&self, prefix: &Prefix) -> (f32, f32) {
        let in_term = self.bias.favour(prefix.bias).letter_bonus * f32::from(prefix.term_letters);
        let whole_word = prefix.done + self.config.word_bonus + in_term;
        // Looking ahead only ever finds less as the letters come, but for the bonus of a term.
        let with_letter = match prefix.word_letters {
            0 => whole_word,
            _ => prefix.done + prefix.ahead,
        };
        (with_letter + self.bias.letter_bonus_max(), whole_word)
    }

    fn likely_classes(&self, row: &[f32]) -> ([u8; CLASSES], usize) {
        let mut classes = [0u8; CLASSES];
        let mut count = 0;
        // In a surely empty step a letter has nowhere to come from.
        if row[BLANK] > -0.005 {
            return (classes, 0);
        }
        for (class, log_p) in row.iter().enumerate().skip(1) {
            if *log_p > self.config.letter_log_p_min {
                classes[count] = class as u8;
                count += 1;
            }
        }
        let by_likelihood = |a: &u8, b: &u8| row[usize::from(*b)].total_cmp(&row[usize::from(*a)]);
        classes[..count].sort_unstable_by(by_likelihood);
        (classes, count.min(self.config.letters_per_step))
    }

    fn place(&mut self, prefix: u32, next: &mut Vec<Active>) -> usize {
        let (step, place) = self.places[prefix as usize];
        if step == self.step {
            return place as usize;
        }
        self.places[prefix as usize] = (self.step, next.len() as u32);
        next.push(Active {
            prefix,
            blank: IMPOSSIBLE,
            letter: IMPOSSIBLE,
            rank: 0.0,
        });
        next.len() - 1
    }

    fn prune(&mut self, active: &mut Vec<Active>) {
        let mut best = IMPOSSIBLE;
        for hypothesis in active.iter_mut() {
            let prefix = &self.prefixes[hypothesis.prefix as usize];
            hypothesis.rank = hypothesis.total() + prefix.done + prefix.ahead;
            best = best.max(hypothesis.rank);
        }
        active.retain(|hypothesis| hypothesis.rank >= best - self.config.score_margin);
        if active.len() > self.config.width {
            active.select_nth_unstable_by(self.config.width, |a, b| b.rank.total_cmp(&a.rank));
            active.truncate(self.config.width);
        }
        let worst = active.iter().map(|hypothesis| hypothesis.rank);
        let spread = best - worst.fold(best, f32::min);
        self.margin = self.config.score_margin.min(spread + MARGIN_SLACK);
    }

    fn push_prefix(&mut self, prefix: Prefix) -> u32 {
        self.prefixes.push(prefix);
        self.places.push((0, 0));
        (self.prefixes.len() - 1) as u32
    }

    fn child(&mut self, parent: u32, class: usize) -> u32 {
        let mut child = self.prefixes[parent as usize].first_child;
        while child != NO_PREFIX {
            let node = &self.prefixes[child as usize];
            if usize::from(node.class) == class {
                return child;
            }
            child = node.next_sibling;
        }
        let mut made = if class == SPACE {
            self.with_word_finished(parent)
        } else {
            self.with_letter(parent, class)
        };
        made.next_sibling = self.prefixes[parent as usize].first_child;
        let child = self.push_prefix(made);
        self.prefixes[parent as usize].first_child = child;
        child
    }

    fn with_letter(&self, parent: u32, class: usize) -> Prefix {
        let before = &self.prefixes[parent as usize];
        let word = self.mixture.with_letter(&before.word, class - 1);
        let starts_word = before.word_letters == 0;
        let bias = self.bias.after_letter(before.bias, class, starts_word);
        let term_letters = match (bias.is_inside(), starts_word) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => before.term_letters.saturating_add(1),
        };
        let mut log_p = self.mixture.ahead(&before.before, &word);
        let mut bonus = self.config.word_bonus;
        if bias.is_inside() {
            let favour = self.bias.favour(bias);
            log_p = log_p.max(favour.log_p_min);
            bonus += favour.letter_bonus * f32::from(term_letters);
        }
        Prefix {
            parent,
            first_child: NO_PREFIX,
            next_sibling: NO_PREFIX,
            class: class as u8,
            word_letters: before.word_letters.saturating_add(1),
            word,
            before: before.before,
            done: before.done,
            ahead: self.config.lm_weight * log_p + bonus,
            bias,
            term_letters,
        }
    }

    /// The unfinished word's score, now that it is known to end here, and what comes after it.
    fn word_end(&self, prefix: &Prefix) -> (f32, MixtureState, BiasState) {
        let (mut log_p, state) = self.mixture.word_end(&prefix.before, &prefix.word);
        let mut bonus = self.config.word_bonus;
        let (in_term, bias) = self.bias.after_word(prefix.bias);
        if in_term {
            let favour = self.bias.favour(prefix.bias);
            log_p = log_p.max(favour.log_p_min);
            bonus += favour.letter_bonus * f32::from(prefix.term_letters);
        }
        (self.config.lm_weight * log_p + bonus, state, bias)
    }

    fn with_word_finished(&self, parent: u32) -> Prefix {
        let before = &self.prefixes[parent as usize];
        let (score, state, bias) = self.word_end(before);
        Prefix {
            parent,
            first_child: NO_PREFIX,
            next_sibling: NO_PREFIX,
            class: SPACE as u8,
            word_letters: 0,
            word: OpenWord::EMPTY,
            before: state,
            done: before.done + score,
            ahead: 0.0,
            bias,
            term_letters: 0,
        }
    }

    fn finish(&self, active: &[Active]) -> Vec<Hypothesis> {
        let mut out: Vec<Hypothesis> = active
            .iter()
            .map(|hypothesis| {
                let prefix = &self.prefixes[hypothesis.prefix as usize];
                let mut score = hypothesis.total() + prefix.done;
                if prefix.word_letters > 0 {
                    score += self.word_end(prefix).0;
                }
                Hypothesis {
                    text: self.text(hypothesis.prefix),
                    score,
                }
            })
            .collect();
        out.sort_by(|a, b| b.score.total_cmp(&a.score));
        out
    }

    fn text(&self, mut prefix: u32) -> String {
        let mut letters = Vec::new();
        while prefix != 0 && prefix != NO_PREFIX {
            let node = &self.prefixes[prefix as usize];
            letters.push(letter_of(usize::from(node.class)));
            prefix = node.parent;
        }
        let text: String = letters.iter().rev().collect();
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::lm::LanguageModels;
    use super::super::lm::fixtures::{small_lm, small_pair};
    use super::super::posteriors::fixtures::spoken;
    use super::*;
    use crate::SpokenLanguage;

    fn heard(posteriors: &Posteriors, terms: &[&str]) -> String {
        let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
        heard_with(posteriors, Bias::new(&terms, &[]))
    }

    fn heard_with(posteriors: &Posteriors, bias: Bias) -> String {
        heard_in(&small_lm(), None, posteriors, &bias)
    }

    fn heard_in(
        lms: &LanguageModels,
        language: Option<SpokenLanguage>,
        posteriors: &Posteriors,
        bias: &Bias,
    ) -> String {
        let config = BeamConfig::default();
        let mixture = Mixture::new(lms, language, config.languages, None);
        let search = BeamSearch::new(&config, &mixture, bias);
        let found = search.decode(posteriors, mixture.start());
        found[0].text.clone()
    }

    #[test]
    fn a_clear_sentence_comes_back() {
        let text = "mwalimu anasoma kitabu leo";
        for seed in 0..5 {
            assert_eq!(heard(&spoken(text, 4.0, seed), &[]), text);
        }
    }

    #[test]
    fn a_sentence_may_change_its_language() {
        let text = "mama anapika chakula the teacher reads some bread today";
        let misheard = "mama anabika chakula the teacher leads some bread today";
        let lms = small_pair();
        let (posteriors, none) = (blurred(text, misheard), Bias::new(&[], &[]));
        assert_eq!(heard_in(&lms, None, &posteriors, &none), text);
        // One language alone mends its own words only.
        let (sw, en) = (Some(SpokenLanguage::Swahili), Some(SpokenLanguage::English));
        let swahili = heard_in(&lms, sw, &posteriors, &none);
        assert!(
            swahili.contains("anapika") && swahili.contains("leads"),
            "{swahili}"
        );
        let english = heard_in(&lms, en, &posteriors, &none);
        assert!(
            english.contains("anabika") && english.contains("reads"),
            "{english}"
        );
    }

    #[test]
    fn the_language_model_mends_a_misheard_letter() {
        assert_eq!(
            heard(
                &blurred("mama anapika chakula leo", "mama anabika chakula leo"),
                &[]
            ),
            "mama anapika chakula leo"
        );
    }

    #[test]
    fn names_outside_the_vocabulary_come_out_as_letters() {
        let text = "wanjiku anasoma shuleni leo";
        assert_eq!(heard(&spoken(text, 3.0, 9), &[]), text);
    }

    #[test]
    fn an_expected_term_wins_over_a_likelier_spelling() {
        let posteriors = blurred("mama zuchu leo", "mama sucu leo");
        assert_ne!(heard(&posteriors, &[]), "mama zuchu leo");
        let posteriors = blurred("mama zuchu leo", "mama suchu leo");
        assert_eq!(heard(&posteriors, &["Zuchu"]), "mama zuchu leo");
    }

    #[test]
    fn a_word_of_a_prompt_wins_where_little_speaks_against_it() {
        let prompt = ["zuchu".to_owned()];
        let with_prompt = |posteriors| heard_with(posteriors, Bias::new(&[], &prompt));
        let doubtful = blurred("mama zuchu leo", "mama suchu leo");
        assert_ne!(heard(&doubtful, &[]), "mama zuchu leo");
        assert_eq!(with_prompt(&doubtful), "mama zuchu leo");
        let clear = spoken("mama suchu leo", 4.0, 1);
        assert_eq!(with_prompt(&clear), "mama suchu leo");
    }

    #[test]
    fn nothing_heard_gives_nothing() {
        assert_eq!(heard(&spoken("", 1.0, 1), &[]), "");
        assert_eq!(heard(&Posteriors::default(), &[]), "");
    }

    /// Two texts of one length mixed: the second a little likelier in the steps where they differ.
    fn blurred(one: &str, other: &str) -> Posteriors {
        let (a, b) = (spoken(one, 0.5, 1), spoken(other, 0.5, 2));
        let steps = a.steps().min(b.steps());
        let mut values = Vec::new();
        for step in 0..steps {
            let pairs = a.row(step).iter().zip(b.row(step));
            values.extend(pairs.map(|(x, y)| log_add(x + 0.4f32.ln(), y + 0.6f32.ln())));
        }
        Posteriors::new(values)
    }
}
