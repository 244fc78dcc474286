"""Writes what the Rust tests compare themselves with.

    python golden.py --checkpoint gen16.pt --vocabulary config.json \
        --out ../../crates/speech/tests/data/voice_golden.safetensors

One short sentence through the float model, and the filter alone fed by a formula.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from export import Exporter, add_contour_options, load_state, write_safetensors
from model import BINS, HOP, Voice, synthesise
from symbols import numbers_of, table_from

PHONEMES = "habˈaɾi, m̩tu wa ᵐbˈili."
SPEAKER = 2
FILTER_FRAMES = 12


def service_noise(count: int) -> torch.Tensor:
    """The generator of crates/speech/src/voice/source.rs: SplitMix64, four numbers summed."""
    mask, state = (1 << 64) - 1, 0x5A07_1500_24C0_FFEE
    values = np.empty(count, np.float32)
    for i in range(count):
        state = (state + 0x9E37_79B9_7F4A_7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & mask
        z ^= z >> 31
        total = sum((z >> (16 * part)) & 0xFFFF for part in range(4))
        values[i] = (total - 131_070) * (1.7320508 / 65_536)
    return torch.from_numpy(values)[None]


@torch.no_grad()
def sentence(model: Voice, symbols: list[int]) -> dict[str, np.ndarray]:
    x, speaker = torch.tensor([symbols]), torch.tensor([SPEAKER])
    mask = torch.ones_like(x, dtype=torch.bool)
    prosody, rhythm = model.pt(x, mask), model.spp(speaker)
    frames = model.log_durations(prosody, rhythm).exp()
    ends = frames.round().clamp(min=1).long().cumsum(1)
    total = int(ends[0, -1])
    contour, _ = model.contour(prosody, ends, total, rhythm)
    speech = model.say(x, speaker, noise=service_noise(total * HOP))
    return {
        "symbols": np.array(symbols, np.float32),
        "frames": frames[0].numpy(),
        "ends": ends[0].numpy().astype(np.float32),
        "contour": contour[0].numpy(),
        "speech": speech[0].numpy(),
    }


@torch.no_grad()
def filtered(model: Voice) -> np.ndarray:
    frame, bin_ = np.arange(FILTER_FRAMES)[:, None], np.arange(BINS)[None]
    parts = [
        -1 - bin_ / 200 + 0 * frame,
        np.sin(bin_ * 0.05 + frame),
        -3 + np.cos(bin_ * 0.01 * frame),
        -4 - bin_ / 100 + 0 * frame,
        3 * np.sin(bin_ * 0.3 + frame * frame),
    ]
    rows = torch.from_numpy(np.concatenate(parts, 1).astype(np.float32))[None]
    hz = torch.arange(FILTER_FRAMES)[None] * 9.0 + 110.0
    voiced = (torch.arange(FILTER_FRAMES)[None] % 5 != 4).float()
    noise = service_noise(FILTER_FRAMES * HOP)
    return synthesise(rows, hz, voiced, noise, torch.zeros(1), model.win)[0].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--prosody", type=Path, help="as for export.py")
    parser.add_argument("--vocabulary", type=Path, required=True)
    add_contour_options(parser)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    model = Voice().eval()
    state = load_state(args.checkpoint, args.prosody)
    exporter = Exporter(state, args.pitch_range, args.pitch_means, args.energy, args.brightness)
    weight, bias = exporter.contour_output()
    state["out.bias"] = torch.from_numpy(exporter.decoder_bias())
    state["fo.weight"], state["fo.bias"] = torch.from_numpy(weight), torch.from_numpy(bias[SPEAKER])
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    table = table_from(json.loads(args.vocabulary.read_text())["vocab"])
    tensors = sentence(model, [0, *numbers_of(PHONEMES, table), 0])
    tensors["filtered"] = filtered(model)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    write_safetensors(args.out, tensors, "golden")


if __name__ == "__main__":
    main()
