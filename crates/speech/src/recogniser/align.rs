//! Where in the sound each word of a known text stands, and how sure the acoustic model is of it.

use super::posteriors::{BLANK, Posteriors, SPACE, class_of};

/// Steps from the first letter's start to the last letter's end, and the mean letter probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WordPlace {
    pub first_step: usize,
    pub end_step: usize,
    pub letter_p: f32,
}

/// The best CTC path through `text`; one place per word. Empty when the text does not fit the sound.
pub(super) fn place_words(posteriors: &Posteriors, text: &str) -> Vec<WordPlace> {
    let letters: Vec<usize> = text.bytes().filter_map(class_of).collect();
    let Some(path) = best_path(posteriors, &letters) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    let mut open: Option<(WordPlace, f32, usize)> = None;
    let mut letter_at = usize::MAX;
    let mut letter_best = 0f32;
    let close_letter = |open: &mut Option<(WordPlace, f32, usize)>, best: f32| {
        if let Some((_, sum, count)) = open {
            *sum += best;
            *count += 1;
        }
    };
    for (step, state) in path.into_iter().enumerate() {
        let Some(index) = state else { continue };
        let class = letters[index];
        if index != letter_at {
            if letter_at != usize::MAX && letters[letter_at] != SPACE {
                close_letter(&mut open, letter_best);
            }
            letter_best = f32::MIN;
            letter_at = index;
        }
        if class == SPACE {
            finish_word(&mut open, &mut places);
            continue;
        }
        letter_best = letter_best.max(posteriors.row(step)[class]);
        let word = open.get_or_insert((
            WordPlace {
                first_step: step,
                end_step: step + 1,
                letter_p: 0.0,
            },
            0.0,
            0,
        ));
        word.0.end_step = step + 1;
    }
    if letter_at != usize::MAX && letters[letter_at] != SPACE {
        close_letter(&mut open, letter_best);
    }
    finish_word(&mut open, &mut places);
    places
}

fn finish_word(open: &mut Option<(WordPlace, f32, usize)>, places: &mut Vec<WordPlace>) {
    if let Some((mut place, sum, count)) = open.take() {
        place.letter_p = (sum / count.max(1) as f32).exp();
        places.push(place);
    }
}

/// For each step the letter it belongs to, or none for a blank.
fn best_path(posteriors: &Posteriors, letters: &[usize]) -> Option<Vec<Option<usize>>> {
    let (steps, states) = (posteriors.steps(), 2 * letters.len() + 1);
    if letters.is_empty() || letters.len() > steps {
        return None;
    }
    let class = |state: usize| match state % 2 {
        0 => BLANK,
        _ => letters[state / 2],
    };
    let mut score = vec![f32::MIN; states];
    let mut back = vec![0u8; steps * states];
    score[0] = posteriors.row(0)[BLANK];
    score[1] = posteriors.row(0)[letters[0]];
    for step in 1..steps {
        let row = posteriors.row(step);
        // From the end, so that a state still sees its neighbours as they were a step ago.
        for state in (0..states).rev() {
            let mut best = (score[state], 0u8);
            if state >= 1 && score[state - 1] > best.0 {
                best = (score[state - 1], 1);
            }
            let may_skip = state % 2 == 1 && state >= 3 && class(state) != class(state - 2);
            if may_skip && score[state - 2] > best.0 {
                best = (score[state - 2], 2);
            }
            back[step * states + state] = best.1;
            score[state] = match best.0 > f32::MIN {
                true => best.0 + row[class(state)],
                false => f32::MIN,
            };
        }
    }
    let mut state = if score[states - 1] > score[states - 2] {
        states - 1
    } else {
        states - 2
    };
    if score[state] <= f32::MIN {
        return None;
    }
    let mut path = vec![None; steps];
    for step in (0..steps).rev() {
        path[step] = (state % 2 == 1).then_some(state / 2);
        state -= usize::from(back[step * states + state]);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::super::posteriors::fixtures::spoken;
    use super::*;

    #[test]
    fn words_stand_where_their_letters_are() {
        let posteriors = spoken("habari yako", 0.5, 3);
        let places = place_words(&posteriors, "habari yako");
        assert_eq!(places.len(), 2);
        // Three blanks, then a letter in every second step.
        assert_eq!((places[0].first_step, places[0].end_step), (3, 14));
        assert_eq!((places[1].first_step, places[1].end_step), (17, 24));
        assert!(places.iter().all(|place| place.letter_p > 0.9));
    }

    #[test]
    fn a_wrong_word_is_unlikely() {
        let posteriors = spoken("habari yako", 0.5, 3);
        let places = place_words(&posteriors, "habari zenu");
        assert!(places[1].letter_p < 0.2, "{places:?}");
    }

    #[test]
    fn a_text_longer_than_the_sound_has_no_place() {
        assert!(place_words(&spoken("a", 0.1, 1), "maneno mengi sana kabisa").is_empty());
        assert!(place_words(&spoken("a", 0.1, 1), "").is_empty());
    }
}
