"""HTTP with kept connections and retries. Knows nothing of speech."""

from __future__ import annotations

import email.utils
import http.client
import json
import random
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import APIError, ConnectionFailed, ConflictError, RateLimited, ServerError, refusal

IDLE_CONNECTIONS_MAX = 8
PAUSE_FIRST_S, PAUSE_MAX_S = 0.5, 30.0
CONNECT_SECONDS_MAX = 10.0
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """A whole answer with a success status; header names in small letters."""

    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Transport:
    def __init__(self, url: str, key: str, timeout_s: float, retries_max: int, language: str | None, sleep: Callable[[float], None]) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no http address")
        self.parts = parts
        self.timeout_s = timeout_s
        self.retries_max = retries_max
        self.sleep = sleep
        self.headers = {"Authorization": f"Bearer {key}", "User-Agent": "sauti-python/0.1.0"}
        if language:
            self.headers["Accept-Language"] = language
        self.idle: list[http.client.HTTPConnection] = []
        self.lock = threading.Lock()

    def request(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """The whole answer. Whatever may pass by itself is tried again."""
        return self.tried(lambda: self.whole(method, path, body, headers or {}), retry=True)

    def stream(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        """An answer whose body is still to come. Only refusals before any work (429 and 503) are tried again."""
        return self.tried(lambda: self.opened(method, path, body, headers)[1], retry=False)

    def tried(self, attempt: Callable[[], T], retry: bool) -> T:
        tries = 0
        while True:
            try:
                return attempt()
            except (APIError, ConnectionFailed) as error:
                pause = self.pause_before_retry(error, tries, retry)
                if pause is None:
                    raise
                tries += 1
                self.sleep(pause)

    def pause_before_retry(self, error: APIError | ConnectionFailed, tries: int, retry: bool) -> float | None:
        """Seconds to wait, or None where trying again is no use."""
        refused_early = isinstance(error, RateLimited) or (isinstance(error, APIError) and error.status == 503)
        in_flight = isinstance(error, ConflictError) and error.code == "idempotency_in_flight"
        passing = isinstance(error, (ConnectionFailed, ServerError)) or in_flight
        if tries >= self.retries_max or not (refused_early or (retry and passing)):
            return None
        told = error.retry_after if isinstance(error, APIError) else None
        # Without a word from the server, wait longer each time, and not in step with others.
        growing = min(PAUSE_MAX_S, PAUSE_FIRST_S * 2.0**tries) * random.uniform(0.75, 1.0)
        return growing if told is None else min(told, self.timeout_s)

    def whole(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection, response = self.opened(method, path, body, headers)
        answer = Answer({name.lower(): value for name, value in response.getheaders()}, self.read_all(connection, response))
        self.give_back(connection, response)
        return answer

    def opened(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """A connection with the head of a good answer on it; a bad one is raised."""
        connection, is_reused = self.take()
        try:
            response = self.send(connection, method, path, body, headers)
        except ConnectionFailed as error:
            # A kept connection may have ended meanwhile. One that is only slow has the request already.
            if not is_reused or isinstance(error.__cause__, TimeoutError):
                raise
            connection = self.connect()
            response = self.send(connection, method, path, body, headers)
        if response.status < 300:
            return connection, response
        data = self.read_all(connection, response)
        self.give_back(connection, response)
        raise refusal(response.status, problem_of(data), retry_after(response.getheader("retry-after")))

    def send(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        try:
            if connection.sock is None:
                connection.connect()
                sock: Any = connection.sock
                sock.settimeout(self.timeout_s)
            connection.request(method, self.parts.path.rstrip("/") + path, body=body, headers={**self.headers, **headers})
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionFailed(f"no answer from {self.parts.netloc}: {error}") from error

    def read_all(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionFailed(f"the answer of {self.parts.netloc} broke off: {error}") from error

    def connect(self) -> http.client.HTTPConnection:
        host, port = self.parts.hostname or "", self.parts.port
        if self.parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=CONNECT_SECONDS_MAX, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS_MAX)

    def take(self) -> tuple[http.client.HTTPConnection, bool]:
        with self.lock:
            if self.idle:
                return self.idle.pop(), True
        return self.connect(), False

    def give_back(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        with self.lock:
            if not response.will_close and len(self.idle) < IDLE_CONNECTIONS_MAX:
                self.idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self.lock:
            for connection in self.idle:
                connection.close()
            self.idle.clear()


def problem_of(data: bytes) -> dict[str, Any]:
    """The refusal's JSON; a proxy on the way may have answered with something else."""
    try:
        problem = json.loads(data)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def retry_after(value: str | None) -> float | None:
    """Seconds, or a date as HTTP allows too."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
