//! One open connection: sound in, words out, until somebody ends it.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::http::request::Parts;
use sauti_service::app::App;
use sauti_service::ratelimit::Seat;
use sauti_service::telemetry::metrics;
use sauti_service::transcribing::{LiveEar, LiveHeard, LiveMeter, LivePaid};
use sauti_speech::recogniser::LiveEvent;
use sauti_speech::{Expect, Segment, Transcript, rounded_seconds};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::MESSAGE_BYTES_MAX;
use crate::written::ExpectedAnswer;
use sauti_web::caller::{self, Caller};
use sauti_web::context::Context;
use sauti_web::problem::{Code, Problem};

/// A caller that sends no sound for this long has left, whatever else it sends.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Less sound than this does not count as somebody speaking.
const SOUND_SECONDS_MIN: f64 = 0.2;
/// How often to ask whether the caller may still listen: with the store's cache of keys, a revocation holds within a second or so.
const RECHECK_EVERY: Duration = Duration::from_millis(500);
/// A store that does not answer proves nothing; the session goes on until money is due.
const RECHECK_TIME_MAX: Duration = Duration::from_secs(2);
/// A caller that does not read for this long has left.
const TELL_TIME_MAX: Duration = Duration::from_secs(10);
/// So long a caller has to take in the last words: a line that is closed with bytes unread is reset, and they would be lost.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(2);
/// Messages may be many where they bring sound: 5 ms of it each, on average.
const MESSAGES_MAX: u64 = 1_000;
const MESSAGES_PER_SECOND_MAX: f64 = 200.0;

/// Everything an open connection owns; dropping it gives the money and the seat back.
pub struct LiveConnection {
    app: App,
    caller: Caller,
    context: Context,
    /// What the caller showed at the door, to be looked at again.
    parts: Parts,
    meter: LiveMeter,
    ear: LiveEar,
    _seat: Seat,
    /// What was told so far; its segments only where an answer is made of them.
    heard: Transcript,
    /// The channels on which something else was said than was expected.
    refused: BTreeSet<Option<u32>>,
    /// How far into the sound the caller was told what it says.
    told_seconds: f64,
    messages: u64,
    idle_at: Instant,
    ends_at: Instant,
    /// Sound since the idle clock was last set.
    fresh_seconds: f64,
}

enum End {
    /// The caller said so, and wants the rest.
    Finished,
    CallerLeft,
    ShuttingDown,
}

impl LiveConnection {
    pub fn new(
        app: App,
        caller: Caller,
        context: Context,
        mut parts: Parts,
        meter: LiveMeter,
        ear: LiveEar,
        seat: Seat,
    ) -> LiveConnection {
        // The connection itself is among them.
        parts.extensions.clear();
        let now = Instant::now();
        let seconds_max = app.config.limits.recording_seconds_max;
        LiveConnection {
            app,
            caller,
            context,
            parts,
            meter,
            ear,
            _seat: seat,
            heard: Transcript::default(),
            refused: BTreeSet::new(),
            told_seconds: 0.0,
            messages: 0,
            idle_at: now + IDLE_MAX,
            ends_at: now + Duration::from_secs(seconds_max) + IDLE_MAX,
            fresh_seconds: 0.0,
        }
    }

