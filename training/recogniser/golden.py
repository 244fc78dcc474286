"""Write the small reference files that the Rust front end is tested against.

    python golden.py --clip CLIP.opus --vad silero_vad_16k_op15.onnx --out ../../crates/speech/tests/data/recogniser

The clip is cut to 1.5 s: mel-input.s16 (16 kHz mono), mel-output.f32 (frames x 80) and vad-output.f32 (one
probability per 512 samples, by ONNX Runtime).
"""

import argparse
from pathlib import Path

import numpy as np
import onnxruntime
import soundfile
import torch

from features import HOP, LogMel

CHUNK, CONTEXT = 512, 64


def mel_reference(samples: np.ndarray) -> np.ndarray:
    block = 4 * HOP
    wave = torch.zeros(1, -(-len(samples) // block) * block)
    wave[0, : len(samples)] = torch.from_numpy(samples.astype(np.float32) / 32768)
    wave = wave / wave.abs().amax(1, keepdim=True).clamp(min=1e-4) * 0.5
    return LogMel("cpu")(wave)[0].T.contiguous().numpy()


def vad_reference(samples: np.ndarray, model: Path) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    state = np.zeros((2, 1, 128), np.float32)
    context = np.zeros(CONTEXT, np.float32)
    wave = samples.astype(np.float32) / 32768
    out = []
    for start in range(0, len(wave), CHUNK):
        chunk = np.zeros(CHUNK, np.float32)
        part = wave[start : start + CHUNK]
        chunk[: len(part)] = part
        inputs = {"input": np.concatenate([context, chunk])[None], "state": state, "sr": np.array(16000, np.int64)}
        probability, state = session.run(None, inputs)
        context = chunk[-CONTEXT:]
        out.append(probability[0, 0])
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
