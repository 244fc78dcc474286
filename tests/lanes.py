"""Runs stages beside each other, each as a `./test STAGE` of its own: some compute, some wait, and two cores do both.
A stage that fails is run once more, alone: what is broken fails again, and the summary names what a busy machine alone breaks."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "test"
LAST_LINE = r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$"
# Names the file that is locked until the program is built, and then says whether it was.
BUILD_LOCK = "SAUTI_TEST_BUILD_LOCK"

# What compiles, one after the other; and what asks the built program. Each in order of its length, about.
LANES = (
    ("build", "rust", "clippy", "fuzz", "postgres", "valkey", "nats"),
    ("tidy", "fmt", "licences", "supply", "openapi", "clients", "browser", "readme", "recipes"),
    ("faults", "attacks", "cluster", "deploy", "cli"),
)
# More failed stages than this are no accident.
AGAIN_MAX = 3
# Compilers take what the tests of the running program leave, so that these are not slowed into time-outs.
NICENESS = (10, 0, 0)


def run(names, counts_of, count):
    """Runs these stages; hands back the sum of what they counted."""
    LOGS.mkdir(parents=True, exist_ok=True)
    lock = open(LOGS / "build.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    rows, speaking = {}, threading.Lock()

    def lane(stages, niceness):
        for name in stages:
            counts, row, log = run_apart(name, niceness, lock.name, counts_of, count)
            if name == "build":
                release(lock, counts)
            with speaking:
                rows[name] = counts, row
                print(f"\n=== {name}\n{log}--- {row}", flush=True)

    chosen = [[name for name in stages if name in names] for stages in LANES]
    left = sorted(set(names) - set(sum(chosen, [])))
    if left:
        raise RuntimeError(f"no lane has the stages {', '.join(left)}")
    if "build" not in names:
        chosen[0].insert(0, "build")
    threads = [threading.Thread(target=lane, args=pair) for pair in zip(chosen, NICENESS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = [name for name, (counts, _) in rows.items() if counts.failed]
    for name in again if len(again) <= AGAIN_MAX else ():
        counts, row, log = run_apart(name, 0, lock.name, counts_of, count)
        rows[name] = counts, f"{row}; alone, since beside the others it failed: {rows[name][0]}"
        print(f"\n=== {name}, alone\n{log}--- {rows[name][1]}", flush=True)
    total = counts_of()
    print("\n=== summary")
    for name in sum(chosen, []):
        counts, row = rows[name]
        total.add(counts)
        print(row)
    return total


def run_apart(name, niceness, lock, counts_of, count):
    path, begun = LOGS / f"{name}.log", time.monotonic()
    command = ["nice", "-n", str(niceness), sys.executable, str(ROOT / "test"), name]
    with path.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, BUILD_LOCK: lock})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    log = path.read_text(errors="replace")
    counts = count(log)
    if counts.passed + counts.failed == 0 or (process.returncode and not counts.failed):
        counts.add(counts_of(0, 1))
    took, worked = time.monotonic() - begun, used.ru_utime + used.ru_stime
    return counts, f"{name:10} {took:6.0f} s, {worked:6.0f} s of processor time: {counts}", log


def release(lock, counts):
    lock.write("failed" if counts.failed else "built")
    lock.flush()
    fcntl.flock(lock, fcntl.LOCK_UN)
