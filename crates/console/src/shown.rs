//! Times and browsers as people read them.

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
