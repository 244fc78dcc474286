//! From letter probabilities to words with times and confidences.

use std::collections::HashMap;
use std::sync::Arc;

use super::align::place_words;
use super::alternatives::READINGS_FOR_EACH;
use super::answer::AnswerValue;
use super::answer_words::as_figures;
use super::beam::{BeamConfig, BeamSearch, Hypothesis};
use super::bias::{Bias, BiasState};
use super::confidence::{AnswerEvidence, ReadingEvidence, WordEvidence, clearness};
use super::grammar::{Grammar, GrammarAnswer};
use super::lm::LanguageModels;
use super::mixture::{Mixture, MixtureState};
use super::orthography::as_written;
use super::posteriors::Posteriors;
use super::prefixes::with_verbs_joined;
use super::prompt::{prompt_names, prompt_words};
use super::rescorer::{KnownWord, Rescorer};
use super::text::Spellings;
use super::vocabulary::VocabularyModel;
use crate::job::mean_confidence;
use crate::{Expect, SpeechError, SpokenLanguage, TranscribeRequest, Word};

/// Where others are asked for, as many answers of a known form are looked at: many say the same.
const ANSWERS_MAX: usize = 32;
/// How sure an answer is shows in these, the best ones.
const ANSWERS_COMPARED: usize = 8;

/// An answer that is less likely than this was not given: other words were, which come nearest to it.
const ANSWER_CONFIDENCE_MIN: f32 = 0.2;

/// A yes or a no with a word that was heard less surely is some other sentence: "rudia tafadhali" is no "ndio, tafadhali".
const YES_NO_LETTER_P_MIN: f32 = 0.15;

/// A word among others that is so far from both neighbours and was heard so unsurely is taken for music.
const STRAY_GAP_S: f64 = 0.7;
const STRAY_CONFIDENCE_MAX: f32 = 0.4;
const STRAY_AMONG_MIN: usize = 3;

/// What a caller expects to hear, made ready once per request.
pub(super) struct Expectations {
    bias: Bias,
    grammar: Option<Grammar>,
    /// Spoken digits are written without gaps.
    joins_digits: bool,
    /// The caller's terms as the caller writes them.
    pub spellings: Spellings,
    /// The one that is spoken, where the caller knows.
    language: Option<SpokenLanguage>,
    pub expect: Expect,
    vocabulary: Option<Arc<VocabularyModel>>,
    /// How many readings of each stretch the caller wants to see; none where only the best one counts.
    pub alternatives: usize,
}

impl Expectations {
    pub(super) fn new(request: &TranscribeRequest) -> Result<Self, SpeechError> {
        Ok(Self {
            bias: Bias::new(&request.keyterms, &prompt_words(&request.prompt)),
            grammar: Grammar::for_expectation(&request.expect, request.language)?,
            joins_digits: request.digits && request.expect == Expect::Digits,
            spellings: Spellings::new(
                &[&request.keyterms[..], &prompt_names(&request.prompt)].concat(),
                request.vocabulary.as_deref(),
            ),
            language: request.language,
            expect: request.expect.clone(),
            vocabulary: request.vocabulary.clone(),
            alternatives: request.alternatives,
        })
    }

    fn mixture<'a>(&'a self, lms: &'a LanguageModels, config: &BeamConfig) -> Mixture<'a> {
        Mixture::new(
            lms,
            self.language,
            config.languages,
            self.vocabulary.as_deref(),
        )
    }

    /// Whether only some answers can be heard.
    pub(super) fn is_narrow(&self) -> bool {
        self.grammar.is_some()
    }
}

/// One reading of a stretch: its words, and a text of their own where the grammar gives one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeardReading {
    pub words: Vec<Word>,
    pub written: Option<String>,
    /// How likely it is that exactly this was said.
    pub confidence: f32,
    /// How likely it is that what it answers was, in whatever words.
    pub answer_confidence: Option<f32>,
    /// How clearly the words were heard, against noise that is no speech at all.
    pub clearness: f32,
}

