//! Text as it comes from people and pages, brought to plain Latin letters, digits and marks. Markup, emoji and control
//! characters go; every byte that stays knows where in the caller's text it stood.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::tables::rows;

/// Tags and entities longer than this are taken for plain text, so that one `<` cannot make the scan go long.
const TAG_BYTES_MAX: usize = 300;
const ENTITY_BYTES_MAX: usize = 10;

/// Cleaned text and, for each of its bytes, the bytes of the original it came from.
#[derive(Debug, Default)]
pub(crate) struct Cleaned {
    pub text: String,
    origin: Vec<(u32, u32)>,
    /// Something other than blanks stands in the line already.
    line_begun: bool,
    /// Where the second of the two parts begins.
    pub start: usize,
}

impl Cleaned {
    /// The original bytes behind a range of the cleaned text.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        let inside = &self.origin[range];
        match (inside.first(), inside.last()) {
            (Some(first), Some(last)) => first.0 as usize..last.1 as usize,
            _ => 0..0,
        }
    }

    fn push(&mut self, c: char, from: Range<usize>) {
        self.text.push(c);
        self.line_begun = c != '\n' && (self.line_begun || c != ' ');
        let origin = (from.start as u32, from.end as u32);
        self.origin.resize(self.text.len(), origin);
    }

    /// One mark for two: "≤" for "<=".
    fn replace_last(&mut self, c: char, from: Range<usize>) {
        self.text.pop();
        let start = self.origin[self.text.len()].0 as usize;
        self.origin.truncate(self.text.len());
        self.push(c, start..from.end);
    }

    fn push_str(&mut self, text: &str, from: Range<usize>) {
        for c in text.chars() {
            self.push(c, from.clone());
        }
    }

    /// What has come of the part that is being cleaned.
    fn own_part(&self) -> &str {
        &self.text[self.start..]
    }

    fn at_line_start(&self) -> bool {
        !self.line_begun
    }
}

pub(crate) fn clean(text: &str) -> Cleaned {
    clean_in_two(text, 0)
}

/// The same with no tag, entity or mark that reaches over the place where a second part begins.
pub(crate) fn clean_in_two(text: &str, start: usize) -> Cleaned {
    let mut out = Cleaned {
        text: String::with_capacity(text.len()),
        origin: Vec::with_capacity(text.len()),
        line_begun: false,
        start: 0,
    };
    clean_on(&text[..start], 0, &mut out);
    out.start = out.text.len();
    clean_on(text, start, &mut out);
    out
}

fn clean_on(text: &str, mut at: usize, out: &mut Cleaned) {
    while let Some(c) = text[at..].chars().next() {
        let starts_line = out.at_line_start();
        let taken = markup(text, at, out).unwrap_or_else(|| {
            plain(text, at, c, out);
            c.len_utf8()
        });
        // One list or heading mark a line: what follows it is text.
        out.line_begun |= starts_line && matches!(c, '-' | '*' | '+' | '#' | '>');
        at += taken;
    }
}

/// Takes markup that begins at `at`; the number of bytes it spans.
fn markup(text: &str, at: usize, out: &mut Cleaned) -> Option<usize> {
    let rest = &text[at..];
    if let Some(taken) = hidden_figures(text, at, out) {
        return Some(taken);
    }
    match rest.as_bytes()[0] {
        b'<' => html_tag(rest, at, out),
        b'&' => html_entity(rest, at, out),
        b'`' => Some(1),
        b'!' if rest.starts_with("![") => link(&rest[1..], at + 1, out).map(|n| n + 1),
        b'[' => link(rest, at, out),
        b'#' if out.at_line_start() => heading(rest),
        b'>' if out.at_line_start() && !limit_follows(&rest[1..]) => Some(1),
        b'-' | b'*' | b'+'
            if out.at_line_start() && rest[1..].starts_with(' ') && bullet_follows(&rest[2..]) =>
        {
            Some(1)
        }
        b'-' | b'=' | b'_' | b'*' | b'~' => rule_or_emphasis(text, at),
        _ => None,
    }
}

/// A quotation's mark stands before a space; ">50" and ">= 50" are limits.
fn limit_follows(rest: &str) -> bool {
    rest.starts_with(|c: char| c == '=' || c.is_ascii_digit())
}

