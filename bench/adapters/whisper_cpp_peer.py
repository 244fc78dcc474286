"""whisper.cpp through pywhispercpp: Whisper small in q8_0, Swahili forced, beam of five."""

import re
import struct
from importlib.metadata import version

import numpy as np

from adapters import Peer, packages, whisper_weights

PACKAGES = ("pywhispercpp", "faster-whisper", "onnx")
MAGIC = 0x67676D6C
FLOAT, HALF, Q8_0 = 0, 1, 8
# whisper.cpp's number for "mostly q8_0", with the version of its quantisation a thousand times over.
FILE_TYPE_Q8_0 = 2 * 1000 + 7
BLOCK = 32


class WhisperCpp(Peer):
    name = "whisper.cpp"

    def __init__(self, threads=1, beam=5):
        from pywhispercpp.model import Model

        path = packages.built_once(packages.WORK / "models/whisper-small-q8_0.bin", write_model)
        self.beam = beam
        self.model = Model(str(path), n_threads=threads, language="sw", params_sampling_strategy=1,
                           beam_search={"beam_size": beam, "patience": -1.0}, redirect_whispercpp_logs_to=None,
                           print_progress=False, print_realtime=False)

    def describe(self):
        return f"pywhispercpp {version('pywhispercpp')}, q8_0, beam {self.beam}; {whisper_weights.LABEL}"

    def transcribe(self, samples):
        return " ".join(segment.text.strip() for segment in self.model.transcribe(np.asarray(samples, np.float32)))


def write_model(path):
    """The same weights in whisper.cpp's own format: header, mel filters, tokens, tensors."""
    config = whisper_weights.read_json("config.json")
    with path.open("wb") as file:
        write_header(file, config)
        write_filters(file, config["num_mel_bins"])
        write_tokens(file)
        for name, array in whisper_weights.load().items():
            if name in whisper_weights.expected():
                write_tensor(file, ggml_name(name), array)


def write_header(file, config):
    width, heads, layers = config["d_model"], config["encoder_attention_heads"], config["encoder_layers"]
    audio = (config["max_source_positions"], width, heads, layers)
    text = (config["max_target_positions"], width, config["decoder_attention_heads"], config["decoder_layers"])
    file.write(struct.pack("12i", MAGIC, config["vocab_size"], *audio, *text, config["num_mel_bins"], FILE_TYPE_Q8_0))


def write_filters(file, bands):
    from faster_whisper.feature_extractor import FeatureExtractor

    filters = np.asarray(FeatureExtractor.get_mel_filters(16_000, 400, bands), np.float32)
    if filters.shape != (bands, 201):
        raise ValueError(f"mel filters of shape {filters.shape}")
    file.write(struct.pack("2i", *filters.shape) + filters.tobytes())


def write_tokens(file):
    """Only the words: whisper.cpp knows the special tokens by their numbers."""
    to_byte = {character: byte for byte, character in byte_characters().items()}
    words = whisper_weights.vocabulary()[: whisper_weights.read_json("config.json")["eos_token_id"]]
    file.write(struct.pack("i", len(words)))
    for word in words:
        data = bytes(to_byte[character] for character in word)
        file.write(struct.pack("i", len(data)) + data)


def byte_characters():
    """GPT-2's printable character for every byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + place) for place, byte in enumerate(others)}


NAMES = [
    (r"layers\.", "blocks."), (r"self_attn_layer_norm", "attn_ln"), (r"encoder_attn_layer_norm", "cross_attn_ln"),
    (r"self_attn", "attn"), (r"encoder_attn", "cross_attn"), (r"q_proj", "query"), (r"k_proj", "key"), (r"v_proj", "value"),
    (r"out_proj", "out"), (r"fc1", "mlp.0"), (r"fc2", "mlp.2"), (r"final_layer_norm", "mlp_ln"),
    (r"encoder\.layer_norm", "encoder.ln_post"), (r"decoder\.layer_norm", "decoder.ln"),
    (r"embed_positions\.weight", "positional_embedding"), (r"embed_tokens", "token_embedding"),
]


def ggml_name(name):
    name = name.removeprefix("model.")
    for pattern, replacement in NAMES:
        name = re.sub(pattern, replacement, name)
    return name


def write_tensor(file, name, array):
    if re.fullmatch(r"encoder\.conv\d\.bias", name):
        array = array.reshape(-1, 1)
    kind = FLOAT
    if array.ndim == 3:
        kind = HALF
    elif array.ndim == 2 and name.endswith(".weight"):
        kind = Q8_0
    data = {FLOAT: lambda: array.tobytes(), HALF: lambda: array.astype(np.float16).tobytes(), Q8_0: lambda: q8_0(array)}[kind]()
    label = name.encode()
    file.write(struct.pack("3i", array.ndim, len(label), kind))
    file.write(struct.pack(f"{array.ndim}i", *reversed(array.shape)) + label + data)


def q8_0(array):
    """Blocks of 32 values: a half-precision scale, then the values as signed bytes."""
    blocks = array.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    whole = np.round(np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0)).astype(np.int8)
    return np.concatenate([scale.astype(np.float16).view(np.int8), whole], axis=1).tobytes()
