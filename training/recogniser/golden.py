"""Write the small reference files that the Rust front end is tested against.

    python golden.py --clip CLIP.opus --vad ../../models/recogniser/vad.safetensors --out ../../crates/speech/tests/data/recogniser

The clip is cut to 1.5 s: mel-input.s16 (16 kHz mono), mel-output.f32 (frames x 80) and vad-output.f32 (one
probability per 512 samples).
"""

import argparse
from pathlib import Path

import numpy as np
import soundfile
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

from features import HOP, LogMel

CHUNK, CONTEXT = 512, 64


def mel_reference(samples: np.ndarray) -> np.ndarray:
    block = 4 * HOP
    wave = torch.zeros(1, -(-len(samples) // block) * block)
    wave[0, : len(samples)] = torch.from_numpy(samples.astype(np.float32) / 32768)
    wave = wave / wave.abs().amax(1, keepdim=True).clamp(min=1e-4) * 0.5
    return LogMel("cpu")(wave)[0].T.contiguous().numpy()


def vad_reference(samples: np.ndarray, weights: Path) -> np.ndarray:
    """Silero's network written out in PyTorch."""
    w = load_file(weights)
    context, state = torch.zeros(CONTEXT), (torch.zeros(1, 128), torch.zeros(1, 128))
    wave = torch.from_numpy(samples.astype(np.float32) / 32768)
    out = []
    for start in range(0, len(wave), CHUNK):
        chunk = torch.zeros(CHUNK)
        part = wave[start : start + CHUNK]
        chunk[: len(part)] = part
        x = F.pad(torch.cat([context, chunk])[None, None], (0, CONTEXT), mode="reflect")
        context = chunk[-CONTEXT:]
        x = F.conv1d(x, w["stft_conv.weight"], stride=128)
        x = (x[:, :129] ** 2 + x[:, 129:] ** 2).sqrt()
        for n, stride in ((1, 1), (2, 2), (3, 2), (4, 1)):
            x = F.conv1d(x, w[f"conv{n}.weight"], w[f"conv{n}.bias"], stride=stride, padding=1).relu()
        parameters = [w[f"lstm_cell.{name}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        state = torch._VF.lstm_cell(x[:, :, 0], state, *parameters)
        x = F.conv1d(state[0][:, :, None].relu(), w["final_conv.weight"], w["final_conv.bias"])
        out.append(torch.sigmoid(x).item())
    return np.array(out, np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--clip", "--vad", "--out"):
        parser.add_argument(name, type=Path, required=True)
    options = parser.parse_args()
    samples, rate = soundfile.read(options.clip, dtype="int16")
    assert rate == 16_000 and samples.ndim == 1
    samples = samples[:24_000]
    options.out.mkdir(parents=True, exist_ok=True)
    samples.astype("<i2").tofile(options.out / "mel-input.s16")
    mel_reference(samples).astype("<f4").tofile(options.out / "mel-output.f32")
    vad_reference(samples, options.vad).astype("<f4").tofile(options.out / "vad-output.f32")


if __name__ == "__main__":
    main()
