"""The stages of ./test: each runs commands and tells how many tests passed and failed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import tools
from server import free_port, running_server, until

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "sauti"

# One that hangs must not keep the others from being run and counted.
COMMAND_SECONDS_MAX = 1500


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed


def run(command, env=None, count=None):
    """Runs a command, shows its output, and counts: by `count`, else the command as one test."""
    print("$", " ".join(str(part) for part in command), flush=True)
    # A session of its own, so that whatever it started can be ended with it.
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    lines = []
    watch = threading.Timer(COMMAND_SECONDS_MAX, give_up, [process])
    watch.start()
    try:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
        ok = process.wait() == 0
    finally:
        watch.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    counts = count("".join(lines)) if count else Counts()
    # A command that broke without naming a failed test, or ran none, is one failure itself.
    if not ok and counts.failed == 0:
        counts.failed = 1
    if ok and counts.passed == 0:
        counts = Counts(0, 1) if count else Counts(1, 0)
    return counts


def give_up(process):
    print(f"the command did not end within {COMMAND_SECONDS_MAX} s and is killed", flush=True)
    os.killpg(process.pid, signal.SIGKILL)


ANSI = re.compile(r"\x1b\[[0-9;]*m")


def count_with(*patterns):
    """Sums the numbers that the patterns find, as (passed pattern, failed pattern) pairs."""

    def count(output):
        output = ANSI.sub("", output)
        totals = Counts()
        for passed, failed in patterns:
            totals.passed += sum(int(n) for n in re.findall(passed, output, re.M))
            totals.failed += sum(int(n) for n in re.findall(failed, output, re.M))
        return totals

    return count


by_cargo = count_with(
    (r"^test result: .*? (\d+) passed", r"^test result: .*? (\d+) failed"),
    (r"^ +Summary .*? (\d+) passed", r"^ +Summary .*? (\d+) (?:failed|timed out)"),
)
by_node = count_with((r"^[#ℹ] pass (\d+)", r"^[#ℹ] fail (\d+)"))
by_plain = count_with((r"^(\d+) passed, \d+ failed$", r"^\d+ passed, (\d+) failed$"))


def by_pytest(output):
    """With -q the last line is like "3 failed, 20 passed, 1 error in 9.21s"."""
    ending = re.findall(r"^\d+ (?:passed|failed|error).* in [\d.]+s", output, re.M)[-1:]
    return count_with((r"(\d+) passed", r"(\d+) (?:failed|error)"))("".join(ending))


def tidy():
    return run([sys.executable, TESTS / "tidy.py"], count=by_plain)


def fmt():
    return run(["cargo", "fmt", "--all", "--check"])


def clippy():
    return run(["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])


def licences():
    return run([sys.executable, TESTS / "licences.py"], count=by_plain)


def supply():
    return run([sys.executable, TESTS / "supply.py"], count=by_plain)


def cargo_test(*arguments, prefix=(), env=None):
    if shutil.which("cargo-nextest"):
        command = ["cargo", "nextest", "run", "--no-fail-fast", "--locked", "--status-level", "fail"]
    else:
        command = ["cargo", "test", "--no-fail-fast", "--locked"]
    # A reader that is missing must fail its test, not skip it.
    return run([*prefix, *command, *arguments], env={"SAUTI_REQUIRE_TOOLS": "1", **(env or {})}, count=by_cargo)


def rust():
    tools.need_debian("sox", "ffmpeg")
    return cargo_test("--workspace")


def fuzz():
    """Whatever reads strangers' bytes, on damaged real input: fixed seeds, more rounds than the tests above run."""
    # All of the workspace: with one package alone the dependencies would be built anew with fewer features.
    counts = cargo_test("--workspace", "--test", "fuzz_smoke", env={"SAUTI_FUZZ_ROUNDS": "3000"})
    counts.add(cargo_test("--workspace", "--test", "hostile", "mutations", env={"SAUTI_FUZZ_ROUNDS": "2000"}))
    return counts


def postgres():
    tools.need_postgres()
    return cargo_test("-p", "sauti-store", prefix=["bash", ROOT / "crates/store/tests/with-postgres.sh"])


