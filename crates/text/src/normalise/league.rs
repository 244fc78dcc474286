//! A row of a league's table: "P 12 W 8 D 3 L 1".

use super::SpokenForm;
use super::context::TokenContext;
use super::number::Number;

const COLUMNS: [&str; 4] = ["P", "W", "D", "L"];

/// Three columns and more, in their order, from the one at `i` on: each is said by its name and its number.
pub(super) fn row(
    context: &TokenContext<'_>,
    i: usize,
    names: [&str; 4],
    say: impl Fn(&Number<'_>) -> String,
) -> Option<SpokenForm> {
    let first = COLUMNS.iter().position(|c| context.token(i).text == *c)?;
    let mut said = Vec::new();
    let mut end = i;
    for (column, name) in COLUMNS.iter().zip(names).skip(first) {
        let comma = usize::from(context.is_mark(end, ','));
        let at = context.skip_space(end + comma);
        let is_column = context.get(at).is_some_and(|t| t.text == *column);
        let number = context.number(context.skip_space(at + 1));
        let Some(number) = number.filter(|_| is_column) else {
            break;
        };
        said.push(format!("{name} {}", say(&number)));
        end = number.end;
    }
    (said.len() >= 3).then(|| SpokenForm::new(said.join(", "), end))?
}

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let names = ["mechi", "kushinda", "sare", "kupoteza"];
    row(context, i, names, |number| number.say())
}
