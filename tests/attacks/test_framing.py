"""Requests that two parsers would read differently: whatever hides behind one is never answered."""

import socket

import pytest
from service import Service, read_all, statuses

HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("framing")) as running:
        yield running


def send(service, data):
    with service.connect() as stream:
        stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)
        return statuses(read_all(stream))


@pytest.mark.parametrize("head, body, why", [
    (b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n", "chunked is not the last coding"),
    (b"Transfer-Encoding: identity, chunked\r\nContent-Length: 3\r\n", b"0\r\n\r\n", "a list of codings and a length"),
    (b"Content-Length: +5\r\n", b"0\r\n\r\n", "a length with a sign"),
    (b"Content-Length: 0x5\r\n", b"0\r\n\r\n", "a length in hexadecimal"),
    (b"Content-Length: 5 0\r\n", b"0\r\n\r\n", "a length with a space in it"),
    (b"Content-Length: 99999999999999999999999\r\n", b"0\r\n\r\n", "a length beyond 64 bits"),
    (b"Transfer-Encoding: chunked\r\n", b"5;a=\"\n0\r\n\r\n", "a chunk extension with a line feed"),
    (b"Transfer-Encoding: chunked\r\n", b"fffffffffffffffff\r\n", "a chunk size beyond 64 bits"),
    (b"Transfer-Encoding: chunked\r\n", b"-1\r\n\r\n", "a negative chunk size"),
    (b"Transfer-Encoding: chunked\r\n", b"1\r\nab\r\n0\r\n\r\n", "a chunk longer than its size"),
    (b"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n", "a folded line"),
    (b"Content-Length: 5\r\nX: a\rTransfer-Encoding: chunked\r\n", b"0\r\n\r\n", "a bare carriage return"),
])
def test_a_hidden_request_is_never_answered(service, head, body, why):
    found = send(service, b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n" + body + HIDDEN)
    assert 200 not in found and len(found) <= 1, f"{why}: {found}"
    assert service.status("/healthz") == 200
