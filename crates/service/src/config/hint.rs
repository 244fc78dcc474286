/// The known name that a mistyped one most likely meant.
pub fn near_miss<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance is quadratic; no real name is this long.
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    let (distance, best) = known
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&lower, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    // A third of the letters may be wrong; beyond that a hint misleads.
    let longest = best.chars().count().max(lower.chars().count());
    (distance <= (longest / 3).max(1) && distance < longest).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::near_miss;

    const KNOWN: [&str; 3] = ["text", "voice_id", "output_format"];

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(near_miss("voiceid", KNOWN), Some("voice_id"));
        assert_eq!(near_miss("Output_fromat", KNOWN), Some("output_format"));
        assert_eq!(near_miss("txt", KNOWN), Some("text"));
    }

    #[test]
    fn another_word_gets_no_hint() {
        assert_eq!(near_miss("temperature", KNOWN), None);
        assert_eq!(near_miss("", KNOWN), None);
        assert_eq!(near_miss(&"x".repeat(1_000_000), KNOWN), None);
    }
}
