"""Hanging up before the end: what was delivered is paid, and no more."""

import json
import re

import pytest
from service import Service, form, head

SENTENCE = "Karibu sana katika huduma yetu, leo ni siku njema ya kusema Kiswahili. "
TEXT = (SENTENCE * 6).strip()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("hanging-up"), {"cache.bytes_max": "0"}) as running:
        yield running


def ask(service, stream):
    """The connection, with the answer on its way, and what the whole of it costs."""
    body = json.dumps({"text": TEXT, "voice_id": "asha", "stream": stream}).encode()
    connection = service.connect()
    connection.sendall(head("POST", "/v1/audio/speech", service.key, len(body)) + body)
    begun = b""
    while b"\r\n\r\n" not in begun:
        part = connection.recv(4096)
        assert part, begun
        begun += part
    cost = re.search(rb"sauti-cost: (\d+)", begun, re.I)
    assert begun.startswith(b"HTTP/1.1 200") and cost, begun[:500]
    return connection, int(cost[1]), len(begun)


def take(connection, received, bytes_max):
    while received < bytes_max and (part := connection.recv(min(65536, bytes_max - received))):
        received += len(part)
    return received


def paid(service, before):
    service.nothing_held()
    return before - service.balance()["available_micro"]


@pytest.mark.parametrize("stream", ["audio", "sse"])
def test_a_stream_that_is_cut_is_paid_for_as_far_as_it_came(service, stream):
    before = service.balance()["available_micro"]
    connection, cost, begun = ask(service, stream)
    with connection:
        whole = 0
        tail = b""
        while not tail.endswith(b"0\r\n\r\n"):
            part = connection.recv(65536)
            assert part, "the stream broke off"
            whole += len(part)
            tail = (tail + part)[-5:]
    assert paid(service, before) == cost
    for percent in (1, 30, 60, 98):
        before = service.balance()["available_micro"]
        connection, cost, begun = ask(service, stream)
        with connection:
            received = take(connection, begun, whole * percent // 100)
        share = paid(service, before)
        # The connection may have been given a little more than was read, never less.
        assert share > 0, f"{percent} %: {received} bytes for nothing"
        assert share >= cost * (percent - 15) // 100, f"{percent} %: {share} of {cost}"
        assert share <= cost
    assert service.books()["open_reservations"] == 0


def transcribe(service, wav):
    """The connection of a streamed transcript, and what has come of it."""
    kind, body = form(wav)
    body = body.replace(b"--b--\r\n", b'--b\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n--b--\r\n')
    connection = service.connect()
    connection.sendall(head("POST", "/v1/audio/transcriptions", service.key, len(body), kind) + body)
    return connection


def test_a_transcript_that_is_cut_is_paid_for_as_far_as_it_was_told(service):
    # Long enough for the service to notice before it has heard everything.
    wav = service.speak(f"{TEXT} {TEXT}")[2]
    before = service.balance()["available_micro"]
    with transcribe(service, wav) as connection:
        whole = b""
        while not whole.endswith(b"0\r\n\r\n"):
            part = connection.recv(65536)
            assert part, "the stream broke off"
            whole += part
    cost, events = paid(service, before), whole.count(b"transcript.text.delta")
    assert cost > 0 and events >= 3, whole[:2000]
    # Told two pieces of it: these are paid, and not the rest.
    before = service.balance()["available_micro"]
    with transcribe(service, wav) as connection:
        told = b""
        while told.count(b"transcript.text.delta") < 2:
            told += connection.recv(4096)
    share = paid(service, before)
    assert 0 < share < cost, (share, cost)
    # Told nothing: nothing is paid.
    before = service.balance()["available_micro"]
    transcribe(service, wav).close()
    assert paid(service, before) == 0
    assert service.books()["open_reservations"] == 0
