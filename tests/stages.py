"""The stages of ./test: each runs commands and tells how many tests passed, failed and were skipped."""

import fcntl
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
import tomllib
import xml.etree.ElementTree
from dataclasses import dataclass
from pathlib import Path

import lanes
import tools
from server import free_port, running_server, until

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = TARGET / "debug" / "sauti"

# Cargo's name for what compiles the crates of this workspace in rustc's place: see `clippy`.
os.environ.setdefault("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")

# One that hangs must not keep the others from being run and counted.
COMMAND_SECONDS_MAX = 1500


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(command, env=None, count=None):
    """Runs a command, shows its output, and counts: by `count` from what it printed, else the command as one test."""
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
        counts = Counts(0, 1, counts.skipped) if count else Counts(1)
    return counts


def give_up(process):
    print(f"the command did not end within {COMMAND_SECONDS_MAX} s and is killed", flush=True)
    os.killpg(process.pid, signal.SIGKILL)


def by_junit(path):
    """Counts the cases of a JUnit file, which nextest, pytest and Node's test runner all write."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)

    def count(_output):
        counts = Counts()
        # Colours of a failure's message are no XML.
        text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", path.read_text(errors="replace")) if path.exists() else "<none/>"
        cases = xml.etree.ElementTree.fromstring(text).iter("testcase")
        for case in cases:
            kinds = {child.tag for child in case}
            if kinds & {"failure", "error"}:
                counts.failed += 1
            elif "skipped" in kinds:
                counts.skipped += 1
            else:
                counts.passed += 1
        return counts

    return count


def by_last_line(output):
    """Our own scripts end with a line like that of ./test."""
    found = re.findall(lanes.LAST_LINE, output, re.M)
    return Counts(*(int(number or 0) for number in found[-1])) if found else Counts()


def by_libtest(output):
    """For machines without cargo-nextest: stable libtest writes nothing for machines."""
    counts = Counts()
    for passed, failed in re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed;", output, re.M):
        counts.add(Counts(int(passed), int(failed)))
    return counts


def tidy():
    return run([sys.executable, TESTS / "tidy.py"], count=by_last_line)


def fmt():
    return run(["cargo", "fmt", "--all", "--check"])


def clippy():
    """Our crates are always compiled by Clippy here, so everything is compiled once. What it warns of is told again without
    compiling, and each warning is a failure."""
    return run(["cargo", "test", "--no-run", "--workspace", "--all-targets", "--locked"], count=by_warnings)


def by_warnings(output):
    found = len(re.findall(r"^(?:warning|error)\b", output, re.M))
    return Counts(0, found) if found else Counts(1)


def licences():
    return run([sys.executable, TESTS / "licences.py"], count=by_last_line)


def supply():
    return run([sys.executable, TESTS / "supply.py"], count=by_last_line)


def cargo_test(*arguments, names=(), ignored=None, prefix=(), env=None):
    """The Rust tests of these arguments whose names contain one of `names`. Those that need a server are ignored, and
    run by the stage that has it: `ignored` is "only" or "all"."""
    # All of the workspace, always: with one package alone the dependencies would be built anew with fewer features.
    if shutil.which("cargo-nextest"):
        command = ["cargo", "nextest", "run", "--workspace", "--no-fail-fast", "--locked", "--status-level", "fail"]
        flags = ["--run-ignored", ignored] if ignored else []
        command += [*arguments, *flags, "--", *names]
        count = by_junit(TARGET / "nextest/default/junit.xml")
    else:
        flags = {None: [], "only": ["--ignored"], "all": ["--include-ignored"]}[ignored]
        command = ["cargo", "test", "--workspace", "--no-fail-fast", "--locked", *arguments, "--", *flags, *names]
        count = by_libtest
    # A reader that is missing must fail its test, not pass it.
    return run([*prefix, *command], env={"SAUTI_REQUIRE_TOOLS": "1", **(env or {})}, count=count)


def rust(*filters):
    tools.need_debian("sox", "ffmpeg")
    return cargo_test(*filters)


def changed():
    """The Rust tests of the crates that differ from the last commit, and of those that depend on them; all of them where none does,
    or where something beside them differs that may matter."""
    listed = subprocess.run(["git", "status", "--porcelain", "--no-renames"], cwd=ROOT, capture_output=True, text=True)
    paths = [Path(line[3:].strip('"')) for line in listed.stdout.splitlines()]
    folders = {path.parts[:2] for path in paths if path.suffix != ".md"}
    manifests = [ROOT.joinpath(*folder, "Cargo.toml") for folder in folders]
    inside = all(folder[0] == "crates" and manifest.exists() for folder, manifest in zip(folders, manifests))
    if not (folders and inside and shutil.which("cargo-nextest")):
        return rust()
    names = sorted(tomllib.loads(manifest.read_text())["package"]["name"] for manifest in manifests)
    return rust("-E", " + ".join(f"rdeps(={name})" for name in names))


def fuzz():
    """Whatever reads strangers' bytes, on damaged real input: fixed seeds, more rounds than the tests above run."""
    counts = cargo_test("--test", "fuzz_smoke", env={"SAUTI_FUZZ_ROUNDS": "3000"})
    counts.add(cargo_test("--test", "audio_suite", names=["mutations"], env={"SAUTI_FUZZ_ROUNDS": "2000"}))
    return counts


