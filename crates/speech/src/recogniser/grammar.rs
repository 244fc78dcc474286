//! Answers of a known form: digits, yes or no, an amount, one of some choices. The search is exact
//! and knows nothing else; what fits no such answer is refused.

use std::collections::HashMap;

use super::answer::scale_of;
use super::answer_words::{AnswerWords, book_word};
use super::choices::{CHOICE_LETTERS_MAX, spoken_choice};
use super::posteriors::{BLANK, Posteriors, SPACE, class_of, letter_of, log_add};
use crate::{Expect, SpeechError, SpokenLanguage};

const CHOICES_MAX: usize = 500;
/// Below this mean distance per letter from the likeliest letters, the answer is not in the sound.
const FIT_MIN: f32 = -1.6;

/// One letter of one word of the grammar.
struct GrammarLetter {
    class: usize,
    next: Vec<u32>,
    ends_word: bool,
    /// An answer may be complete here.
    is_final: bool,
    /// Which choice this letter belongs to.
    choice: u32,
}

/// An acceptor over letters: the words of every answer, spelled out.
pub(super) struct Grammar {
    letters: Vec<GrammarLetter>,
    starts: Vec<u32>,
    choices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct GrammarAnswer {
    pub text: String,
    /// The choice as the caller wrote it.
    pub choice: Option<String>,
    /// Mean ln p lost against the likeliest letters, per letter: 0 is perfect.
    pub fit: f32,
    /// ln p of its best way through the sound.
    pub score: f32,
}

impl GrammarAnswer {
    pub(super) fn is_accepted(&self) -> bool {
        self.fit >= FIT_MIN && !self.text.is_empty()
    }
}

impl Grammar {
    /// `None` when anything may be said. Where the language is not known, answers in each are.
    pub(super) fn for_expectation(
        expect: &Expect,
        language: Option<SpokenLanguage>,
    ) -> Result<Option<Self>, SpeechError> {
        let mut grammar = Self {
            letters: Vec::new(),
            starts: Vec::new(),
            choices: Vec::new(),
        };
        let known = AnswerWords::of(language);
        match expect {
            Expect::Any => return Ok(None),
            Expect::Digits => known.iter().for_each(|words| grammar.allow_digits(words)),
            Expect::YesNo => grammar.allow_yes_no(known),
            Expect::Amount => known.iter().for_each(|words| grammar.allow_amounts(words)),
            Expect::Choices(choices) => grammar.allow_choices(choices, language)?,
        }
        Ok(Some(grammar))
    }

    fn allow_digits(&mut self, words: &AnswerWords) {
        let too = words.digits_too.iter().map(|(word, _)| word);
        let (starts, ends) = self.add_words(words.digits.iter().chain(too));
        let (times_starts, times_ends) = self.add_words(words.times.iter().map(|(word, _)| word));
        self.link(&ends, &starts, true);
        self.link(&ends, &times_starts, true);
        self.link(&times_ends, &starts, false);
        let (repeat_starts, repeat_ends) =
            self.add_words(words.repeats.iter().map(|(said, _)| said));
        self.link(&ends, &repeat_starts, true);
        for next in [&starts, &times_starts] {
            self.link(&repeat_ends, next, true);
        }
        let ends = [ends, repeat_ends].concat();
        let starts = [starts, times_starts].concat();
        self.allow_courtesies(words.before_digits, words.after_digits, starts, &ends);
    }

