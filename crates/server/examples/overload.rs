//! Asks for speech that is in no cache, for `bench/overload`: by callers who wait for each answer, or at a fixed rate
//! whatever the answers are. Latency counts from when a request was due. Prints one JSON object.

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
}

struct Load {
    args: Args,
    number: AtomicU64,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    /// Status (0: no answer) and how long it took.
    seen: Mutex<Vec<(u16, Duration)>>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Not a text of an earlier run against the same server.
    let first = u64::from(std::process::id()) * 1_000_000;
    let load = Arc::new(Load {
        args,
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

async fn wait_for_each(load: Arc<Load>, start: Instant) {
    let end = start + Duration::from_secs_f64(load.args.seconds);
    while Instant::now() < end {
        load.ask(Instant::now()).await;
    }
}

async fn send_at_rate(load: &Arc<Load>, start: Instant, tasks: &mut JoinSet<()>) {
    let count = (load.args.rate * load.args.seconds) as u64;
    for number in 0..count {
        let due = start + Duration::from_secs_f64(number as f64 / load.args.rate);
        tokio::time::sleep_until(due.into()).await;
        let load = Arc::clone(load);
        tasks.spawn(async move { load.ask(due).await });
        while tasks.try_join_next().is_some() {}
    }
}

impl Load {
    async fn ask(&self, due: Instant) {
        let status = self.once().await.unwrap_or(0);
        self.seen
            .lock()
            .expect("no panic")
            .push((status, due.elapsed()));
    }

    async fn once(&self) -> anyhow::Result<u16> {
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
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let body = json!({"text": format!("{} {number}.", self.args.text), "voice_id": "asha"});
        let request = Request::post("/v1/audio/speech")
            .header("host", &self.args.address)
            .header("authorization", format!("Bearer {}", self.args.key))
            .header("content-type", "application/json")
            .body(Full::from(body.to_string()))?;
        let answer = sender.send_request(request).await?;
        let status = answer.status().as_u16();
        answer.into_body().collect().await?;
        self.idle.lock().expect("no panic").push(sender);
        Ok(status)
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
        let of = |wanted: fn(u16) -> bool| {
            let mut ms: Vec<f64> = seen
                .iter()
                .filter(|(status, _)| wanted(*status))
                .map(|(_, took)| took.as_secs_f64() * 1e3)
                .collect();
            ms.sort_by(f64::total_cmp);
            let at = |share: f64| {
                ms.get(((ms.len().saturating_sub(1)) as f64 * share) as usize)
                    .copied()
                    .unwrap_or(0.0)
            };
            json!({"count": ms.len(), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1.0)})
        };
        json!({
            "seconds": took.as_secs_f64(),
            "answered": of(|status| status == 200),
            "refused": of(|status| matches!(status, 429 | 503)),
            "other": of(|status| !matches!(status, 0 | 200 | 429 | 503)),
            "lost": of(|status| status == 0),
        })
    }
}
