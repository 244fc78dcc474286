"""Live transcription under attack: no free work, no seats held for nothing, no session that outlives its key or its server."""

import contextlib
import json
import signal
import sqlite3
import threading

import pytest
from live import BINARY, PING, TEXT, Live, Refused
from service import Service, until

SENTENCE = "Karibu sana. Leo ni siku njema ya kusema Kiswahili."
SECOND_MICRO = 25_000
PAUSE = bytes(2 * 32_000)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    settings = {"limits.live_sessions_max": "8", "limits.live_sessions_per_workspace_max": "3"}
    with Service(tmp_path_factory.mktemp("live"), settings) as running:
        yield running


@pytest.fixture(scope="module")
def speech(service):
    status, _, pcm = service.speak(SENTENCE, output_format="raw_pcm_16000")
    assert status == 200
    return pcm


def available(service):
    service.nothing_held()
    return service.balance()["available_micro"]


def test_a_final_that_was_read_is_paid_without_finish(service, speech):
    before = available(service)
    live = Live(service)
    live.sound(speech + PAUSE)
    end_s = live.until("final")["segment"]["end"]
    live.hang_up()
    assert before - available(service) >= int(end_s) * SECOND_MICRO


def test_two_seconds_cost_two_seconds(service):
    before = available(service)
    live = Live(service)
    live.sound(bytes(2 * 32_000))
    live.finish()
    assert live.until("done")["cost_micro"] == 2 * SECOND_MICRO
    live.hang_up()
    assert before - available(service) == 2 * SECOND_MICRO


def test_a_workspace_cannot_take_every_seat(service):
    held = [Live(service) for _ in range(3)]
    with pytest.raises(Refused, match="429"):
        Live(service)
    for live in held:
        live.hang_up()

    def opens():
        try:
            Live(service).hang_up()
            return True
        except Refused:
            return False

    until("the seats are free again", opens)


@pytest.mark.parametrize("kind, payload", [(BINARY, b""), (PING, b""), (BINARY, bytes(2))])
def test_a_flood_of_messages_without_sound_ends_the_session(service, kind, payload):
    before = available(service)
    live = Live(service)
    try:
        for _ in range(1_500):
            live.send(kind, payload)
    except OSError:
        pass  # The line may be closed while the flood runs.
    assert live.until("error")["code"] == "rate_limited"
    live.hang_up()
    assert available(service) == before


def test_pings_do_not_keep_a_silent_session(service):
    live = Live(service)
    ended = threading.Event()

    def ping():
        while not ended.wait(1):
            live.send(PING)

    pinger = threading.Thread(target=ping)
    pinger.start()
    try:
        # Each ping is answered at once: so many of them are a minute.
        frames = (live.frame() for _ in range(60))
        told = next(json.loads(payload) for kind, payload in frames if kind == TEXT)
    finally:
        ended.set()
        pinger.join()
    assert told["code"] == "request_timeout", told
    live.hang_up()


def test_a_key_revoked_by_the_command_line_loses_its_session(service, speech):
    made = service.ask("POST", "/v1/keys", {"name": "ya muda", "permissions": ["transcription"]})
    key = json.loads(made[2])
    live = Live(service, key=key["api_key"])
    live.sound(speech + PAUSE)
    live.until("final")
    workspace = json.loads((service.data / "demo.json").read_text())["workspace_id"]
    done = service.run("key", "revoke", workspace, key["key_id"])
    assert done.returncode == 0, done.stdout + done.stderr
    last = live.until("error")
    assert last["code"] == "key_revoked" and last["cost_micro"] > 0, last
    live.hang_up()


def test_a_key_that_expires_loses_its_session(service, speech):
    made = service.ask("POST", "/v1/keys", {"name": "ya siku moja", "permissions": ["transcription"], "expires_in_days": 1})
    key = json.loads(made[2])
    live = Live(service, key=key["api_key"])
    live.sound(speech + PAUSE)
    live.until("final")
    # A day later, but for the waiting.
    with contextlib.closing(sqlite3.connect(service.data / "sauti.db", timeout=30, isolation_level=None)) as database:
        moment = "cast((julianday('now') - 2440587.5) * 86400 as integer) * 1000000"
        database.execute(f"update api_keys set expires_us = {moment} where id = ?", [key["key_id"]])
    last = live.until("error")
    assert last["code"] == "key_expired" and last["cost_micro"] > 0, last
    live.hang_up()
    with pytest.raises(Refused, match="401"):
        Live(service, key=key["api_key"])


def test_a_server_that_ends_hears_its_sessions_out(tmp_path, speech):
    with Service(tmp_path) as ending:
        live = Live(ending)
        live.sound(speech)
        live.until("partial")
        ending.process.send_signal(signal.SIGTERM)
        live.until("final")
        last = live.until("error")
        assert last["code"] == "shutting_down" and last["cost_micro"] > 0, last
        assert live.close_code() == 1001
        live.hang_up()