/// A list mark stands before words; "- 4" may be arithmetic.
fn bullet_follows(rest: &str) -> bool {
    rest.trim_start().starts_with(|c: char| !c.is_ascii_digit())
}

const BLOCK_TAGS: &[&str] = &[
    "p", "br", "div", "li", "ul", "ol", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
];

fn html_tag(rest: &str, at: usize, out: &mut Cleaned) -> Option<usize> {
    let named = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
    let end = rest.bytes().take(TAG_BYTES_MAX).position(|b| b == b'>')?;
    if !named {
        return None;
    }
    let inside = rest[1..end].trim_start_matches('/').chars();
    let name: String = inside.take_while(char::is_ascii_alphanumeric).collect();
    if BLOCK_TAGS.contains(&name.to_ascii_lowercase().as_str()) {
        out.push('\n', at..at + end + 1);
    }
    Some(end + 1)
}

fn html_entity(rest: &str, at: usize, out: &mut Cleaned) -> Option<usize> {
    let mut bytes = rest.bytes().take(ENTITY_BYTES_MAX);
    let end = bytes.position(|b| b == b';')?;
    let name = &rest[1..end];
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" | "lsquo" | "rsquo" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "euro" => '€',
        "pound" => '£',
        _ => numeric_entity(name)?,
    };
    plain_from(c, at..at + end + 1, out);
    Some(end + 1)
}

/// "#65", "#x41".
pub(crate) fn numeric_entity(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}

/// `[words](address)` is read as its words.
fn link(rest: &str, at: usize, out: &mut Cleaned) -> Option<usize> {
    let close = rest.bytes().take(TAG_BYTES_MAX).position(|b| b == b']')?;
    let address = rest[close + 1..].strip_prefix('(')?;
    let end = address
        .bytes()
        .take(TAG_BYTES_MAX)
        .take_while(|b| !b.is_ascii_whitespace())
        .position(|b| b == b')')?;
    for (i, c) in rest[1..close].char_indices() {
        plain_from(c, at + 1 + i..at + 1 + i + c.len_utf8(), out);
    }
    Some(close + 1 + 1 + end + 1)
}

/// Hidden figures are kept as a few stars, however many there were.
const STARS_KEPT: usize = 2;
/// Marks that stand for hidden figures; a star and a bullet do so alone, lines only between figures.
fn hides(mark: char) -> bool {
    matches!(mark, '*' | '-' | '=' | '_' | '~' | '•' | '●' | '∙' | '·')
}

/// A run of stars or bullets beside figures (0712***678, ****5678) is a part of the number, not emphasis.
fn hidden_figures(text: &str, at: usize, out: &mut Cleaned) -> Option<usize> {
    let rest = &text[at..];
    let mark = rest.chars().next().filter(|c| hides(*c))?;
    if text[..at].ends_with(mark) {
        return None;
    }
    let run = rest.chars().take_while(|c| *c == mark).count();
    let bytes = run * mark.len_utf8();
    let is_figure = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut behind = text[..at].chars().rev();
    let mut ahead = rest[bytes..].chars();
    let (before, before_that) = (behind.next(), behind.next());
    let (after, after_that) = (ahead.next(), ahead.next());
    let between = is_figure(before) && is_figure(after);
    let hidden = match mark {
        '*' | '•' | '●' | '∙' | '·' if run >= 2 => {
            let is_joint = |c: Option<char>| matches!(c, Some(' ' | '-'));
            let belongs = |c: Option<char>| is_figure(c) || c == Some(mark);
            let group_apart = (run >= 3 && is_joint(after) && belongs(after_that))
                || (run > 3 && is_joint(before) && belongs(before_that));
            between
                || group_apart
                || (is_figure(after) && !is_emphasis(rest[bytes..].chars(), mark, run))
                || (is_figure(before) && !is_emphasis(text[..at].chars().rev(), mark, run))
        }
        '•' | '●' | '∙' | '·' => between,
        '_' => run >= 2 && between,
        _ => run >= 3 && between,
    };
    let in_mail_address = mark == '*' && run >= 2 && after == Some('@');
    if !hidden && !in_mail_address {
        return None;
    }
    let stars = if hidden { STARS_KEPT } else { 1 };
    for _ in 0..stars {
        out.push('*', at..at + bytes);
    }
    Some(bytes)
}