    /// Words around a number that change nothing; an answer begins with one of them or with the number.
    fn allow_courtesies(
        &mut self,
        before: &[&'static str],
        after: &[&'static str],
        starts: Vec<u32>,
        ends: &[u32],
    ) {
        let (before_starts, before_ends) = self.add_words(before);
        self.link(&before_ends, &starts, false);
        let (after_starts, after_ends) = self.add_words(after);
        for ends in [ends, &after_ends] {
            self.link(ends, &after_starts, true);
        }
        self.starts.extend([starts, before_starts].concat());
    }

    /// One of these words or several, with courtesies after. Both in one answer, too: whoever says both has not decided.
    /// People mix the languages here: "no, asante".
    fn allow_yes_no(&mut self, known: &[AnswerWords]) {
        let words = known
            .iter()
            .flat_map(|words| words.yes.iter().chain(words.no));
        let (starts, ends) = self.add_words(words);
        let courtesies = known.iter().flat_map(|words| words.courtesies);
        let (firsts, lasts) = self.add_words(courtesies);
        for ends in [&ends, &lasts] {
            self.link(ends, &starts, true);
            self.link(ends, &firsts, true);
        }
        self.starts.extend(starts);
    }

    /// Number words in any order, a currency before or after, and once more for the cents; courtesies around them.
    fn allow_amounts(&mut self, words: &AnswerWords) {
        let currencies = words.currencies.iter().map(|(word, _)| word);
        let (currency_starts, currency_ends) = self.add_words(currencies);
        let numbers = words.numbers.iter().copied().flatten();
        let street = words.street_scales.iter().map(|(word, _)| word);
        let numbers: Vec<_> = words.digits.iter().chain(numbers).chain(street).collect();
        let (starts, ends) = self.add_words(numbers.iter().copied());
        let (other_starts, other_ends) = self.add_words(words.after_no_digit);
        let (joint_starts, joint_ends) = self.add_words(words.connections);
        for ends in [&currency_ends, &ends, &other_ends] {
            self.link(ends, &starts, true);
            self.link(ends, &joint_starts, true);
        }
        for ends in [&currency_ends, &ends[words.digits.len()..], &other_ends] {
            self.link(ends, &other_starts, true);
        }
        self.link(&ends, &currency_starts, true);
        self.link(&other_ends, &currency_starts, true);
        for starts in [&starts, &other_starts, &currency_starts] {
            self.link(&joint_ends, starts, false);
        }
        let starts = [currency_starts, starts, other_starts].concat();
        // "Mia tu" would be what is left of "mia tatu".
        let ends = ends.into_iter().zip(numbers);
        let ends = ends.filter(|(_, word)| scale_of(book_word(word)).is_none());
        let ends = ends.map(|(end, _)| end);
        let ends: Vec<u32> = ends.chain(other_ends).chain(currency_ends).collect();
        self.allow_courtesies(words.before_amount, words.after_amount, starts, &ends);
    }

    fn allow_choices(
        &mut self,
        choices: &[String],
        language: Option<SpokenLanguage>,
    ) -> Result<(), SpeechError> {
        if choices.is_empty() || choices.len() > CHOICES_MAX {
            return Err(SpeechError::BadRequest(format!(
                "choices must number 1 to {CHOICES_MAX}"
            )));
        }
        for (i, choice) in choices.iter().enumerate() {
            let spoken = spoken_choice(choice, language);
            if spoken.is_empty() {
                return Err(SpeechError::BadRequest(format!(
                    "choice {} has no letters or more than {CHOICE_LETTERS_MAX}",
                    i + 1
                )));
            }
            for spoken in spoken {
                let (first, last) = self.add_phrase(&spoken, i as u32);
                // Who is not sure of having been heard says it again.
                self.link(&[last], &[first], true);
                self.starts.push(first);
            }
            self.choices.push(choice.clone());
        }
        Ok(())
    }

    /// Words and phrases; gives their first and their last letters.
    fn add_words<'a>(
        &mut self,
        words: impl IntoIterator<Item = &'a &'static str>,
    ) -> (Vec<u32>, Vec<u32>) {
        words
            .into_iter()
            .map(|word| self.add_phrase(word, 0))
            .unzip()
    }

    fn add_phrase(&mut self, phrase: &str, choice: u32) -> (u32, u32) {
        let first = self.letters.len() as u32;
        for word in phrase.split(' ') {
            let before = self.letters.len().checked_sub(1);
            let (start, _) = self.add_word(word, choice);
            if let Some(before) = before.filter(|_| start > first) {
                self.letters[before].next.push(start);
            }
        }
        (first, self.letters.len() as u32 - 1)
    }

    fn add_word(&mut self, word: &str, choice: u32) -> (u32, u32) {
        let first = self.letters.len() as u32;
        for class in word.bytes().filter_map(class_of) {
            let next = self.letters.len() as u32 + 1;
            self.letters.push(GrammarLetter {
                class,
                next: vec![next],
                ends_word: false,
                is_final: false,
                choice,
            });
        }
        let end = self.letters.len() as u32 - 1;
        let last = &mut self.letters[end as usize];
        last.next.clear();
        last.ends_word = true;
        (first, end)
    }

    fn link(&mut self, ends: &[u32], starts: &[u32], is_final: bool) {
        for &end in ends {
            let letter = &mut self.letters[end as usize];
            letter.next.extend(starts);
            letter.is_final = is_final;
        }
    }

    /// The answers that fit the sound best, up to so many, best first.
    pub(super) fn decode(&self, posteriors: &Posteriors, count: usize) -> Vec<GrammarAnswer> {
        Search::run(self, posteriors, count)
    }

    /// The letters of the word that begins with this one.
    fn word_at(&self, first: u32) -> &[GrammarLetter] {
        let letters = &self.letters[first as usize..];
        let end = letters.iter().position(|letter| letter.ends_word);
        &letters[..=end.unwrap_or(0)]
    }
}

/// A way into a state: ln p of its best alignment, and the words it has said.
#[derive(Clone, Copy)]
struct Path {
    score: f32,
    said: u32,
}

const NO_PATH: Path = Path {
    score: f32::MIN,
    said: u32::MAX,
};
const NOTHING_SAID: u32 = 0;

/// Best paths over states: 0 is before the first letter, then for letter i its sound (2i + 1) and
/// the gap after it (2i + 2). Each state keeps the best ways that differ in their words.
struct Search<'a> {
    grammar: &'a Grammar,
    count: usize,
    paths: Vec<Path>,
    /// Words said, as a tree: those before, and the first letter of the last.
    said: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
}

impl<'a> Search<'a> {
    fn run(grammar: &'a Grammar, posteriors: &Posteriors, count: usize) -> Vec<GrammarAnswer> {
        let states = 2 * grammar.letters.len() + 1;
        let mut search = Search {
            grammar,
            count,
            paths: vec![NO_PATH; states * count],
            said: vec![(NOTHING_SAID, 0)],
            known: HashMap::new(),
        };
        search.paths[0] = Path {
            score: 0.0,
            said: NOTHING_SAID,
        };
        let mut likeliest = 0.0;
        for row in posteriors.rows() {
            // As a gap is heard: in music blank and space are both likely, and an answer must not gain by it.
            let gap = log_add(row[BLANK], row[SPACE]);
            likeliest += row.iter().copied().fold(gap, f32::max);
            search.step(row);
        }
        search.answers(likeliest)
    }