def postgres():
    tools.need_postgres()
    return cargo_test(names=["postgres"], ignored="only", prefix=["bash", ROOT / "crates/store/tests/with-postgres.sh"])


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
            return cargo_test("--lib", names=["valkey"], ignored="only", env={"SAUTI_TEST_VALKEY_URL": f"unix://{socket}"})
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
            return cargo_test("--test", "http_api", "--test", "cli_suite", names=["batches::", "queue::"], ignored="all", env=env)
        finally:
            process.terminate()
            process.wait()


def build():
    """The program, in the dev profile, which optimises the crates that do arithmetic. The Rust tests use the same build."""
    return run(["cargo", "build", "--locked", "--bin", "sauti"])


def need_program():
    """The built program: builds it, or waits for the stage that does when several run at once."""
    lock = os.environ.get(lanes.BUILD_LOCK)
    if not lock:
        return build()
    with open(lock) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        if file.read() != "built":
            raise RuntimeError("the program was not built")
    return Counts()


def pytest(*paths, env=None, python=None):
    python = python or tools.need_python()
    junit = TARGET / f"test/junit-{python.parent.parent.name}-{paths[0].parent.name}-{paths[0].name}.xml"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", f"--junitxml={junit}", *paths]
    return run(command, env=env, count=by_junit(junit))


def node_test(node, *scripts, env=None):
    junit = TARGET / f"test/junit-node-{scripts[0].parent.name}.xml"
    reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout", "--test-reporter=junit", f"--test-reporter-destination={junit}"]
    return run([node, "--test", *reporters, *scripts], env=env, count=by_junit(junit))


