//! A small load generator for one JSON request over kept-alive connections, for `bench/overhead`.
//!
//! With a rate, requests are due at fixed times and their latency counts from then, so that a
//! server that stalls cannot hide it by slowing its caller down. Prints one JSON object.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Parser, Clone)]
struct Args {
    /// HOST:PORT on this machine.
    address: String,
    #[arg(long)]
    path: String,
    /// Body of the POST.
    #[arg(long)]
    body: String,
    /// The API key, read from this variable's value.
    #[arg(long, env = "SAUTI_KEY", hide_env_values = true)]
    key: String,
    #[arg(long, default_value_t = 32)]
    connections: usize,
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Requests a second over all connections; 0: as fast as they are answered.
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
}

#[derive(Default)]
struct Outcome {
    latencies_us: Vec<u64>,
    statuses: BTreeMap<u16, u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let start = Instant::now();
    let callers: Vec<_> = (0..args.connections)
        .map(|index| tokio::spawn(call(args.clone(), index, start)))
        .collect();
    let mut all = Outcome::default();
    for caller in callers {
        let outcome = caller.await??;
        all.latencies_us.extend(outcome.latencies_us);
        for (status, count) in outcome.statuses {
            *all.statuses.entry(status).or_default() += count;
        }
    }
    all.latencies_us.sort_unstable();
    let at = |share: f64| {
        let last = all.latencies_us.len().saturating_sub(1);
        all.latencies_us
            .get((last as f64 * share) as usize)
            .copied()
            .unwrap_or(0) as f64
            / 1000.0
    };
    let took = start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "requests": all.latencies_us.len(),
            "per_second": (all.latencies_us.len() as f64 / took).round(),
            "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1.0),
            "statuses": all.statuses,
        })
    );
    Ok(())
}

async fn call(args: Args, index: usize, start: Instant) -> anyhow::Result<Outcome> {
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        args.path,
        args.address,
        args.key,
        args.body.len(),
        args.body
    );
    let mut stream = TcpStream::connect(&args.address).await?;
    stream.set_nodelay(true)?;
    let end = start + Duration::from_secs_f64(args.seconds);
    let mut outcome = Outcome::default();
    let mut buffer = Vec::new();
    let interval =
        (args.rate > 0.0).then(|| Duration::from_secs_f64(args.connections as f64 / args.rate));
    // Connections take their turns evenly, not all at once.
    let mut due = start
        + interval
            .unwrap_or_default()
            .mul_f64(index as f64 / args.connections as f64);
    while Instant::now() < end {
        let from = if let Some(interval) = interval {
            tokio::time::sleep_until(due.into()).await;
            let from = due;
            due += interval;
            from
        } else {
            Instant::now()
        };
        stream.write_all(request.as_bytes()).await?;
        let status = read_answer(&mut stream, &mut buffer).await?;
        outcome.latencies_us.push(from.elapsed().as_micros() as u64);
        *outcome.statuses.entry(status).or_default() += 1;
    }
    Ok(outcome)
}

/// Reads one whole answer with a Content-Length; gives its status.
async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<u16> {
    buffer.clear();
    let head_end = loop {
        if stream.read_buf(buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = std::str::from_utf8(&buffer[..head_end])?.to_ascii_lowercase();
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .context("the answer has no Content-Length")?
        .trim()
        .parse()?;
    while buffer.len() < head_end + length {
        if stream.read_buf(buffer).await? == 0 {
            bail!("the answer was cut short");
        }
    }
    Ok(status)
}
