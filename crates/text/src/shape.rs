//! What Swahili words look like.

/// Open syllables all through, as Swahili words have them.
pub(crate) fn is_swahili_shaped(word: &str) -> bool {
    /// Sorted, to be searched.
    const ONSETS: &[&str] = &[
        "", "b", "bl", "br", "bw", "ch", "chw", "d", "dh", "dr", "dw", "f", "fr", "fy", "g", "gh",
        "gr", "gw", "h", "j", "jw", "k", "kh", "kl", "kr", "kt", "kw", "ky", "l", "ll", "lm", "lt",
        "lw", "m", "mb", "mbw", "mch", "md", "mdh", "mf", "mfw", "mg", "mgh", "mh", "mj", "mk",
        "mkw", "ml", "mm", "mn", "mng'", "mny", "mp", "mpw", "mr", "ms", "msh", "mshw", "msw",
        "mt", "mth", "mtw", "mv", "mw", "my", "mz", "n", "nch", "nchw", "nd", "ndh", "ndw", "nf",
        "ng", "ng'", "ngw", "nj", "njw", "nk", "nn", "ns", "nt", "nw", "ny", "nyw", "nz", "p",
        "pl", "pr", "pw", "py", "r", "rk", "rt", "rw", "s", "sh", "shw", "sk", "sp", "st", "sw",
        "t", "th", "tr", "tw", "v", "vy", "w", "y", "z", "zw",
    ];
    let mut onset_start = 0;
    let mut last_vowel = None;
    for (at, c) in word.char_indices() {
        if matches!(c, 'a' | 'e' | 'i' | 'o' | 'u') {
            if ONSETS.binary_search(&&word[onset_start..at]).is_err() {
                return false;
            }
            onset_start = at + 1;
            last_vowel = Some(at);
        }
    }
    last_vowel.is_some_and(|at| at + 1 == word.len())
}
