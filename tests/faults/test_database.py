"""PostgreSQL that goes away and comes back, and its own copies."""

import json
import socket
import subprocess

import pytest
from postgres import Postgres, program
from service import Service, until

SENTENCE = "Karibu tena, leo ni siku njema."


@pytest.fixture
def postgres(tmp_path):
    server = Postgres(tmp_path / "postgres")
    server.start()
    yield server
    server.stop()


def test_a_database_that_goes_away_is_told_and_its_return_is_enough(tmp_path, postgres):
    settings = {"database.url": postgres.url, "cache.bytes_max": "0"}
    with Service(tmp_path, settings) as service:
        first = service.balance()["available_micro"]
        cost = int(service.speak(SENTENCE)[1]["sauti-cost"])
        postgres.stop()
        status, headers, body = service.speak(f"{SENTENCE} Mbili.")
        assert status == 503 and b"storage_unavailable" in body and headers["retry-after"], (status, body)
        assert service.status("/readyz") == 503 and service.status("/healthz") == 200
        until("the log says why", lambda: "the data store cannot be reached" in service.log())
        assert "password" not in service.log()
        postgres.start()
        until("it is ready by itself", lambda: service.status("/readyz") == 200)
        status, headers, _ = until("it works again", lambda: (found := service.speak(f"{SENTENCE} Tatu."))[0] == 200 and found)
        cost += int(headers["sauti-cost"])
        service.nothing_held()
        assert first - service.balance()["available_micro"] == cost


def test_a_database_that_is_away_is_told_before_a_caller_loses_patience(tmp_path, postgres):
    """Over TCP, where the driver tries again and again to connect."""
    with Service(tmp_path, {"database.url": postgres.tcp_url, "cache.bytes_max": "0"}) as service:
        assert service.speak(SENTENCE)[0] == 200
        postgres.stop()
        status, _, body = service.ask("POST", "/v1/audio/speech", {"text": "Mbili.", "voice_id": "asha"}, timeout=25)
        assert status == 503 and b"storage_unavailable" in body, (status, body)
        postgres.start()
        until("it works again", lambda: service.speak(f"{SENTENCE} Tatu.")[0] == 200)
        service.nothing_held()


def test_a_start_that_waits_for_its_database_ends_when_it_is_told_to(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgres://sauti@127.0.0.1:{silent.getsockname()[1]}/postgres"
        service = Service(tmp_path, {"database.url": url}).start(wait=False)
        silent.settimeout(60)
        waiting, _ = silent.accept()
        with waiting:
            service.process.terminate()
            # One that went on waiting would give up with 1.
            assert service.process.wait(60) == 0, service.log()


def test_a_move_from_sqlite_brings_everything_along(tmp_path, postgres):
    batch = {"operation": "speech", "items": [{"text": "Habari.", "voice_id": "asha"}]}
    spoken = {"text": SENTENCE, "voice_id": "asha"}
    again = {"Idempotency-Key": "karibu"}
    with Service(tmp_path) as service:
        sound = service.ask("POST", "/v1/audio/speech", spoken, again)[2]
        batch_id = json.loads(service.ask("POST", "/v1/batches", batch)[2])["batch_id"]
        place = f"/v1/batches/{batch_id}"
        until("the batch has ended", lambda: json.loads(service.ask("GET", place)[2])["status"] != "running")
        places = ["/v1/balance", "/v1/statement", place, f"{place}/results"]
        before = [service.ask("GET", place)[2] for place in places]
        trail = service.run("audit", "export").stdout.splitlines()
        service.settings["database.url"] = postgres.url
        refused = service.run("move")
        assert refused.returncode == 1 and "stop it first" in refused.stderr, refused.stderr
    moved = service.run("move")
    assert moved.returncode == 0 and "the books add up" in moved.stdout and "transfers: " in moved.stdout, moved
    refused = service.run("move")
    assert refused.returncode == 1 and "there is no database" in refused.stderr, refused.stderr
    [kept] = service.data.glob("sauti.db-moved-*")
    refused = service.run("move", kept)
    assert refused.returncode == 1 and "must be empty" in refused.stderr, refused.stderr
    with service:
        assert service.ask("POST", "/v1/audio/speech", spoken, again)[2] == sound
        assert [service.ask("GET", place)[2] for place in places] == before
        assert service.speak(f"{SENTENCE} Mbili.")[0] == 200
        service.nothing_held()
    lines = service.run("audit", "export").stdout.splitlines()
    assert set(trail) < set(lines) and "store.moved" in "".join(lines)
    assert "PostgreSQL, reachable, the books add up" in service.run("doctor", "--quick").stdout


def test_a_lock_that_is_never_given_back_holds_nobody_up_for_ever(tmp_path, postgres):
    with Service(tmp_path, {"database.url": postgres.url, "cache.bytes_max": "0"}) as service:
        first = service.balance()["available_micro"]
        psql = [*postgres.user, program("psql"), "--dbname", postgres.url, "-c", "begin; lock table balances in exclusive mode; select pg_sleep(600)"]
        holder = subprocess.Popen(psql, cwd=postgres.folder, stdout=subprocess.DEVNULL)
        held = "select count(*) from pg_locks where mode = 'ExclusiveLock' and relation = 'balances'::regclass and granted"
        until("the lock is held", lambda: b"1" in postgres.run("psql", "-At", "--dbname", postgres.url, "-c", held).stdout)
        status, _, body = service.speak(SENTENCE)
        assert status == 503 and b"storage_unavailable" in body, (status, body)
        end = "select pg_terminate_backend(pid) from pg_locks where mode = 'ExclusiveLock' and relation = 'balances'::regclass"
        postgres.run("psql", "--dbname", postgres.url, "-c", end)
        holder.wait()
        status, headers, _ = until("it works again", lambda: (found := service.speak(f"{SENTENCE} Mbili."))[0] == 200 and found)
        service.nothing_held()
        assert first - service.balance()["available_micro"] == int(headers["sauti-cost"])


def test_a_dump_restores_to_sound_books(tmp_path, postgres):
    settings = {"database.url": postgres.url}
    dump = postgres.folder / "sauti.dump"
    with Service(tmp_path, settings) as service:
        service.speak(SENTENCE)
        postgres.run("pg_dump", "--format=custom", f"--file={dump}", f"--dbname={postgres.url}")
        balance = service.balance()["available_micro"]
        refused = service.run("backup", str(tmp_path / "x.db"))
        assert refused.returncode == 1 and "PostgreSQL" in refused.stderr
    postgres.run("psql", "--dbname", postgres.url, "-c", "create database again")
    again = postgres.url.replace("/postgres?", "/again?")
    postgres.run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={again}", dump)
    service.settings["database.url"] = again
    assert service.books()["open_reservations"] == 0
    with service:
        assert service.balance()["available_micro"] == balance
