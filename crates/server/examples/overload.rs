//! Asks for speech that is in no cache, and for transcripts, for `bench/overload`: by callers who wait for each answer,
//! or at a fixed rate whatever the answers are. Latency counts from when a request was due. Prints one JSON object.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

#[derive(Parser)]
struct Args {
    /// HOST:PORT on this machine.
    address: String,
    #[arg(long, env = "SAUTI_KEY", hide_env_values = true)]
    key: String,
    /// Callers who each wait for their answer; 0 with a rate.
    #[arg(long, default_value_t = 0)]
    callers: usize,
    /// Requests a second, sent whether or not earlier ones were answered.
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// What stands before the number that makes each text new.
    #[arg(long, default_value = "Mteja mpendwa, salio lako la leo ni shilingi")]
    text: String,
    /// A recording to be transcribed now and then.
    #[arg(long)]
    recording: Option<std::path::PathBuf>,
    /// How many of a hundred requests are recordings.
    #[arg(long, default_value_t = 0)]
    recordings_percent: u64,
}

/// What a request asked for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Speech,
    Transcription,
}

const BOUNDARY: &str = "boundary-of-the-load-generator";

struct Load {
    args: Args,
    /// The whole form around the recording.
    form: Bytes,
    number: AtomicU64,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    /// Status (0: no answer) and how long it took.
    seen: Mutex<Vec<(Kind, u16, Duration)>>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Not a text of an earlier run against the same server, and always nine digits: all texts are about as long.
    let first = 100_000_000 + u64::from(std::process::id() % 8_000) * 100_000;
    let form = match &args.recording {
        Some(path) => form(&std::fs::read(path).with_context(|| path.display().to_string())?),
        None => Bytes::new(),
    };
    anyhow::ensure!(
        args.recordings_percent == 0 || !form.is_empty(),
        "--recordings-percent needs --recording"
    );
    let load = Arc::new(Load {
        args,
        form,
        number: AtomicU64::new(first),
        idle: Mutex::default(),
        seen: Mutex::default(),
    });
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    if load.args.callers > 0 {
        for _ in 0..load.args.callers {
            tasks.spawn(wait_for_each(Arc::clone(&load), start));
        }
    } else {
        send_at_rate(&load, start, &mut tasks).await;
    }
    while tasks.join_next().await.is_some() {}
    println!("{}", load.summary(start.elapsed()));
    Ok(())
}

fn form(recording: &[u8]) -> Bytes {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n"
    );
    let tail = format!("\r\n--{BOUNDARY}--\r\n");
    Bytes::from([head.as_bytes(), recording, tail.as_bytes()].concat())
}

async fn wait_for_each(load: Arc<Load>, start: Instant) {
    let end = start + Duration::from_secs_f64(load.args.seconds);
    while Instant::now() < end {
        // As it was told to: whoever asks again at once takes the cores from those who are served.
        if let Some(pause) = load.ask(Instant::now()).await {
            tokio::time::sleep(pause).await;
        }
    }
}

async fn send_at_rate(load: &Arc<Load>, start: Instant, tasks: &mut JoinSet<()>) {
    let count = (load.args.rate * load.args.seconds) as u64;
    for number in 0..count {
        let due = start + Duration::from_secs_f64(number as f64 / load.args.rate);
        tokio::time::sleep_until(due.into()).await;
        let load = Arc::clone(load);
        tasks.spawn(async move {
            load.ask(due).await;
        });
        while tasks.try_join_next().is_some() {}
    }
}

impl Load {
    /// How long the server asks to be left alone, if it does.
    async fn ask(&self, due: Instant) -> Option<Duration> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        // Spread evenly: 37 shares no factor with 100.
        let kind = match number * 37 % 100 < self.args.recordings_percent {
            true => Kind::Transcription,
            false => Kind::Speech,
        };
        let (status, pause) = self.once(kind, number).await.unwrap_or((0, None));
        self.seen
            .lock()
            .expect("no panic")
            .push((kind, status, due.elapsed()));
        pause
    }

    fn request(&self, kind: Kind, number: u64) -> anyhow::Result<Request<Full<Bytes>>> {
        let (path, content_type, body) = match kind {
            Kind::Speech => {
                let text = format!("{} {number}.", self.args.text);
                let body = json!({"text": text, "voice_id": "asha"}).to_string();
                ("speech", "application/json".to_owned(), body.into())
            }
            Kind::Transcription => {
                let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
                ("transcriptions", content_type, self.form.clone())
            }
        };
        Ok(Request::post(format!("/v1/audio/{path}"))
            .header("host", &self.args.address)
            .header("authorization", format!("Bearer {}", self.args.key))
            .header("content-type", content_type)
            .body(Full::new(body))?)
    }

    async fn once(&self, kind: Kind, number: u64) -> anyhow::Result<(u16, Option<Duration>)> {
        let kept = self
            .idle
            .lock()
            .expect("no panic")
            .pop()
            .filter(|sender| !sender.is_closed());
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        sender.ready().await?;
        let answer = sender.send_request(self.request(kind, number)?).await?;
        let status = answer.status().as_u16();
        let pause = answer.headers().get("retry-after");
        let pause = pause.and_then(|value| value.to_str().ok()?.parse().ok());
        answer.into_body().collect().await?;
        self.idle.lock().expect("no panic").push(sender);
        Ok((status, pause.map(Duration::from_secs)))
    }

    async fn connect(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(&self.args.address)
            .await
            .context("no connection")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    fn summary(&self, took: Duration) -> serde_json::Value {
        let seen = self.seen.lock().expect("no panic");
        let of = |kind: Option<Kind>, wanted: fn(u16) -> bool| {
            let mut ms: Vec<f64> = seen
                .iter()
                .filter(|(of, status, _)| wanted(*status) && kind.is_none_or(|kind| kind == *of))
                .map(|(_, _, took)| took.as_secs_f64() * 1e3)
                .collect();
            ms.sort_by(f64::total_cmp);
            let at = |share: f64| {
                ms.get(((ms.len().saturating_sub(1)) as f64 * share) as usize)
                    .copied()
                    .unwrap_or(0.0)
            };
            json!({"count": ms.len(), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1.0)})
        };
        let row = |kind: Option<Kind>| {
            json!({
                "seconds": took.as_secs_f64(),
                "answered": of(kind, |status| status == 200),
                "refused": of(kind, |status| matches!(status, 429 | 503)),
                "other": of(kind, |status| !matches!(status, 0 | 200 | 429 | 503)),
                "lost": of(kind, |status| status == 0),
            })
        };
        let mut all = row(None);
        all["speech"] = row(Some(Kind::Speech));
        all["transcription"] = row(Some(Kind::Transcription));
        all
    }
}
