"""Other people's speech programs and Sauti behind one shape, so that a bench can run them on the same input.

A recogniser has `transcribe(samples) -> text` (mono float32 at 16 kHz); a voice has `speak(text)`, which yields pieces
of sound (mono float32) as they are ready, and `rate_hz`. Both tell the packages they stand on (`describe`), how many
calls run at once (`parallel`) and which processes do the work (`pids`), so that memory and processor time can be read.

Each peer runs in a process of its own: `adapters.measure` starts `adapters.worker` there, pinned to the cores asked for.
Weights come from the package registries alone; `adapters.packages` fetches them into bench/work, and `SAUTI_BENCH_WORK`
names another folder.
"""

import importlib

# name -> module:class. Imported only inside the worker that runs it.
RECOGNISERS = {
    "sauti": "adapters.sauti:SautiRecogniser",
    "faster-whisper": "adapters.faster_whisper_peer:FasterWhisper",
    "whisper.cpp": "adapters.whisper_cpp_peer:WhisperCpp",
}
VOICES = {
    "sauti": "adapters.sauti:SautiVoice",
    "piper": "adapters.piper_peer:Piper",
    "espeak-ng": "adapters.espeak_peer:Espeak",
    "kokoro": "adapters.kokoro_peer:Kokoro",
    "sherpa-onnx": "adapters.sherpa_peer:Sherpa",
}


def make(table, name, threads):
    module, class_name = table[name].split(":")
    return getattr(importlib.import_module(module), class_name)(threads=threads)


class Peer:
    """What every adapter has."""

    name = ""
    # How many calls may run at the same time without harming each other.
    parallel = 1

    def describe(self):
        """Package, version and weights, for the table's foot."""
        raise NotImplementedError

    def pids(self):
        """The processes that do the work; this one unless the adapter starts others."""
        import os

        return [os.getpid()]

    def close(self):
        pass
