//! The query of an address, decoded.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;
use std::str::FromStr;

use percent_encoding::percent_decode_str;

use super::fields::meant_field;
use crate::problem::{FieldError, Problem, Reason};

const PAIRS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub struct Query {
    values: HashMap<String, String>,
    /// What came again under a name.
    repeated: Vec<(String, String)>,
    /// The name of the first pair that was too many.
    too_many: Option<String>,
}

impl Query {
    /// Names that come twice keep their first value.
    pub fn parse(query: Option<&str>) -> Query {
        let mut parsed = Query::default();
        let pairs = query.unwrap_or_default().split('&');
        let pairs = pairs.filter(|pair| !pair.is_empty());
        for (i, pair) in pairs.enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if i == PAIRS_MAX {
                parsed.too_many = Some(decoded(name));
                break;
            }
            match parsed.values.entry(decoded(name)) {
                Entry::Occupied(first) => {
                    let name = first.key().clone();
                    parsed.repeated.push((name, decoded(value)));
                }
                Entry::Vacant(place) => drop(place.insert(decoded(value))),
            }
        }
        parsed
    }

    /// Those of these that are there without a value.
    pub fn empty(&self, names: &[&'static str]) -> Vec<FieldError> {
        let is_empty = |name: &&str| self.values.get(*name).is_some_and(String::is_empty);
        let empty = names.iter().copied().filter(is_empty);
        empty
            .map(|name| FieldError::new(name, Reason::Empty))
            .collect()
    }

    /// What is left that was probably meant to be one of these, and which of these came twice.
    pub fn slips(&self, known: &[&'static str]) -> Vec<FieldError> {
        let slip = |name: &String| {
            let meant = meant_field(name, known, &[])?;
            Some(FieldError::new(name.clone(), Reason::NearMiss { meant }))
        };
        let twice = |name: &String| {
            let is_known = known.contains(&name.as_str());
            is_known.then(|| FieldError::new(name.clone(), Reason::TooMany { max: 1 }))
        };
        let slips = self.values.keys().filter_map(slip);
        let repeated = self.repeated.iter().map(|(name, _)| name);
        let too_many = self.too_many.iter().map(|name| {
            FieldError::new(
                name.clone(),
                Reason::TooMany {
                    max: PAIRS_MAX as u64,
                },
            )
        });
        let repeated = repeated.filter_map(twice);
        slips.chain(repeated).chain(too_many).collect()
    }

    /// What is left is ignored, unless it looks like a slip for a name that is known.
    pub fn finish(&self, known: &[&'static str]) -> Result<(), Problem> {
        match self.slips(known) {
            slips if slips.is_empty() => Ok(()),
            slips => Err(Problem::fields(slips)),
        }
    }

    /// For changes: a name that is not known would be told as done, so it is refused.
    pub fn finish_strictly(&self, known: &[&'static str]) -> Result<(), Problem> {
        self.finish(known)?;
        let known = known.join(", ");
        match self.values.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::field(name.clone(), Reason::UnknownField { known })),
        }
    }

    /// An empty value is as good as none.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.take_as_is(name).filter(|value| !value.is_empty())
    }

    /// The value even where it is empty.
    pub fn take_as_is(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    /// Every value of a name that may come several times.
    pub fn take_all(&mut self, name: &str) -> Vec<String> {
        let first = self.values.remove(name).into_iter();
        let again = self.repeated.extract_if(.., |(own, _)| own == name);
        first.chain(again.map(|(_, value)| value)).collect()
    }

    /// What the value says, or why it says nothing.
    pub fn take_parsed<T: FromStr>(
        &mut self,
        name: &'static str,
        wrong: Reason,
    ) -> Result<Option<T>, Problem> {
        let value = self.take(name).map(|text| text.parse());
        value.transpose().map_err(|_| Problem::field(name, wrong))
    }

    /// A whole number within bounds.
    pub fn take_integer(
        &mut self,
        name: &'static str,
        bounds: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Problem> {
        let Some(text) = self.take(name) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        let (min, max) = (*bounds.start() as f64, *bounds.end() as f64);
        let wrong = || Problem::field(name, Reason::OutOfRange { min, max });
        number.ok_or_else(wrong).map(Some)
    }
}

fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_empty_ones_ignored() {
        let mut query = Query::parse(Some("from=2026-01-01&to=&name=a%20b+c&name=x&flag&%zz=1"));
        assert_eq!(query.take("from").as_deref(), Some("2026-01-01"));
        assert_eq!(query.take("to"), None);
        assert_eq!(query.take("name").as_deref(), Some("a b c"));
        assert_eq!(query.take("flag"), None);
    }

    #[test]
    fn a_name_that_may_come_again_keeps_every_value() {
        let mut query = Query::parse(Some("a[]=x&b=1&a%5B%5D=&b=2&a[]=y%2Cz&e="));
        assert_eq!(query.take_all("a[]"), ["x", "", "y,z"]);
        assert_eq!(query.take_as_is("e").as_deref(), Some(""));
        assert_eq!(query.take("b").as_deref(), Some("1"));
        let twice = FieldError::new("b", Reason::TooMany { max: 1 });
        assert_eq!(query.slips(&["a[]", "b"]), [twice]);
    }
}
