//! When the words of a script are said and its marks are reached.

use sauti_text::{Script, SpokenWord};
use serde::{Deserialize, Serialize};

use crate::Word;

/// The place of each word among those of the script, and when it is said, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptTimes(Vec<(u32, f64, f64)>);

impl ScriptTimes {
    /// Adds words as the voice said them: those of the script in their order, but for those that have no sound.
    pub fn add(&mut self, script: &Script, said: &[Word]) {
        let begin = self.0.last().map_or(0, |(place, ..)| *place as usize + 1);
        let mut places = words_of(script).enumerate().skip(begin);
        self.0.extend(said.iter().filter_map(|word| {
            let (place, _) = places.find(|(_, known)| known.text == word.word)?;
            Some((u32::try_from(place).ok()?, word.start, word.end))
        }));
    }

    /// The words that are said, with their start and end.
    pub fn words<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = (&'a str, f64, f64)> {
        let known: Vec<&SpokenWord> = words_of(script).collect();
        let timed = self.0.iter();
        timed.filter_map(move |(place, start, end)| {
            Some((known.get(*place as usize)?.text.as_str(), *start, *end))
        })
    }

    /// When the script's marks are reached, as far as its words are known; all of them once the whole length is.
    pub fn marks<'a>(
        &'a self,
        script: &'a Script,
        seconds: Option<f64>,
    ) -> impl Iterator<Item = (&'a str, f64)> {
        script.marks.iter().map_while(move |mark| {
            let is_before = |place: u32| (place as usize) < mark.words_before;
            let next = self.0.partition_point(|(place, ..)| is_before(*place));
            let next_start = self.0.get(next).map(|(_, start, _)| *start).or(seconds)?;
            let time = match (mark.before_break, next.checked_sub(1)) {
                (true, Some(before)) => self.0[before].2,
                (true, None) => 0.0,
                (false, _) => next_start,
            };
            Some((mark.name.as_str(), time))
        })
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

fn words_of(script: &Script) -> impl Iterator<Item = &SpokenWord> {
    script.clauses.iter().flat_map(|clause| &clause.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_reached_with_their_words_and_before_their_breaks() {
        let ssml = "<speak><mark name='a'/>Habari<mark name='b'/><break/><mark name='c'/> yako\
            <mark name='d'/></speak>";
        let script = Script::from_ssml(ssml, &sauti_text::Lexicon::builtin()).unwrap();
        let times = [("a", 0.1), ("b", 0.5), ("c", 0.9), ("d", 1.5)];
        let said = |word: &str, start, end| Word {
            word: word.into(),
            start,
            end,
            ..Word::default()
        };
        let mut known = ScriptTimes::default();
        assert!(known.marks(&script, None).eq([]));
        known.add(&script, &[said("Habari", 0.1, 0.5)]);
        assert!(known.marks(&script, None).eq(times[..1].to_vec()));
        known.add(&script, &[said("yako", 0.9, 1.4)]);
        assert!(known.marks(&script, None).eq(times[..3].to_vec()));
        assert!(known.marks(&script, Some(1.5)).eq(times));
    }
}
