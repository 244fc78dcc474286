"""Sockets held for nothing, over HTTP/1 and HTTP/2: each is closed in time, and nobody else is kept out."""

import socket

import http2
import pytest
from service import Service, head, read_all, statuses, until

ENHANCE_YOUR_CALM = 11
SENTENCE = "Karibu tena."
SETTINGS = {
    "server.connections_max": "64",
    "server.connections_per_address_max": "48",
    "server.connections_reserved": "4",
    "server.header_timeout_s": "3",
    "server.idle_timeout_s": "3",
    "server.write_timeout_s": "8",
    "server.body_timeout_s": "4",
    "server.http2_streams_max": "32",
    "limits.concurrent_requests": "1000",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("connections"), SETTINGS) as running:
        yield running


def connect(service, source):
    return socket.create_connection(("127.0.0.1", service.port), 60, (source, 0))


def figure(service, line):
    text = service.ask("GET", "/metrics")[2].decode()
    return next(float(found.split()[1]) for found in text.splitlines() if found.startswith(line + " "))


def h2(service, *pairs):
    stream = connect(service, "127.0.0.2")
    stream.sendall(http2.PREFACE + http2.settings(*pairs))
    return stream


def flood_until_closed(stream, frames):
    stream.settimeout(0.05)

    def closed():
        if not http2.send(stream, frames):
            return True
        try:
            return stream.recv(65536) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    until("it is closed", closed, 60)


# HTTP/1


def test_silent_sockets_keep_nobody_out_and_are_closed(service):
    before = figure(service, 'sauti_connections_closed_total{reason="room"}')
    silent = [connect(service, f"127.0.0.{2 + number % 8}") for number in range(400)]
    assert service.status("/healthz") == 200
    status, _, wav = service.speak(SENTENCE)
    assert status == 200 and wav[:4] == b"RIFF"
    assert figure(service, 'sauti_connections_closed_total{reason="room"}') >= before + 400 - 64
    for stream in silent:
        assert read_all(stream) == b""
        stream.close()


def test_one_address_gets_its_share_and_no_more(service):
    body = b'{"text": "'
    slow = []
    for _ in range(48):
        stream = connect(service, "127.0.0.9")
        # These are being answered: they cannot be closed to make room.
        stream.sendall(head("POST", "/v1/quotes", service.key, 500) + body)
        slow.append(stream)
    until("all are read", lambda: figure(service, 'sauti_connections{state="answering"}') >= 48)
    assert read_all(connect(service, "127.0.0.9")) == b""
    assert figure(service, 'sauti_connections_refused_total{reason="address"}') >= 1
    # The rest of the table goes to somebody else, but for the places that are kept.
    for _ in range(12):
        stream = connect(service, "127.0.0.10")
        stream.sendall(head("POST", "/v1/quotes", service.key, 500) + body)
        slow.append(stream)
    until("the table is full", lambda: figure(service, 'sauti_connections{state="answering"}') >= 60)
    assert read_all(connect(service, "127.0.0.11")) == b""
    assert service.status("/healthz") == 200
    for stream in slow:
        stream.close()
    until("they are gone", lambda: figure(service, 'sauti_connections{state="answering"}') < 5)


def test_answers_that_nobody_reads_are_given_up(service):
    before = figure(service, 'sauti_connections_closed_total{reason="slow_reader"}')
    with connect(service, "127.0.0.2") as stream:
        http2.send(stream, b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
        until("it is cut off", lambda: figure(service, 'sauti_connections_closed_total{reason="slow_reader"}') > before)


def test_a_caller_who_is_still_reading_makes_no_room_for_others(service):
    asked = 40
    with connect(service, "127.0.0.2") as stream:
        stream.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * asked)
        answers, silent = stream.recv(4096), []
        for number in range(200):
            silent.append(connect(service, f"127.0.0.{3 + number % 8}"))
            answers += stream.recv(4096)
        assert service.status("/healthz") == 200
        while len(found := statuses(answers)) < asked:
            part = stream.recv(65536)
            assert part, f"cut off after {found}"
            answers += part
    assert found == [200] * asked
    for stream in silent:
        stream.close()


# HTTP/2


def test_an_http2_connection_that_only_pings_is_closed(service):
    with h2(service) as stream:
        flood_until_closed(stream, http2.frame(http2.PING, b"12345678"))


def test_streams_that_are_reset_at_once_end_the_connection(service):
    with h2(service) as stream:
        resets = (http2.get(n, "/v1/voices") + http2.frame(http2.RST_STREAM, b"\0\0\0\x08", n) for n in range(1, 8001, 2))
        http2.send(stream, b"".join(resets))
        ends = [payload for kind, _, payload in http2.read_frames(stream) if kind == http2.GOAWAY]
    # The line may be cut before the reason is read.
    assert all(http2.error_code(payload) in (0, ENHANCE_YOUR_CALM) for payload in ends)
    assert service.status("/healthz") == 200