/// The marks of emphasis around figures stand a second time in the line, ahead or behind: **500**. Something emphasised stands
/// before that run of marks, and no word right after it.
fn is_emphasis(text: impl Iterator<Item = char>, mark: char, run: usize) -> bool {
    let marks = mark.to_string().repeat(run);
    let line: String = text
        .take(TAG_BYTES_MAX)
        .take_while(|c| *c != '\n')
        .collect();
    line.match_indices(&marks).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + marks.len()..].chars().next();
        before.is_some_and(|c| !c.is_whitespace() && c != mark)
            && after.is_none_or(|c| !c.is_alphanumeric() && c != mark)
    })
}

fn heading(rest: &str) -> Option<usize> {
    let marks = rest.bytes().take(6).take_while(|b| *b == b'#').count();
    let words = rest[marks..].strip_prefix(' ')?.trim_start_matches(' ');
    words.chars().next().filter(|c| *c != '\n').map(|_| marks)
}

/// Rules across the page (`---`), and the stars and lines around emphasised words. A star before a digit may be a
/// telephone code, and one alone is a key: both stay.
fn rule_or_emphasis(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let mark = rest.chars().next()?;
    let run = rest.chars().take_while(|c| *c == mark).count();
    if run >= 3 {
        return Some(run);
    }
    let before = text[..at].chars().next_back();
    let after = rest[run..].chars().next();
    let beside_word = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    let is_capital = |c: Option<char>| c.is_some_and(char::is_uppercase);
    match mark {
        '*' | '~' if run == 2 => Some(2),
        // "JINA*KAUNTI" is a message to send.
        '*' if is_capital(before) && is_capital(after) => None,
        '*' if beside_word(before) || beside_word(after) => Some(1),
        '_' if run == 2 || !(beside_word(before) && beside_word(after)) => Some(run),
        _ => None,
    }
}

fn plain(text: &str, at: usize, c: char, out: &mut Cleaned) {
    let from = at..at + c.len_utf8();
    // Two marks some writers use for an apostrophe stand for one only inside a word.
    if matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '\u{2033}') {
        return out.push('"', from);
    }
    if let Some(vowel) = kikuyu_vowel(c, &text[from.end..]) {
        return out.push(vowel, from);
    }
    if c == '\r' {
        if !text[at + 1..].starts_with('\n') {
            out.push('\n', from);
        }
        return;
    }
    plain_from(c, from, out);
}

/// In Kikuyu, Embu, Meru and Kamba a tilde makes another vowel: Gĩkũyũ is said Gekoyo.
fn kikuyu_vowel(c: char, rest: &str) -> Option<char> {
    let tilde_follows = rest.starts_with('\u{303}');
    Some(match c {
        'ĩ' => 'e',
        'Ĩ' => 'E',
        'ũ' => 'o',
        'Ũ' => 'O',
        'i' if tilde_follows => 'e',
        'I' if tilde_follows => 'E',
        'u' if tilde_follows => 'o',
        'U' if tilde_follows => 'O',
        _ => return None,
    })
}

fn plain_from(c: char, from: Range<usize>, out: &mut Cleaned) {
    match c {
        '=' if out.own_part().ends_with('<') => out.replace_last('≤', from),
        '=' if out.own_part().ends_with('>') => out.replace_last('≥', from),
        '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' => out.push('\n', from),
        '\t' | ' ' | '\u{b}' | '\u{c}' => out.push(' ', from),
        ' '..='~' => out.push(c, from),
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2bb}' | '\u{b4}' | '\u{2032}' => {
            out.push('\'', from)
        }
        '\u{2010}' | '\u{2011}' => out.push('-', from),
        '\u{2012}' | '–' => out.push('–', from),
        '—' | '\u{2015}' => out.push('—', from),
        '…' => out.push_str("...", from),
        '½' | '¼' | '¾' | '⅓' | '⅔' | '⅕' | '⅖' | '⅗' | '⅘' | '⅙' | '⅚' | '⅛' | '⅜' | '⅝' | '⅞'
        | '²' | '³' | '°' | '×' | '÷' | '−' | '±' | '√' | '≤' | '≥' | '≠' | '≈' | '€' | '£'
        | '¥' | '₹' | '₦' | '§' | 'µ' | '‰' => out.push(c, from),
        '⁴'..='⁹' if out.text.ends_with(|c: char| c.is_ascii_digit()) => {
            out.push('^', from.clone());
            folded(c, from, out);
        }
        '№' => out.push_str("No. ", from),
        'ﷺ' => out.push_str("(S.A.W.)", from),
        '℃' => out.push_str("°C", from),
        '⁄' => out.push('/', from),
        _ if c.is_control() || is_invisible(c) => {}
        _ if is_picture(c) => out.push(' ', from),
        _ if c.is_whitespace() => out.push(' ', from),
        _ => folded(c, from, out),
    }
}