    pub async fn run(mut self, mut socket: WebSocket) {
        let mut ended = self.converse(&mut socket).await;
        if matches!(ended, Ok(End::Finished | End::ShuttingDown)) {
            ended = self.tell_rest(&mut socket, ended).await;
        }
        self.heard.not_understood = self.spoils_answer();
        // What was delivered is paid. Whoever finished has been told what all of the sound says.
        let seconds = match &ended {
            Ok(End::Finished) => self.ear.seconds(),
            Err(problem) if problem.code == Code::Internal => 0.0,
            _ => self.told_seconds,
        };
        let paid = self.meter.close(seconds).await.map_err(Problem::from);
        metrics::live_session(match (&ended, &paid) {
            (Err(problem), _) | (_, Err(problem)) => problem.code.as_str(),
            (Ok(End::Finished), _) => "finished",
            (Ok(End::CallerLeft), _) => "left",
            (Ok(End::ShuttingDown), _) => Code::ShuttingDown.as_str(),
        });
        let (last, close_code) = match (ended, paid) {
            (Ok(End::CallerLeft), _) => return wait_for_close(&mut socket, false).await,
            (Ok(End::Finished), Ok(paid)) => {
                let expected = ExpectedAnswer::of(self.ear.expect(), &self.heard);
                let done = done(&self.heard.text, self.ear.seconds(), &paid, expected);
                (done, close_code::NORMAL)
            }
            (Ok(End::ShuttingDown), Ok(paid)) => {
                let problem = Problem::new(Code::ShuttingDown);
                let error = error(&problem, &self.context, Some((seconds, paid)));
                (error, close_code::AWAY)
            }
            (Err(problem), Ok(paid)) => {
                let error = error(&problem, &self.context, Some((seconds, paid)));
                let too_large = problem.code == Code::BodyTooLarge;
                let code = if too_large {
                    close_code::SIZE
                } else {
                    close_code::POLICY
                };
                (error, code)
            }
            (_, Err(problem)) => (error(&problem, &self.context, None), close_code::ERROR),
        };
        tell(&mut socket, &last).await;
        let unread = close_code == close_code::SIZE;
        let reason = Default::default();
        let frame = CloseFrame {
            code: close_code,
            reason,
        };
        let closed = socket.send(Message::Close(Some(frame)));
        timeout(TELL_TIME_MAX, closed).await.ok();
        tracing::debug!(
            workspace = %self.caller.workspace_id,
            "a live transcription ended"
        );
        wait_for_close(&mut socket, unread).await;
    }