/// Decodes one stretch; the best reading first, and as many more as may be needed. `before`: the words just said, when the
/// stretch continues them. Without a rescorer the search alone decides.
pub(super) fn decode(
    posteriors: &Posteriors,
    lms: &LanguageModels,
    rescorer: Option<&Rescorer>,
    config: &BeamConfig,
    wanted: &Expectations,
    before: &[Word],
    start_seconds: f64,
) -> Vec<HeardReading> {
    let mixture = wanted.mixture(lms, config);
    let in_time = |text: &str| words_in_time(posteriors, text, &mixture, start_seconds);
    if let Some(grammar) = &wanted.grammar {
        let count = match wanted.alternatives {
            0 => ANSWERS_COMPARED,
            _ => ANSWERS_MAX,
        };
        let answers = answers(posteriors, grammar, &wanted.expect, count, in_time);
        let (sure, confidence) = sure_of_the_best(&answers, &wanted.expect);
        if confidence < ANSWER_CONFIDENCE_MIN {
            return Vec::new();
        }
        let read = |answer| reading_of(answer, sure, wanted);
        let mut readings: Vec<HeardReading> = answers.into_iter().map(read).collect();
        if let Some(best) = readings.first_mut() {
            best.answer_confidence = Some(confidence);
        }
        return readings;
    }
    let hypotheses = hypotheses(posteriors, &mixture, rescorer, config, wanted, before);
    let shares = word_shares(&hypotheses);
    let total = total_weight(&hypotheses);
    let count = (wanted.alternatives * READINGS_FOR_EACH).max(1);
    let end = start_seconds + posteriors.seconds_at(posteriors.steps());
    let read = |(rank, hypothesis): (usize, &Hypothesis)| {
        let mut words = in_time(&hypothesis.text);
        let share_of = |i: usize| if rank == 0 { shares[i] } else { 1.0 };
        let heard: Vec<f32> = words.iter().map(|word| word.confidence).collect();
        for (i, word) in words.iter_mut().enumerate() {
            word.confidence = clearness(heard[i], share_of(i));
        }
        let clearness = mean_confidence(&words);
        for (i, word) in words.iter_mut().enumerate() {
            let evidence = WordEvidence {
                word: word.word.clone(),
                letter_p: heard[i],
                share: share_of(i),
            };
            word.confidence = evidence.confidence();
        }
        let evidence = ReadingEvidence {
            text: hypothesis.text.clone(),
            share: hypothesis.weight(&hypotheses) / total,
        };
        HeardReading {
            words: as_written(without_strays(words, start_seconds, end), &wanted.spellings),
            written: None,
            confidence: evidence.confidence(),
            answer_confidence: None,
            clearness,
        }
    };
    hypotheses
        .iter()
        .take(count)
        .enumerate()
        .map(read)
        .collect()
}

/// The words without those that music between them made. `from` and `to`: where the sound begins and ends.
fn without_strays(words: Vec<Word>, from: f64, to: f64) -> Vec<Word> {
    if words.len() < STRAY_AMONG_MIN {
        return words;
    }
    let is_stray = |i: usize| {
        let word = &words[i];
        let before = words[..i].last().map_or(from, |before| before.end);
        let after = words.get(i + 1).map_or(to, |after| after.start);
        let gap = (word.start - before).min(after - word.end);
        gap >= STRAY_GAP_S && word.confidence < STRAY_CONFIDENCE_MAX
    };
    let kept: Vec<usize> = (0..words.len()).filter(|i| !is_stray(*i)).collect();
    kept.into_iter().map(|i| words[i].clone()).collect()
}