static PLAIN_LETTERS: LazyLock<HashMap<char, &str>> = LazyLock::new(|| {
    let list = rows(include_str!("../data/plain-letters.tsv"));
    list.filter_map(|(letter, plain)| Some((letter.chars().next()?, plain)))
        .collect()
});

/// Accents go, and letters that are Latin in all but shape get their plain spelling.
fn folded(c: char, from: Range<usize>, out: &mut Cleaned) {
    if let Some(spelled) = PLAIN_LETTERS.get(&c) {
        return out.push_str(spelled, from);
    }
    for part in std::iter::once(c).nfkd() {
        if !is_combining_mark(part) {
            out.push(part, from.clone());
        }
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20f0}' | '\u{e0000}'..='\u{e0fff}' | '\u{fff0}'..='\u{fffd}'
        | '\u{300}'..='\u{36f}')
}

/// Emoji, arrows, boxes, dingbats and other pictures.
fn is_picture(c: char) -> bool {
    matches!(c,
        '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2400}'..='\u{245f}' | '\u{2500}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{e000}'..='\u{f8ff}' | '\u{1f000}'..='\u{1faff}' | '\u{f0000}'..='\u{10ffff}' | '\u{2020}'..='\u{2023}'
        | '©' | '®' | '™' | '·' | '¶' | '¦' | '¨' | '¯' | '¸' | '¬' | '¤')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        clean(text).text
    }

    #[test]
    fn markup_is_taken_off() {
        assert_eq!(
            cleaned("<b>Habari</b> &amp; <i>karibu</i>"),
            "Habari & karibu"
        );
        assert_eq!(
            cleaned("**Muhimu**: soma [hapa](https://a.co.ke/x)"),
            "Muhimu: soma hapa"
        );
        assert_eq!(
            cleaned("## Kichwa\n- moja\n- mbili"),
            " Kichwa\n moja\n mbili"
        );
        assert_eq!(cleaned("`msimbo` _mlalo_ __nene__"), "msimbo mlalo nene");
    }

    #[test]
    fn telephone_codes_and_keys_are_no_markup() {
        assert_eq!(cleaned("piga *334# sasa"), "piga *334# sasa");
        assert_eq!(cleaned("bonyeza * au #"), "bonyeza * au #");
        assert_eq!(cleaned("*150*00#"), "*150*00#");
    }

    #[test]
    fn limits_are_no_markup() {
        assert_eq!(cleaned(">50 au &gt;= 3, x<=4"), ">50 au ≥ 3, x≤4");
        assert_eq!(cleaned("> nukuu\n>=5"), " nukuu\n≥5");
        let cleaned = clean("a &lt;= b");
        assert_eq!(cleaned.source(2..5), 2..7);
    }

    #[test]
    fn accents_emoji_and_control_characters_go() {
        assert_eq!(cleaned("Café 😀👍🏽 \u{200b}n\u{0}zuri"), "Cafe     nzuri");
        assert_eq!(cleaned("cafe\u{301}"), "cafe");
        assert_eq!(cleaned("１２３ ﬁ"), "123 fi");
    }

    #[test]
    fn every_byte_knows_its_origin() {
        let text = "é😀 <b>Juma</b>";
        let cleaned = clean(text);
        let at = cleaned.text.find("Juma").unwrap();
        assert_eq!(&text[cleaned.source(at..at + 4)], "Juma");
    }
}
