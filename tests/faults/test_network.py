"""Callers who are slow, leave, or send what is no clean HTTP."""

import json
import socket
import struct

import pytest
from service import Service, form, head, read_all, statuses, until

SENTENCE = "Habari za asubuhi, karibu tena nyumbani kwetu leo."


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    settings = {"server.request_timeout_s": "20", "limits.requests_per_minute": "100000"}
    with Service(tmp_path_factory.mktemp("network"), settings) as running:
        yield running


def send(service, data):
    with service.connect() as stream:
        stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)
        return read_all(stream)


def reset(stream):
    """Cuts the line without a goodbye."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.close()


# Slow and gone


def test_many_slow_heads_shut_nobody_out_and_are_cut_off(service):
    slow = [service.connect() for _ in range(200)]
    for stream in slow:
        stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    status, _, wav = service.speak(SENTENCE)
    assert status == 200 and wav[:4] == b"RIFF"
    for stream in slow:
        # An answer or a close, never a connection held for ever.
        stream.settimeout(60)
        answer = read_all(stream)
        assert b" 200 " not in answer
        stream.close()


def test_a_body_that_never_comes_is_answered_in_time(service):
    with service.connect() as stream:
        stream.settimeout(60)
        stream.sendall(head("POST", "/v1/audio/speech", service.key, 500) + b'{"text": "')
        answer = stream.recv(65536)
    assert statuses(answer) in ([408], [504]), answer


def test_an_upload_cut_in_the_middle_costs_nothing(service):
    before = service.balance()
    wav = service.speak(SENTENCE)[2]
    paid = service.balance()
    kind, body = form(wav)
    for cut in (0.1, 0.5, 0.99):
        stream = service.connect()
        stream.sendall(head("POST", "/v1/audio/transcriptions", service.key, len(body), kind) + body[: int(len(body) * cut)])
        reset(stream)
    until("the log tells of it", lambda: service.log().count("the caller left before the answer") + service.log().count('"status":400') >= 3)
    service.nothing_held()
    assert service.balance() == paid and paid != before


def test_a_caller_who_leaves_during_the_work_is_not_charged(service):
    start, left = service.balance(), service.log().count("the caller left before the answer")
    for number in range(4):
        body = json.dumps({"text": f"{number} " + SENTENCE * 60, "voice_id": "asha"}).encode()
        # What the last caller left behind must not be taken for this one's.
        until("the engine is free", lambda: b"sauti_engine_running 0" in service.ask("GET", "/metrics")[2])
        stream = service.connect()
        stream.sendall(head("POST", "/v1/audio/speech", service.key, len(body)) + body)
        # It has begun when the engine has it.
        until("the work has begun", lambda: b"sauti_engine_running 0" not in service.ask("GET", "/metrics")[2])
        reset(stream)
    until("the log tells of it", lambda: service.log().count("the caller left before the answer") >= left + 4)
    service.nothing_held()
    assert service.balance() == start


def test_a_stream_cut_in_the_middle_never_looks_whole(service):
    text = SENTENCE * 40
    body = json.dumps({"text": text, "voice_id": "juma", "stream": "audio"}).encode()
    with service.connect() as stream:
        stream.sendall(head("POST", "/v1/audio/speech", service.key, len(body)) + body)
        begun = stream.recv(4096)
        assert b" 200 " in begun and b"chunked" in begun.lower()
        reset(stream)
    service.nothing_held()
    # The cache must not have kept the part that was made.
    status, headers, wav = service.speak(text, voice_id="juma")
    assert status == 200 and headers["sauti-cache"] == "miss"
    assert len(wav) == int.from_bytes(wav[4:8], "little") + 8


# Not clean


@pytest.mark.parametrize("data, why", [
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n", "a header of a megabyte"),
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(10_000)) + b"\r\n", "ten thousand headers"),
    (b"GET /" + b"a" * 500_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", "a path of half a megabyte"),
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", "a zero byte"),
    (b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", "a space before the colon"),
    (b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "two lengths"),
    (b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "a negative length"),
    (b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello", "a list of lengths"),
    (b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk size that is no number"),
    (b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", "an unknown coding"),
    (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "TLS on a plain port"),
])
def test_what_is_no_clean_request_is_refused(service, data, why):
    try:
        found = statuses(send(service, data))
    except OSError:
        # Closed while we were still sending.
        found = []
    assert all(status >= 400 for status in found) and len(found) <= 1, f"{why}: {found}"
    assert service.status("/healthz") == 200


@pytest.mark.parametrize("framing", [
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n",
    b"Content-Length: 4\r\nTransfer-Encoding: \x0bchunked\r\n",
    b"Content-Length: 4\r\nTransfer-Encoding\r\n : chunked\r\n",
])
def test_a_second_request_cannot_hide_in_a_body_of_two_lengths(service, framing):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    data = b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n0\r\n\r\n" + hidden
    found = statuses(send(service, data))
    assert 200 not in found and len(found) <= 1, f"the hidden request was answered: {found}"


def test_a_host_header_does_not_steer_links(service):
    before = service.log()
    status, _, _ = service.ask("POST", "/v1/account/password-reset", {"email": "demo@sauti.localhost"}, {"Host": "evil.example"})
    assert status == 202
    letters = until("the letter is written", lambda: list((service.data / "outbox").glob("*")))
    assert all("evil.example" not in letter.read_text() for letter in letters)
    assert "evil.example" not in service.log()[len(before):]


def test_the_service_is_well_after_all_this(service):
    assert service.status("/readyz") == 200
    service.nothing_held()
    # Nobody's socket is left behind.
    def open_files():
        text = service.ask("GET", "/metrics")[2].decode()
        return float(next(line for line in text.splitlines() if line.startswith("sauti_process_open_files")).split()[1])
    until("sockets are given back", lambda: open_files() < 100, 60)
