"""The client: one method for each thing the service does."""

from __future__ import annotations

import base64
import json
import os
import time
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Callable

from .forms import Recording, events, multipart, pieces, read_recording
from .live import LiveTranscription
from .models import (
    Alternative, Balance, Charge, Limits, Mark, Quote, Segment, Speech, SpeechPiece, TimedSpeech, Transcript, TranscriptPiece, Usage, Voice, Word, expected_answer,
    read,
)
from .transport import Answer, Transport

JSON = "application/json"


class Sauti:
    """A connection to the service; safe to share between threads.

    `url` and `key` may stand in the variables SAUTI_URL and SAUTI_KEY. Requests that fail in passing are tried again up
    to `retries_max` times, after as long as the service asks; an idempotency key makes sure that none is charged twice.
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout_s: float = 120.0, retries_max: int = 4,
        language: str | None = None, sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = url or os.environ.get("SAUTI_URL") or "http://127.0.0.1:8080"
        key = key or os.environ.get("SAUTI_KEY")
        if not key:
            raise ValueError("no key: give one, or set SAUTI_KEY")
        self.transport = Transport(url, key, timeout_s, retries_max, language, sleep)

    def __enter__(self) -> Sauti:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.transport.close()

    # Speech

    def speak(
        self, text: str, voice_id: str, *, output_format: str = "wav_24000", speed: float = 1.0, pitch: float = 0.0,
        volume: float = 0.0, ssml: bool | None = None, language: str | None = None, idempotency_key: str | None = None,
    ) -> Speech:
        """Speaks a text; `pitch` in semitones, `volume` in decibels. The same `idempotency_key` again gives the same answer and costs nothing more."""
        body = speech_body(text, voice_id, output_format, speed, pitch, volume, ssml, language)
        answer = self.post("/v1/audio/speech", json.dumps(body).encode(), JSON, idempotency_key)
        return Speech(answer.body, answer.headers["content-type"], Charge.of(answer.headers))

    def speak_timed(
        self, text: str, voice_id: str, *, output_format: str = "wav_24000", speed: float = 1.0, pitch: float = 0.0,
        volume: float = 0.0, ssml: bool | None = None, language: str | None = None, idempotency_key: str | None = None,
    ) -> TimedSpeech:
        """Speaks a text and tells when each word is said and each mark of SSML is reached."""
        body = {**speech_body(text, voice_id, output_format, speed, pitch, volume, ssml, language), "timestamps": True}
        answer = self.post("/v1/audio/speech", json.dumps(body).encode(), JSON, idempotency_key)
        told = answer.json()
        words = tuple(read(Word, word) for word in told["words"])
        marks = tuple(read(Mark, mark) for mark in told.get("marks", []))
        return TimedSpeech(
            base64.b64decode(told["audio"]), told["content_type"], Charge.of(answer.headers), told["seconds"], told["normalised_text"], words, marks
        )

    def speak_stream(
        self, text: str, voice_id: str, *, output_format: str = "pcm_24000", speed: float = 1.0, pitch: float = 0.0,
        volume: float = 0.0, ssml: bool | None = None, language: str | None = None,
    ) -> Iterator[bytes]:
        """The sound while it is made. Raises StreamBroken where it ends too early."""
        body = {**speech_body(text, voice_id, output_format, speed, pitch, volume, ssml, language), "stream": "audio"}
        answer = self.transport.stream("POST", "/v1/audio/speech", json.dumps(body).encode(), {"Content-Type": JSON})
        return pieces(answer, 65_536)

    def speak_events(
        self, text: str, voice_id: str, *, output_format: str = "pcm_24000", speed: float = 1.0, pitch: float = 0.0,
        volume: float = 0.0, ssml: bool | None = None, language: str | None = None,
    ) -> Iterator[SpeechPiece]:
        """The sound while it is made, with the words in it and their times."""
        body = {**speech_body(text, voice_id, output_format, speed, pitch, volume, ssml, language), "stream": "sse", "timestamps": True}
        answer = self.transport.stream("POST", "/v1/audio/speech", json.dumps(body).encode(), {"Content-Type": JSON})
        for event in events(answer, "speech.audio.done"):
            if event["type"] == "speech.audio.delta":
                words = tuple(read(Word, word) for word in event.get("words", []))
                yield SpeechPiece(base64.b64decode(event["audio"]), words, tuple(read(Mark, mark) for mark in event.get("marks", [])))

    # Transcription

    def transcribe(
        self, recording: Recording, *, name: str | None = None, content_type: str = "application/octet-stream", words: bool = False,
        keyterms: Sequence[str] = (), numerals: str | None = None, expect: str | None = None, choices: Sequence[str] = (),
        language: str | None = None, prompt: str | None = None, channels: str | None = None, diarize: bool = False,
        vocabulary: str | None = None, alternatives: int = 0, idempotency_key: str | None = None,
    ) -> Transcript:
        """Transcribes a recording: bytes, a path or an open file. `language` (`sw`, `en`) where it is known, `prompt` what it is about;
        `channels="separate"` hears the two sides of a call each for itself, `diarize` tells people apart, `vocabulary` names one of the
        workspace, `alternatives` asks for so many readings."""
        lists = {"timestamp_granularities[]": ["segment", "word"] if words else ["segment"], "keyterms[]": keyterms, "choices[]": choices}
        body, form = upload(
            recording, name, content_type, lists, response_format="verbose_json", numerals=numerals, expect=expect, language=language,
            prompt=prompt, channels=channels, diarize=diarize, vocabulary=vocabulary, alternatives=alternatives,
        )
        answer = self.post("/v1/audio/transcriptions", body, form, idempotency_key)
        told = answer.json()
        return Transcript(
            told["text"], told["duration"], told["no_speech"], tuple(read(Segment, each) for each in told.get("segments") or ()),
            tuple(read(Word, each) for each in told.get("words") or ()), Charge.of(answer.headers),
            tuple(read(Alternative, each) for each in told.get("alternatives") or ()), **expected_answer(told),
        )

    def subtitles(
        self, recording: Recording, kind: str = "srt", *, name: str | None = None, content_type: str = "application/octet-stream",
        keyterms: Sequence[str] = (), numerals: str | None = None, language: str | None = None, prompt: str | None = None,
        channels: str | None = None, channel_names: Sequence[str] = (), diarize: bool = False, vocabulary: str | None = None,
        idempotency_key: str | None = None,
    ) -> str:
        """Subtitles of a recording, as `srt` or `vtt`. With `channels="separate"` or `diarize` they name who speaks."""
        body, form = upload(
            recording, name, content_type, {"channel_names[]": channel_names, "keyterms[]": keyterms}, response_format=kind, numerals=numerals,
            language=language, prompt=prompt, channels=channels, diarize=diarize, vocabulary=vocabulary,
        )
        return self.post("/v1/audio/transcriptions", body, form, idempotency_key).body.decode()

    def transcribe_stream(
        self, recording: Recording, *, name: str | None = None, content_type: str = "application/octet-stream",
        keyterms: Sequence[str] = (), numerals: str | None = None, expect: str | None = None, choices: Sequence[str] = (),
        language: str | None = None, prompt: str | None = None, channels: str | None = None, diarize: bool = False,
        vocabulary: str | None = None,
    ) -> Iterator[TranscriptPiece]:
        """The text segment by segment while the recording is heard; the last piece has the whole."""
        body, form = upload(
            recording, name, content_type, {"keyterms[]": keyterms, "choices[]": choices}, stream=True, numerals=numerals, expect=expect,
            language=language, prompt=prompt, channels=channels, diarize=diarize, vocabulary=vocabulary,
        )
        answer = self.transport.stream("POST", "/v1/audio/transcriptions", body, {"Content-Type": form})
        for event in events(answer, "transcript.text.done"):
            if event["type"] == "transcript.text.delta":
                yield TranscriptPiece(event["delta"], event["start"], event["end"])
            elif event["type"] == "transcript.text.done":
                usage = event["usage"]
                yield TranscriptPiece(
                    event["text"], is_last=True, seconds=usage["seconds"], cost_micro=usage["cost_micro"],
                    balance_micro=usage["balance_micro"], **expected_answer(event),
                )

    def live(
        self, rate_hz: int = 16_000, *, numerals: str | None = None, expect: str | None = None, keyterms: Sequence[str] = (),
        choices: Sequence[str] = (), language: str | None = None, prompt: str | None = None, encoding: str | None = None,
        channels: str | None = None, vocabulary: str | None = None, alternatives: int = 0,
    ) -> LiveTranscription:
        """Hears while somebody speaks; see LiveTranscription. G.711 (`encoding="ulaw"` or `"alaw"`) comes at 8000 samples a second."""
        rate = None if encoding in ("ulaw", "alaw") else str(rate_hz)
        query = {
            "encoding": encoding, "rate": rate, "numerals": numerals, "expect": expect, "keyterms[]": keyterms, "choices[]": choices,
            "language": language, "prompt": prompt, "channels": channels, "vocabulary": vocabulary, "alternatives": alternatives,
        }
        given = {name: value for name, value in query.items() if value}
        path = "/v1/audio/transcriptions/live?" + urllib.parse.urlencode(given, doseq=True)
        return LiveTranscription(self.transport.parts, path, self.transport.headers, self.transport.timeout_s)

    # The rest

    def voices(self) -> list[Voice]:
        return [read(Voice, voice) for voice in self.get("/v1/voices")["voices"]]

    def limits(self) -> Limits:
        return read(Limits, self.get("/v1/limits"))

    def quote(
        self, *, text: str | None = None, ssml: bool | None = None, language: str | None = None, audio_seconds: float | None = None,
        channels: str | None = None,
    ) -> Quote:
        """What a text or so many seconds would cost. A text is counted as it is read: say `language` and `ssml` as for speech."""
        asked = {"audio_seconds": audio_seconds, "channels": channels}
        if text is not None:
            asked = {name: value for name, value in (("text", text), ("ssml", ssml), ("language", language)) if value is not None}
        answer = self.transport.request("POST", "/v1/quotes", json.dumps(asked).encode(), {"Content-Type": JSON})
        return read(Quote, answer.json())

    def balance(self) -> Balance:
        return read(Balance, self.get("/v1/balance"))

    def usage(self, first_day: str | None = None, last_day: str | None = None) -> list[Usage]:
        """By day, operation and key; days as 2026-01-31, the last 30 where none is given."""
        query = {name: value for name, value in (("from", first_day), ("to", last_day)) if value}
        told = self.get("/v1/usage" + ("?" + urllib.parse.urlencode(query) if query else ""))
        return [read(Usage, day) for day in told["days"]]

    def get(self, path: str) -> Any:
        return self.transport.request("GET", path).json()

    def post(self, path: str, body: bytes, content_type: str, idempotency_key: str | None) -> Answer:
        headers = {"Content-Type": content_type, "Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        return self.transport.request("POST", path, body, headers)


def upload(
    recording: Recording, name: str | None, content_type: str, lists: Mapping[str, Sequence[str]], **fields: str | int | None
) -> tuple[bytes, str]:
    """The form and its content type; what is absent or false is left out."""
    data, name = read_recording(recording, name)
    told = [(field, "true" if value is True else str(value)) for field, value in fields.items() if value]
    told += [(field, value) for field, values in lists.items() for value in values]
    return multipart(data, name, content_type, told)


def speech_body(
    text: str, voice_id: str, output_format: str, speed: float, pitch: float, volume: float, ssml: bool | None, language: str | None
) -> dict[str, Any]:
    body: dict[str, Any] = {"text": text, "voice_id": voice_id, "output_format": output_format, "speed": speed}
    body |= {name: value for name, value in (("pitch", pitch), ("volume", volume)) if value}
    return body | {name: value for name, value in (("ssml", ssml), ("language", language)) if value is not None}

