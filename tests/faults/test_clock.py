"""A clock that jumps, by libfaketime: only the time of day, not the clock that waits are measured with."""

import json
from pathlib import Path

import pytest
from service import Service, until

SENTENCE = "Karibu tena, leo ni siku njema."


def library():
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert found, "libfaketime is missing"
    return str(found[0])


def stepping(clock):
    """The environment of a process whose time of day is moved by what stands in this file."""
    clock.write_text("+0")
    return {"LD_PRELOAD": library(), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@pytest.mark.parametrize("steps", [["-1d", "+0"], ["+3d", "-2h", "+0"]])
def test_the_books_keep_their_order_when_the_clock_steps(tmp_path, steps):
    clock = tmp_path / "clock"
    with Service(tmp_path, {"cache.bytes_max": "0"}, env=stepping(clock)) as service:
        first = service.balance()["available_micro"]
        cost = 0
        for turn, step in enumerate(["+0", *steps]):
            clock.write_text(step)
            for number in range(3):
                status, headers, body = service.speak(f"{SENTENCE} {turn} {number}")
                assert status == 200, (step, body)
                cost += int(headers["sauti-cost"])
            # An idempotent retry across the step is charged once.
            key = {"Idempotency-Key": f"step-{turn}"}
            once = service.ask("POST", "/v1/audio/speech", {"text": SENTENCE, "voice_id": "asha", "speed": 1.0 + turn / 10}, key)
            again = service.ask("POST", "/v1/audio/speech", {"text": SENTENCE, "voice_id": "asha", "speed": 1.0 + turn / 10}, key)
            assert (once[0], again[0]) == (200, 200) and once[2] == again[2]
            cost += int(once[1]["sauti-cost"])
        assert first - service.balance()["available_micro"] == cost
        service.nothing_held()
        rows = json.loads(service.ask("GET", "/v1/statement?from=2020-01-01&to=2999-01-01")[2])["rows"]
        times = [row["created_us"] for row in rows]
        assert times == sorted(times) and len(rows) >= 4 * (len(steps) + 1)
        until("it is ready", lambda: service.status("/readyz") == 200)


def test_after_a_clock_that_ran_ahead_bookings_can_be_dated_by_it_again(tmp_path):
    clock = tmp_path / "clock"
    with Service(tmp_path, {"cache.bytes_max": "0"}, env=stepping(clock)) as service:

        def last_booked(text):
            assert service.speak(text)[0] == 200
            rows = json.loads(service.ask("GET", "/v1/statement?from=2020-01-01&to=2999-01-01")[2])["rows"]
            return min(rows, key=lambda row: row["total_after_micro"])["created_us"]

        clock.write_text("+400d")
        ahead = last_booked(SENTENCE)
        clock.write_text("+0")
        assert last_booked(f"{SENTENCE} Moja.") > ahead
        assert "1 workspaces book ahead" in service.run("doctor", "--quick").stdout
        assert "1 workspaces" in service.run("ledger", "trust-clock").stdout
        assert "book ahead" not in service.run("doctor", "--quick").stdout
        assert last_booked(f"{SENTENCE} Mbili.") < ahead - 399 * 24 * 3600 * 1_000_000


def test_a_clock_that_is_set_back_keeps_nobody_out_and_lets_nobody_in(tmp_path):
    clock = tmp_path / "clock"
    settings = {"server.trusted_proxies": "127.0.0.1/32"}
    with Service(tmp_path, settings, env=stepping(clock)) as service:
        made = json.loads(service.ask("POST", "/v1/keys", {"name": "ya muda", "permissions": ["voices"]})[2])
        revoked = {"Authorization": f"Bearer {made['api_key']}"}
        clock.write_text("+3d")

        def guess(number):
            body = {"email": "nobody@example.com", "password": "si hii kabisa"}
            status, headers, _ = service.ask("POST", "/v1/account/session", body, {"X-Forwarded-For": f"41.5.0.{number}"})
            return status, int(headers.get("retry-after", 0))

        assert [guess(number)[0] for number in range(11)] == [401] * 10 + [429]
        assert service.ask("DELETE", f"/v1/keys/{made['key_id']}")[0] == 204
        clock.write_text("+0")
        status, wait_s = guess(11)
        assert status == 429 and wait_s <= 900, wait_s
        # Revoked is revoked, also at a time before it was.
        assert service.ask("GET", "/v1/voices", None, revoked)[0] == 401
