"""Recordings as multipart forms, and events of a stream."""

from __future__ import annotations

import http.client
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Union

from .errors import StreamBroken

Recording = Union[bytes, str, "os.PathLike[str]", BinaryIO]


def read_recording(recording: Recording, name: str | None) -> tuple[bytes, str]:
    """The bytes, kept so that a retry can send them again, and the name that goes with them."""
    if isinstance(recording, (bytes, bytearray)):
        return bytes(recording), name or "recording"
    if isinstance(recording, (str, os.PathLike)):
        path = Path(recording)
        return path.read_bytes(), name or path.name
    return recording.read(), name or Path(str(getattr(recording, "name", "recording"))).name


def multipart(data: bytes, name: str, content_type: str, fields: Sequence[tuple[str, str]]) -> tuple[bytes, str]:
    """The body and its content type."""
    boundary = uuid.uuid4().hex
    quoted = name.replace("\\", "\\\\").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode() for field, value in fields]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\nContent-Type: {content_type}\r\n\r\n'
    body = b"".join([*parts, head.encode(), data, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


def pieces(response: http.client.HTTPResponse, size: int) -> Iterator[bytes]:
    """The body as it comes. A body that breaks off is an error, not an end."""
    request_id = response.getheader("x-request-id", "")
    try:
        while piece := response.read1(size):
            yield piece
    except (OSError, http.client.HTTPException) as error:
        raise StreamBroken(f"the stream broke off: {error}", request_id=request_id) from error
    finally:
        response.close()


def events(response: http.client.HTTPResponse, last: str) -> Iterator[dict[str, Any]]:
    """The data of server-sent events, up to the one whose type is `last`."""
    request_id = response.getheader("x-request-id", "")
    buffer = b""
    for piece in pieces(response, 65_536):
        buffer += piece
        while b"\n\n" in buffer:
            block, buffer = buffer.split(b"\n\n", 1)
            data = b"\n".join(line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:"))
            if not data:
                continue
            event: dict[str, Any] = json.loads(data)
            kind = event.get("type")
            if kind == "error":
                told = event.get("error") or {}
                raise StreamBroken(str(told.get("message", "the service gave up")), str(told.get("code", "")), request_id)
            yield event
            if kind == last:
                return
    raise StreamBroken("the stream ended before its last event", request_id=request_id)