fn hypotheses(
    posteriors: &Posteriors,
    mixture: &Mixture<'_>,
    rescorer: Option<&Rescorer>,
    config: &BeamConfig,
    wanted: &Expectations,
    before: &[Word],
) -> Vec<Hypothesis> {
    let nearest = &before[before.len().saturating_sub(3)..];
    let context = mixture.after(nearest.iter().map(|word| &word.word));
    let config = config.suited_to(posteriors);
    let search = BeamSearch::new(&config, mixture, &wanted.bias);
    let mut found = search.decode(posteriors, context);
    if let Some(rescorer) = rescorer {
        let weights = [config.rescore, config.forget].map(|weight| weight * config.lm_weight);
        rescorer.rank(&mut found, weights, |texts| {
            known_words(mixture, &wanted.bias, context, texts)
        });
    }
    with_verbs_joined(found, mixture, &wanted.spellings)
}

/// What the search thought of each word of each text, for itself. Texts share beginnings, and each of these is looked up once.
fn known_words(
    mixture: &Mixture<'_>,
    bias: &Bias,
    context: MixtureState,
    texts: &[&str],
) -> Vec<Vec<KnownWord>> {
    let (mut known, mut out) = (HashMap::new(), Vec::new());
    for text in texts {
        let (mut state, mut place, mut end) = (context, BiasState::default(), 0);
        let words = text.split_inclusive(' ').map(|word| {
            end += word.len();
            let so_far = text[..end].trim_end();
            let (word, next, after) = *known.entry(so_far).or_insert_with(|| {
                let word = word.trim_end();
                let (log_p, next) = mixture.word_end(&state, &mixture.open(word));
                let (in_term, after) = bias.after_word(bias.after_letters(place, word));
                let is_listed = in_term || mixture.is_own(word);
                (KnownWord { log_p, is_listed }, next, after)
            });
            (state, place) = (next, after);
            word
        });
        out.push(words.collect());
    }
    out
}

/// What speaks for each word of the best reading, and for the best readings as wholes.
pub(super) fn evidence(
    posteriors: &Posteriors,
    lms: &LanguageModels,
    rescorer: &Rescorer,
    config: &BeamConfig,
    wanted: &Expectations,
    readings_max: usize,
) -> (Vec<WordEvidence>, Vec<ReadingEvidence>) {
    let mixture = wanted.mixture(lms, config);
    let hypotheses = hypotheses(posteriors, &mixture, Some(rescorer), config, wanted, &[]);
    let Some(best) = hypotheses.first() else {
        return Default::default();
    };
    let words = words_in_time(posteriors, &best.text, &mixture, 0.0);
    let words = words.into_iter().zip(word_shares(&hypotheses));
    let words = words.map(|(word, share)| WordEvidence {
        word: word.word,
        letter_p: word.confidence,
        share,
    });
    let total = total_weight(&hypotheses);
    let readings = hypotheses.iter().take(readings_max);
    let readings = readings.map(|hypothesis| ReadingEvidence {
        text: hypothesis.text.clone(),
        share: hypothesis.weight(&hypotheses) / total,
    });
    (words.collect(), readings.collect())
}

/// An answer of a known form, its words in time, and what speaks for it.
type HeardAnswer = (GrammarAnswer, Vec<Word>, AnswerEvidence);

/// Answers of a known form that fit, best first.
fn answers(
    posteriors: &Posteriors,
    grammar: &Grammar,
    expect: &Expect,
    count: usize,
    in_time: impl Fn(&str) -> Vec<Word>,
) -> Vec<HeardAnswer> {
    let mut answers = grammar.decode(posteriors, count.max(ANSWERS_COMPARED));
    answers.retain(GrammarAnswer::is_accepted);
    let best = answers.first().map_or(0.0, |best| best.score);
    let weight = |answer: &GrammarAnswer| (answer.score - best).exp();
    let compared = answers.iter().take(ANSWERS_COMPARED);
    let total: f32 = compared.map(weight).sum();
    let heard = |answer: GrammarAnswer| {
        let words = in_time(&answer.text);
        let evidence = AnswerEvidence {
            text: answer.text.clone(),
            letter_p: words.iter().map(|word| word.confidence).collect(),
            fit: answer.fit,
            share: weight(&answer) / total,
        };
        (answer, words, evidence)
    };
    let is_clear = |(_, _, evidence): &HeardAnswer| {
        let mut letter_p = evidence.letter_p.iter();
        *expect != Expect::YesNo || letter_p.all(|p| *p >= YES_NO_LETTER_P_MIN)
    };
    let heard = answers.into_iter().map(heard).filter(is_clear);
    heard.take(count).collect()
}

