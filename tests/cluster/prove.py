#!/usr/bin/env python3
"""Shows on one machine that a cluster loses nothing and charges nothing twice.

Makes network namespaces for PostgreSQL, Valkey, NATS and three replicas with the real models, sends speech, transcriptions and
batches to all of them, kills and cuts off each part in turn, and lays every charge in the ledger beside what was asked and
answered. Needs root, iproute2, PostgreSQL, Valkey or Redis, and nats-server.

  tests/cluster/prove.py --binary target/release/sauti
"""

import argparse
import csv
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from load import Ask, Load, request  # noqa: E402
from network import Network  # noqa: E402
from parts import ROOT, Nats, Postgres, Replica, Valkey, until  # noqa: E402

CREDIT = 100_000
QUIET_SECONDS = 4
BATCHES_SECONDS_MAX = 300


class Cluster:
    def __init__(self, network, folder, binary):
        self.postgres = Postgres("postgres", network, folder)
        self.valkey = Valkey("valkey", network, folder)
        self.nats = Nats("nats", network, folder)
        shared = (binary, self.postgres, self.valkey, self.nats)
        self.replicas = [Replica(f"replica{n}", network, folder, *shared) for n in (1, 2, 3)]
        self.parts = {part.name: part for part in (*self.replicas, self.valkey, self.nats, self.postgres)}

    def start(self):
        for part in (self.postgres, self.valkey, self.nats):
            part.start()
            part.wait()
        made = json.loads(self.replicas[0].operator("bootstrap", "--credit", str(CREDIT)))
        self.workspace, self.key = made["workspace_id"], made["api_key"]
        for replica in self.replicas:
            replica.start()
        for replica in self.replicas:
            replica.wait()

    def ready(self):
        return all(replica.ready() for replica in self.replicas)


class Row:
    """What happened between one fault and the next."""

    def __init__(self, fault):
        self.fault, self.begun, self.mended, self.ended = fault, time.monotonic(), None, None

    def cells(self, load):
        asks = [ask for ask in load.asks if self.begun <= ask.begun < self.ended]
        attempts = [attempt for attempt in load.attempts if self.begun <= attempt.ended < self.ended]
        good = sorted(attempt.ended for attempt in attempts if attempt.outcome in ("200", "201"))
        refused = Counter(attempt.outcome for attempt in attempts if attempt.outcome not in ("200", "201"))
        edges = [self.begun, *good, self.ended]
        gap = max(later - earlier for earlier, later in zip(edges, edges[1:]))
        wait = max((ask.answered - ask.begun for ask in asks if ask.answered), default=0)
        late = [a.ended for a in attempts if a.outcome not in ("200", "201") and self.mended and a.ended > self.mended]
        refusals = ", ".join(f"{count} x {outcome}" for outcome, count in sorted(refused.items())) or "none"
        recovery = f"{max(late, default=self.mended) - self.mended:.1f}" if self.mended else ""
        return [self.fault, len(asks), sum(ask.answered is not None for ask in asks), refusals, f"{gap:.1f}", f"{wait:.1f}", recovery]


def steps(short):
    if short:
        return [("replica1", "kill"), ("replica2", "cut"), ("valkey", "cut"), ("nats", "kill"), ("postgres", "kill")]
    return [(name, fault) for name in ("replica1", "replica2", "replica3", "valkey", "nats", "postgres") for fault in ("kill", "cut")]


def run_faults(cluster, load, faults, hold_seconds):
    rows = [Row("none")]
    time.sleep(2 * hold_seconds)
    for name, fault in faults:
        rows[-1].ended = time.monotonic()
        row = Row(f"{name}: {'killed' if fault == 'kill' else 'cut off'}")
        rows.append(row)
        print(f"  {row.fault}", flush=True)
        part = cluster.parts[name]
        part.break_by(fault)
        time.sleep(hold_seconds)
        part.mend(fault)
        row.mended = time.monotonic()
        until(f"the cluster is whole after {row.fault}", lambda: calm(cluster, load))
    rows[-1].ended = time.monotonic()
    return rows


def calm(cluster, load):
    """All replicas are ready and nobody was refused for a while."""
    if not cluster.ready():
        return False
    since = time.monotonic() - QUIET_SECONDS
    lately = [attempt.outcome for attempt in load.attempts[-200:] if attempt.ended > since]
    old = any(ask.answered is None and not ask.wrong and ask.begun < since for ask in load.asks[-200:])
    return bool(lately) and set(lately) <= {"200", "201"} and not old


def batches_over(load):
    """Every batch with its results."""
    found = {}
    for ask in load.asks:
        if ask.kind == "batch" and ask.answered:
            batch_id = json.loads(ask.answer)["batch_id"]

            def over(path=f"/v1/batches/{batch_id}"):
                batch = json.loads(load.get(path))
                return batch if batch["status"] != "running" else None

            batch = until(f"{batch_id} is over", over, BATCHES_SECONDS_MAX)
            lines = load.get(f"/v1/batches/{batch_id}/results").splitlines()
            found[batch_id] = (batch, [json.loads(line) for line in lines])
    return found


