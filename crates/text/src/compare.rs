//! How far a transcript is from its reference.

use crate::cardinal::{TENS, UNITS, digits};

/// What to change in the reference to get the hypothesis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    pub substitutions: usize,
    pub insertions: usize,
    pub deletions: usize,
    pub reference_len: usize,
}

impl Errors {
    pub fn total(&self) -> usize {
        self.substitutions + self.insertions + self.deletions
    }

    /// Errors per unit of the reference; against an empty reference every insertion counts as one.
    pub fn rate(&self) -> f64 {
        self.total() as f64 / self.reference_len.max(1) as f64
    }
}

impl std::ops::AddAssign for Errors {
    fn add_assign(&mut self, other: Self) {
        self.substitutions += other.substitutions;
        self.insertions += other.insertions;
        self.deletions += other.deletions;
        self.reference_len += other.reference_len;
    }
}

/// One step of an alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    Same(T),
    Substituted { reference: T, hypothesis: T },
    Inserted(T),
    Deleted(T),
}

/// Tables larger than this many cells are halved first, so that an hour's transcript needs little memory.
const CELLS_MAX: usize = 4_000_000;

/// The cheapest way from one sequence to the other.
pub fn align<T: PartialEq + Clone>(reference: &[T], hypothesis: &[T]) -> Vec<Step<T>> {
    let mut steps = Vec::with_capacity(reference.len().max(hypothesis.len()));
    align_into(reference, hypothesis, &mut steps);
    steps
}

fn align_into<T: PartialEq + Clone>(reference: &[T], hypothesis: &[T], steps: &mut Vec<Step<T>>) {
    if reference.len() < 2
        || (reference.len() + 1).saturating_mul(hypothesis.len() + 1) <= CELLS_MAX
    {
        return align_by_table(reference, hypothesis, steps);
    }
    // Hirschberg: the best way passes the middle of the reference where both halves together cost least.
    let (head, tail) = reference.split_at(reference.len() / 2);
    let forward = last_row(head.iter(), hypothesis.iter());
    let backward = last_row(tail.iter().rev(), hypothesis.iter().rev());
    let total = |i: &usize| forward[*i] + backward[hypothesis.len() - i];
    let middle = (0..=hypothesis.len()).min_by_key(total).unwrap_or(0);
    align_into(head, &hypothesis[..middle], steps);
    align_into(tail, &hypothesis[middle..], steps);
}

/// The cost of turning all of the reference into each beginning of the hypothesis.
fn last_row<'t, T: PartialEq + 't>(
    reference: impl Iterator<Item = &'t T>,
    hypothesis: impl ExactSizeIterator<Item = &'t T> + Clone,
) -> Vec<u32> {
    let mut row: Vec<u32> = (0..=hypothesis.len() as u32).collect();
    for wanted in reference {
        let mut diagonal = row[0];
        row[0] += 1;
        for (j, got) in hypothesis.clone().enumerate() {
            let changed = diagonal + u32::from(wanted != got);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j + 1] + 1).min(row[j] + 1);
        }
    }
    row
}

fn align_by_table<T: PartialEq + Clone>(
    reference: &[T],
    hypothesis: &[T],
    steps: &mut Vec<Step<T>>,
) {
    let width = hypothesis.len() + 1;
    let mut cost: Vec<u32> = vec![0; (reference.len() + 1) * width];
    for (j, cell) in cost.iter_mut().enumerate().take(width) {
        *cell = j as u32;
    }
    for i in 1..=reference.len() {
        cost[i * width] = i as u32;
        for j in 1..width {
            let change = u32::from(reference[i - 1] != hypothesis[j - 1]);
            let diagonal = cost[(i - 1) * width + j - 1] + change;
            let step = cost[(i - 1) * width + j].min(cost[i * width + j - 1]) + 1;
            cost[i * width + j] = diagonal.min(step);
        }
    }
    trace_back(reference, hypothesis, &cost, steps);
}

fn trace_back<T: PartialEq + Clone>(
    reference: &[T],
    hypothesis: &[T],
    cost: &[u32],
    steps: &mut Vec<Step<T>>,
) {
    let width = hypothesis.len() + 1;
    let (mut i, mut j) = (reference.len(), hypothesis.len());
    let first = steps.len();
    while i > 0 || j > 0 {
        let here = cost[i * width + j];
        if i > 0 && j > 0 {
            let (wanted, got) = (&reference[i - 1], &hypothesis[j - 1]);
            if here == cost[(i - 1) * width + j - 1] + u32::from(wanted != got) {
                steps.push(match wanted == got {
                    true => Step::Same(wanted.clone()),
                    false => Step::Substituted {
                        reference: wanted.clone(),
                        hypothesis: got.clone(),
                    },
                });
                (i, j) = (i - 1, j - 1);
                continue;
            }
        }
        if i > 0 && here == cost[(i - 1) * width + j] + 1 {
            steps.push(Step::Deleted(reference[i - 1].clone()));
            i -= 1;
        } else {
            steps.push(Step::Inserted(hypothesis[j - 1].clone()));
            j -= 1;
        }
    }
    steps[first..].reverse();
}

/// Errors between words as they stand; bring both sides through [`comparable`] first.
pub fn word_errors(reference: &str, hypothesis: &str) -> Errors {
    let steps = word_alignment(reference, hypothesis);
    count(&steps, reference.split_whitespace().count())
}

pub fn word_alignment<'a>(reference: &'a str, hypothesis: &'a str) -> Vec<Step<&'a str>> {
    let reference: Vec<&str> = reference.split_whitespace().collect();
    let hypothesis: Vec<&str> = hypothesis.split_whitespace().collect();
    align(&reference, &hypothesis)
}

