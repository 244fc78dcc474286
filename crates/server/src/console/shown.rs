//! Amounts and times as people read them.

/// Two decimals; amounts below one unit as exactly as four allow.
pub fn money(micro: i64, currency: &str) -> String {
    let sign = if micro < 0 { "−" } else { "" };
    let micro = micro.unsigned_abs();
    let amount = match micro < 1_000_000 {
        true => small(micro),
        false => {
            let hundredths = (micro + 5_000) / 10_000;
            format!("{}.{:02}", grouped(hundredths / 100), hundredths % 100)
        }
    };
    format!("{sign}{currency} {amount}")
}

/// Always four decimals, for columns whose amounts people add up or multiply out.
pub fn amount(micro: i64, currency: &str) -> String {
    let sign = if micro < 0 { "−" } else { "" };
    let parts = micro.unsigned_abs().saturating_add(50) / 100;
    format!(
        "{sign}{currency} {}.{:04}",
        grouped(parts / 10_000),
        parts % 10_000
    )
}

fn small(micro: u64) -> String {
    let digits = format!("{:04}", (micro + 50) / 100);
    let (whole, part) = digits.split_at(digits.len() - 4);
    let part = part.trim_end_matches('0');
    format!("{}.{part:0<2}", if whole.is_empty() { "0" } else { whole })
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

/// "12.50" or "1,500" in micro-units; `None` where it is no amount.
pub fn parse_money(text: &str) -> Option<i64> {
    let text = text.trim().replace([',', ' '], "");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let part: i64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
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
        assert_eq!(money(999_999, "KES"), "KES 1.00");
        assert_eq!(money(0, "KES"), "KES 0.00");
        assert_eq!(money(-2_000_000, "TZS"), "−TZS 2.00");
        assert_eq!(money(i64::MIN, "KES"), "−KES 9,223,372,036,854.78");
    }

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        assert_eq!(parse_money("1,500"), Some(1_500_000_000));
        assert_eq!(parse_money(" 12.5 "), Some(12_500_000));
        assert_eq!(parse_money("0.000001"), Some(1));
        for wrong in [
            "",
            ".",
            "-5",
            "1e9",
            "5.0000001",
            "99999999999999999999",
            "KES 5",
        ] {
            assert_eq!(parse_money(wrong), None, "{wrong}");
        }
    }
}
