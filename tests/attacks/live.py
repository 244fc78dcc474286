"""A WebSocket by hand, for whoever does not keep to the rules."""

import base64
import json
import os
import socket
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    """The door did not open: status and code."""


class Live:
    def __init__(self, service, query="", key=None):
        self.stream = service.connect()
        self.file = self.stream.makefile("rb")
        nonce = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET /v1/audio/transcriptions/live?{query} HTTP/1.1", "Host: x", f"Authorization: Bearer {key or service.key}",
                 "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {nonce}"]
        self.stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = int(self.file.readline().split()[1])
        headers = {}
        while line := self.file.readline().strip():
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        if status != 101:
            body = json.loads(self.file.read(int(headers["content-length"])))
            self.hang_up()
            raise Refused(status, body["code"])

    def send(self, kind, payload=b""):
        size = len(payload)
        head = struct.pack("!BB", 0x80 | kind, 0x80 | size) if size < 126 else struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        # A mask of zeros leaves the payload as it is.
        self.stream.sendall(head + bytes(4) + payload)

    def sound(self, pcm, piece=3200):
        for start in range(0, len(pcm), piece):
            self.send(BINARY, pcm[start:start + piece])

    def finish(self):
        self.send(TEXT, b'{"type":"finish"}')

    def frame(self):
        """Kind and payload of what comes next; None when the line is cut."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack("!H", self.file.read(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self.file.read(8))[0]
        return head[0] & 0x0F, self.file.read(size)

    def until(self, kind):
        """The next message of this kind; fails where the session ends without one."""
        while (frame := self.frame()) is not None:
            assert frame[0] != CLOSE, f"closed without {kind}"
            if frame[0] == TEXT and (message := json.loads(frame[1]))["type"] == kind:
                return message
        raise AssertionError(f"cut off without {kind}")

    def close_code(self):
        while (frame := self.frame()) is not None:
            if frame[0] == CLOSE:
                return struct.unpack("!H", frame[1][:2])[0]
        raise AssertionError("cut off without a close frame")

    def hang_up(self):
        self.file.close()
        try:
            self.stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.stream.close()
