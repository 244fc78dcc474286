//! Speak, transcribe, the voices and how they say words.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sauti_service::app::App;
use sauti_service::lexicons::as_written;
use sauti_speech::voice::VoiceInfo;
use sauti_store::{BuildState, VocabularyInfo};

use super::page::{self, Me, Page};
use sauti_web::language::Language;
use sauti_web::problem::Problem;
use sauti_web::query::Query;

/// A voice as it stands on a card.
struct Card {
    info: VoiceInfo,
    gender: &'static str,
    description: String,
    chosen: bool,
}

fn description(page: &Page, info: &VoiceInfo) -> String {
    let swahili = info.description_sw.as_ref();
    let swahili = swahili.filter(|_| page.language == Language::Swahili);
    swahili.unwrap_or(&info.description).clone()
}

fn cards(app: &App, page: &Page, wanted: &str) -> Vec<Card> {
    let voices = app.engine.voices();
    let known = voices.iter().any(|voice| voice.voice_id == wanted);
    let card = |(i, info): (usize, &VoiceInfo)| Card {
        info: info.clone(),
        description: description(page, info),
        gender: match info.gender.as_str() {
            "female" => page.t.woman,
            _ => page.t.man,
        },
        chosen: if known {
            info.voice_id == wanted
        } else {
            i == 0
        },
    };
    voices.iter().enumerate().map(card).collect()
}

#[derive(Template)]
#[template(path = "speak.html")]
struct SpeakPage {
    page: Page,
    me: Me,
    cards: Vec<Card>,
    formats: Vec<(&'static str, &'static str)>,
    characters_max: usize,
    base_url: String,
}

pub async fn speak(
    State(app): State<App>,
    page: Page,
    me: Me,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let wanted = Query::parse(query.as_deref())
        .take("voice")
        .unwrap_or_default();
    let t = page.t;
    page::render(&SpeakPage {
        cards: cards(&app, &page, &wanted),
        formats: vec![
            ("wav_24000", t.format_wav),
            ("mp3_44100", t.format_mp3),
            ("opus_48000", t.format_opus),
            ("flac_24000", t.format_flac),
            ("wav_8000", t.format_wav8),
            ("ulaw_8000", t.format_ulaw),
            ("alaw_8000", t.format_alaw),
        ],
        characters_max: app.config.limits.text_chars_max,
        base_url: app.config.public_url(),
        page,
        me,
    })
}

#[derive(Template)]
#[template(path = "transcribe.html")]
struct TranscribePage {
    page: Page,
    me: Me,
    base_url: String,
    vocabularies: Vec<VocabularyInfo>,
}

pub async fn transcribe(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    page::render(&TranscribePage {
        base_url: app.config.public_url(),
        vocabularies: app.store.vocabularies(&me.workspace.id).await?,
        page,
        me,
    })
}

#[derive(Template)]
#[template(path = "voices.html")]
struct VoicesPage {
    page: Page,
    me: Me,
    cards: Vec<Card>,
}

pub async fn voices(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    let cards = cards(&app, &page, "");
    page::render(&VoicesPage { page, me, cards })
}

#[derive(Template)]
#[template(path = "vocabularies.html")]
struct VocabulariesPage {
    page: Page,
    me: Me,
    vocabularies: Vec<VocabularyInfo>,
    bytes_max: usize,
}

impl VocabulariesPage {
    fn state(&self, vocabulary: &VocabularyInfo) -> &'static str {
        match vocabulary.state {
            BuildState::Building => self.page.t.vocabulary_building,
            BuildState::Ready => self.page.t.vocabulary_ready,
            BuildState::Failed => self.page.t.vocabulary_failed,
        }
    }
}

pub async fn vocabularies(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    page::render(&VocabulariesPage {
        vocabularies: app.store.vocabularies(&me.workspace.id).await?,
        bytes_max: app.config.limits.vocabulary_bytes_max,
        page,
        me,
    })
}

#[derive(Template)]
#[template(path = "pronunciations.html")]
struct PronunciationsPage {
    page: Page,
    me: Me,
    words: Vec<OwnWord>,
}

/// A word and how this workspace says it.
struct OwnWord {
    word: String,
    said: String,
    /// The word as it stands in an address.
    escaped: String,
}

pub async fn pronunciations(
    State(app): State<App>,
    page: Page,
    me: Me,
) -> Result<Response, Problem> {
    let rows = app.store.pronunciations(&me.workspace.id).await?;
    let words = rows.into_iter().map(|row| OwnWord {
        said: as_written(row.alphabet, &row.spoken),
        escaped: utf8_percent_encode(&row.word, NON_ALPHANUMERIC).to_string(),
        word: row.word,
    });
    let words = words.collect();
    page::render(&PronunciationsPage { page, me, words })
}