/// What speaks for the answers of a known form that compete with each other.
pub(super) fn answer_evidence(
    posteriors: &Posteriors,
    lms: &LanguageModels,
    config: &BeamConfig,
    wanted: &Expectations,
) -> Vec<AnswerEvidence> {
    let mixture = wanted.mixture(lms, config);
    let in_time = |text: &str| words_in_time(posteriors, text, &mixture, 0.0);
    let Some(grammar) = &wanted.grammar else {
        return Vec::new();
    };
    let answers = answers(
        posteriors,
        grammar,
        &wanted.expect,
        ANSWERS_COMPARED,
        in_time,
    );
    answers
        .into_iter()
        .map(|(_, _, evidence)| evidence)
        .collect()
}

/// How likely it is that one of the answers was given, as the best one tells it, and that what the best one says was. Answers
/// that say the same as the best, as "ndio" and "ndiyo" do, speak for it and not against it.
fn sure_of_the_best(answers: &[HeardAnswer], expect: &Expect) -> (f32, f32) {
    let value = |answer: &GrammarAnswer| {
        let words: Vec<&str> = answer.text.split(' ').collect();
        let text = answer.choice.as_ref().unwrap_or(&answer.text);
        AnswerValue::said(expect, &words, text)
    };
    let Some(((best, _, evidence), others)) = answers.split_first() else {
        return (0.0, 0.0);
    };
    let best = value(best);
    let alike = others
        .iter()
        .filter(|(other, ..)| best.is_some() && value(other) == best);
    let share = evidence.share + alike.map(|(.., other)| other.share).sum::<f32>();
    let evidence = AnswerEvidence {
        share: share.min(1.0),
        ..evidence.clone()
    };
    (
        evidence.confidence() / evidence.share,
        evidence.confidence(),
    )
}

/// `sure`: how likely it is that one of the answers was given, of which each has its share.
fn reading_of(
    (answer, mut words, evidence): HeardAnswer,
    sure: f32,
    wanted: &Expectations,
) -> HeardReading {
    for word in &mut words {
        word.confidence = evidence.word_confidence(word.confidence);
    }
    HeardReading {
        clearness: evidence.clearness(),
        words,
        written: match wanted.joins_digits {
            true => Some(as_figures(answer.text.split(' '))),
            false => answer.choice,
        },
        confidence: sure * evidence.share,
        answer_confidence: None,
    }
}

/// The words in their places; their confidence is that of their letters alone.
fn words_in_time(
    posteriors: &Posteriors,
    text: &str,
    mixture: &Mixture<'_>,
    start_seconds: f64,
) -> Vec<Word> {
    let places = place_words(posteriors, text);
    let words: Vec<&str> = text.split(' ').collect();
    let languages = mixture.languages(&words);
    words
        .into_iter()
        .zip(places)
        .enumerate()
        .map(|(i, (word, place))| Word {
            word: word.to_owned(),
            language: languages[i],
            start: start_seconds + posteriors.seconds_at(place.first_step),
            end: start_seconds + posteriors.seconds_at(place.end_step),
            confidence: place.letter_p,
        })
        .collect()
}

