"""What a workspace is told of its money is written with the money: both or neither."""

import contextlib
import http.client
import json
import sqlite3
import threading

import pytest
from service import Service, payment, until

SECRET = "a secret of the payment bridge"


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path, {"payments.webhook_secret": SECRET, "webhooks.allow_private_addresses": "true"}) as running:
        # Nobody listens there, so that its deliveries stay where they can be counted.
        status, _, body = running.ask("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/"})
        assert status == 201, body
        yield running


@contextlib.contextmanager
def database(service):
    with contextlib.closing(sqlite3.connect(service.data / "sauti.db", timeout=30, isolation_level=None)) as connection:
        yield connection


def pay(service, event_id):
    workspace_id = json.loads((service.data / "demo.json").read_text())["workspace_id"]
    status, _, body = service.ask("POST", "/v1/payments/events", *payment(workspace_id, event_id, SECRET))
    return status, json.loads(body)


def told(service):
    with database(service) as connection:
        payloads = connection.execute("select payload from webhook_deliveries where event_type = 'payment.received'").fetchall()
    return sorted(json.loads(payload)["data"]["receipt"] for payload, in payloads)


def paid(service):
    with database(service) as connection:
        credits = connection.execute("select external_id from transfers where external_id like 'mpesa:%'").fetchall()
    return sorted(external_id.removeprefix("mpesa:") for external_id, in credits)


def test_a_payment_whose_event_cannot_be_written_is_not_booked(service):
    with database(service) as connection:
        connection.execute("create trigger full before insert on webhook_deliveries begin select raise(abort, 'no room'); end")
        assert pay(service, "first")[0] >= 500
        assert (paid(service), told(service)) == ([], [])
        connection.execute("drop trigger full")
    # The provider tells it again, as it does whatever was not answered with 200.
    assert pay(service, "first")[1]["status"] == "applied"
    assert pay(service, "first")[1]["status"] == "duplicate"
    assert (paid(service), told(service)) == (["first"], ["first"])
    service.books()


def test_killed_at_any_moment_every_payment_has_its_event(service):
    for turn in range(3):
        before = len(paid(service))

        def pay_until_it_dies(caller):
            with contextlib.suppress(OSError, http.client.HTTPException):
                for number in range(10_000):
                    pay(service, f"{turn}-{caller}-{number}")

        callers = [threading.Thread(target=pay_until_it_dies, args=(caller,)) for caller in range(4)]
        for caller in callers:
            caller.start()
        until("some are booked", lambda: len(paid(service)) >= before + 20)
        service.kill()
        for caller in callers:
            caller.join(60)
        assert paid(service) == told(service)
        service.start()
    service.books()
