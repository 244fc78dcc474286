//! A small SSML: speak, p, s, break, mark, say-as, sub, prosody, emphasis, phoneme (ipa), lang. Anything else is an error that
//! names its line. Entities are the five of XML and character numbers; nothing is expanded, nothing is fetched.

use std::ops::Range;

use crate::builder::{BREAK_MS_MAX, BREAKS_MS_MAX, ScriptBuilder};
use crate::clean::numeric_entity;
use crate::normalise::{self, money_is_named_in};
use crate::phonemes::from_ipa;
use crate::prosody::Prosody;
use crate::ssml_mistake::SsmlMistake;
use crate::{SpeechLanguage, TextError, say_as};

const DEPTH_MAX: usize = 32;
const TAG_BYTES_MAX: usize = 2_000;
const MARK_NAME_CHARACTERS_MAX: usize = 64;

enum Open<'a> {
    /// The whole, a paragraph, a sentence or `lang`: what may name a language.
    Block {
        name: &'a str,
        language_before: SpeechLanguage,
    },
    /// `prosody` or `emphasis`.
    Said { name: &'a str, before: Prosody },
    /// An element whose text is said in its own way.
    Word {
        name: &'a str,
        how: How,
        content_start: usize,
    },
}

enum How {
    SayAs { kind: String, format: String },
    Alias(String),
    Phonemes(String),
}

impl Open<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Block { name, .. } | Self::Word { name, .. } | Self::Said { name, .. } => name,
        }
    }
}

struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, String)>,
    closes: bool,
    empty: bool,
}

impl Tag<'_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_str())
    }

    fn wants(&self, attribute: &str) -> SsmlMistake {
        let (tag, attribute) = (self.name.to_owned(), attribute.to_owned());
        SsmlMistake::Wants { tag, attribute }
    }

    fn check_empty(&self) -> Result<(), SsmlMistake> {
        match self.empty {
            true => Ok(()),
            false => Err(SsmlMistake::NotEmpty(self.name.to_owned())),
        }
    }
}

struct SsmlReader<'a, 'b, 'c> {
    ssml: &'a str,
    builder: &'c mut ScriptBuilder<'b>,
    prosody: Prosody,
    open: Vec<Open<'a>>,
    done: bool,
}

pub(crate) fn read(ssml: &str, builder: &mut ScriptBuilder<'_>) -> Result<(), TextError> {
    let mut reader = SsmlReader {
        ssml,
        builder,
        prosody: Prosody::default(),
        open: Vec::new(),
        done: false,
    };
    let mut at = ssml.len() - ssml.trim_start_matches('\u{feff}').len();
    while at < ssml.len() {
        at = if ssml[at..].starts_with('<') {
            reader.markup(at)?
        } else {
            reader.text(at)?
        };
    }
    reader.builder.end_flow();
    if let Some(at) = reader.builder.too_long_break {
        let minutes_max = BREAKS_MS_MAX / 60_000;
        return Err(reader.error(at, SsmlMistake::BreaksTooLong { minutes_max }));
    }
    match reader.open.last() {
        Some(open) => Err(reader.error(at, SsmlMistake::NotClosed(open.name().to_owned()))),
        None if !reader.done => Err(reader.error(0, SsmlMistake::NoSpeak)),
        None => Ok(()),
    }
}

impl<'a> SsmlReader<'a, '_, '_> {
    fn error(&self, at: usize, mistake: SsmlMistake) -> TextError {
        let line = self.ssml.as_bytes()[..at.min(self.ssml.len())]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1;
        TextError::Ssml { line, mistake }
    }

    /// Text up to the next tag; the offset after it.
    fn text(&mut self, at: usize) -> Result<usize, TextError> {
        let rest = &self.ssml[at..];
        let text = &rest[..rest.find('<').unwrap_or(rest.len())];
        self.check_entities(at, text)?;
        match self.open.last() {
            None if text.trim().is_empty() => {}
            None => return Err(self.error(at, SsmlMistake::OutsideSpeak)),
            // The text of such an element is taken at its end.
            Some(Open::Word { .. }) => {}
            Some(_) => self.builder.flow().text(text, at),
        }
        Ok(at + text.len())
    }

    fn check_entities(&self, at: usize, text: &str) -> Result<(), TextError> {
        for (i, _) in text.match_indices('&') {
            if entity(&text[i..]).is_none() {
                return Err(self.error(at + i, SsmlMistake::BareAmpersand));
            }
        }
        Ok(())
    }

