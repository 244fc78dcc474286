"""Read an exported encoder back into weights that training can go on from.

    python restore.py --encoder ../../models/recogniser/encoder.safetensors --out recogniser16.pt

The int8 rounding stays in the weights; a few hundred steps of training wash it out.
"""

import argparse

import numpy as np
import torch
from safetensors.numpy import load_file

from model import LAYERS, POSITIONS, WIDTH, load_recogniser

LINEAR = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "out": "self_attn.out_proj", "fc1": "fc1", "fc2": "fc2"}
NORMS = {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}


def sine_positions() -> np.ndarray:
    rates = np.exp(-np.log(10_000) / (WIDTH // 2 - 1) * np.arange(WIDTH // 2))
    angles = np.arange(POSITIONS)[:, None] * rates[None]
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


def restore(path: str) -> dict[str, torch.Tensor]:
    tensors = load_file(path)

    def linear(name):
        """As `export.Graph.linear` wrote it: inputs by outputs, one scale a column."""
        return tensors[name + ".codes"].astype(np.float32) * tensors[name + ".scale"][None]

    def convolution(matrix):
        """Undoes `export.conv_as_matrix`."""
        return matrix.reshape(3, -1, matrix.shape[1]).transpose(2, 1, 0)

    state = {
        "conv1.weight": convolution(tensors["conv1.weight"]), "conv1.bias": tensors["conv1.bias"],
        "conv2.weight": convolution(linear("conv2")), "conv2.bias": tensors["conv2.bias"],
        "layer_norm.weight": tensors["norm.weight"], "layer_norm.bias": tensors["norm.bias"],
        "head.weight": tensors["head.weight"].T, "head.bias": tensors["head.bias"],
    }
    for n in range(LAYERS):
        for short, long in LINEAR.items():
            state[f"layers.{n}.{long}.weight"] = linear(f"layers.{n}.{short}").T
            if (bias := f"layers.{n}.{short}.bias") in tensors:
                state[f"layers.{n}.{long}.bias"] = tensors[bias]
        for short, long in NORMS.items():
            for part in ("weight", "bias"):
                state[f"layers.{n}.{long}.{part}"] = tensors[f"layers.{n}.{short}.{part}"]
    # The export keeps the positions that a segment can reach; Whisper's go on as sines.
    positions = sine_positions()
    kept = tensors["positions"].reshape(-1, WIDTH)
    if np.abs(positions[: len(kept)] - kept).max() > 1e-2:
        raise SystemExit("the encoder's positions are not Whisper's sines")
    state["embed_positions.weight"] = positions
    state = {k: torch.tensor(np.ascontiguousarray(v)).half() for k, v in state.items()}
    return state | {"halve_after": torch.tensor(int(tensors.get("frames.halve_after", [6])[0]))}


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--encoder", required=True)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    state = restore(args.encoder)
    torch.save(state, args.out)
    load_recogniser(args.out, "cpu")  # every tensor there, every shape right


if __name__ == "__main__":
    main()
