"""One running service of a test's own: started, asked, cut off, killed, looked at."""

import atexit
import hashlib
import hmac
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import server  # noqa: E402
from server import KEY, free_port  # noqa: E402

BINARY = os.environ["SAUTI_BINARY"]
WAIT_S = 90
STARTED = []


@atexit.register
def end_what_is_left():
    """A test that failed half-way leaves nothing running."""
    for process in STARTED:
        if process.poll() is None:
            process.kill()


def until(what, true, seconds=WAIT_S):
    return server.until(what, true, seconds)


class Service:
    def __init__(self, folder, settings=None, models=ROOT / "models", data=None, prefix=(), env=None):
        self.folder = Path(folder)
        self.data = Path(data or self.folder / "data")
        self.log_file = self.folder / "log"
        self.port = free_port()
        self.models = models
        # Tests look many times a second whether something has happened.
        self.settings = {"telemetry.log_format": "json", "limits.requests_per_minute": "100000", **(settings or {})}
        self.prefix = list(prefix)
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("SAUTI_")}, **(env or {})}
        self.process = None
        self.key = None

    def command(self, *words):
        options = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        return [BINARY, *words, "--data", str(self.data), "--models", str(self.models), *options]

    def start(self, ready=True, wait=True, stderr=subprocess.STDOUT):
        command = [*self.prefix, *self.command("serve", "--demo", "--listen", f"127.0.0.1:{self.port}")]
        with self.log_file.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=stderr, env=self.env, cwd=self.folder)
        STARTED.append(self.process)
        if wait:
            until("the service answers", lambda: self.alive() and (not ready or self.status("/readyz") == 200))
            if ready:
                self.key = until("a key is printed", lambda: KEY.search(self.log()))[0]
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"it did not end:\n{self.log()[-3000:]}")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def alive(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the service ended with {self.process.returncode}:\n{self.log()[-3000:]}")
        return self.status("/healthz") == 200

    def status(self, path):
        try:
            return self.ask("GET", path)[0]
        except OSError:
            return 0

    def ask(self, method, path, body=None, headers=None, timeout=60):
        """Status, headers and body; a body that is cut short raises."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            sent = {"Authorization": f"Bearer {self.key}"} if self.key and path.startswith("/v1") else {}
            if isinstance(body, dict):
                body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
            connection.request(method, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def speak(self, text, **more):
        return self.ask("POST", "/v1/audio/speech", {"text": text, "voice_id": "asha", **more})

    def transcribe(self, wav):
        kind, body = form(wav)
        return self.ask("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind})

    def balance(self):
        status, _, body = self.ask("GET", "/v1/balance")
        assert status == 200, body
        return json.loads(body)

    def connect(self):
        stream = socket.create_connection(("127.0.0.1", self.port), 30)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream

    def run(self, *words):
        done = subprocess.run(self.command(*words), env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=120)
        return done

    def books(self):
        """The ledger's own check; fails the test where the books do not add up."""
        done = self.run("ledger", "check", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def nothing_held(self):
        until("no money is held", lambda: self.books()["open_reservations"] == 0)


def payment(workspace_id, event_id, secret):
    """Body and headers of a payment's event, signed as the provider's bridge would."""
    event = {"event_id": event_id, "provider": "mpesa", "workspace_id": workspace_id, "amount_micro": 1_000_000, "currency": "KES"}
    body, seconds = json.dumps(event).encode(), int(time.time())
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return body, {"Sauti-Signature": f"t={seconds},v1={signed}"}


def form(wav, name="a.wav"):
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return "multipart/form-data; boundary=b", head + wav + b"\r\n--b--\r\n"


def head(method, path, key, length, kind="application/json"):
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {key}", f"Content-Type: {kind}", f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_all(stream):
    """Everything until the other side closes."""
    parts = []
    try:
        while part := stream.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def statuses(answer):
    return [int(found) for found in re.findall(rb"HTTP/1\.[01] (\d{3})", answer)]


__all__ = ["BINARY", "ROOT", "Service", "form", "head", "payment", "read_all", "statuses", "until"]
