"""Weights back out of an export: a checkpoint that training, rhythm.py and export.py can read.

    python restore.py --export ../../models/voices/voices.safetensors --out restored16.pt
    python restore.py ... --energy 0.2 0.1 0.65 0.65 --brightness 1.2 --english config.json    to go on training

What export.py folds stays folded (one table of scale and shift for each voice, int8 steps), so the
checkpoint speaks as the service does. A voice's own bias of the contour is written as `fo.bias.voices`. To go on training, name the
tone that export.py was given: it is taken out, and one bias is left. `--english` gives weights of Swahili voices a start in English.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np
import torch

from model import BINS, SPEAKER_WIDTH, WINDOW
from symbols import table_from, with_english_sounds

BORN = 0.02  # root mean square of a matrix's weights


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    kinds = {"I8": np.int8, "F32": np.float32}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[first:last], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def restored(tensors: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    state = {}
    count = lambda prefix: len({name[len(prefix) :].split(".")[0] for name in tensors if name.startswith(prefix)})
    voices = len(tensors["contour.output.bias"])

    def linear(name, to):
        state[f"{to}.weight"] = (tensors[f"{name}.codes"].astype(np.float32) * tensors[f"{name}.scale"]).T
        state[f"{to}.bias"] = tensors[f"{name}.bias"]

    def block(name, to, spoken_by_voice):
        state[f"{to}.w.weight"], state[f"{to}.w.bias"] = tensors[f"{name}.conv"].T[:, None], tensors[f"{name}.conv_bias"]
        scale, shift = tensors[f"{name}.norm_scale"], tensors[f"{name}.norm_shift"]
        if spoken_by_voice:
            # Voice i's embedding is the i-th unit vector: column i holds its table.
            weight = np.zeros((2 * scale.shape[1], SPEAKER_WIDTH), np.float32)
            weight[:, :voices] = np.concatenate([scale - 1.0, shift], 1).T
            state[f"{to}.c.weight"], state[f"{to}.c.bias"] = weight, np.zeros(len(weight), np.float32)
        else:
            state[f"{to}.n.weight"], state[f"{to}.n.bias"] = scale[0], shift[0]
        linear(f"{name}.expand", f"{to}.a")
        linear(f"{name}.reduce", f"{to}.b")
        # The gain anew, so that the matrix has the size that training begins with.
        gain = np.sqrt((state[f"{to}.b.weight"] ** 2).mean(1)) / BORN
        state[f"{to}.g"] = gain
        state[f"{to}.b.weight"], state[f"{to}.b.bias"] = state[f"{to}.b.weight"] / gain[:, None], state[f"{to}.b.bias"] / gain

    for name, to in (("content", "te"), ("prosody", "pt")):
        state[f"{to}.e.weight"] = tensors[f"{name}.embedding"]
        for i in range(count(f"{name}.block.")):
            block(f"{name}.block.{i}", f"{to}.cb.{i}", False)
        for i in range(count(f"{name}.attention.")):
            part = f"{name}.attention.{i}"
            state[f"{to}.at.{i}.n.weight"], state[f"{to}.at.{i}.n.bias"] = tensors[f"{part}.norm_scale"][0], tensors[f"{part}.norm_shift"][0]
            linear(f"{part}.query_key_value", f"{to}.at.{i}.q")
            linear(f"{part}.merge", f"{to}.at.{i}.o")
    for name, to in (("duration", "db"), ("contour", "fb"), ("decoder", "dec")):
        for i in range(count(f"{name}.block.")):
            block(f"{name}.block.{i}", f"{to}.{i}", True)
    for name, to in (("contour.input", "fi"), ("decoder.input", "inp")):
        state[f"{to}.weight"] = np.concatenate([tensors[f"{name}.phoneme"], tensors[f"{name}.position"]]).T
        state[f"{to}.bias"] = tensors[f"{name}.bias"]
    state["do.weight"], state["do.bias"] = tensors["duration.output.weight"], tensors["duration.output.bias"].reshape(1)
    state["fo.weight"], state["fo.bias"] = tensors["contour.output.weight"], tensors["contour.output.bias"].mean(0)
    state["fo.bias.voices"] = tensors["contour.output.bias"]
    state["n.weight"], state["n.bias"] = tensors["decoder.norm_scale"][0], tensors["decoder.norm_shift"][0]
    linear("decoder.output", "out")
    unit = np.eye(voices, SPEAKER_WIDTH, dtype=np.float32)
    state["sp.weight"], state["spp.weight"] = unit, unit
    state["win"] = torch.hann_window(WINDOW).numpy()
    return {name: torch.from_numpy(np.array(array, dtype=np.float32)) for name, array in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", type=Path, required=True)
    parser.add_argument("--energy", type=float, nargs="+", help="as export.py was given it")
    parser.add_argument("--brightness", type=float, default=0.0, help="as export.py was given it")
    parser.add_argument("--english", type=Path, help="the teacher's config.json")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    state = restored(read_safetensors(args.export))
    if args.energy:
        biases = state.pop("fo.bias.voices")
        biases[:, 2] -= torch.tensor(args.energy)
        if (biases - biases[0]).abs().max() > 1e-4:
            raise SystemExit("these voices were not exported with this --energy")
        state["fo.bias"] = biases[0]
        state["out.bias"][:BINS] -= torch.linspace(0.0, args.brightness, BINS)
    if args.english:
        state = with_english_sounds(state, table_from(json.loads(args.english.read_text())["vocab"]))
    torch.save(state, args.out)


if __name__ == "__main__":
    main()