def test_a_flood_of_settings_is_endured_and_ends(service):
    with h2(service) as stream:
        for _ in range(100):
            if not http2.send(stream, http2.settings((http2.INITIAL_WINDOW_SIZE, 1)) * 200):
                break
        assert service.status("/healthz") == 200
        for _ in http2.read_frames(stream):
            pass


def test_headers_without_an_end_are_refused(service):
    with h2(service) as stream:
        stream.sendall(http2.frame(http2.HEADERS, http2.block("GET", "/healthz"), 1, http2.END_STREAM))
        part = http2.frame(http2.CONTINUATION, b"".join(b"\0" + http2.text(f"x-{n}") + http2.text("a" * 100) for n in range(100)), 1)
        for _ in range(1000):
            if not http2.send(stream, part):
                break
        answered = [payload for kind, _, payload in http2.read_frames(stream) if kind == http2.DATA]
    assert answered == []
    assert service.status("/healthz") == 200


def test_a_header_that_unfolds_to_megabytes_is_refused(service):
    with h2(service) as stream:
        # One entry of 3,000 bytes in the dynamic table (index 62), then asked for a thousand times.
        number, digits = 3000 - 127, bytearray(b"\x7f")
        while number >= 128:
            digits.append(number % 128 + 128)
            number //= 128
        digits.append(number)
        bomb = http2.block("GET", "/healthz") + b"\x40" + http2.text("x-a") + bytes(digits) + b"a" * 3000 + b"\xbe" * 1000
        stream.sendall(http2.frame(http2.HEADERS, bomb, 1, http2.END_STREAM | http2.END_HEADERS))
        frames = list(http2.read_frames(stream))
    assert [payload for kind, number, payload in frames if kind == http2.DATA and number == 1] == []
    assert service.status("/healthz") == 200


def ended(stream):
    """The kinds of frames that came until the other side closed; the streams that were answered."""
    frames = list(http2.read_frames(stream))
    return {kind for kind, _, _ in frames}, {number for kind, number, _ in frames if kind == http2.HEADERS}


def test_bodies_that_never_end_are_given_up(service):
    """Idle streams: more than are allowed, each with a body of which nothing comes."""
    with h2(service) as stream:
        stream.sendall(b"".join(http2.post(number, "/v1/quotes", service.key) for number in range(1, 129, 2)))
        kinds, answered = ended(stream)
    # Those beyond the limit are reset, the others told that their body did not come; then the connection idles out.
    assert http2.RST_STREAM in kinds and len(answered) <= 32
    assert service.status("/healthz") == 200


def test_pieces_of_nothing_are_no_body(service):
    with h2(service) as stream:
        stream.sendall(http2.post(1, "/v1/quotes", service.key))
        flood_until_closed(stream, http2.frame(http2.DATA, b"", 1) * 1000)
    assert service.status("/healthz") == 200


def test_streams_that_make_us_reset_them_end_the_connection(service):
    """A window of nothing more is an error of the stream, which the server has to reset ("made you reset")."""
    with h2(service) as stream:
        wrong = (http2.get(n, "/v1/voices") + http2.frame(http2.WINDOW_UPDATE, bytes(4), n) for n in range(1, 8001, 2))
        http2.send(stream, b"".join(wrong))
        resets = sum(kind == http2.RST_STREAM for kind, _, _ in http2.read_frames(stream))
    assert resets <= 200, resets
    assert service.status("/healthz") == 200


@pytest.mark.parametrize("kind, payload", [(http2.PRIORITY, b"\0\0\0\x03\x10"), (http2.WINDOW_UPDATE, b"\0\0\0\x01"), (0xEE, b"x")])
def test_frames_that_ask_for_nothing_keep_no_connection(service, kind, payload):
    with h2(service) as stream:
        flood_until_closed(stream, http2.frame(kind, payload, 1 if kind == http2.PRIORITY else 0) * 1000)
    assert service.status("/healthz") == 200


def test_answers_kept_back_by_flow_control_are_given_up(service):
    before = figure(service, 'sauti_connections_closed_total{reason="slow_reader"}')
    with h2(service, (http2.INITIAL_WINDOW_SIZE, 0)) as stream:
        stream.sendall(b"".join(http2.get(n, "/openapi.json") for n in range(1, 41, 2)))
        # Everything that comes is read, and no window is ever opened.
        for _ in http2.read_frames(stream):
            pass
    until("it is counted", lambda: figure(service, 'sauti_connections_closed_total{reason="slow_reader"}') > before)


def test_the_service_is_well_after_all_this(service):
    assert service.status("/readyz") == 200
    assert service.speak(SENTENCE)[0] == 200
    service.nothing_held()