class Books:
    """Compares; remembers what does not fit."""

    def __init__(self):
        self.right, self.wrong = 0, []

    def equal(self, what, left, right):
        fits = left == right
        print(f"  {'ok   ' if fits else 'WRONG'} {what}: {left}" + ("" if fits else f" and not {right}"), flush=True)
        if fits:
            self.right += 1
        else:
            self.wrong.append(what)

    def none(self, what, found):
        self.equal(what, len(found), 0)
        for one in list(found)[:5]:
            print(f"        {one}")


def settle_up(cluster, load, batches):
    replica = cluster.replicas[0]
    until("no money is held", lambda: json.loads(replica.operator("ledger", "check", "--json"))["open_reservations"] == 0)
    statement = list(csv.DictReader(io.StringIO(replica.operator("workspace", "statement", cluster.workspace, "--csv"))))
    charges = [row for row in statement if row["kind"] in ("settle", "charge")]
    by_request = Counter(row["request_id"] for row in charges)
    amounts = {row["request_id"]: -int(row["amount_micro"]) for row in charges}
    single = [ask for ask in load.asks if ask.kind != "batch"]
    items = cluster.postgres.rows("select id, batch_id, state, amount_micro from batch_items")
    lines = [line for _, found in batches.values() for line in found]

    books = Books()
    print("what was asked, answered and charged:")
    books.none("asks without an answer", [ask.name for ask in load.asks if not ask.answered])
    books.none("answers that are not what was asked for", [f"{ask.name}: {ask.wrong}" for ask in load.asks if ask.wrong])
    books.none("asks charged more than once", [ask.name for ask in single if by_request[ask.name] > 1])
    books.none("asks answered and not charged", [ask.name for ask in single if ask.answered and by_request[ask.name] == 0])
    books.none("asks charged another price than was told", [ask.name for ask in single if ask.answered and amounts.get(ask.name) != ask.cost_micro])
    books.equal("speech and transcriptions charged, and answered", sum(not name.startswith("item_") for name in by_request), len(single))
    books.equal("batches in the database, and ordered", len({row[1] for row in items}), len(batches))
    books.equal("items in the database, and lines of results", len(items), len(lines))
    books.none("items without exactly one answer", [line for line in lines if line["status"] != "done"])
    books.none("items without exactly one charge", [row for row in items if by_request[row[0]] != 1 or amounts[row[0]] != int(row[3])])
    books.none("charges for nothing", set(by_request) - {ask.name for ask in single} - {row[0] for row in items})
    told = sum(ask.cost_micro for ask in single) + sum(line["cost_micro"] for line in lines)
    books.equal("charged in all, and told in answers (micro)", sum(amounts[name] * count for name, count in by_request.items()), told)
    balance = json.loads(load.get("/v1/balance"))
    books.equal("left of the credit (micro)", balance["available_micro"], CREDIT * 1_000_000 - told)
    books.equal("transfers that do not add up", json.loads(replica.operator("ledger", "check", "--json"))["problems"], [])
    return books


def show(rows, load):
    header = ["fault", "asked", "answered", "attempts refused", "longest gap, s", "longest wait, s", "refused after repair, s"]
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row.cells(load))) + " |")
    print()


def main():
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--binary", default=str(ROOT / "target/release/sauti"))
    wanted.add_argument("--short", action="store_true", help="five faults instead of twelve, and half as many callers")
    wanted.add_argument("--hold", type=float, default=12, metavar="SECONDS", help="how long a part is away")
    wanted.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = wanted.parse_args()
    if os.geteuid() != 0:
        wanted.error("only root can make network namespaces")
    folder = tempfile.mkdtemp(prefix="sauti-cluster-")
    os.chmod(folder, 0o755)
    network = Network()
    failed = True
    try:
        cluster = Cluster(network, folder, str(Path(options.binary).resolve()))
        print(f"starting six machines on {network.subnet}.0/24, logs in {folder}", flush=True)
        cluster.start()
        load = Load(cluster.replicas, cluster.key)
        text = json.dumps({"text": "Habari za asubuhi.", "voice_id": "asha", "output_format": "wav_16000"}).encode()
        first = cluster.replicas[0]
        headers = {"Authorization": f"Bearer {cluster.key}", "Content-Type": "application/json"}
        headers |= {"Idempotency-Key": "ask-0", "X-Request-Id": "ask-0"}
        status, sent, load.wav = request(first.address, first.port, "POST", "/v1/audio/speech", text, headers)
        assert status == 200, load.wav
        load.asks.append(Ask("ask-0", "speech", time.monotonic(), time.monotonic(), int(sent["sauti-cost"])))
        print("under load:", flush=True)
        load.start(speakers=4 if options.short else 8, listeners=2 if options.short else 3)
        rows = run_faults(cluster, load, steps(options.short), options.hold)
        load.stop()
        batches = batches_over(load)
        show(rows, load)
        print(f"{sum(ask.replayed for ask in load.asks)} answers had been given before and were given again; "
              f"{cluster.nats.messages()} messages went through NATS since it last lost its storage")
        books = settle_up(cluster, load, batches)
        failed = bool(books.wrong)
        print("WRONG: " + ", ".join(books.wrong) if failed else "the ledger equals the answers")
        print(f"{books.right} passed, {len(books.wrong)} failed", flush=True)
    finally:
        network.remove()
        if not (failed or options.keep):
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
