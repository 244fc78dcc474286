"""What happens when things go wrong, with a small server that answers as told."""

import http.server
import socket
import threading

import pytest

import sauti

PROBLEM = b'{"status": 503, "code": "overloaded", "detail": "Busy.", "request_id": "req_1", "errors": []}'
SPEECH = (200, {"Content-Type": "audio/wav", "Sauti-Units": "7"}, b"RIFF")
CUT, SLOW = "cut", "slow"


class Told(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(dict(self.headers))
        answer = self.server.answers.pop(0)
        if answer is CUT:
            self.close_connection = True
            return
        if answer is SLOW:
            # Until the client has hung up.
            self.close_connection = not self.rfile.read(1)
            return
        status, headers, body = answer
        self.send_response(status)
        if "Transfer-Encoding" not in headers:
            headers = {"Content-Length": len(body), **headers}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def told():
    """A server and a client of it that notes its pauses rather than taking them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Told)
    server.answers, server.seen, server.pauses = [], [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.client = sauti.Sauti(f"http://127.0.0.1:{server.server_port}", "key", retries_max=3, sleep=server.pauses.append)
    yield server
    server.shutdown()
    server.server_close()


def test_it_waits_as_long_as_it_is_told_and_keeps_the_idempotency_key(told):
    told.answers = [(503, {"Retry-After": "7"}, PROBLEM), (429, {"Retry-After": "2"}, PROBLEM), SPEECH]
    assert told.client.speak("Habari.", "asha").charge.units == 7
    assert told.pauses == [7.0, 2.0]
    keys = {headers["Idempotency-Key"] for headers in told.seen}
    assert len(told.seen) == 3 and len(keys) == 1


def test_errors_of_the_server_are_tried_again_with_growing_pauses(told):
    told.answers = [(500, {}, b"{}"), (502, {}, b"<html>"), (504, {}, b""), SPEECH]
    told.client.speak("Habari.", "asha")
    assert told.pauses[0] < told.pauses[1] < told.pauses[2]


def test_a_cut_connection_is_tried_again(told):
    told.answers = [CUT, (200, {"Content-Length": 50, "Connection": "close"}, b"RIFF"), SPEECH]
    assert told.client.speak("Habari.", "asha").audio == b"RIFF"
    assert len({headers["Idempotency-Key"] for headers in told.seen}) == 1


def test_a_kept_connection_that_has_ended_is_replaced_and_one_that_is_slow_is_not_asked_twice(told):
    told.answers = [SPEECH, CUT, SPEECH, SLOW]
    client = sauti.Sauti(f"http://127.0.0.1:{told.server_port}", "key", retries_max=0, timeout_s=0.5)
    client.speak("Habari.", "asha")
    assert client.speak("Habari.", "asha").audio == b"RIFF"
    with pytest.raises(sauti.ConnectionFailed, match="timed out"):
        client.speak("Habari.", "asha")
    assert len(told.seen) == 4


def test_a_request_that_still_runs_is_waited_for(told):
    told.answers = [(409, {}, b'{"code": "idempotency_in_flight"}'), SPEECH]
    told.client.speak("Habari.", "asha")
    told.answers = [(409, {}, b'{"code": "conflict"}')]
    with pytest.raises(sauti.ConflictError):
        told.client.speak("Habari.", "asha")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 415, 422])
def test_what_cannot_pass_is_not_tried_again(told, status):
    told.answers = [(status, {}, b'{"required": 5, "available": 2, "code": "x"}')]
    with pytest.raises(sauti.APIError) as caught:
        told.client.speak("Habari.", "asha")
    assert caught.value.status == status and told.pauses == []
    if status == 402:
        assert (caught.value.required_micro, caught.value.available_micro) == (5, 2)


def test_it_gives_up_in_the_end(told):
    told.answers = [(503, {"Retry-After": "1"}, PROBLEM)] * 4
    with pytest.raises(sauti.Overloaded) as caught:
        told.client.speak("Habari.", "asha")
    assert len(told.pauses) == 3
    assert (caught.value.code, caught.value.request_id, caught.value.retry_after) == ("overloaded", "req_1", 1.0)


def test_a_stream_is_tried_again_only_before_any_work(told):
    told.answers = [(503, {"Retry-After": "1"}, PROBLEM), SPEECH]
    assert b"".join(told.client.speak_stream("Habari.", "asha")) == b"RIFF"
    assert all("Idempotency-Key" not in headers for headers in told.seen)
    told.answers = [(500, {}, b"{}")]
    with pytest.raises(sauti.ServerError):
        list(told.client.speak_stream("Habari.", "asha"))


def test_a_stream_that_breaks_off_never_looks_whole(told):
    told.answers = [(200, {"Transfer-Encoding": "chunked", "Connection": "close"}, b"4\r\nRIFF\r\n")]
    heard = []
    with pytest.raises(sauti.StreamBroken):
        for piece in told.client.speak_stream("Habari.", "asha"):
            heard.append(piece)
    assert heard == [b"RIFF"]


def test_an_error_event_ends_a_stream_of_events(told):
    event = b'event: error\ndata: {"type":"error","error":{"message":"Too long.","code":"deadline_exceeded"}}\n\n'
    told.answers = [(200, {"Content-Type": "text/event-stream"}, event)]
    with pytest.raises(sauti.StreamBroken) as caught:
        list(told.client.speak_events("Habari.", "asha"))
    assert caught.value.code == "deadline_exceeded"


def test_nobody_there_is_a_failed_connection():
    client = sauti.Sauti("http://127.0.0.1:9", "key", retries_max=0)
    with pytest.raises(sauti.ConnectionFailed):
        client.balance()


def test_a_live_connection_that_nobody_answers_is_a_failed_connection():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = sauti.Sauti(f"http://127.0.0.1:{silent.getsockname()[1]}", "key", timeout_s=0.2)
        with pytest.raises(sauti.ConnectionFailed, match="timed out"):
            client.live()


def test_a_key_is_needed(monkeypatch):
    monkeypatch.delenv("SAUTI_KEY", raising=False)
    with pytest.raises(ValueError, match="SAUTI_KEY"):
        sauti.Sauti("http://127.0.0.1:9")
