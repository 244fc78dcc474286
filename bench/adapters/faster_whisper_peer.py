"""faster-whisper (CTranslate2): Whisper small in int8, Swahili forced, beam of five as it comes."""

import json
import shutil
from importlib.metadata import version

import numpy as np

from adapters import Peer, packages, whisper_weights

PACKAGES = ("faster-whisper", "onnx")


class FasterWhisper(Peer):
    name = "faster-whisper"

    def __init__(self, threads=1, beam=5):
        from faster_whisper import WhisperModel

        folder = packages.built_once(packages.WORK / "models/whisper-small-ct2", write_model)
        # Of several cores, each hears a clip of its own: that carries more than all on one clip.
        self.parallel, self.beam = threads, beam
        self.model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=threads)

    def describe(self):
        return f"faster-whisper {version('faster-whisper')}, CTranslate2 {version('ctranslate2')} int8, beam {self.beam}; {whisper_weights.LABEL}"

    def transcribe(self, samples):
        segments, _ = self.model.transcribe(samples, language="sw", task="transcribe", beam_size=self.beam)
        return " ".join(segment.text.strip() for segment in segments)


def write_model(folder):
    """The same weights as a CTranslate2 model."""
    from ctranslate2.specs import WhisperSpec

    state = {name.removeprefix("model."): array for name, array in whisper_weights.load().items()}
    layers, heads = whisper_weights.LAYERS, whisper_weights.HEADS
    spec = WhisperSpec(layers, heads, layers, heads)
    for convolution in ("conv1", "conv2"):
        part = getattr(spec.encoder, convolution)
        part.weight, part.bias = state[f"encoder.{convolution}.weight"], state[f"encoder.{convolution}.bias"]
    for side, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        part.position_encodings.encodings = state[f"{side}.embed_positions.weight"]
        norm(part.layer_norm, state, f"{side}.layer_norm")
        for number, layer in enumerate(part.layer):
            fill_layer(layer, state, f"{side}.layers.{number}", has_cross=side == "decoder")
    spec.decoder.embeddings.weight = state["decoder.embed_tokens.weight"]
    spec.decoder.projection.weight = state["decoder.embed_tokens.weight"]
    generation = whisper_weights.read_json("generation_config.json")
    spec.config.suppress_ids = generation["suppress_tokens"]
    spec.config.suppress_ids_begin = generation["begin_suppress_tokens"]
    spec.config.lang_ids = sorted(generation["lang_to_id"].values())
    spec.config.alignment_heads = generation["alignment_heads"]
    spec.register_vocabulary(whisper_weights.vocabulary())
    spec.validate()
    spec.optimize(quantization="int8")
    folder.mkdir()
    spec.save(str(folder))
    for file in ("tokenizer.json", "preprocessor_config.json"):
        shutil.copy(whisper_weights.folder() / file, folder / file)
    if json.loads((folder / "config.json").read_text())["lang_ids"] != spec.config.lang_ids:
        raise ValueError("the model was not written as meant")


def fill_layer(layer, state, name, has_cross):
    zeros = np.zeros(whisper_weights.WIDTH, np.float32)

    def weights(attention, parts):
        prefix = f"{name}.{attention}"
        return (np.concatenate([state[f"{prefix}.{part}_proj.weight"] for part in parts]),
                np.concatenate([state.get(f"{prefix}.{part}_proj.bias", zeros) for part in parts]))

    own = layer.self_attention
    own.linear[0].weight, own.linear[0].bias = weights("self_attn", "qkv")
    own.linear[1].weight, own.linear[1].bias = weights("self_attn", ["out"])
    norm(own.layer_norm, state, f"{name}.self_attn_layer_norm")
    if has_cross:
        cross = layer.attention
        cross.linear[0].weight, cross.linear[0].bias = weights("encoder_attn", "q")
        cross.linear[1].weight, cross.linear[1].bias = weights("encoder_attn", "kv")
        cross.linear[2].weight, cross.linear[2].bias = weights("encoder_attn", ["out"])
        norm(cross.layer_norm, state, f"{name}.encoder_attn_layer_norm")
    layer.ffn.linear_0.weight, layer.ffn.linear_0.bias = state[f"{name}.fc1.weight"], state[f"{name}.fc1.bias"]
    layer.ffn.linear_1.weight, layer.ffn.linear_1.bias = state[f"{name}.fc2.weight"], state[f"{name}.fc2.bias"]
    norm(layer.ffn.layer_norm, state, f"{name}.final_layer_norm")


def norm(spec, state, name):
    spec.gamma, spec.beta = state[f"{name}.weight"], state[f"{name}.bias"]
