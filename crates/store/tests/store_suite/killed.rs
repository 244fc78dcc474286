//! Processes killed at random moments under load: what was acknowledged is there once, the rest is given back.
//!
//! The test starts its own binary again as a worker, lets it work for some random milliseconds, and kills it. The
//! worker writes a line to a file after each acknowledgement; lines survive the kill, since the file is the kernel's.

use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Database, assert_clean, funded, key_with_cap};
use sauti_store::{
    Begin, ChargeRequest, KeyId, LedgerError, Operation, ReserveRequest, StatementQuery, Store,
    StoreOptions, StoredAnswer, TransferId, Usage, WorkspaceId,
};

on_both_databases!(killed_workers_lose_and_double_nothing);

const FUNDED_MICRO: i64 = 1_000_000_000;
const KEYS: usize = 400;
const TASKS: usize = 12;

/// SAUTI_KILLS=40 for a minute of killing.
async fn killed_workers_lose_and_double_nothing(database: Database) {
    let kills = std::env::var("SAUTI_KILLS").map_or(6, |kills| kills.parse().unwrap());
    kill_many(database, kills).await;
}

/// Options under which a killed process is soon known to be dead, but a slow one on a loaded machine is not.
fn options() -> StoreOptions {
    StoreOptions {
        beat_every: Duration::from_millis(300),
        dead_after: Duration::from_secs(8),
        maintenance_every: Duration::from_millis(500),
        ..StoreOptions::default()
    }
}

async fn kill_many(database: Database, kills: usize) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("acknowledged");
    let store = database.open_with(options()).await;
    let workspace = funded(&store, FUNDED_MICRO).await;
    let key = key_with_cap(&store, &workspace, Some(FUNDED_MICRO)).await;

    let mut chance = Chance::new();
    let mut replica = start_worker(&database, &workspace.id, &key.info.id, &log);
    for kill in 0..kills {
        let mut victim = start_worker(&database, &workspace.id, &key.info.id, &log);
        // Some die while they open the store, the others in the midst of work.
        if kill % 4 != 3 {
            wait_until_working(&mut victim);
            let enough = lines_of(&log) + 25;
            while lines_of(&log) < enough {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(chance.below(250))).await;
        // SIGKILL: no destructor, no flush, no goodbye.
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    assert_eq!(
        replica.try_wait().unwrap(),
        None,
        "the other worker fell over by itself"
    );
    replica.kill().unwrap();
    replica.wait().unwrap();

    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while store.open_reservations().await.unwrap() > 0 {
        assert!(
            std::time::Instant::now() < deadline,
            "reservations of dead workers are still open"
        );
        store.sweep().await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    verify(&store, &workspace.id, &log).await;
}

fn lines_of(log: &Path) -> usize {
    std::fs::read(log).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
}

async fn verify(store: &Store, workspace_id: &WorkspaceId, log: &Path) {
    assert_clean(store).await;
    let booked = all_charges(store, workspace_id).await;
    let mut by_request: HashMap<&str, Vec<&str>> = HashMap::new();
    for (id, request_id) in &booked {
        by_request.entry(request_id).or_default().push(id);
    }
    let text = std::fs::read_to_string(log).unwrap();
    // A kill can cut the last line of a worker short; such a line was not an acknowledgement.
    let acknowledged: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split(' ').collect())
        .filter(|words: &Vec<_>| words.last() == Some(&"ok"))
        .collect();
    assert!(
        acknowledged.len() > 100,
        "the workers hardly worked: {} lines",
        acknowledged.len()
    );
    let mut replays: HashMap<&str, HashSet<&str>> = HashMap::new();
    for words in &acknowledged {
        match words[..] {
            ["charged", request_id, charge_id, "ok"] => {
                assert_eq!(
                    by_request.get(request_id),
                    Some(&vec![charge_id]),
                    "acknowledged, and not there once"
                );
            }
            ["replayed", key, charge_request_id, "ok"] => {
                replays.entry(key).or_default().insert(charge_request_id);
            }
            ["keyed", key, request_id, "ok"] => {
                assert_eq!(by_request.get(request_id).map(Vec::len), Some(1));
                replays.entry(key).or_default().insert(request_id);
            }
            ["released", request_id, "ok"] => assert_eq!(by_request.get(request_id), None),
            _ => panic!("{words:?}"),
        }
    }
    for (request_id, ids) in &by_request {
        assert_eq!(ids.len(), 1, "{request_id} was booked more than once");
    }
    for (key, answers) in &replays {
        assert_eq!(
            answers.len(),
            1,
            "idempotency key {key} was answered in different ways: {answers:?}"
        );
    }
    // Each key was charged once, whether or not anyone was told.
    let mut charged_keys = HashSet::new();
    for (_, request_id) in &booked {
        let Some((key, _)) = request_id.split_once('.') else {
            continue;
        };
        assert!(charged_keys.insert(key), "{key} was charged twice");
    }
    let balance = store.balance(workspace_id).await.unwrap();
    assert_eq!(balance.reserved_micro, 0);
    assert!(balance.available_micro >= 0);
}

async fn all_charges(store: &Store, workspace_id: &WorkspaceId) -> Vec<(TransferId, String)> {
    let mut rows = Vec::new();
    let mut query = StatementQuery {
        from_us: 0,
        to_us: i64::MAX,
        after: None,
        limit: 10_000,
    };
    loop {
        let page = store.statement(workspace_id, &query).await.unwrap();
        let Some(last) = page.last() else { return rows };
        query.after = Some((last.created_us, last.id.clone()));
        let charges = page
            .into_iter()
            .filter(|row| matches!(row.kind.as_str(), "charge" | "settle"));
        rows.extend(charges.map(|row| (row.id, row.request_id)));
    }
}

fn start_worker(
    database: &Database,
    workspace_id: &WorkspaceId,
    key_id: &KeyId,
    log: &Path,
) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::worker", "--nocapture"])
        .env(
            "SAUTI_KILL_TEST",
            format!(
                "{}\n{workspace_id}\n{key_id}\n{}",
                database.url,
                log.display()
            ),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn wait_until_working(worker: &mut Child) {
    let mut out = worker.stdout.take().unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"working\n") {
        assert_eq!(
            out.read(&mut byte).unwrap(),
            1,
            "the worker did not start: {}",
            String::from_utf8_lossy(&seen)
        );
        seen.push(byte[0]);
    }
}

/// Not a test of its own: what the killed processes run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker() {
    let Ok(settings) = std::env::var("SAUTI_KILL_TEST") else {
        return;
    };
    let mut lines = settings.lines().map(str::to_owned);
    let mut next = || lines.next().unwrap();
    let (url, workspace_id, key_id, log) = (next(), next(), next(), next());
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    let worker = Worker {
        store: Store::open_with(
            &url,
            StoreOptions {
                connections_max: 6,
                ..options()
            },
        )
        .await
        .unwrap(),
        workspace_id: workspace_id.parse().unwrap(),
        key_id: key_id.parse().unwrap(),
        log: Arc::new(Mutex::new(log)),
    };
    println!("working");
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| tokio::spawn(work(worker.clone())))
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[derive(Clone)]
struct Worker {
    store: Store,
    workspace_id: WorkspaceId,
    key_id: KeyId,
    log: Arc<Mutex<std::fs::File>>,
}

