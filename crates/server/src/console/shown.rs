//! Amounts and times as people read them.

use sauti_store::Micro;

/// With a real minus sign before the currency.
pub fn money(micro: i64, currency: &str) -> String {
    let sign = if micro < 0 { "−" } else { "" };
    let amount = format!("{:#}", Micro(micro));
    format!("{sign}{currency} {}", amount.trim_start_matches('-'))
}

/// Always four decimals, for columns whose amounts people add up or multiply out.
pub fn amount(micro: i64, currency: &str) -> String {
    let sign = if micro < 0 { "−" } else { "" };
    let amount = format!("{:#.4}", Micro(micro));
    format!("{sign}{currency} {}", amount.trim_start_matches('-'))
}

pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// UTC, to the minute; a script shows it in the reader's own time.
pub fn time(us: &i64) -> String {
    at(us, "%-d %b %Y, %H:%M")
}

/// For programs.
pub fn iso(us: &i64) -> String {
    at(us, "%Y-%m-%dT%H:%M:%SZ")
}

fn at(us: &i64, format: &str) -> String {
    let Ok(moment) = jiff::Timestamp::from_microsecond(*us) else {
        return String::new();
    };
    moment
        .to_zoned(jiff::tz::TimeZone::UTC)
        .strftime(format)
        .to_string()
}

/// "Chrome, Android" for the long line a browser sends of itself.
pub fn browser(agent: &str) -> String {
    let named = |names: &[(&str, &'static str)]| {
        let found = names.iter().find(|(mark, _)| agent.contains(mark));
        found.map(|(_, name)| *name)
    };
    // The order matters: most browsers also name the ones before them.
    let program = named(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = named(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ]);
    match (program, system) {
        (Some(program), Some(system)) => format!("{program}, {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => agent.chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_columns_have_one_number_of_decimals() {
        assert_eq!(amount(400_000, "KES"), "KES 0.4000");
        assert_eq!(amount(-18_000, "KES"), "−KES 0.0180");
        assert_eq!(amount(1_234_567_891_200, "KES"), "KES 1,234,567.8912");
        assert_eq!(amount(i64::MIN, "KES"), "−KES 9,223,372,036,854.7758");
    }

    #[test]
    fn money_reads_well_at_every_size() {
        assert_eq!(money(1_500_000, "KES"), "KES 1.50");
        assert_eq!(money(1_234_567_890_000, "KES"), "KES 1,234,567.89");
        assert_eq!(money(62_000, "KES"), "KES 0.062");
        assert_eq!(money(0, "KES"), "KES 0.00");
        assert_eq!(money(-2_000_000, "TZS"), "−TZS 2.00");
        assert_eq!(money(i64::MIN, "KES"), "−KES 9,223,372,036,854.775808");
    }
}
