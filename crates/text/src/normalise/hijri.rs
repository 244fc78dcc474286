//! Years of the Muslim calendar.

use super::SpokenForm;
use super::context::TokenContext;
use super::dotted_time::follows_saa;
use super::words::{initial_letters, sentence_stop};
use crate::cardinal::cardinal;

/// "1447H", "1448 A.H."; "1430H" may be a time of the day.
pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let year = context
        .digits(i)
        .filter(|d| d.len() == 4 && d.starts_with("14"))?;
    let at = context.skip_space(i + 1);
    let round = year.ends_with("00") || year.ends_with("30");
    let glued = context.digits(at + 1).is_some();
    let end = match (initial_letters(context, at), context.word(at)?.text) {
        (Some((letters, end)), _) if letters == "AH" => end,
        (_, "AH") => at + 1,
        (_, "H") if !round && !follows_saa(context, i) && !glued => at + 1,
        _ => return None,
    };
    let stop = sentence_stop(context, end);
    SpokenForm::new(
        format!("{} Hijria{stop}", cardinal(year.parse().ok()?)),
        end,
    )
}