def clients():
    """Other people's client libraries and our own against the real server."""
    python = tools.need_python()
    litellm = tools.need_python(tools.LITELLM_REQUIREMENTS, TARGET / "venv-litellm")
    openai_1 = tools.need_python(tools.OPENAI_1_REQUIREMENTS, TARGET / "venv-openai-1")
    node, packages = tools.need_node(TESTS / "clients")
    ours = ROOT / "clients"
    counts = need_program()
    counts.add(run([python, "-m", "mypy", "--strict", "--cache-dir=/dev/null", ours / "python/src"]))
    counts.add(run([node, packages / "typescript/bin/tsc", "-p", ours / "typescript"]))
    with running_server(BINARY) as server:
        counts.add(pytest(TESTS / "clients/test_openai.py", TESTS / "clients/test_contract.py", env=server.env()))
        # It would ask a server of its own for the prices of models.
        env = {**server.env(), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        counts.add(pytest(TESTS / "clients/test_litellm.py", TESTS / "clients/test_openai.py", env=env, python=litellm))
        counts.add(pytest(TESTS / "clients/test_openai.py", env=server.env(), python=openai_1))
        env = {**server.env(), "SAUTI_NODE_MODULES": str(packages), "SAUTI_NPM": str(node.parent / "npm")}
        scripts = [*sorted((TESTS / "clients").glob("*.test.mjs")), *sorted((ours / "typescript/tests").glob("*.test.mjs"))]
        counts.add(node_test(node, *scripts, env=env))
        counts.add(pytest(ours / "python/tests", env={**server.env(), "PYTHONPATH": str(ours / "python/src")}))
    return counts


def openapi():
    """Requests that the served OpenAPI document allows or forbids, made up by schemathesis."""
    schemathesis = tools.need_python().parent / "schemathesis"
    counts = need_program()
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
    tools.need_debian("sox", "ffmpeg")
    counts = need_program()
    counts.add(pytest(TESTS / "cli", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def browser():
    """The console's journeys in headless Chromium."""
    tools.need_chromium()
    node, _ = tools.need_node(TESTS / "browser")
    counts = need_program()
    counts.add(node_test(node, TESTS / "browser/console.test.mjs", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def readme():
    tools.need_debian("curl")
    counts = need_program()
    with running_server(BINARY) as server:
        env = {**server.env(), "SAUTI_BINARY": str(BINARY)}
        counts.add(run([sys.executable, TESTS / "readme.py"], env=env, count=by_last_line))
    return counts


def deploy():
    """Chart, containers, units, dashboard and alert rules against the program and the tools that will read them."""
    tools.need_python()
    tools.need_programs({"systemd-analyze": "systemd", "promtool": "prometheus", "buildah": "buildah", "strip": "binutils"})
    counts = need_program()
    with running_server(BINARY) as server:
        env = {**server.env(), "SAUTI_BINARY": str(BINARY), "PYTHONPATH": str(TESTS)}
        counts.add(pytest(TESTS / "deploy", env=env))
    return counts


def faults():
    """Full disks, cut lines, kills, jumping clocks, a database that goes away: the service must say so and lose nothing."""
    tools.need_python()
    tools.need_programs({"faketime": "faketime", "prlimit": "util-linux", "nats-server": "nats-server", "openssl": "openssl"})
    tools.need_postgres()
    tools.need_valkey()
    counts = need_program()
    counts.add(pytest(TESTS / "faults", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def attacks():
    """What an attacker would send, over loopback: nobody else may notice, and nothing is given away."""
    tools.need_python()
    tools.need_programs({"ip": "iproute2", "unshare": "util-linux"})
    tools.need_postgres()
    counts = need_program()
    counts.add(pytest(TESTS / "attacks", env={"SAUTI_BINARY": str(BINARY)}))
    return counts


def cluster():
    """Three replicas with PostgreSQL, Valkey and NATS on machines of their own: parts killed and cut off, money counted."""
    tools.need_programs({"ip": "iproute2", "setpriv": "util-linux", "nats-server": "nats-server"})
    tools.need_postgres()
    tools.need_valkey()
    counts = need_program()
    command = [sys.executable, TESTS / "cluster/prove.py", "--binary", BINARY, "--short", "--hold", "6"]
    counts.add(run(command, count=by_last_line))
    return counts


def recipes():
    """Every recipe against the real server, with a real Asterisk."""
    tools.need_python()
    counts = need_program()
    paths = [ROOT / "clients/python/src", TESTS]
    with running_server(BINARY) as server:
        env = {**server.env(), "SAUTI_BINARY": str(BINARY), "PYTHONPATH": os.pathsep.join(map(str, paths))}
        counts.add(pytest(TESTS / "recipes", env=env))
    return counts


STAGES = {
    stage.__name__: stage
    for stage in (
        tidy, fmt, licences, supply, build, clippy, rust, fuzz, postgres, valkey, nats, clients, openapi, cli, browser, readme, deploy,
        faults, attacks, cluster, recipes,
    )
}
QUICK = ["tidy", "fmt", "clippy", "changed"]


def main(arguments, usage):
    if arguments in (["-h"], ["--help"], ["help"]):
        print(usage.strip())
        return 0
    if arguments == ["list"]:
        print("\n".join(STAGES))
        return 0
    names = {(): list(STAGES), ("all",): list(STAGES), ("quick",): QUICK}.get(tuple(arguments), arguments)
    unknown = [name for name in names if name not in STAGES and name not in QUICK]
    if unknown:
        print(f"no stage {unknown[0]!r}; the stages are {', '.join(STAGES)}", file=sys.stderr)
        return 2
    if len(names) > len(QUICK):
        total = lanes.run(names, Counts, by_last_line)
    else:
        total = Counts()
        for name in names:
            total.add(run_here(name))
    print(total, flush=True)
    return 1 if total.failed else 0


def run_here(name):
    print(f"\n=== {name}", flush=True)
    begun = time.monotonic()
    try:
        counts = {**STAGES, "changed": changed}[name]()
    except Exception as error:  # a stage that breaks is a failure, and the next ones still run
        print(f"{name}: {error}", flush=True)
        counts = Counts(0, 1)
    print(f"--- {name}: {time.monotonic() - begun:.0f} s, {counts}", flush=True)
    return counts