    async fn converse(&mut self, socket: &mut WebSocket) -> Result<End, Problem> {
        let sessions = self.app.live_sessions.clone();
        let closed = sessions.closed();
        tokio::pin!(closed);
        let mut recheck = interval(RECHECK_EVERY);
        recheck.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                heard = self.ear.next() => {
                    let told = match heard? {
                        Some(heard) => self.relay(socket, heard).await?,
                        None => true,
                    };
                    match told {
                        true => continue,
                        false => return Ok(End::CallerLeft),
                    }
                }
                () = &mut closed => return Ok(End::ShuttingDown),
                _ = recheck.tick() => {
                    self.require_permission_still().await?;
                    continue;
                }
                () = sleep_until(self.idle_at.min(self.ends_at)) => return Err(self.too_slow()),
                message = socket.recv() => message,
            };
            let message = match message {
                Some(Ok(message)) => message,
                Some(Err(error)) if is_too_large(&error) => return Err(message_too_large()),
                _ => return Ok(End::CallerLeft),
            };
            self.count_message()?;
            match message {
                Message::Binary(sound) => self.listen(&sound).await?,
                Message::Text(word) if is_finish(&word) => return Ok(End::Finished),
                Message::Text(_) => {
                    let detail = "Send samples, or {\"type\":\"finish\"}.";
                    return Err(Problem::detailed(Code::MalformedRequest, detail));
                }
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return Ok(End::CallerLeft),
            }
        }
    }

    fn too_slow(&self) -> Problem {
        match Instant::now() < self.ends_at {
            true => Problem::detailed(
                Code::RequestTimeout,
                "No sound came for 30 seconds. Send silence while nobody speaks, or finish.",
            ),
            false => Problem::new(Code::RecordingTooLong),
        }
    }

    /// Keys are revoked and expire, members leave, workspaces close: what held at the door must still hold.
    async fn require_permission_still(&self) -> Result<(), Problem> {
        let asked = caller::may_still::<caller::Transcription>(&self.app, &self.parts);
        match timeout(RECHECK_TIME_MAX, asked).await {
            Ok(Err(problem)) if problem.code.status().is_client_error() => Err(problem),
            _ => Ok(()),
        }
    }

    fn count_message(&mut self) -> Result<(), Problem> {
        self.messages += 1;
        let by_sound = (self.ear.seconds() * MESSAGES_PER_SECOND_MAX) as u64;
        match self.messages > MESSAGES_MAX + by_sound {
            true => Err(Problem::detailed(
                Code::RateLimited,
                "Too many messages for so little sound. Send 20 to 100 milliseconds in each.",
            )),
            false => Ok(()),
        }
    }

    async fn listen(&mut self, sound: &[u8]) -> Result<(), Problem> {
        let sound = match self.ear.seconds() == 0.0 {
            true => without_wav_header(sound),
            false => sound,
        };
        let more_seconds = self.ear.seconds_in(sound);
        let seconds = self.ear.seconds() + more_seconds;
        // What a browser's MediaRecorder makes, most of the time: read as samples it is noise that costs money.
        if self.ear.seconds() == 0.0
            && let Some(name) = sauti_audio::container_name(sound)
        {
            return Err(not_samples(name));
        }
        if seconds > self.app.config.limits.recording_seconds_max as f64 {
            return Err(Problem::new(Code::RecordingTooLong));
        }
        self.fresh_seconds += more_seconds;
        if self.fresh_seconds >= SOUND_SECONDS_MIN {
            self.fresh_seconds = 0.0;
            self.idle_at = Instant::now() + IDLE_MAX;
        }
        self.meter.reserve_to(seconds).await?;
        self.ear.push(sound).await;
        Ok(())
    }

    /// Hears out the sound that came.
    async fn tell_rest(
        &mut self,
        socket: &mut WebSocket,
        ended: Result<End, Problem>,
    ) -> Result<End, Problem> {
        self.ear.finish();
        while let Some(heard) = self.ear.next().await? {
            if !self.relay(socket, heard).await? {
                return Ok(End::CallerLeft);
            }
        }
        ended
    }

    fn remember(&mut self, segment: Segment) {
        if !self.heard.text.is_empty() && !segment.text.is_empty() {
            self.heard.text.push(' ');
        }
        self.heard.text.push_str(&segment.text);
        if *self.ear.expect() != Expect::Any {
            self.heard.segments.push(segment);
        }
    }

    /// Who only says other things on one side does not spoil the answer of the other side.
    fn spoils_answer(&self) -> bool {
        let segments = &self.heard.segments;
        let mut spoilt = segments
            .iter()
            .filter(|one| self.refused.contains(&one.channel));
        spoilt.next().is_some() || segments.is_empty() && !self.refused.is_empty()
    }

    /// All that a channel said, heard as one, stands for its parts.
    fn remember_whole(&mut self, channel: Option<u32>, whole: Option<Segment>) {
        self.heard.segments.retain(|one| one.channel != channel);
        match whole {
            Some(segment) => {
                if channel.is_none() {
                    self.heard.text.clone_from(&segment.text);
                }
                self.refused.remove(&channel);
                self.heard.segments.push(Segment { channel, ..segment });
            }
            None => _ = self.refused.insert(channel),
        }
    }

    /// Passes on what was heard. False when the caller left.
    async fn relay(&mut self, socket: &mut WebSocket, heard: LiveHeard) -> Result<bool, Problem> {
        for (channel, event) in heard.events {
            let mut message = match event {
                LiveEvent::Partial(partial) => json!({"type": "partial", "text": partial}),
                LiveEvent::Final(segment) => {
                    let message = json!({"type": "final", "segment": segment});
                    self.remember(segment);
                    message
                }
                LiveEvent::NotUnderstood => {
                    self.refused.insert(channel);
                    json!({"type": "not_understood"})
                }
                LiveEvent::Whole(whole) => {
                    self.remember_whole(channel, whole);
                    continue;
                }
            };
            if let Some(channel) = channel {
                message["channel"] = json!(channel);
            }
            if !tell(socket, &message).await {
                return Ok(false);
            }
            self.told_seconds = heard.seconds;
        }
        self.meter.pay_intervals(heard.seconds).await?;
        Ok(true)
    }
}

