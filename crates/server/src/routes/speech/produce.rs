//! From a text to finished sound: read it, look in the cache, else let the engine speak.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sauti_audio::OutputFormat;
use sauti_speech::{
    Booking, Job, Priority, SpeakEvent, SpeakHandle, SpeakRequest, TranscribeEvent,
};
use sauti_store::Operation;
use sauti_text::{Lexicon, Script};

use super::request::SpeechRequest;
use crate::app::App;
use crate::cache::{CacheKey, CachedSpeech, Head, HeadWord};
use crate::http::metrics;
use crate::problem::{Problem, Reason};
use crate::self_check::{self, SelfCheck};

/// A text as a voice will say it, and what it is billed as.
#[derive(Debug)]
pub struct Reading {
    pub script: Script,
    pub characters: usize,
    pub key: CacheKey,
}

/// Reads the text of a request. Quick: it is done before any money is touched.
pub fn read(app: &App, request: &SpeechRequest, lexicon: &Lexicon) -> Result<Reading, Problem> {
    let script = match request.is_ssml {
        true => Script::from_ssml(&request.text, lexicon)?,
        false => Script::from_text(&request.text, lexicon)?,
    };
    let characters = billed_characters(request, &script);
    let max = app.config.limits.text_chars_max;
    if characters > max {
        let reason = Reason::TooLong {
            max: max as u64,
            actual: characters as u64,
        };
        return Err(Problem::field("text", reason));
    }
    let key = content_key(request, &script);
    Ok(Reading {
        script,
        characters,
        key,
    })
}

/// Plain text is billed as it was sent; of SSML, only what is spoken.
fn billed_characters(request: &SpeechRequest, script: &Script) -> usize {
    match request.is_ssml {
        true => script.characters(),
        false => request.text.chars().count(),
    }
}

/// Two texts that are said the same way share their sound.
fn content_key(request: &SpeechRequest, script: &Script) -> CacheKey {
    let mut said = String::new();
    for clause in &script.clauses {
        for word in &clause.words {
            said.push_str(&word.text);
            said.push('\u{1f}');
            said.push_str(&word.phonemes);
            said.push('\u{1e}');
        }
        let (end, pause, rate) = (clause.end, clause.break_after_ms, clause.rate);
        said.push_str(&format!("{end:?}\u{1f}{pause:?}\u{1f}{rate}\u{1d}"));
    }
    CacheKey::of(&[
        said.as_bytes(),
        request.voice_id.as_bytes(),
        request.voice_version.as_bytes(),
        &request.speed.to_le_bytes(),
        request.format.name().as_bytes(),
    ])
}

/// Names a request as it was written, so that a repeated one need not be read again. SSML is
/// left out: what it is billed as is known only after reading.
pub fn request_key(request: &SpeechRequest, lexicon_version: &[u8]) -> Option<CacheKey> {
    if request.is_ssml {
        return None;
    }
    Some(CacheKey::of(&[
        b"request",
        lexicon_version,
        request.text.as_bytes(),
        request.voice_id.as_bytes(),
        request.voice_version.as_bytes(),
        &request.speed.to_le_bytes(),
        request.format.name().as_bytes(),
    ]))
}

/// Keeps a place in the engine's queue, or refuses: asked before money is touched.
pub fn book(app: &App, tenant: &str, reading: &Reading) -> Result<Booking, Problem> {
    let characters = reading.script.characters();
    Ok(app.engine.book_speech(tenant, characters)?)
}

/// Hands the script to the engine. Dropping the handle gives the place in the queue back.
pub fn start(
    app: &App,
    tenant: &str,
    request: &SpeechRequest,
    script: Script,
    booking: Option<Booking>,
) -> Result<SpeakHandle, Problem> {
    let job = Job {
        tenant: tenant.to_owned(),
        deadline: app.deadline(),
        priority: Priority::Interactive,
    };
    start_job(app, job, request, script, booking)
}

