"""A release server on a free port with a funded key, for the benches that load it."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {
    "SAUTI_LIMITS__REQUESTS_PER_MINUTE": "100000000",
    "SAUTI_LIMITS__CONCURRENT_REQUESTS": "10000",
    "SAUTI_LIMITS__AUDIO_SECONDS_PER_MINUTE": "100000000",
    "SAUTI_TELEMETRY__LOG_LEVEL": "warn",
}


def build(*examples):
    names = [part for example in examples for part in ("--example", example)]
    subprocess.run(["cargo", "build", "--release", "-p", "sauti", "-p", "sauti-server", "--bin", "sauti", *names], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def processor_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, programs, folder, settings):
        self.programs, self.folder = Path(programs).resolve(), folder
        command = [self.programs / "sauti", "serve", "--listen", "127.0.0.1:0", "--demo", "--data", folder]
        env = {**os.environ, "SAUTI_MODELS": str(ROOT / "models"), **SETTINGS, **settings}
        begun = time.monotonic()
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        shown = ""
        for line in self.process.stdout:
            shown += line
            if "-F file=@" in line:
                break
        self.address = re.search(r"http://([\d.]+:\d+)", shown)[1]
        self.key = re.search(r"sauti_\w+", shown)[0]
        while self.get("/readyz")[0] != 200:
            time.sleep(0.02)
        self.ready_s = time.monotonic() - begun
        workspace = re.search(r"ws_\w+", shown)[0]
        self.run("workspace", "credit", workspace, "100000000")

    def run(self, *words):
        done = subprocess.run([self.programs / "sauti", *words, "--data", self.folder], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""
        except OSError:
            return 0, b""

    def post(self, path, body, kind="application/json", timeout_s=120):
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        request = urllib.request.Request(f"http://{self.address}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def memory_mb(self, field="VmRSS"):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024

    def forget_peak(self):
        """From here on VmHWM is the highest since now."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def processor_s(self):
        """Processor time of the server so far."""
        return processor_s(self.process.pid)

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def load(self, example, **options):
        words = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
        command = [self.programs / "examples" / example, self.address, *words]
        return subprocess.Popen(command, env={**os.environ, "SAUTI_KEY": self.key}, stdout=subprocess.PIPE, text=True)


@contextlib.contextmanager
def running(programs, settings=None):
    with tempfile.TemporaryDirectory(prefix="sauti-bench-") as folder:
        server = Server(programs, folder, settings or {})
        try:
            yield server
        finally:
            server.process.terminate()
            server.process.wait(60)
        print(server.run("ledger", "check"))