/// Reads on until the line is closed; a close frame of the caller is answered by that.
async fn wait_for_close(socket: &mut WebSocket, unread: bool) {
    let closed = async {
        while let Some(Ok(_)) = socket.recv().await {}
        // The rest of a message that is too large is never read.
        if unread {
            std::future::pending::<()>().await;
        }
    };
    timeout(LEAVE_TIME_MAX, closed).await.ok();
}

/// False when nobody reads.
async fn tell(socket: &mut WebSocket, message: &Value) -> bool {
    let sent = socket.send(Message::Text(message.to_string().into()));
    matches!(timeout(TELL_TIME_MAX, sent).await, Ok(Ok(())))
}

#[derive(Serialize)]
struct Done<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    seconds: f64,
    cost_micro: i64,
    balance_micro: i64,
    #[serde(flatten)]
    expected: Option<ExpectedAnswer>,
}

fn done(text: &str, seconds: f64, paid: &LivePaid, expected: Option<ExpectedAnswer>) -> Value {
    json!(Done {
        kind: "done",
        text,
        seconds: rounded_seconds(seconds),
        cost_micro: paid.cost_micro,
        balance_micro: paid.balance_micro,
        expected,
    })
}

fn error(problem: &Problem, context: &Context, paid: Option<(f64, LivePaid)>) -> Value {
    let (code, words) = (problem.code, problem.words(context.language()));
    let mut error = json!({"type": "error", "code": code.as_str(), "status": code.status().as_u16(),
        "message": words.detail});
    if let Some((seconds, paid)) = paid {
        error["seconds"] = json!(rounded_seconds(seconds));
        error["cost_micro"] = json!(paid.cost_micro);
    }
    error
}

/// The error of the WebSocket library is told by its words: its type is not ours to name.
fn is_too_large(error: &axum::Error) -> bool {
    error.to_string().starts_with("Space limit exceeded")
}

fn message_too_large() -> Problem {
    let detail = format!(
        "A message may have at most {MESSAGE_BYTES_MAX} bytes. Send 20 to 100 milliseconds in each."
    );
    Problem::detailed(Code::BodyTooLarge, detail)
}

/// Programs that send whole files begin with one.
fn without_wav_header(sound: &[u8]) -> &[u8] {
    match sound.starts_with(b"RIFF") && sound.get(36..40) == Some(b"data") {
        true => sound.get(44..).unwrap_or_default(),
        false => sound,
    }
}

fn not_samples(container: &str) -> Problem {
    let detail = format!(
        "This is {container}, and a live session takes samples without a container. Decode it first, or send the \
         whole recording to POST /v1/audio/transcriptions."
    );
    Problem::detailed(Code::ContentTypeUnsupported, detail)
}

fn is_finish(message: &str) -> bool {
    serde_json::from_str::<Value>(message).is_ok_and(|message| message["type"] == "finish")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_finish_finishes() {
        assert!(is_finish(r#"{"type":"finish"}"#));
        assert!(!is_finish("finish") && !is_finish(r#"{"type":"stop"}"#));
    }

    #[test]
    fn the_header_of_a_wav_file_is_no_sound() {
        let header = [b"RIFF".as_slice(), &[0; 32], b"data", &[9; 4]].concat();
        let file = [header.as_slice(), &[1, 2]].concat();
        assert_eq!(without_wav_header(&file), [1, 2]);
        assert!(without_wav_header(&header[..40]).is_empty());
        assert_eq!(without_wav_header(&header[..30]), &header[..30]);
    }
}