async fn work(worker: Worker) {
    let mut chance = Chance::new();
    loop {
        let done = match chance.below(4) {
            0 => worker.charge().await,
            1 => worker.settle(&mut chance).await,
            2 => worker.release().await,
            _ => worker.keyed(&mut chance).await,
        };
        if let Err(error) = done {
            panic!("{error:?}");
        }
    }
}

impl Worker {
    fn told(&self, line: &str) {
        // One write, so that lines of several workers do not mix.
        self.log
            .lock()
            .unwrap()
            .write_all(format!("{line} ok\n").as_bytes())
            .unwrap();
    }

    fn request(&self, request_id: &str) -> ReserveRequest {
        ReserveRequest {
            workspace_id: self.workspace_id.clone(),
            key_id: Some(self.key_id.clone()),
            operation: Operation::Speech,
            amount_micro: 300,
            request_id: request_id.to_owned(),
        }
    }

    fn charge_request(&self, request_id: &str) -> ChargeRequest {
        ChargeRequest {
            workspace_id: self.workspace_id.clone(),
            key_id: Some(self.key_id.clone()),
            operation: Operation::Speech,
            amount_micro: 120,
            request_id: request_id.to_owned(),
            usage: Usage::default(),
        }
    }

    async fn charge(&self) -> Result<(), LedgerError> {
        let request_id = sauti_store::ids::new_id("req_");
        let charge = self.store.charge(self.charge_request(&request_id)).await?;
        self.told(&format!("charged {request_id} {}", charge.id));
        Ok(())
    }

    async fn settle(&self, chance: &mut Chance) -> Result<(), LedgerError> {
        let request_id = sauti_store::ids::new_id("req_");
        let reservation = self.store.reserve(self.request(&request_id)).await?;
        tokio::time::sleep(Duration::from_millis(chance.below(20))).await;
        let charge = self
            .store
            .settle(&reservation, chance.below(301) as i64, Usage::default())
            .await?;
        self.told(&format!("charged {request_id} {}", charge.id));
        Ok(())
    }

    async fn release(&self) -> Result<(), LedgerError> {
        let request_id = sauti_store::ids::new_id("req_");
        let reservation = self.store.reserve(self.request(&request_id)).await?;
        self.store.release(&reservation).await?;
        self.told(&format!("released {request_id}"));
        Ok(())
    }

    /// What a client that retries does: the same keys come again and again, from every worker.
    async fn keyed(&self, chance: &mut Chance) -> Result<(), LedgerError> {
        let key = format!("key-{}", chance.below(KEYS as u64));
        let guard = match self.store.begin(&self.workspace_id, &key, "body").await? {
            Begin::New(guard) => guard,
            Begin::InFlight => return Ok(()),
            Begin::Mismatch => panic!("{key} was never used for another body"),
            Begin::Replay(answer) => {
                let request_id = String::from_utf8(answer.body.unwrap()).unwrap();
                self.told(&format!("replayed {key} {request_id}"));
                return Ok(());
            }
        };
        let request_id = sauti_store::ids::new_id(&format!("{key}."));
        let answer = StoredAnswer {
            status: 200,
            headers: Vec::new(),
            body: Some(request_id.clone().into_bytes()),
        };
        if chance.below(2) == 0 {
            self.store
                .charge_and_store(self.charge_request(&request_id), &guard, answer)
                .await?;
        } else {
            let reservation = self.store.reserve(self.request(&request_id)).await?;
            self.store
                .settle_and_store(&reservation, 200, Usage::default(), &guard, answer)
                .await?;
        }
        self.told(&format!("keyed {key} {request_id}"));
        Ok(())
    }
}

/// Random numbers that need no crate.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        Self(RandomState::new().build_hasher().finish() | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
