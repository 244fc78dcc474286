"""What runs on the machines: PostgreSQL, Valkey, NATS and the replicas, each with its folder."""

import http.client
import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS_MAX = 120


def until(what, true, seconds=START_SECONDS_MAX):
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = true()
        if found:
            return found
        time.sleep(0.1)
    raise RuntimeError(f"never came: {what}")


class Part:
    """Something on a machine of its own that can be killed, cut off and brought back."""

    port = 0

    def __init__(self, name, network, folder):
        self.name = name
        self.machine = network.machine(name)
        self.folder = Path(folder) / name
        self.folder.mkdir()
        self.address = self.machine.address
        self.process = None

    def command(self):
        raise NotImplementedError

    def start(self):
        with (self.folder / "log").open("a") as log:
            self.process = self.machine.run(self.command(), stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)

    def answers(self):
        try:
            socket.create_connection((self.address, self.port), 1).close()
            return True
        except OSError:
            return False

    def wait(self):
        until(f"{self.name} answers", self.answers)

    def kill(self):
        self.machine.kill()
        self.process.wait()

    def break_by(self, fault):
        self.kill() if fault == "kill" else self.machine.cut()

    def mend(self, fault):
        self.start() if fault == "kill" else self.machine.join()


def postgres_program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


class Postgres(Part):
    port = 5432
    # The server refuses to run as root.
    USER = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]

    def __init__(self, *words):
        super().__init__(*words)
        shutil.chown(self.folder, "postgres")
        self.url = f"postgres://sauti@{self.address}/postgres"
        initdb = [postgres_program("initdb"), "-D", "db", "-U", "sauti", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        subprocess.run([*self.USER, *initdb], check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
        with (self.folder / "db/pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {self.machine.network.subnet}.0/24 trust\n")

    def command(self):
        return [*self.USER, postgres_program("postgres"), "-D", "db", "-c", f"listen_addresses={self.address}",
                "-c", f"unix_socket_directories={self.folder}"]

    def rows(self, sql):
        done = subprocess.run([postgres_program("psql"), self.url, "-At", "-F", "\t", "-c", sql], check=True, capture_output=True, text=True)
        return [line.split("\t") for line in done.stdout.splitlines()]


class Valkey(Part):
    port = 6379

    @property
    def url(self):
        return f"redis://{self.address}:{self.port}/0"

    def command(self):
        server = shutil.which("valkey-server") or shutil.which("redis-server")
        return [server, "--bind", self.address, "--protected-mode", "no", "--save", "", "--appendonly", "no"]


class Nats(Part):
    port = 4222

    @property
    def url(self):
        return f"nats://{self.address}:{self.port}"

    def command(self):
        return [shutil.which("nats-server"), "-js", "-sd", self.folder / "store", "-a", self.address, "-p", self.port, "-m", 8222]

    def messages(self):
        """How many came into the stream since it was made."""
        connection = http.client.HTTPConnection(self.address, 8222, timeout=5)
        connection.request("GET", "/jsz?streams=true")
        details = json.load(connection.getresponse()).get("account_details", [])
        return sum(stream["state"]["last_seq"] for account in details for stream in account.get("stream_detail", []))


class Replica(Part):
    port = 8080

    def __init__(self, name, network, folder, binary, postgres, valkey, nats):
        super().__init__(name, network, folder)
        self.binary, self.database = binary, postgres.url
        settings = {
            "server": {"listen": f"{self.address}:{self.port}", "request_timeout_s": 30},
            "data": {"dir": str(self.folder / "data")},
            "models": {"dir": str(ROOT / "models")},
            "database": {"url": postgres.url},
            "valkey": {"url": valkey.url},
            "nats": {"url": nats.url},
            "engine": {"workers": 1},
            "limits": {"requests_per_minute": 1_000_000, "concurrent_requests": 1_000, "audio_seconds_per_minute": 1_000_000},
            "batches": {"open_max": 1_000},
            "telemetry": {"log_format": "json"},
        }
        sections = (f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()) for section, keys in settings.items())
        self.config = self.folder / "sauti.toml"
        self.config.write_text("\n".join(sections))

    def command(self):
        return [self.binary, "serve", "--config", self.config]

    def answers(self):
        return self.ready()

    def ready(self):
        connection = http.client.HTTPConnection(self.address, self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def operator(self, *words):
        """A command of the program itself, on the same database."""
        command = [self.binary, *words, "--config", self.config]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