def valkey():
    """What is shared through Valkey, against a real one on a socket of its own."""
    tools.need_valkey()
    server = shutil.which("valkey-server") or shutil.which("redis-server")
    with tempfile.TemporaryDirectory(prefix="sauti-valkey-") as folder:
        socket = f"{folder}/socket"
        options = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
        process = subprocess.Popen([server, *options], stdout=subprocess.DEVNULL)
        try:
            until("Valkey listens", Path(socket).exists, 30)
            env = {"SAUTI_TEST_VALKEY_URL": f"unix://{socket}"}
            return run(["cargo", "test", "--locked", "-p", "sauti-server", "--lib", "valkey"], env=env, count=by_cargo)
        finally:
            process.terminate()
            process.wait()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def nats():
    """The tests of batches again, through a real NATS server instead of the database's own queue."""
    tools.need_programs({"nats-server": "nats-server"})
    with tempfile.TemporaryDirectory(prefix="sauti-nats-") as folder:
        port = free_port()
        command = [shutil.which("nats-server"), "-js", "-sd", folder, "-a", "127.0.0.1", "-p", str(port), "-l", f"{folder}/log"]
        process = subprocess.Popen(command)
        try:
            until("NATS listens", lambda: listens(port), 30)
            env = {"SAUTI_TEST_NATS_URL": f"nats://127.0.0.1:{port}"}
            counts = cargo_test("--workspace", "--test", "http_api", "--", "batches::", "queue::", env=env)
            counts.add(cargo_test("--workspace", "--test", "cli_suite", "--", "batches::", env=env))
            return counts
        finally:
            process.terminate()
            process.wait()


def build():
    # The dev profile optimises the crates that do arithmetic, and the tests built them already.
    return run(["cargo", "build", "--locked", "-p", "sauti", "--bin", "sauti"])


def pytest(*paths, env=None):
    python = tools.need_python("pytest")
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", *paths]
    return run(command, env=env, count=by_pytest)


def clients():
    """The official client libraries and our own against the real server."""
    python = tools.need_python("pytest", "openai", "mypy")
    node, folder = tools.need_node_packages("openai", "typescript")
    ours = ROOT / "clients"
    counts = build()
    counts.add(run([python, "-m", "mypy", "--strict", "--cache-dir=/dev/null", ours / "python/src"]))
    counts.add(run([node, folder / "typescript/bin/tsc", "-p", ours / "typescript"]))
    with running_server(BINARY) as server:
        counts.add(pytest(TESTS / "clients", env=server.env()))
        env = {**server.env(), "SAUTI_NODE_MODULES": str(folder)}
        scripts = [TESTS / "clients/openai.test.mjs", *sorted((ours / "typescript/tests").glob("*.test.mjs"))]
        counts.add(run([node, "--test", "--test-reporter=spec", *scripts], env=env, count=by_node))
        counts.add(pytest(ours / "python/tests", env={**server.env(), "PYTHONPATH": str(ours / "python/src")}))
    return counts


def openapi():
    """Requests that the served OpenAPI document allows or forbids, made up by schemathesis."""
    schemathesis = tools.need_python("schemathesis").parent / "schemathesis"
    counts = build()
    many = "1000000"
    settings = {
        "SAUTI_LIMITS__REQUESTS_PER_MINUTE": many,
        "SAUTI_LIMITS__SIGNUPS_PER_HOUR": many,
        "SAUTI_LIMITS__SIGN_IN_FAILURES_MAX": many,
    }
    with running_server(BINARY, settings) as server:
        command = [schemathesis, "--config-file", TESTS / "schemathesis.toml", "run", "--max-time", "180", f"{server.url}/openapi.json"]
        counts.add(run(command, env={**server.env(), **server.session_env()}))
    return counts