    fn markup(&mut self, at: usize) -> Result<usize, TextError> {
        let rest = &self.ssml[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let end = comment
                .find("-->")
                .ok_or_else(|| self.error(at, SsmlMistake::MarkupNotClosed))?;
            return Ok(at + 4 + end + 3);
        }
        if rest.starts_with("<!") {
            return Err(self.error(at, SsmlMistake::Declaration));
        }
        if rest.starts_with("<?") {
            let end = rest
                .find("?>")
                .ok_or_else(|| self.error(at, SsmlMistake::MarkupNotClosed))?;
            return Ok(at + end + 2);
        }
        let (tag, after) = self.tag(at)?;
        if tag.name != "mark" {
            self.builder.flow().tag();
        }
        let content = match tag.closes {
            true => Some(self.close(&tag, at)),
            false => self.start(&tag, at, after).transpose(),
        };
        if let Some(content) = content {
            let content = content.map_err(|mistake| self.error(at, mistake))?;
            self.finish_element(content)?;
        }
        Ok(after)
    }

    /// A tag and the offset after it.
    fn tag(&self, at: usize) -> Result<(Tag<'a>, usize), TextError> {
        let rest = &self.ssml[at..];
        let end = tag_end(rest).ok_or_else(|| self.error(at, SsmlMistake::MarkupNotClosed))?;
        let tag = parse_tag(&rest[1..end]).map_err(|mistake| self.error(at, mistake))?;
        Ok((tag, at + end + 1))
    }

    /// Opens an element; where it is empty, what it holds.
    fn start(
        &mut self,
        tag: &Tag<'a>,
        at: usize,
        after: usize,
    ) -> Result<Option<Range<usize>>, SsmlMistake> {
        if matches!(self.open.last(), Some(Open::Word { .. })) {
            return Err(SsmlMistake::Misplaced(tag.name.to_owned()));
        }
        if (self.open.is_empty()) != (tag.name == "speak") || self.done {
            return Err(SsmlMistake::SecondSpeak);
        }
        if self.open.len() >= DEPTH_MAX {
            let elements_max = DEPTH_MAX;
            return Err(SsmlMistake::TooDeep { elements_max });
        }
        let open = match tag.name {
            "speak" | "p" | "s" | "lang" => self.block(tag)?,
            "break" => return self.pause(tag, at).map(|()| None),
            "mark" => return self.mark(tag, at).map(|()| None),
            "prosody" | "emphasis" => self.prosody(tag, at)?,
            "say-as" | "sub" | "phoneme" => word_element(tag, after)?,
            name => return Err(SsmlMistake::Unknown(name.to_owned())),
        };
        let word = matches!(open, Open::Word { .. });
        self.open.push(open);
        let content = if word { after..after } else { at..after };
        Ok(Some(content).filter(|_| tag.empty))
    }

