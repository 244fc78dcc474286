"""What can go wrong, as exceptions. Program against the class or against `code`; `detail` is for people."""

from __future__ import annotations

from typing import Any


class SautiError(Exception):
    """Anything this client raises."""


class ConnectionFailed(SautiError):
    """No answer came: the address is wrong, the server is away, or the time ran out."""


class StreamBroken(SautiError):
    """A stream ended before its end. What came of it is not the whole, and is all that was charged."""

    def __init__(self, message: str, code: str = "", request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class APIError(SautiError):
    """The service refused. `code` is the word to program against, `request_id` the one to report."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code: str = str(problem.get("code", ""))
        self.detail: str = str(problem.get("detail", "")) or f"HTTP {status}"
        self.request_id: str = str(problem.get("request_id", ""))
        self.errors: list[dict[str, str]] = problem.get("errors") or []
        self.retry_after = retry_after
        self.problem = problem
        super().__init__(f"{self.detail} ({self.code or status}, {self.request_id or 'no request id'})")


class InvalidRequest(APIError):
    """400 or 422: a field is wrong, or the recording cannot be decoded. `errors` names the fields."""


class AuthenticationError(APIError):
    """401: the key is missing or not accepted."""


class InsufficientBalance(APIError):
    """402: the workspace or the key has too little left; both amounts in micro-units."""

    @property
    def required_micro(self) -> int | None:
        return self.problem.get("required")

    @property
    def available_micro(self) -> int | None:
        return self.problem.get("available")


class PermissionDenied(APIError):
    """403: the key lacks the permission, or the account is not confirmed."""


class NotFound(APIError):
    """404."""


class ConflictError(APIError):
    """409: the same request is still running, or something is in the way."""


class TooLarge(APIError):
    """413: the file is too large or the recording too long."""


class UnsupportedMedia(APIError):
    """415: not a kind of recording the service reads."""


class RateLimited(APIError):
    """429: too many requests; `retry_after` seconds to wait."""


class ServerError(APIError):
    """5xx."""


class Overloaded(ServerError):
    """503: busy, warming up or shutting down; `retry_after` seconds to wait."""


BY_STATUS: dict[int, type[APIError]] = {
    400: InvalidRequest, 401: AuthenticationError, 402: InsufficientBalance, 403: PermissionDenied, 404: NotFound,
    409: ConflictError, 413: TooLarge, 415: UnsupportedMedia, 422: InvalidRequest, 429: RateLimited, 503: Overloaded,
}


def refusal(status: int, problem: dict[str, Any], retry_after: float | None = None) -> APIError:
    kind = BY_STATUS.get(status) or (ServerError if status >= 500 else APIError)
    return kind(status, problem, retry_after)
