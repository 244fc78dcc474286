"""What alignment and melody are read from: mel spectra and pitch, at the model's frames (93.75 a second).

    python features.py --speech ../../../shared/speech --sets narrator-stories reader-1 --out work/native

Pitch comes from WORLD (PyPI `pyworld-prebuilt`: MIT, the library BSD-3-Clause): Dio, then StoneMask.
"""

import argparse
import csv
import io
import tarfile
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pyworld
import soundfile

from model import HOP, SAMPLE_RATE, WINDOW

MELS, TOP_HZ = 40, 7_600.0
PITCH_HZ = (65.0, 500.0)
# Every clip whose number this divides is for measuring only.
HELD_OUT_EVERY = 20


def mel_filters() -> np.ndarray:
    top = 2595 * np.log10(1 + TOP_HZ / 700)
    hz = 700 * (10 ** (np.linspace(0, top, MELS + 2) / 2595) - 1)
    bins = np.linspace(0, SAMPLE_RATE / 2, WINDOW // 2 + 1)[:, None]
    rise, fall = (bins - hz[:-2]) / (hz[1:-1] - hz[:-2]), (hz[2:] - bins) / (hz[2:] - hz[1:-1])
    return np.clip(np.minimum(rise, fall), 0, None).astype(np.float32)


FILTERS = mel_filters()
HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


def log_mel(samples: np.ndarray) -> np.ndarray:
    """One row a frame; frame i lies around sample (i + 1/2) * HOP, as in the model."""
    pad = (WINDOW - HOP) // 2
    padded = np.pad(samples.astype(np.float32), (pad, pad + HOP))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: len(samples) // HOP]
    power = np.abs(np.fft.rfft(frames * HANN, axis=1).astype(np.complex64))
    return np.log(np.maximum(power @ FILTERS, 1e-4))


def pitch_hz(samples: np.ndarray) -> np.ndarray:
    """0 where there is no voice."""
    period_ms = 1000 * HOP / SAMPLE_RATE
    # WORLD's first value is for the first sample; ours is for the middle of the first frame.
    shifted = samples[HOP // 2 :].astype(np.float64)
    rough, times = pyworld.dio(shifted, SAMPLE_RATE, f0_floor=PITCH_HZ[0], f0_ceil=PITCH_HZ[1], frame_period=period_ms)
    hz = pyworld.stonemask(shifted, rough, times, SAMPLE_RATE)
    frames = len(samples) // HOP
    return np.pad(hz, (0, max(0, frames - len(hz))))[:frames].astype(np.float32)


def read_samples(data: bytes | Path) -> np.ndarray:
    source = io.BytesIO(data) if isinstance(data, bytes) else data
    samples, rate = soundfile.read(source, dtype="float32")
    if samples.ndim > 1:
        samples = samples.mean(1)
    return resampled(samples, rate)


def resampled(samples: np.ndarray, rate: int) -> np.ndarray:
    """Through the spectrum of the whole clip: exact, and quick enough for clips."""
    if rate == SAMPLE_RATE:
        return samples
    count = len(samples) * SAMPLE_RATE // rate
    spectrum = np.fft.rfft(samples)
    fitted = np.zeros(count // 2 + 1, dtype=complex)
    shared = min(len(spectrum), len(fitted))
    fitted[:shared] = spectrum[:shared]
    return (np.fft.irfft(fitted, count) * (count / len(samples))).astype(np.float32)


def measured(job: tuple[dict, bytes]) -> dict:
    clip, data = job
    samples = read_samples(data)
    return {**clip, "mel": log_mel(samples).astype(np.float16), "hz": pitch_hz(samples)}


def is_held_out(file: str) -> bool:
    return int(Path(file).stem) % HELD_OUT_EVERY == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speech", type=Path, required=True, help="folder with NAME.tar and NAME.tsv")
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--seconds-max", type=float, default=20.0, help="leave out longer clips")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.sets:
        with open(args.speech / f"{name}.tsv", newline="") as file:
            rows = {row["file"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
        jobs, start = [], time.time()
        with tarfile.open(args.speech / f"{name}.tar") as tar:
            for member in tar:
                row = rows.get(member.name)
                if row is None or float(row["seconds"]) > args.seconds_max:
                    continue
                clip = {"file": member.name, "set": name, "text": row["text"]}
                jobs.append((clip, tar.extractfile(member).read()))
        with Pool(args.workers) as pool:
            clips = pool.map(measured, jobs, chunksize=8)
        np.save(args.out / f"{name}.npy", np.array(clips, dtype=object), allow_pickle=True)
        print(f"{name}: {len(clips)} clips in {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
