//! How many durable charges a second the ledger books: `cargo run --release -p sauti-store --example ledger_rate`.
//! With a URL as its argument it uses that (empty) database instead of a fresh SQLite file.

use std::time::{Duration, Instant};

use sauti_store::{
    ChargeRequest, Environment, LedgerError, NewKey, Permissions, ReserveRequest, Store, Usage,
};

const CALLERS: usize = 256;
const WORKSPACES: usize = 16;
const SECONDS: u64 = 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir_in(".")?;
    let url = std::env::args()
        .nth(1)
        .unwrap_or_else(|| format!("sqlite://{}/rate.db", folder.path().display()));
    let store = Store::open(&url).await?;
    let mut requests = Vec::new();
    for at in 0..WORKSPACES {
        let workspace = store.create_workspace(None, "rate", "TZS").await?;
        store
            .credit(
                &workspace.id,
                1 << 50,
                "rate",
                &format!("{}-{at}", workspace.id),
            )
            .await?;
        let key = store
            .create_key(NewKey {
                workspace_id: workspace.id.clone(),
                environment: Environment::Live,
                name: "rate".into(),
                permissions: Permissions::all(),
                expires_us: None,
                spend_cap_micro: Some(1 << 50),
                created_by: "example".into(),
            })
            .await?;
        requests.push(ChargeRequest {
            workspace_id: workspace.id,
            key_id: Some(key.info.id),
            operation: sauti_store::Operation::Speech,
            amount_micro: 1_000,
            request_id: "req_rate".into(),
            usage: Usage {
                units: 50,
                audio_ms: 3_000,
                cached: true,
            },
        });
    }
    for (what, two_steps, rate) in [
        ("charge, 1,000 a second", false, Some(1_000.0)),
        ("charge", false, None),
        ("reserve + settle", true, None),
    ] {
        measure(what, &store, &requests, Way { two_steps, rate }).await?;
    }
    let report = store.check().await?;
    println!(
        "books clean: {} ({} transfers)",
        report.is_clean(),
        report.transfers
    );
    store.close().await?;
    Ok(())
}

/// How each caller goes about it.
#[derive(Clone, Copy)]
struct Way {
    two_steps: bool,
    /// Charges a second over all callers; `None`: as fast as they are booked.
    rate: Option<f64>,
}

async fn measure(
    what: &str,
    store: &Store,
    requests: &[ChargeRequest],
    way: Way,
) -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|at| {
            let request = requests[at % requests.len()].clone();
            tokio::spawn(call(store.clone(), request, way, at, began))
        })
        .collect();
    let mut latencies_us = Vec::new();
    for caller in callers {
        latencies_us.extend(caller.await??);
    }
    latencies_us.sort_unstable();
    let rate = latencies_us.len() as f64 / began.elapsed().as_secs_f64();
    let at_ms = |share: f64| {
        let place = (latencies_us.len().saturating_sub(1) as f64 * share) as usize;
        latencies_us.get(place).copied().unwrap_or(0) as f64 / 1000.0
    };
    println!(
        "{what}: {rate:.0} a second, {CALLERS} callers, p50 {:.1} ms, p99 {:.1} ms, slowest {:.1} ms",
        at_ms(0.5),
        at_ms(0.99),
        at_ms(1.0)
    );
    Ok(())
}

/// Asks again and again; gives how long each answer took. At a rate, a late answer counts from when it was due.
async fn call(
    store: Store,
    request: ChargeRequest,
    way: Way,
    at: usize,
    began: Instant,
) -> Result<Vec<u64>, LedgerError> {
    let until = began + Duration::from_secs(SECONDS);
    let interval = way
        .rate
        .map(|rate| Duration::from_secs_f64(CALLERS as f64 / rate));
    let mut due = began
        + interval
            .unwrap_or_default()
            .mul_f64(at as f64 / CALLERS as f64);
    let mut latencies_us = Vec::new();
    while Instant::now() < until {
        let mut from = Instant::now();
        if let Some(interval) = interval {
            tokio::time::sleep_until(due.into()).await;
            from = due;
            due += interval;
        }
        if way.two_steps {
            let asked = ReserveRequest {
                workspace_id: request.workspace_id.clone(),
                key_id: request.key_id.clone(),
                operation: request.operation,
                amount_micro: request.amount_micro,
                request_id: request.request_id.clone(),
            };
            let reservation = store.reserve(asked).await?;
            let half_micro = request.amount_micro / 2;
            store
                .settle(&reservation, half_micro, request.usage)
                .await?;
        } else {
            store.charge(request.clone()).await?;
        }
        latencies_us.push(from.elapsed().as_micros() as u64);
    }
    Ok(latencies_us)
}