    fn block(&mut self, tag: &Tag<'a>) -> Result<Open<'a>, SsmlMistake> {
        if matches!(tag.name, "p" | "s") {
            self.builder.end_flow();
        }
        let language_before = self.builder.flow().language();
        let named = tag.attribute("xml:lang");
        match named.map(SpeechLanguage::from_tag) {
            Some(Some(language)) => self.builder.flow().speak(language),
            Some(None) => {
                let named = named.unwrap_or_default().to_owned();
                return Err(SsmlMistake::UnknownLanguage(named));
            }
            None if tag.name == "lang" => return Err(tag.wants("xml:lang")),
            _ => {}
        }
        Ok(Open::Block {
            name: tag.name,
            language_before,
        })
    }

    fn pause(&mut self, tag: &Tag<'_>, at: usize) -> Result<(), SsmlMistake> {
        tag.check_empty()?;
        let ms = match (tag.attribute("time"), tag.attribute("strength")) {
            (Some(time), _) => milliseconds(time).ok_or_else(|| SsmlMistake::WrongTime {
                time: time.to_owned(),
                seconds_max: BREAK_MS_MAX / 1_000,
            })?,
            (None, Some(strength)) => strength_ms(strength)
                .ok_or_else(|| SsmlMistake::WrongStrength(strength.to_owned()))?,
            (None, None) => 500,
        };
        self.builder.flow().pause(ms, at);
        Ok(())
    }

    fn mark(&mut self, tag: &Tag<'_>, at: usize) -> Result<(), SsmlMistake> {
        tag.check_empty()?;
        let name = tag.attribute("name").unwrap_or_default();
        let length = name.trim().chars().count();
        if !(1..=MARK_NAME_CHARACTERS_MAX).contains(&length) || name.contains(char::is_control) {
            let characters_max = MARK_NAME_CHARACTERS_MAX;
            return Err(SsmlMistake::WrongMark { characters_max });
        }
        self.builder.flow().mark(name.trim(), at);
        Ok(())
    }

    fn prosody(&mut self, tag: &Tag<'a>, at: usize) -> Result<Open<'a>, SsmlMistake> {
        let wrong = |attribute: &str, value: &str| {
            let (attribute, value) = (attribute.to_owned(), value.to_owned());
            SsmlMistake::WrongProsody { attribute, value }
        };
        let mut asked = Prosody::default();
        if tag.name == "emphasis" {
            let level = tag.attribute("level").unwrap_or("moderate");
            asked = Prosody::emphasis(level).ok_or_else(|| wrong("level", level))?;
        } else if tag.attributes.is_empty() {
            return Err(SsmlMistake::NoProsody);
        } else {
            for (attribute, value) in &tag.attributes {
                if !["rate", "pitch", "volume"].contains(attribute) {
                    return Err(SsmlMistake::OtherProsody((*attribute).to_owned()));
                }
                asked
                    .set(attribute, value)
                    .ok_or_else(|| wrong(attribute, value))?;
            }
        }
        let before = self.prosody;
        self.prosody = before.with(asked);
        self.builder.flow().say(self.prosody, true, at);
        let name = tag.name;
        Ok(Open::Said { name, before })
    }

    /// Closes the last element; what it holds.
    fn close(&self, tag: &Tag<'_>, at: usize) -> Result<Range<usize>, SsmlMistake> {
        match self.open.last() {
            Some(open) if open.name() != tag.name => {
                let (found, wanted) = (tag.name.to_owned(), open.name().to_owned());
                Err(SsmlMistake::ClosesOther { found, wanted })
            }
            Some(Open::Word { content_start, .. }) => Ok(*content_start..at),
            Some(_) => Ok(at..at),
            None => Err(SsmlMistake::ClosesNothing(tag.name.to_owned())),
        }
    }

    fn finish_element(&mut self, content: Range<usize>) -> Result<(), TextError> {
        match self.open.pop() {
            Some(Open::Block {
                name,
                language_before,
            }) => {
                self.builder.flow().speak(language_before);
                self.done = name == "speak";
                if matches!(name, "p" | "s") {
                    self.builder.end_flow();
                }
            }
            Some(Open::Said { before, .. }) => {
                self.prosody = before;
                self.builder.flow().say(before, false, content.end);
            }
            Some(Open::Word { how, .. }) => self.say(how, content)?,
            None => {}
        }
        Ok(())
    }

    fn say(&mut self, how: How, content: Range<usize>) -> Result<(), TextError> {
        let written = unescape(&self.ssml[content.clone()]);
        let written = written.trim();
        match how {
            How::Alias(alias) => {
                if self.builder.flow().figures_meet(&alias) {
                    self.builder.read_flow(&alias);
                }
                self.builder.flow().alias(&alias, content);
                return Ok(());
            }
            How::Phonemes(phonemes) => {
                self.builder.read_flow(written);
                let text = match written {
                    "" => phonemes.clone(),
                    _ => written.to_owned(),
                };
                self.builder
                    .word_with_phonemes(&text, phonemes, content.clone());
            }
            How::SayAs { kind, format } => {
                let spells = say_as::SPELLED.contains(&kind.as_str());
                self.builder.flow().spells(spells);
                self.builder.read_flow(written);
                self.say_as(written, &kind, &format, &content)?;
            }
        }
        self.builder.flow().said(written, content);
        Ok(())
    }

    /// The word behind a closing tag.
    fn word_at(&self, tag: usize) -> &'a str {
        let text = self.ssml[tag..]
            .split_once('>')
            .map_or("", |(_, text)| text.trim_start());
        let end = text
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(text.len());
        &text[..end]
    }

    fn say_as(
        &mut self,
        written: &str,
        kind: &str,
        format: &str,
        content: &Range<usize>,
    ) -> Result<(), TextError> {
        let english = self.builder.flow().language() == SpeechLanguage::English;
        let said = match english {
            true => normalise::english::say_as(written, kind, format),
            false => {
                let around = (self.builder.word_before(), self.word_at(content.end));
                say_as::say(written, kind, format, around)
            }
        };
        let wrong_date = kind == "date" && !say_as::fits_format(written, format);
        let said = said.filter(|_| !wrong_date).ok_or_else(|| {
            let (written, kind, format) = (written.to_owned(), kind.to_owned(), format.to_owned());
            let mistake = match wrong_date {
                true => SsmlMistake::WrongDate { written, format },
                false => SsmlMistake::CannotSay { written, kind },
            };
            self.error(content.start, mistake)
        })?;
        if english {
            self.builder.spoken_english(&said, content.clone());
            return Ok(());
        }
        // "Tarehe <say-as interpret-as="date">" has said the word already.
        let said = match (said.split_once(' '), self.builder.last_word()) {
            (Some((first, rest)), Some(last)) if names_kind(first, &last.text) => rest,
            _ => &said,
        };
        self.builder.spoken(said, content.clone());
        Ok(())
    }
}

/// An element whose text is said in its own way; its content begins at `after`.
fn word_element<'a>(tag: &Tag<'a>, after: usize) -> Result<Open<'a>, SsmlMistake> {
    let want = |name: &str| {
        let value = tag.attribute(name).map(str::to_owned);
        value.ok_or_else(|| tag.wants(name))
    };
    let how = match tag.name {
        "sub" => How::Alias(want("alias")?),
        "phoneme" => {
            if tag
                .attribute("alphabet")
                .is_some_and(|alphabet| alphabet != "ipa")
            {
                return Err(SsmlMistake::OtherAlphabet);
            }
            let phonemes = from_ipa(&want("ph")?);
            if phonemes.is_empty() {
                return Err(SsmlMistake::NoKnownSound);
            }
            How::Phonemes(phonemes)
        }
        _ => {
            let kind = want("interpret-as")?;
            if !say_as::KINDS.contains(&kind.as_str()) {
                let known = say_as::KINDS.join(", ");
                return Err(SsmlMistake::UnknownKind { kind, known });
            }
            let written = tag.attribute("format").unwrap_or_default();
            let format = say_as::date_format(written);
            let known = written.is_empty() || say_as::DATE_FORMATS.contains(&format.as_str());
            if kind == "date" && !known {
                let (format, known) = (written.to_owned(), say_as::DATE_FORMATS.join(", "));
                return Err(SsmlMistake::UnknownFormat { format, known });
            }
            How::SayAs { kind, format }
        }
    };
    Ok(Open::Word {
        name: tag.name,
        how,
        content_start: after,
    })
}

