"""Callers of the cluster who do what a sane client does: they send the same request with the same key to another replica until it
is answered, and write everything down."""

import http.client
import itertools
import json
import socket
import threading
import time
from dataclasses import dataclass, field

ATTEMPT_SECONDS_MAX = 10
PAUSE_SECONDS_MAX = 2.0


@dataclass
class Ask:
    """One thing that was wanted."""

    name: str
    kind: str
    begun: float
    answered: float | None = None
    cost_micro: int = 0
    answer: bytes = b""
    replayed: bool = False
    wrong: str = ""


@dataclass
class Attempt:
    ended: float
    kind: str
    outcome: str


@dataclass
class Load:
    replicas: list
    key: str
    wav: bytes = b""
    asks: list = field(default_factory=list)
    attempts: list = field(default_factory=list)

    def __post_init__(self):
        self.stopping = threading.Event()
        self.giving_up = threading.Event()
        self.numbers = itertools.count(1)
        self.threads = []

    def start(self, speakers, listeners):
        workers = [(self.speak, 0.15)] * speakers + [(self.listen, 0.5)] * listeners + [(self.order, 4.0)]
        for place, (work, pause) in enumerate(workers):
            thread = threading.Thread(target=self.repeat, args=(work, pause, place), daemon=True)
            self.threads.append(thread)
            thread.start()

    def repeat(self, work, pause, place):
        while not self.stopping.is_set():
            begun = time.monotonic()
            work(place)
            # On a slow machine they ask more rarely: this is no test of overload.
            self.stopping.wait(max(pause, min(time.monotonic() - begun, PAUSE_SECONDS_MAX)))

    def stop(self, seconds=180):
        """No new asks; those that were begun are answered, or the proof has failed."""
        self.stopping.set()
        give_up = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0.0, give_up - time.monotonic()))
        self.giving_up.set()
        for thread in self.threads:
            thread.join(2 * ATTEMPT_SECONDS_MAX)

    def speak(self, place):
        number = next(self.numbers)
        body = json.dumps({"text": f"Namba {number}, tafadhali.", "voice_id": "asha", "output_format": "wav_8000"})
        answer = self.ask("speech", "/v1/audio/speech", body.encode(), "application/json", number, place)
        if answer.answered and not answer.wrong and answer.answer[:4] != b"RIFF":
            answer.wrong = "not a WAV file"
        answer.answer = b""
        return answer

    def listen(self, place):
        kind, body = form([("a.wav", self.wav)])
        answer = self.ask("transcription", "/v1/audio/transcriptions", body, kind, next(self.numbers), place)
        if answer.answered and not answer.wrong and not json.loads(answer.answer).get("text"):
            answer.wrong = "no text"

    def order(self, place):
        number = next(self.numbers)
        if number % 2:
            kind, body = form([(f"{n}.wav", self.wav) for n in range(3)])
        else:
            texts = [{"custom_id": str(n), "text": f"Foleni {number}, mteja {n}."} for n in range(8)]
            defaults = {"voice_id": "juma", "output_format": "wav_8000"}
            kind, body = "application/json", json.dumps({"operation": "speech", "items": texts, "defaults": defaults}).encode()
        self.ask("batch", "/v1/batches", body, kind, number, place)

    def ask(self, kind, path, body, content_type, number, place):
        wanted = Ask(f"ask-{number}", kind, time.monotonic())
        self.asks.append(wanted)
        headers = {
            "Authorization": f"Bearer {self.key}", "Content-Type": content_type,
            # The statement shows it, so every charge can be laid beside the ask it was for.
            "Idempotency-Key": wanted.name, "X-Request-Id": wanted.name,
        }
        pause = 0.1
        for turn in itertools.count(place):
            replica = self.replicas[turn % len(self.replicas)]
            try:
                status, sent, answer = request(replica.address, replica.port, "POST", path, body, headers)
                outcome = str(status)
            except (OSError, http.client.HTTPException) as error:
                status, outcome = 0, name_of(error)
            self.attempts.append(Attempt(time.monotonic(), kind, outcome))
            if status in (200, 201):
                wanted.answered, wanted.answer = time.monotonic(), answer
                wanted.cost_micro = int(sent.get("sauti-cost", 0))
                wanted.replayed = sent.get("idempotency-replayed") == "true"
                return wanted
            if status and status not in (409, 429, 500, 502, 503, 504):
                wanted.wrong = f"{status} {answer[:200]}"
                return wanted
            if self.giving_up.wait(pause):
                return wanted
            pause = min(2 * pause, PAUSE_SECONDS_MAX)

    def get(self, path):
        """From whichever replica answers first."""
        for replica in itertools.cycle(self.replicas):
            try:
                status, _, answer = request(replica.address, replica.port, "GET", path, None, {"Authorization": f"Bearer {self.key}"})
            except (OSError, http.client.HTTPException):
                status = 0
            if status == 200:
                return answer
            time.sleep(0.2)


def name_of(error):
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "no answer"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    return "broken off"


def request(address, port, method, path, body, headers):
    connection = http.client.HTTPConnection(address, port, timeout=ATTEMPT_SECONDS_MAX)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        # Raises when it is shorter than it was said to be.
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def form(files):
    parts = [f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + bytes_ + b"\r\n" for name, bytes_ in files]
    return "multipart/form-data; boundary=b", b"".join(parts) + b"--b--\r\n"
