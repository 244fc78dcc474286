//! How many durable charges a second the ledger books: `cargo run --release -p sauti-store --example ledger_rate`.
//! With a URL as its argument it uses that (empty) database instead of a fresh SQLite file.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use sauti_store::{ChargeRequest, Environment, NewKey, Permissions, Store, Usage};

const CALLERS: usize = 256;
const WORKSPACES: usize = 16;
const SECONDS: u64 = 5;

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
            operation: "speech".into(),
            amount_micro: 1_000,
            request_id: "req_rate".into(),
            usage: Usage {
                units: 50,
                audio_ms: 3_000,
                cached: true,
            },
        });
    }
    measure("charge", &store, &requests, false).await?;
    measure("reserve + settle", &store, &requests, true).await?;
    let report = store.check().await?;
    println!(
        "books clean: {} ({} transfers)",
        report.is_clean(),
        report.transfers
    );
    store.close().await?;
    Ok(())
}

async fn measure(
    what: &str,
    store: &Store,
    requests: &[ChargeRequest],
    two_steps: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let slowest_us = Arc::new(AtomicI64::new(0));
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let began = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|at| {
            let (store, request, slowest_us) = (
                store.clone(),
                requests[at % requests.len()].clone(),
                slowest_us.clone(),
            );
            tokio::spawn(async move {
                let mut done = 0u64;
                while Instant::now() < until {
                    let asked = Instant::now();
                    if two_steps {
                        let reservation = store
                            .reserve(sauti_store::ReserveRequest {
                                workspace_id: request.workspace_id.clone(),
                                key_id: request.key_id.clone(),
                                operation: request.operation.clone(),
                                amount_micro: request.amount_micro,
                                request_id: request.request_id.clone(),
                            })
                            .await?;
                        store
                            .settle(&reservation, request.amount_micro / 2, request.usage)
                            .await?;
                    } else {
                        store.charge(request.clone()).await?;
                    }
                    slowest_us.fetch_max(asked.elapsed().as_micros() as i64, Ordering::Relaxed);
                    done += 1;
                }
                Ok::<u64, sauti_store::LedgerError>(done)
            })
        })
        .collect();
    let mut done = 0;
    for caller in callers {
        done += caller.await??;
    }
    let rate = done as f64 / began.elapsed().as_secs_f64();
    let slowest_ms = slowest_us.load(Ordering::Relaxed) as f64 / 1000.0;
    println!("{what}: {rate:.0} a second, {CALLERS} callers, slowest {slowest_ms:.0} ms");
    Ok(())
}