/// The first word of a date, a time or an amount, right after the same word.
fn names_kind(first: &str, last: &str) -> bool {
    let is_kind = first == "tarehe" || first == "saa" || money_is_named_in(first);
    is_kind && first.eq_ignore_ascii_case(last)
}

/// The `>` that ends a tag; one inside quotes does not.
fn tag_end(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (i, b) in rest.bytes().enumerate().take(TAG_BYTES_MAX) {
        match (b, quote) {
            (b'"' | b'\'', None) => quote = Some(b),
            (b, Some(open)) if b == open => quote = None,
            (b'>', None) => return Some(i),
            _ => {}
        }
    }
    None
}

fn parse_tag(inside: &str) -> Result<Tag<'_>, SsmlMistake> {
    let (inside, closes) = inside
        .strip_prefix('/')
        .map_or((inside, false), |rest| (rest, true));
    let (inside, empty) = inside
        .strip_suffix('/')
        .map_or((inside, false), |rest| (rest, true));
    let name_end = inside.find(char::is_whitespace).unwrap_or(inside.len());
    let (name, mut rest) = inside.split_at(name_end);
    let valid = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-:_".contains(&b))
    };
    if !valid(name) {
        return Err(SsmlMistake::NamelessTag);
    }
    let mut attributes: Vec<(&str, String)> = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(Tag {
                name,
                attributes,
                closes,
                empty,
            });
        }
        let (key, after) = rest
            .split_once('=')
            .ok_or_else(|| SsmlMistake::NoValue(name.to_owned()))?;
        let (key, after) = (key.trim(), after.trim_start());
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or_else(|| SsmlMistake::NotQuoted(key.to_owned()))?;
        let value_end = after[1..]
            .find(quote)
            .ok_or_else(|| SsmlMistake::ValueNotClosed(key.to_owned()))?;
        if !valid(key) || attributes.iter().any(|(known, _)| *known == key) {
            return Err(SsmlMistake::WrongAttribute(name.to_owned()));
        }
        attributes.push((key, unescape(&after[1..=value_end])));
        rest = &after[value_end + 2..];
    }
}

/// An entity at the start of the text: its character and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(10).position(|b| b == b';')?;
    let c = match &text[1..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        name => numeric_entity(name)?,
    };
    Some((c, end + 1))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (c, len) = entity(&rest[at..]).unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[at + len..];
    }
    out.push_str(rest);
    out
}

fn milliseconds(time: &str) -> Option<u32> {
    let (number, scale) = match time.strip_suffix("ms") {
        Some(number) => (number, 1.0),
        None => (time.strip_suffix('s')?, 1000.0),
    };
    let ms = number.trim().parse::<f64>().ok()? * scale;
    (0.0..=f64::from(BREAK_MS_MAX))
        .contains(&ms)
        .then(|| ms.round() as u32)
}

fn strength_ms(strength: &str) -> Option<u32> {
    Some(match strength {
        "none" => 0,
        "x-weak" => 100,
        "weak" => 250,
        "medium" => 500,
        "strong" => 800,
        "x-strong" => 1_200,
        _ => return None,
    })
}
