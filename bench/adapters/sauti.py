"""Sauti itself, as its callers see it: the release program behind HTTP on a local port.

`SAUTI_BINARY` names the program; else it is built from this checkout.
"""

import io
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
import uuid
import wave
from pathlib import Path

import numpy as np

from adapters import Peer, packages

PACKAGES = ()
STREAM_RATE_HZ = 24_000
START_SECONDS_MAX = 60
SETTINGS = {
    "SAUTI_LIMITS__REQUESTS_PER_MINUTE": "1000000",
    "SAUTI_LIMITS__CONCURRENT_REQUESTS": "1000",
    "SAUTI_ENGINE__TENANT_QUEUE_MAX": "256",
    "SAUTI_TELEMETRY__LOG_LEVEL": "warn",
    # What was spoken before must be spoken again: we measure speaking.
    "SAUTI_CACHE__BYTES_MAX": "0",
}


class Sauti(Peer):
    name = "sauti"
    parallel = 64

    def __init__(self, threads=1):
        program = packages.release_program()
        self.version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.folder = tempfile.TemporaryDirectory(prefix="sauti-bench-")
        self.log = (Path(self.folder.name) / "log").open("w")
        settings = {**SETTINGS, "SAUTI_ENGINE__WORKERS": str(threads), "SAUTI_MODELS": str(packages.ROOT / "models")}
        self.server = subprocess.Popen(
            [program, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", f"{self.folder.name}/data"],
            env=os.environ | settings, cwd=self.folder.name, stdout=self.log, stderr=subprocess.STDOUT,
        )
        shown = self.wait_for_the_key()
        self.url = re.search(r"http://[\d.]+:\d+", shown)[0]
        self.headers = {"Authorization": f"Bearer {re.search(r'sauti_[a-z]+_[A-Za-z0-9]+_[A-Za-z0-9]+', shown)[0]}"}
        credit = [program, "workspace", "credit", re.search(r"ws_\w+", shown)[0], "1000000", "--data", f"{self.folder.name}/data"]
        subprocess.run(credit, check=True, cwd=self.folder.name, stdout=subprocess.DEVNULL)

    def wait_for_the_key(self):
        give_up = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < give_up:
            shown = Path(self.log.name).read_text()
            if "-F file=@" in shown:
                return shown
            if self.server.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"the server did not start:\n{Path(self.log.name).read_text()[-2000:]}")

    def describe(self):
        return f"Sauti {self.version}, models of this checkout, over HTTP on the same cores"

    def pids(self):
        return [self.server.pid]

    def post(self, path, body, content_type):
        request = urllib.request.Request(self.url + path, body, {**self.headers, "Content-Type": content_type})
        return urllib.request.urlopen(request, timeout=600)

    def close(self):
        self.server.terminate()
        try:
            self.server.wait(30)
        except subprocess.TimeoutExpired:
            self.server.kill()
        self.log.close()
        self.folder.cleanup()


class SautiRecogniser(Sauti):
    def transcribe(self, samples):
        sound = io.BytesIO()
        with wave.open(sound, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.wav"\r\nContent-Type: audio/wav\r\n\r\n'
        body = head.encode() + sound.getvalue() + f"\r\n--{boundary}--\r\n".encode()
        with self.post("/v1/audio/transcriptions", body, f"multipart/form-data; boundary={boundary}") as answer:
            return json.load(answer)["text"]


class SautiVoice(Sauti):
    rate_hz = STREAM_RATE_HZ

    def __init__(self, threads=1, voice="asha"):
        super().__init__(threads)
        self.voice = voice

    def describe(self):
        return f"{super().describe()}, voice {self.voice}"

    def speak(self, text):
        body = json.dumps({"text": text, "voice_id": self.voice, "output_format": "pcm_24000", "stream": "audio"}).encode()
        with self.post("/v1/audio/speech", body, "application/json") as answer:
            rest = b""
            while piece := answer.read1(65_536):
                sound, rest = rest + piece, b""
                if len(sound) % 2:
                    sound, rest = sound[:-1], sound[-1:]
                if sound:
                    yield np.frombuffer(sound, "<i2").astype(np.float32) / 32768