    fn step(&mut self, row: &[f32]) {
        let idle = log_add(row[BLANK], row[SPACE]);
        let last = std::mem::take(&mut self.paths);
        let mut next = vec![NO_PATH; last.len()];
        let grammar = self.grammar;
        let ways = |state: usize| {
            let ways = last[state * self.count..][..self.count].iter();
            ways.take_while(|path| path.score > f32::MIN)
        };
        let (count, said, known) = (self.count, &mut self.said, &mut self.known);
        let mut reach = |state: usize, path: &Path, log_p: f32, word: Option<u32>| {
            let kept = &mut next[state * count..][..count];
            let score = path.score + log_p;
            if score <= kept[count - 1].score {
                return;
            }
            let said = match word {
                None => path.said,
                Some(first) => *known.entry((path.said, first)).or_insert_with(|| {
                    said.push((path.said, first));
                    said.len() as u32 - 1
                }),
            };
            keep(kept, Path { score, said });
        };
        for path in ways(0) {
            reach(0, path, idle, None);
            for &start in &grammar.starts {
                let class = grammar.letters[start as usize].class;
                reach(2 * start as usize + 1, path, row[class], Some(start));
            }
        }
        for (i, letter) in grammar.letters.iter().enumerate() {
            let (sound, gap) = (2 * i + 1, 2 * i + 2);
            let silent = if letter.ends_word { idle } else { row[BLANK] };
            for path in ways(sound) {
                reach(sound, path, row[letter.class], None);
                reach(gap, path, silent, None);
            }
            for path in ways(gap) {
                reach(gap, path, silent, None);
            }
            for &to in &letter.next {
                let class = grammar.letters[to as usize].class;
                // Only a choice that is said again goes back: that says nothing more.
                let is_new = grammar.choices.is_empty() || to as usize > i;
                let word = Some(to).filter(|_| letter.ends_word && is_new);
                let target = 2 * to as usize + 1;
                for path in ways(gap) {
                    reach(target, path, row[class], word);
                }
                if class != letter.class {
                    for path in ways(sound) {
                        reach(target, path, row[class], word);
                    }
                }
            }
        }
        self.paths = next;
    }