def cli():
    tools.need_debian("sox")
    counts = build()
    counts.add(pytest(TESTS / "cli", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def browser():
    """The console's journeys in headless Chromium."""
    tools.need_chromium()
    node = tools.need_locked_packages(TESTS / "browser")
    counts = build()
    env = {"SAUTI_BINARY": str(BINARY)}
    # A browser that hangs must not hang everything after it.
    command = ["timeout", "1800", node, "--test", "--test-reporter=spec", TESTS / "browser/console.test.mjs"]
    counts.add(run(command, env=env, count=by_node))
    return counts


def readme():
    tools.need_debian("curl")
    counts = build()
    with running_server(BINARY) as server:
        env = {**server.env(), "SAUTI_BINARY": str(BINARY)}
        counts.add(run([sys.executable, TESTS / "readme.py"], env=env, count=by_plain))
    return counts


def deploy():
    """Chart, containers, units, dashboard and alert rules against the program and the tools that will read them."""
    tools.need_python("pytest", "pyyaml", "helm-binary")
    tools.need_programs({"systemd-analyze": "systemd", "promtool": "prometheus"})
    counts = build()
    with running_server(BINARY) as server:
        counts.add(pytest(TESTS / "deploy", env={**server.env(), "SAUTI_BINARY": str(BINARY)}))
    return counts


def faults():
    """Full disks, cut lines, kills, jumping clocks, a database that goes away: the service must say so and lose nothing."""
    tools.need_python("pytest")
    tools.need_programs({"faketime": "faketime", "prlimit": "util-linux", "nats-server": "nats-server", "openssl": "openssl"})
    tools.need_postgres()
    tools.need_valkey()
    counts = build()
    counts.add(pytest(TESTS / "faults", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def attacks():
    """What an attacker would send, over loopback: nobody else may notice, and nothing is given away."""
    tools.need_python("pytest")
    counts = build()
    counts.add(pytest(TESTS / "attacks", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def cluster():
    """Three replicas with PostgreSQL, Valkey and NATS on machines of their own: parts killed and cut off, money counted."""
    tools.need_programs({"ip": "iproute2", "setpriv": "util-linux", "nats-server": "nats-server"})
    tools.need_postgres()
    tools.need_valkey()
    counts = build()
    command = [sys.executable, TESTS / "cluster/prove.py", "--binary", BINARY, "--short", "--hold", "6"]
    counts.add(run(command, count=by_plain))
    return counts


def recipes():
    """Every recipe against the real server, with a real Asterisk."""
    tools.need_python("pytest")
    counts = build()
    paths = [ROOT / "clients/python/src", TESTS]
    with running_server(BINARY) as server:
        env = {**server.env(), "SAUTI_BINARY": str(BINARY), "PYTHONPATH": os.pathsep.join(map(str, paths))}
        counts.add(pytest(TESTS / "recipes", env=env))
    return counts


STAGES = {
    stage.__name__: stage
    for stage in (
        tidy, fmt, clippy, licences, supply, rust, fuzz, postgres, valkey, nats, clients, openapi, cli, browser, readme, deploy, faults,
        attacks, cluster, recipes,
    )
}
QUICK = ["tidy", "fmt", "clippy", "rust"]


def main(arguments, usage):
    if arguments in (["-h"], ["--help"], ["help"]):
        print(usage.strip())
        return 0
    if arguments == ["list"]:
        print("\n".join(STAGES))
        return 0
    names = {(): list(STAGES), ("all",): list(STAGES), ("quick",): QUICK}.get(tuple(arguments), arguments)
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        print(f"no stage {unknown[0]!r}; the stages are {', '.join(STAGES)}", file=sys.stderr)
        return 2
    total, rows = Counts(), []
    for name in names:
        print(f"\n=== {name}", flush=True)
        begun = time.monotonic()
        try:
            counts = STAGES[name]()
        except Exception as error:  # a stage that breaks is a failure, and the next ones still run
            print(f"{name}: {error}", flush=True)
            counts = Counts(0, 1)
        seconds = time.monotonic() - begun
        rows.append(f"{name:10} {seconds:7.1f} s  {counts.passed:5} passed {counts.failed:3} failed")
        print(f"--- {rows[-1]}", flush=True)
        total.add(counts)
    print("\n=== summary")
    print("\n".join(rows))
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0
