"""Traces reach a collector when one is configured, without words in them; a collector that is away troubles nobody."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from service import Service, until

TEXT = "Mzigo wa parachichi umefika Nyahururu"


@pytest.fixture
def collector():
    """An OTLP endpoint that keeps what it is sent."""
    taken = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append((self.path, self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", taken
    server.shutdown()


def test_a_request_becomes_a_trace_without_its_words(tmp_path, collector):
    address, taken = collector
    with Service(tmp_path, {"telemetry.otlp_endpoint": address}) as service:
        assert service.speak(TEXT)[0] == 200
        key = service.key.split("_")[-1]
    until("a trace arrives", lambda: taken)
    assert {(path, kind) for path, kind, _ in taken} == {("/v1/traces", "application/x-protobuf")}
    sent = b"".join(body for _, _, body in taken)
    assert b"sauti" in sent and b"/v1/audio/speech" in sent
    for secret in (TEXT, "parachichi", key):
        assert secret.encode() not in sent


def test_a_collector_that_is_away_troubles_nobody(tmp_path):
    with Service(tmp_path, {"telemetry.otlp_endpoint": "http://127.0.0.1:9"}) as service:
        assert service.speak(TEXT)[0] == 200
