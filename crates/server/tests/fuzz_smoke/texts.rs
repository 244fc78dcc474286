//! Texts and SSML: whatever is sent is either read or refused, in bounded words that a voice can say.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sauti_text::{Lexicon, Script, TextError};

use crate::mutate::{Noise, damage, rounds};
use crate::support::repository;
use crate::try_each;

/// Written by people who met them: signs, scripts and numbers that break naive code.
const FRAGMENTS: [&str; 24] = [
    "<",
    "&#x0;",
    "&lt;",
    "]]>",
    "<break time=\"99999s\"/>",
    "<say-as interpret-as=\"date\">",
    "\u{200d}",
    "\u{202e}",
    "\u{301}\u{301}\u{301}",
    "9999999999999999999999999999",
    "1/0",
    "00:99",
    "-0",
    "1e400",
    "%",
    "₂³½",
    "KSh",
    "@@@@",
    "https://a.b/?c=d#e",
    "+254 700",
    "\u{0}",
    "\r\n\r\n",
    "😀👩‍👩‍👧",
    "...",
];

const SSML: [&str; 6] = [
    "<speak>Habari <break time=\"300ms\"/> yako. <emphasis>Sana</emphasis>!</speak>",
    "<speak><p><s>Moja</s><s>Mbili</s></p></speak>",
    "<speak>Nambari <say-as interpret-as=\"telephone\">0712 345 678</say-as>.</speak>",
    "<speak>Tarehe <say-as interpret-as=\"date\" format=\"dmy\">12/10/2023</say-as></speak>",
    "<speak><prosody rate=\"slow\" pitch=\"-2st\" volume=\"loud\">Pole <mark name=\"a\"/>pole</prosody> <sub alias=\"shirika\">NGO</sub></speak>",
    "<speak>Jina <phoneme alphabet=\"ipa\" ph=\"ˈakme\">Acme</phoneme> &amp; wenzake</speak>",
];

fn written() -> Vec<String> {
    let folder = repository().join("crates/text/tests/data");
    let mut texts = Vec::new();
    for file in ["normalisation-cases.tsv", "further-cases.tsv"] {
        let lines = std::fs::read_to_string(folder.join(file)).unwrap();
        let inputs = lines.lines().filter_map(|line| line.split('\t').next());
        texts.extend(inputs.map(str::to_owned));
    }
    assert!(texts.len() > 200);
    texts
}

/// The start of one text, the end of another, something odd in between, and damaged bytes.
fn mixed(texts: &[String], noise: &mut Noise) -> String {
    let [one, other] = [0, 1].map(|_| texts[noise.below(texts.len())].chars());
    let (keep, skip) = (noise.below(80), noise.below(40));
    let mut text: String = one.take(keep).collect();
    if noise.below(2) == 0 {
        text.push_str(FRAGMENTS[noise.below(FRAGMENTS.len())]);
    }
    text.extend(other.skip(skip));
    if noise.below(2) == 0 {
        let mut bytes = text.into_bytes();
        bytes.push(b' ');
        damage(&mut bytes, noise);
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    text
}

fn check(text: &str, read: impl Fn(&str) -> Result<Script, TextError>) -> Result<(), String> {
    let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| read(text))) else {
        return Err(format!("panicked on {text:?}"));
    };
    let Ok(script) = outcome else { return Ok(()) };
    let spoken = script.spoken();
    if spoken.len() > text.len() * 64 + 256 {
        return Err(format!("{} bytes are said for {text:?}", spoken.len()));
    }
    let mut words = script.clauses.iter().flat_map(|clause| &clause.words);
    match words.find(|word| word.phonemes.is_empty()) {
        Some(word) => Err(format!("nothing to say for {:?} in {text:?}", word.text)),
        None => Ok(()),
    }
}

#[test]
fn any_text_is_read_in_sayable_words_or_refused() {
    let (texts, lexicon) = (written(), Lexicon::builtin());
    let mut noise = Noise(0x7e57_0000_0000_0001);
    try_each("text", rounds(2_000), |_| {
        let text = mixed(&texts, &mut noise);
        check(&text, |text| Script::from_text(text, &lexicon))?;
        let spoken = sauti_text::normalise(&text);
        match spoken.chars().any(|letter| letter.is_ascii_digit()) {
            true => Err(format!("a digit is left in {spoken:?} of {text:?}")),
            false => Ok(()),
        }
    });
}

#[test]
fn any_ssml_is_read_in_sayable_words_or_refused() {
    let (texts, lexicon) = (SSML.map(str::to_owned), Lexicon::builtin());
    let mut noise = Noise(0x7e57_0000_0000_0002);
    try_each("SSML", rounds(2_000), |_| {
        let text = mixed(&texts, &mut noise);
        check(&text, |text| Script::from_ssml(text, &lexicon))
    });
}