/// For each word of the best text, the share of all hypotheses' probability that has it too.
fn word_shares(hypotheses: &[Hypothesis]) -> Vec<f32> {
    let Some(best) = hypotheses.first() else {
        return Vec::new();
    };
    let words: Vec<&str> = best.text.split(' ').collect();
    let mut with_word = vec![0f32; words.len()];
    for hypothesis in hypotheses {
        let weight = hypothesis.weight(hypotheses);
        let other: Vec<&str> = hypothesis.text.split(' ').collect();
        for (i, word) in words.iter().enumerate() {
            // Another reading may have split or joined a word before this one.
            let near = other.iter().skip(i.saturating_sub(1)).take(3);
            if near.into_iter().any(|candidate| candidate == word) {
                with_word[i] += weight;
            }
        }
    }
    let total = total_weight(hypotheses);
    with_word.iter().map(|weight| weight / total).collect()
}

fn total_weight(hypotheses: &[Hypothesis]) -> f32 {
    let weights = hypotheses.iter().map(|one| one.weight(hypotheses));
    weights.sum::<f32>().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::super::posteriors::fixtures::spoken;
    use super::*;

    #[test]
    fn a_word_alone_between_others_that_was_hardly_heard_is_music() {
        let said = |spoken: &[(&str, f64, f32)]| -> Vec<Word> {
            let word = |&(word, start, confidence): &(&str, f64, f32)| Word {
                word: word.to_owned(),
                start,
                end: start + 0.3,
                confidence,
                ..Word::default()
            };
            spoken.iter().map(word).collect()
        };
        let kept = |spoken: &[(&str, f64, f32)]| {
            let words = without_strays(said(spoken), 0.0, 9.0);
            words.into_iter().map(|word| word.word).collect::<Vec<_>>()
        };
        let (first, last) = (("habari", 0.3, 0.9), ("leo", 4.0, 0.9));
        assert_eq!(kept(&[first, ("na", 2.0, 0.3), last]), ["habari", "leo"]);
        // Surely heard, near another, or one of two: such words are said.
        assert_eq!(kept(&[first, ("na", 2.0, 0.5), last]).len(), 3);
        assert_eq!(kept(&[first, ("na", 3.2, 0.3), last]).len(), 3);
        assert_eq!(kept(&[("na", 2.0, 0.3), last]).len(), 2);
    }

    #[test]
    fn a_courtesy_does_not_make_a_yes_of_another_word() {
        let grammar = Grammar::for_expectation(&Expect::YesNo, None)
            .unwrap()
            .unwrap();
        for (word, is_heard) in [("ndio", true), ("rudia", false)] {
            let said = format!("{word} tafadhali asante tafadhali");
            let posteriors = spoken(&said, 1.0, 5);
            assert!(grammar.decode(&posteriors, 1)[0].is_accepted(), "{said}");
            let in_time = |text: &str| {
                let places = place_words(&posteriors, text).into_iter();
                let words = places.map(|place| Word {
                    confidence: place.letter_p,
                    ..Word::default()
                });
                words.collect()
            };
            let heard = answers(&posteriors, &grammar, &Expect::YesNo, 8, in_time);
            assert_eq!(!heard.is_empty(), is_heard, "{said}");
        }
    }

    #[test]
    fn two_spellings_of_yes_speak_for_each_other() {
        let heard = |text: &str, share| {
            let answer = GrammarAnswer {
                text: text.to_owned(),
                choice: None,
                fit: 0.0,
                score: 0.0,
            };
            let evidence = AnswerEvidence {
                text: text.to_owned(),
                letter_p: vec![0.99],
                fit: 0.0,
                share,
            };
            (answer, Vec::new(), evidence)
        };
        let sure = |other| {
            let answers = [heard("ndiyo", 0.5), heard(other, 0.499)];
            sure_of_the_best(&answers, &Expect::YesNo)
        };
        let (one_of_them, the_best) = sure("ndio");
        assert!(one_of_them > 0.7 && the_best > 0.7);
        let (one_of_them, the_best) = sure("hapana");
        assert!(one_of_them < 0.3 && the_best < one_of_them);
        assert_eq!(sure_of_the_best(&[], &Expect::YesNo), (0.0, 0.0));
    }
}