/// Errors between characters, spaces among them.
pub fn character_errors(reference: &str, hypothesis: &str) -> Errors {
    let reference: Vec<char> = reference.chars().collect();
    let hypothesis: Vec<char> = hypothesis.chars().collect();
    count(&align(&reference, &hypothesis), reference.len())
}

fn count<T>(steps: &[Step<T>], reference_len: usize) -> Errors {
    let mut errors = Errors {
        reference_len,
        ..Errors::default()
    };
    for step in steps {
        match step {
            Step::Same(_) => {}
            Step::Substituted { .. } => errors.substitutions += 1,
            Step::Inserted(_) => errors.insertions += 1,
            Step::Deleted(_) => errors.deletions += 1,
        }
    }
    errors
}

/// Lower case, digits spelled out, marks dropped: the form in which transcripts are compared.
pub fn comparable(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let text: String = text.nfkd().collect::<String>().to_lowercase();
    let text = text.replace(['’', '‘', '`', '´'], "'");
    let text = spell_decimals(&drop_thousands_separators(&text)).replace('%', " asilimia ");
    let text = spell_numbers(&text);
    let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '\'');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn drop_thousands_separators(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let word = |i: usize| {
        chars
            .get(i)
            .is_some_and(|c| c.is_alphanumeric() || *c == '_')
    };
    let mut out = String::with_capacity(text.len());
    for (i, c) in chars.iter().enumerate() {
        let separates = matches!(c, ',' | '.') && i > 0 && digit(i - 1);
        if separates && (1..=3).all(|n| digit(i + n)) && !word(i + 4) {
            continue;
        }
        out.push(*c);
    }
    out
}

/// The text with each row of digits replaced; `say` is given the text from there on, and tells how many bytes it took.
fn with_digits_said(text: &str, say: impl Fn(&str) -> (String, usize)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let (said, taken) = say(&rest[start..]);
        out.push_str(&said);
        rest = &rest[start + taken..];
    }
    out.push_str(rest);
    out
}

fn spell_decimals(text: &str) -> String {
    with_digits_said(text, |rest| {
        let whole = digits_at(rest);
        let fraction = rest[whole.len()..].strip_prefix('.').map(digits_at);
        match fraction.filter(|fraction| !fraction.is_empty()) {
            Some(fraction) => (
                format!("{} nukta {}", trial_number(whole), digits(fraction)),
                whole.len() + 1 + fraction.len(),
            ),
            None => (whole.to_owned(), whole.len()),
        }
    })
}

fn digits_at(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    &text[..end]
}

fn spell_numbers(text: &str) -> String {
    with_digits_said(text, |rest| {
        let number = digits_at(rest);
        let said = match number.len() < 10 {
            true => trial_number(number),
            false => digits(number),
        };
        (format!(" {said} "), number.len())
    })
}

/// Past this many digits a number is read digit by digit.
const NUMBER_DIGITS_MAX: usize = 30;

fn trial_number(number: &str) -> String {
    match number.parse::<u128>() {
        Ok(n) if number.len() <= NUMBER_DIGITS_MAX => spelled(n),
        _ => digits(number),
    }
}

/// The measurements so far spelled numbers this way, which is not quite how they are spoken. It stays as it is, so that
/// figures can be compared.
fn spelled(n: u128) -> String {
    if n < 10 {
        return UNITS[n as usize].to_owned();
    }
    if n < 100 {
        let ten = TENS[(n / 10) as usize];
        return if n.is_multiple_of(10) {
            ten.to_owned()
        } else {
            format!("{ten} na {}", UNITS[(n % 10) as usize])
        };
    }
    let (base, name) = match n {
        1_000_000_000.. => (1_000_000_000, "bilioni"),
        1_000_000.. => (1_000_000, "milioni"),
        1_000.. => (1_000, "elfu"),
        _ => (100, "mia"),
    };
    let (count, rest) = (n / base, n % base);
    let head = format!("{name} {}", spelled(count));
    match rest {
        0 => head,
        1..20 | 20 | 30 | 40 | 50 | 60 | 70 | 80 | 90 => format!("{head} na {}", spelled(rest)),
        _ => format!("{head} {}", spelled(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_brought_to_one_form() {
        assert_eq!(
            comparable("Watu 1,250 (95.5%)!"),
            "watu elfu moja mia mbili na hamsini tisini na tano nukta tano asilimia"
        );
        assert_eq!(comparable("Ng’ombe 20"), "ng'ombe ishirini");
    }

    #[test]
    fn long_texts_are_aligned_by_halves_at_the_same_cost() {
        let reference: Vec<u32> = (0..3_000).map(|n| n % 37).collect();
        let mut hypothesis = reference.clone();
        hypothesis[100] = 99;
        hypothesis.remove(1_700);
        hypothesis.insert(2_900, 98);
        let errors = count(&align(&reference, &hypothesis), reference.len());
        assert_eq!(
            errors,
            Errors {
                substitutions: 1,
                insertions: 1,
                deletions: 1,
                reference_len: 3_000
            }
        );
    }

    #[test]
    fn errors_are_counted_by_kind() {
        let errors = word_errors("a b c d", "a x c d e");
        assert_eq!(
            errors,
            Errors {
                substitutions: 1,
                insertions: 1,
                deletions: 0,
                reference_len: 4
            }
        );
        assert_eq!(word_errors("a b", "").deletions, 2);
        assert!((character_errors("habari", "habali").rate() - 1.0 / 6.0).abs() < 1e-9);
    }
}
