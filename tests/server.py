"""Starts `sauti serve --demo` on a free port with an empty data folder, for the tests around it."""

import contextlib
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEY = re.compile(r"sauti_[a-z]+_[A-Za-z0-9]+_[A-Za-z0-9]+")
START_SECONDS_MAX = 90
GREETING_SECONDS_MAX = 20


@dataclass
class Server:
    url: str
    key: str
    output: str

    def env(self):
        return {"SAUTI_URL": self.url, "SAUTI_KEY": self.key}

    def session_env(self):
        """A session of the demonstration's account, as a browser would have it."""
        shown = {word: re.search(rf"^ *{word} +(\S+)$", self.output, re.M)[1] for word in ("Sign in", "Password", "Workspace")}
        body = json.dumps({"email": shown["Sign in"], "password": shown["Password"]}).encode()
        request = urllib.request.Request(f"{self.url}/v1/account/session", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            session = answer.headers["Set-Cookie"].split(";")[0].split("=", 1)[1]
            csrf = json.load(answer)["csrf_token"]
        return {"SAUTI_SESSION": session, "SAUTI_CSRF": csrf, "SAUTI_WORKSPACE": shown["Workspace"]}


@contextlib.contextmanager
def running_server(binary, settings=None):
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="sauti-test-") as folder:
        log = Path(folder) / "log"
        command = [str(binary), "serve", "--demo", "--listen", f"127.0.0.1:{port}", "--data", f"{folder}/data"]
        env = {**os.environ, "SAUTI_MODELS": str(ROOT / "models"), **(settings or {})}
        with log.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env, cwd=folder)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_ready(url, process, log)
            output = greeting(log)
            yield Server(url, KEY.search(output).group(), output)
            if process.poll() is not None:
                raise RuntimeError(f"the server died with {process.returncode}:\n{log.read_text()[-4000:]}")
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=40)
            process.kill()


def greeting(log):
    """What the demonstration prints; its last line comes a moment after the service is ready."""

    def whole():
        output = log.read_text()
        return output if KEY.search(output) and "-F file=@" in output else None

    return until("a key is printed", whole, GREETING_SECONDS_MAX, log.read_text)


def until(what, true, seconds, explain=lambda: ""):
    """Waits for the event itself; hands back what made it true."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never came in {seconds} s: {what}\n{explain()}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(url, process, log):
    give_up = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()[-4000:]}")
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server was not ready after {START_SECONDS_MAX} s:\n{log.read_text()[-4000:]}")
