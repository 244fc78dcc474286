"""HTTP/2 frames by hand: what no honest client would send."""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW_SIZE = 4


def frame(kind, payload=b"", stream=0, flags=0):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def settings(*pairs):
    return frame(SETTINGS, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def text(value):
    """A string of HPACK, not compressed."""
    value = value.encode() if isinstance(value, str) else value
    assert len(value) < 127
    return bytes([len(value)]) + value


def block(method, path, headers=()):
    """A header block whose fields are all literal."""
    pairs = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "x"), *headers]
    return b"".join(b"\0" + text(name) + text(value) for name, value in pairs)


def get(stream, path, headers=()):
    return frame(HEADERS, block("GET", path, headers), stream, END_STREAM | END_HEADERS)


def post(stream, path, key):
    """A request whose body is to come."""
    headers = [("authorization", f"Bearer {key}"), ("content-type", "application/json")]
    return frame(HEADERS, block("POST", path, headers), stream, END_HEADERS)


def read_frames(connection):
    """(kind, stream, payload) of each frame until the other side closes."""
    buffer = b""
    while True:
        while len(buffer) >= 9 and len(buffer) >= 9 + int.from_bytes(buffer[:3], "big"):
            length = int.from_bytes(buffer[:3], "big")
            yield buffer[3], int.from_bytes(buffer[5:9], "big"), buffer[9 : 9 + length]
            buffer = buffer[9 + length :]
        try:
            part = connection.recv(65536)
        except ConnectionError:
            return
        if not part:
            return
        buffer += part


def send(connection, data):
    """True if all of it could be sent; a line that is cut is no surprise here."""
    try:
        connection.sendall(data)
        return True
    except (ConnectionError, socket.timeout):
        return False


def error_code(payload):
    return int.from_bytes(payload[4:8], "big")