pub fn start_job(
    app: &App,
    job: Job,
    request: &SpeechRequest,
    script: Script,
    booking: Option<Booking>,
) -> Result<SpeakHandle, Problem> {
    let wanted = SpeakRequest {
        voice_id: request.voice_id.clone(),
        script,
        speed: request.speed,
    };
    Ok(app.engine.speak(job, wanted, booking)?)
}

/// Collects everything the engine says and encodes it.
pub async fn finish(
    app: &App,
    mut handle: SpeakHandle,
    request: &SpeechRequest,
    spoken: String,
) -> Result<CachedSpeech, Problem> {
    let started = Instant::now();
    let (mut samples, mut words) = (Vec::new(), Vec::new());
    let seconds = loop {
        match handle.next().await {
            Some(Ok(SpeakEvent::Audio {
                samples: more,
                words: said,
            })) => {
                if samples.is_empty() {
                    metrics::first_sound(started.elapsed());
                }
                samples.extend_from_slice(&more);
                words.extend(said.into_iter().map(head_word));
            }
            Some(Ok(SpeakEvent::Done { seconds })) => break seconds,
            Some(Err(error)) => return Err(error.into()),
            None => {
                return Err(Problem::internal(
                    "the engine stopped in the middle of a text",
                ));
            }
        }
    };
    metrics::work(Operation::Speech, seconds, started.elapsed());
    let audio = encode(
        samples,
        app.voice_rate_hz(&request.voice_id),
        request.format,
    )
    .await?;
    Ok(CachedSpeech {
        head: Head {
            seconds,
            spoken,
            words,
        },
        audio,
    })
}

pub fn head_word(word: sauti_speech::Word) -> HeadWord {
    HeadWord {
        word: word.word,
        start: word.start,
        end: word.end,
    }
}

async fn encode(samples: Vec<f32>, rate_hz: u32, format: OutputFormat) -> Result<Bytes, Problem> {
    let encoded =
        tokio::task::spawn_blocking(move || sauti_audio::encode_speech(&samples, rate_hz, format))
            .await;
    match encoded {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(error)) => Err(Problem::internal(error)),
        Err(error) => Err(Problem::internal(error)),
    }
}

/// Lets our recogniser listen to the finished sound, as the caller will get it.
pub async fn listen(
    app: &App,
    tenant: &str,
    request: &SpeechRequest,
    speech: &CachedSpeech,
) -> Result<SelfCheck, Problem> {
    let (audio, format) = (speech.audio.to_vec(), request.format);
    let recording = tokio::task::spawn_blocking(move || self_check::recording(audio, format));
    let recording = recording
        .await
        .map_err(Problem::internal)?
        .map_err(Problem::internal)?;
    let job = Job {
        tenant: tenant.to_owned(),
        deadline: app.deadline(),
        priority: Priority::Continued,
    };
    let mut handle = app.engine.transcribe(job, recording, None)?;
    while let Some(event) = handle.next().await {
        if let TranscribeEvent::Done(transcript) = event? {
            return Ok(SelfCheck::compare(&speech.head.spoken, transcript.text));
        }
    }
    Err(Problem::internal(
        "the engine stopped in the middle of a recording",
    ))
}

/// A repeated request as it was written, found without reading its text.
pub async fn look_up(app: &App, key: CacheKey) -> Option<Arc<CachedSpeech>> {
    let found = app.cache.get(key).await;
    metrics::cache(found.is_some());
    found
}

/// Speaks without asking for money, for what the service itself wants to say.
pub async fn speak_free(
    app: &App,
    tenant: &str,
    request: &SpeechRequest,
    lexicon: &Lexicon,
) -> Result<Arc<CachedSpeech>, Problem> {
    let reading = read(app, request, lexicon)?;
    if let Some(found) = app.cache.get(reading.key).await {
        return Ok(found);
    }
    let spoken = reading.script.spoken();
    let handle = start(app, tenant, request, reading.script, None)?;
    let speech = Arc::new(finish(app, handle, request, spoken).await?);
    app.cache.put(reading.key, Arc::clone(&speech));
    Ok(speech)
}