    fn answers(&self, likeliest: f32) -> Vec<GrammarAnswer> {
        let mut best = vec![NO_PATH; self.count];
        for (i, letter) in self.grammar.letters.iter().enumerate() {
            if letter.is_final {
                let ends = &self.paths[(2 * i + 1) * self.count..][..2 * self.count];
                ends.iter().for_each(|path| keep(&mut best, *path));
            }
        }
        best.retain(|path| path.score > f32::MIN);
        let answer = |path: &Path| self.answer(path, likeliest);
        best.iter().map(answer).collect()
    }

    fn answer(&self, path: &Path, likeliest: f32) -> GrammarAnswer {
        let (mut words, mut letters, mut choice) = (Vec::new(), 0, None);
        let mut said = path.said;
        while said != NOTHING_SAID {
            let (before, first) = self.said[said as usize];
            let word = self.grammar.word_at(first);
            letters += word.len();
            choice = self.grammar.choices.get(word[0].choice as usize);
            let word = word.iter().map(|letter| letter_of(letter.class));
            words.push(word.collect::<String>());
            said = before;
        }
        words.reverse();
        GrammarAnswer {
            text: words.join(" "),
            choice: choice.cloned(),
            fit: (path.score - likeliest) / letters.max(1) as f32,
            score: path.score,
        }
    }
}

/// Puts a path among the best, which stand in order; of two that say the same the better one stays.
fn keep(best: &mut [Path], path: Path) {
    let same = best.iter().position(|kept| kept.said == path.said);
    let mut at = same.unwrap_or(best.len() - 1);
    if best[at].score >= path.score {
        return;
    }
    best[at] = path;
    while at > 0 && best[at - 1].score < best[at].score {
        best.swap(at - 1, at);
        at -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer_words::as_figures;
    use super::super::posteriors::fixtures::spoken;
    use super::*;

    fn answer(expect: Expect, said: &str) -> GrammarAnswer {
        answers(expect, said, 1).remove(0)
    }

    fn answers(expect: Expect, said: &str, count: usize) -> Vec<GrammarAnswer> {
        answers_in(None, expect, said, count)
    }

    fn answers_in(
        language: Option<SpokenLanguage>,
        expect: Expect,
        said: &str,
        count: usize,
    ) -> Vec<GrammarAnswer> {
        let grammar = Grammar::for_expectation(&expect, language)
            .unwrap()
            .unwrap();
        grammar.decode(&spoken(said, 1.0, 5), count)
    }

    #[test]
    fn other_answers_come_after_the_best_one_and_differ() {
        let found = answers(Expect::Digits, "tatu nani saba", 8);
        assert_eq!(found[0].text, "tatu nane saba");
        assert_eq!(found[0], answers(Expect::Digits, "tatu nani saba", 1)[0]);
        assert!(found.is_sorted_by(|one, next| one.score >= next.score));
        let mut texts: Vec<&str> = found.iter().map(|answer| answer.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 8);
        let choices = ["Salio", "Saluni", "Mkopo"].map(String::from).to_vec();
        let found = answers(Expect::Choices(choices), "salio", 8);
        let chosen: Vec<_> = found
            .iter()
            .map(|answer| answer.choice.as_deref())
            .collect();
        assert_eq!(chosen, [Some("Salio"), Some("Saluni"), Some("Mkopo")]);
    }

    #[test]
    fn digits_come_out_whatever_their_number() {
        let said = "sifuri saba moja mbili nne nne tisa";
        let answer = answer(Expect::Digits, said);
        assert_eq!(answer.text, said);
        assert!(answer.is_accepted());
        assert_eq!(as_figures(answer.text.split(' ')), "0712449");
    }

    #[test]
    fn courtesies_around_digits_are_none() {
        for said in [
            "saba moja asante",
            "it's double two please",
            "saba mara mbili tatu",
        ] {
            assert_eq!(answer(Expect::Digits, said).text, said);
        }
    }

    #[test]
    fn an_answer_is_in_the_language_that_is_spoken() {
        use SpokenLanguage::{English, Swahili};
        for (expect, said, language) in [
            (Expect::YesNo, "hapana asante", Swahili),
            (Expect::YesNo, "no thank you", English),
            (Expect::Digits, "sifuri saba mbili", Swahili),
            (Expect::Digits, "oh seven double two", English),
            (Expect::Amount, "shilingi mia tano", Swahili),
            (Expect::Amount, "mia tatu kumi", Swahili),
            (Expect::Amount, "a hundred and fifty shillings", English),
            (Expect::Amount, "ten dollars and fifty cents", English),
            (Expect::Amount, "fourteen thousand", English),
            (Expect::Amount, "two fifty", English),
            (Expect::Amount, "ten million and ten", English),
        ] {
            let other = if language == Swahili {
                English
            } else {
                Swahili
            };
            for (spoken, is_heard) in [(None, true), (Some(language), true), (Some(other), false)] {
                let found = answers_in(spoken, expect.clone(), said, 1).remove(0);
                assert_eq!(found.is_accepted(), is_heard, "{said} {spoken:?} {found:?}");
                assert!(!is_heard || found.text == said, "{said} {found:?}");
            }
        }
        // As the letters of "fourteen" often come.
        assert_eq!(
            answer(Expect::Amount, "fourten thousand").text,
            "fourteen thousand"
        );
    }

    #[test]
    fn a_slurred_digit_is_still_a_digit() {
        assert_eq!(answer(Expect::Digits, "tatu nani").text, "tatu nane");
    }

    #[test]
    fn other_speech_is_refused() {
        for expect in [Expect::Digits, Expect::YesNo, Expect::Amount] {
            for said in [
                "wanafunzi wamefika shuleni leo asubuhi",
                "the children have gone to school today",
            ] {
                let answer = answer(expect.clone(), said);
                assert!(!answer.is_accepted(), "{answer:?}");
            }
        }
    }

    #[test]
    fn yes_and_no_are_told_apart() {
        assert_eq!(answer(Expect::YesNo, "ndiyo").text, "ndiyo");
        assert_eq!(answer(Expect::YesNo, "hapana").text, "hapana");
        assert_eq!(answer(Expect::YesNo, "ndiyo hapana").text, "ndiyo hapana");
    }

    #[test]
    fn amounts_may_carry_a_currency() {
        for said in [
            "shilingi elfu tano na mia mbili",
            "mia tano",
            "dola kumi na senti hamsini",
            "ni elfu kumi na tano",
            "elfu moja tu tafadhali",
            "it's fifty bob please",
            "thao mbili",
            "kumi na tano elfu",
        ] {
            let answer = answer(Expect::Amount, said);
            assert_eq!(answer.text, said);
            assert!(answer.is_accepted());
        }
    }

    #[test]
    fn a_choice_comes_back_as_the_caller_wrote_it() {
        let choices = ["Huduma kwa Wateja", "Salio", "Namba 5"]
            .map(String::from)
            .to_vec();
        let found = answer(Expect::Choices(choices.clone()), "namba tano");
        assert_eq!(found.choice.as_deref(), Some("Namba 5"));
        let found = answer(Expect::Choices(choices.clone()), "namba five");
        assert_eq!(found.choice.as_deref(), Some("Namba 5"));
        let found = answer(Expect::Choices(choices), "huduma wateja");
        assert_eq!(found.choice.as_deref(), Some("Huduma kwa Wateja"));
    }

    #[test]
    fn yes_and_no_may_be_polite_but_stand_alone() {
        for said in [
            "ndiyo sawa",
            "sawa sawa",
            "la sitaki",
            "hapana asante",
            "ndiyo nataka",
        ] {
            let found = answer(Expect::YesNo, said);
            assert_eq!(found.text, said);
            assert!(found.is_accepted(), "{found:?}");
        }
        assert!(!answer(Expect::YesNo, "jina la mama yangu").is_accepted());
    }

    #[test]
    fn an_amount_neither_begins_nor_ends_with_na() {
        for said in ["na shilingi mia tano", "shilingi mia tano na"] {
            let found = answer(Expect::Amount, said);
            assert!(!found.text.starts_with("na "), "{found:?}");
            assert!(!found.text.ends_with(" na"), "{found:?}");
        }
    }

    #[test]
    fn choices_without_letters_are_refused() {
        assert!(Grammar::for_expectation(&Expect::Choices(Vec::new()), None).is_err());
        assert!(Grammar::for_expectation(&Expect::Choices(vec!["?!".to_owned()]), None).is_err());
    }

    #[test]
    fn no_sound_gives_no_answer() {
        let grammar = Grammar::for_expectation(&Expect::Digits, None)
            .unwrap()
            .unwrap();
        assert!(grammar.decode(&Posteriors::default(), 3).is_empty());
    }
}
