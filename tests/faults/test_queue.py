"""NATS that is killed, comes back, or comes back with nothing: batches go on, each item answered and charged once."""

import json
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest
from service import STARTED, Service, free_port, until

ITEMS = 60
# Where nothing happens in the midst of a batch.
ITEMS_FEW = 12
AWAY, BACK = "NATS does not answer", "NATS answers"


class Nats:
    def __init__(self, folder):
        self.folder, self.port, self.monitor = Path(folder), free_port(), free_port()
        self.process = None

    def start(self):
        command = [shutil.which("nats-server"), "-js", "-sd", self.folder, "-a", "127.0.0.1",
                   "-p", str(self.port), "-m", str(self.monitor)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        STARTED.append(self.process)
        until("NATS answers", self.answers)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/healthz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def forget(self):
        shutil.rmtree(self.folder)

    def state(self):
        """How many messages came into the stream, and how many are there."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/jsz?streams=true", timeout=5) as answer:
            accounts = json.load(answer).get("account_details", [])
        states = [stream["state"] for account in accounts for stream in account.get("stream_detail", [])]
        return (states[0]["last_seq"], states[0]["messages"]) if states else (0, 0)


@pytest.fixture
def nats(tmp_path):
    server = Nats(tmp_path / "nats")
    server.start()
    yield server
    server.kill()


def order(service, word, items=ITEMS):
    texts = [{"custom_id": f"{word}{n}", "text": f"{word} namba {n}."} for n in range(items)]
    defaults = {"voice_id": "asha", "output_format": "wav_8000"}
    status, _, body = service.ask("POST", "/v1/batches", {"operation": "speech", "items": texts, "defaults": defaults})
    assert status == 201, body
    return json.loads(body)["batch_id"]


def shown(service, batch_id):
    return json.loads(service.ask("GET", f"/v1/batches/{batch_id}")[2])


def until_done(service, batch_id, items):
    until(f"{items} items are done", lambda: shown(service, batch_id)["counts"]["done"] >= items)


def paid(service, batch_id, items=ITEMS):
    """Every line answered; what they cost in all."""
    until("the batch is finished", lambda: shown(service, batch_id)["status"] == "finished")
    status, _, body = service.ask("GET", f"/v1/batches/{batch_id}/results")
    lines = [json.loads(line) for line in body.splitlines()]
    assert status == 200 and [line["status"] for line in lines] == ["done"] * items, body
    return sum(line["cost_micro"] for line in lines)


def test_nats_that_is_killed_comes_back_and_forgets_costs_nobody_anything(tmp_path, nats):
    with Service(tmp_path, {"nats.url": f"nats://127.0.0.1:{nats.port}"}) as service:
        first = service.balance()["available_micro"]
        until("the service finds NATS", lambda: BACK in service.log())
        one = order(service, "Kwanza")
        until_done(service, one, 5)
        assert nats.state()[0] > 0, "the items did not go through NATS"
        nats.kill()
        until("it is told", lambda: AWAY in service.log())
        at_the_kill = shown(service, one)["counts"]["done"]
        until_done(service, one, min(at_the_kill + 5, ITEMS))
        # Ordered while it is away.
        two = order(service, "Pili")
        nats.start()
        until("its return is told", lambda: service.log().count(BACK) == 2)
        cost = paid(service, one)
        nats.kill()
        nats.forget()
        nats.start()
        until("its return is told", lambda: service.log().count(BACK) == 3)
        three = order(service, "Tatu", ITEMS_FEW)
        cost += paid(service, two) + paid(service, three, ITEMS_FEW)
        until("it is used again, and left empty", lambda: (found := nats.state())[0] > 0 and found[1] == 0)
        service.nothing_held()
        assert first - service.balance()["available_micro"] == cost
        # One line each time, not one for each attempt.
        assert service.log().count(AWAY) == 2
    assert service.books()["open_reservations"] == 0


def test_a_service_starts_without_nats_and_uses_it_when_it_comes(tmp_path, nats):
    nats.kill()
    with Service(tmp_path, {"nats.url": f"nats://127.0.0.1:{nats.port}"}) as service:
        until("it is told", lambda: AWAY in service.log())
        paid(service, order(service, "Kwanza", ITEMS_FEW), ITEMS_FEW)
        nats.start()
        until("the service finds NATS", lambda: BACK in service.log())
        paid(service, order(service, "Pili", ITEMS_FEW), ITEMS_FEW)
        assert nats.state()[0] >= ITEMS_FEW


def test_doctor_tells_how_it_is(tmp_path, nats):
    service = Service(tmp_path, {"nats.url": f"nats://127.0.0.1:{nats.port}"})
    said = service.run("doctor", "--quick")
    assert "ok    queue      NATS " in said.stdout and "yet to be made" in said.stdout, said.stdout
    nats.kill()
    said = service.run("doctor", "--quick")
    assert "warn  queue      " in said.stdout and "through the database meanwhile" in said.stdout, said.stdout


def test_a_server_that_wants_a_password_gets_it_and_the_log_does_not(tmp_path):
    port = free_port()
    process = subprocess.Popen([shutil.which("nats-server"), "-js", "-sd", tmp_path / "nats", "-a", "127.0.0.1", "-p", str(port),
                                "--user", "sauti", "--pass", "siri kubwa"], stderr=subprocess.DEVNULL)
    STARTED.append(process)
    wrong = Service(tmp_path, {"nats.url": f"nats://sauti:jambazi@127.0.0.1:{port}"})
    right = Service(tmp_path, {"nats.url": f"nats://sauti:siri%20kubwa@127.0.0.1:{port}"})
    try:
        said = until("the server answers", lambda: (found := wrong.run("doctor", "--quick")) and "uthori" in found.stdout and found)
        assert "jambazi" not in said.stdout + said.stderr
        said = right.run("doctor", "--quick")
        assert "ok    queue      NATS " in said.stdout, said.stdout
        shown = right.run("config", "show")
        assert "siri" not in shown.stdout + shown.stderr
        refused = Service(tmp_path, {"nats.url": "nats://h:4222", "nats.ca_file": "no-such.pem"}).run("serve", "--listen", "127.0.0.1:0")
        assert refused.returncode == 1 and "nats.ca_file" in refused.stderr, refused.stderr
    finally:
        process.kill()
        process.wait()
