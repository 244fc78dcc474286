"""Live transcription: a WebSocket (RFC 6455) with nothing but sockets."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import queue
import socket
import ssl
import struct
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from .errors import ConnectionFailed, StreamBroken, refusal
from .models import Final, NotUnderstood, Partial, Segment, Word, expected_answer, read
from .transport import CONNECT_SECONDS_MAX, problem_of, retry_after

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
# The service takes 256 KiB; a multiple of four, so that no sample of two channels is parted.
MESSAGE_BYTES_MAX = 128 * 1024


class LiveTranscription:
    """Send sound with `send`, say `finish` at the end, and iterate for what is heard; all three from any thread."""

    def __init__(self, parts: urllib.parse.SplitResult, path: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self.request_id = ""
        self.socket = self.open(parts, timeout_s)
        self.file = self.socket.makefile("rb")
        self.sending = threading.Lock()
        self.heard: queue.Queue[Partial | Final | NotUnderstood | Exception | None] = queue.Queue()
        try:
            self.shake_hands(parts, path, headers)
        except OSError as error:
            self.close()
            raise ConnectionFailed(f"no answer from {parts.netloc}: {error}") from error
        threading.Thread(target=self.listen, daemon=True).start()

    @staticmethod
    def open(parts: urllib.parse.SplitResult, timeout_s: float) -> socket.socket:
        secure = parts.scheme == "https"
        try:
            plain = socket.create_connection((parts.hostname or "", parts.port or (443 if secure else 80)), CONNECT_SECONDS_MAX)
            plain.settimeout(timeout_s)
            return ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) if secure else plain
        except OSError as error:
            raise ConnectionFailed(f"no answer from {parts.netloc}: {error}") from error

    def shake_hands(self, parts: urllib.parse.SplitResult, path: str, headers: Mapping[str, str]) -> None:
        nonce = base64.b64encode(os.urandom(16))
        upgrade = {"Host": parts.netloc, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": nonce.decode(), **headers}
        lines = [f"GET {parts.path.rstrip('/')}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in upgrade.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status, answer = self.read_head()
        self.request_id = answer.get("x-request-id", "")
        if status != 101:
            problem = problem_of(self.file.read(int(answer.get("content-length", "0"))))
            self.close()
            raise refusal(status, problem, retry_after(answer.get("retry-after")))
        if answer.get("sec-websocket-accept") != base64.b64encode(hashlib.sha1(nonce + MAGIC).digest()).decode():
            self.close()
            raise ConnectionFailed(f"{parts.netloc} does not speak WebSocket")

    def read_head(self) -> tuple[int, dict[str, str]]:
        words = self.file.readline(65_536).split()
        if len(words) < 2 or not words[1].isdigit():
            raise ConnectionFailed("the server hung up")
        headers: dict[str, str] = {}
        while line := self.file.readline(65_536).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return int(words[1]), headers

    def send(self, samples: bytes) -> None:
        """16-bit little-endian mono samples."""
        for start in range(0, len(samples), MESSAGE_BYTES_MAX):
            self.send_frame(BINARY, samples[start : start + MESSAGE_BYTES_MAX])

    def finish(self) -> None:
        """No more sound will come; the rest of the text still does."""
        self.send_frame(TEXT, b'{"type":"finish"}')

    def send_frame(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | kind]) + (
            bytes([0x80 | size]) if size < 126 else struct.pack("!BH", 0x80 | 126, size) if size < 65_536 else struct.pack("!BQ", 0x80 | 127, size)
        )
        # The whole payload as one number, so that the mask costs one operation rather than one a byte.
        key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        masked = (int.from_bytes(data, "big") ^ key).to_bytes(size, "big")
        with self.sending:
            try:
                self.socket.sendall(head + mask + masked)
            except OSError as error:
                raise StreamBroken(f"the connection broke: {error}", request_id=self.request_id) from error

    def read_message(self) -> tuple[int, bytes]:
        kind, message = CONTINUED, b""
        while True:
            first, second = self.file.read(2)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(self.file.read(2 if size == 126 else 8), "big")
            data = self.file.read(size)
            if len(data) < size:
                raise EOFError
            opcode = first & 0x0F
            if opcode == PING:
                self.send_frame(PONG, data)
            elif opcode == CLOSE:
                return CLOSE, data
            elif opcode != PONG:
                kind, message = opcode or kind, message + data
                if first & 0x80:
                    return kind, message

    def listen(self) -> None:
        """Runs on its own thread until the end."""
        try:
            while True:
                kind, data = self.read_message()
                if kind == CLOSE:
                    raise EOFError
                told = json.loads(data)
                self.heard.put(self.understood(told))
                if told["type"] in ("done", "error"):
                    break
        except (OSError, EOFError, ValueError):
            self.heard.put(StreamBroken("the connection ended before the text did", request_id=self.request_id))
        self.heard.put(None)

    def understood(self, told: dict[str, Any]) -> Partial | Final | NotUnderstood | Exception:
        if told["type"] == "partial":
            return Partial(told["text"], told.get("channel"))
        if told["type"] == "final":
            words = tuple(read(Word, word) for word in told["segment"].pop("words", []))
            segment = read(Segment, {**told["segment"], "words": words})
            return Final(segment.text, segment)
        if told["type"] == "done":
            return Final(
                told["text"], None, True, told["seconds"], told["cost_micro"], told["balance_micro"], **expected_answer(told)
            )
        if told["type"] == "not_understood":
            return NotUnderstood()
        if "status" in told:
            return refusal(told["status"], {**told, "detail": told.get("message"), "request_id": self.request_id})
        return StreamBroken(told.get("message", "the service gave up"), told.get("code", ""), self.request_id)

    def __iter__(self) -> Iterator[Partial | Final | NotUnderstood]:
        while (event := self.heard.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event
        # For whoever asks again.
        self.heard.put(None)

    def close(self) -> None:
        """Hangs up. Before the end, that throws the transcription away."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def __enter__(self) -> LiveTranscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
