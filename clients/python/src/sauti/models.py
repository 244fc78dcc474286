"""What the service answers with. Money is in micro-units: millionths of the workspace's currency."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def read(kind: type[T], data: Mapping[str, Any]) -> T:
    """A dataclass from JSON; fields that a newer server adds are left out."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in names})


def expected_answer(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an ExpectedAnswer that are there."""
    return {name: data[name] for name in ("answer", "currency", "confidence", "not_understood") if name in data}


@dataclass(frozen=True)
class Charge:
    """What a request cost, in characters or seconds and in money."""

    units: int = 0
    cost_micro: int = 0
    balance_micro: int = 0
    currency: str = ""
    cached: bool = False
    replayed: bool = False
    request_id: str = ""

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Charge:
        def whole(name: str) -> int:
            return int(headers.get(name) or 0)

        return cls(
            whole("sauti-units"), whole("sauti-cost"), whole("sauti-balance"), headers.get("sauti-currency", ""),
            headers.get("sauti-cache") == "hit", headers.get("idempotency-replayed") == "true", headers.get("x-request-id", ""),
        )


@dataclass(frozen=True)
class Word:
    word: str
    start: float
    end: float
    confidence: float | None = None
    language: str | None = None
    """`sw` or `en`, for words that were heard."""
    channel: int | None = None
    """With `channels="separate"`."""
    speaker: str | None = None
    """With `diarize`."""


@dataclass(frozen=True)
class Mark:
    """A `mark` of SSML and when it is reached, in seconds."""

    name: str
    time: float


@dataclass(frozen=True)
class Segment:
    start: float
    end: float
    text: str
    confidence: float | None = None
    words: tuple[Word, ...] = ()
    channel: int | None = None
    """With `channels="separate"`."""
    speaker: str | None = None
    """With `diarize`."""


@dataclass(frozen=True)
class Alternative:
    """One reading of a recording, with how likely it is; with `expect` or `choices` also its value."""

    text: str
    confidence: float
    answer: Any = None
    currency: str | None = None


@dataclass(frozen=True)
class Speech:
    audio: bytes
    content_type: str
    charge: Charge

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_bytes(self.audio)


@dataclass(frozen=True)
class TimedSpeech(Speech):
    """Speech, when each word is said, and the words after numbers and abbreviations were spelled out."""

    seconds: float
    normalised_text: str
    words: tuple[Word, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class SpeechPiece:
    """A piece of a stream of events: sound, the words that end in it, and the marks that are reached."""

    audio: bytes
    words: tuple[Word, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ExpectedAnswer:
    """What was said where `expect` or `choices` asked for it.

    `answer` is True or False (`yes_no`), a string of figures (`digits`), a number (`amount`) or the choice as it was
    sent, `currency` the one said with an amount, and `confidence` how likely it is that this was said, 0 to 1. `not_understood`:
    somebody spoke, but nothing that was expected.
    """

    answer: bool | int | float | str | None = None
    currency: str | None = None
    confidence: float | None = None
    not_understood: bool = False


@dataclass(frozen=True)
class Transcript(ExpectedAnswer):
    text: str
    seconds: float
    no_speech: bool
    segments: tuple[Segment, ...]
    words: tuple[Word, ...]
    charge: Charge
    alternatives: tuple[Alternative, ...] = ()
    """With `alternatives`, best first."""


@dataclass(frozen=True)
class TranscriptPiece(ExpectedAnswer):
    """A piece of a streamed transcript; the last one has `is_last`, the whole text, and what it cost."""

    text: str
    start: float = 0.0
    end: float = 0.0
    is_last: bool = False
    seconds: float = 0.0
    cost_micro: int = 0
    balance_micro: int = 0


@dataclass(frozen=True)
class Partial:
    """What was heard so far of a sentence that still runs; the next one replaces it."""

    text: str
    channel: int | None = None


@dataclass(frozen=True)
class NotUnderstood:
    """Somebody spoke, but said nothing of what was expected."""


@dataclass(frozen=True)
class Final(ExpectedAnswer):
    """A sentence that is done. `is_last` has the whole text, and what it cost."""

    text: str
    segment: Segment | None = None
    is_last: bool = False
    seconds: float = 0.0
    cost_micro: int = 0
    balance_micro: int = 0


@dataclass(frozen=True)
class Voice:
    voice_id: str
    name: str
    language: str
    locale: str
    gender: str
    description: str
    sample_rate: int
    preview_url: str
    model_version: str
    licence: str
    quality: dict[str, Any]


@dataclass(frozen=True)
class Quote:
    operation: str
    units: int
    cost_micro: int
    currency: str
    balance_micro: int
    covered: bool
    cached_cost_micro: int | None = None


@dataclass(frozen=True)
class Balance:
    currency: str
    available_micro: int
    reserved_micro: int


@dataclass(frozen=True)
class Usage:
    """One day of one operation with one key."""

    day: str
    operation: str
    requests: int
    cached_requests: int
    units: int
    audio_seconds: float
    amount_micro: int
    key_id: str | None = None


@dataclass(frozen=True)
class Limits:
    text_characters_max: int
    file_bytes_max: int
    recording_seconds_max: int
    requests_per_minute: int
    concurrent_requests: int
    audio_seconds_per_minute: int
    request_seconds_max: int
    speed_min: float
    speed_max: float
    output_formats: list[str]
    prices: dict[str, Any]
    pitch_min: float = 0.0
    pitch_max: float = 0.0
    volume_min: float = 0.0
    volume_max: float = 0.0
