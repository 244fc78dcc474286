"""Pictures of what the voices say, 0 to 12 kHz: harmonics should be clean to 10 kHz, without buzz lines.

    python spectrograms.py --sauti ../../target/release/sauti --out ../../models/voices/spectrograms.png

Asks the program to speak, so the pictures show what a caller gets. Needs PyPI matplotlib.
"""

import argparse
import io
import subprocess
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import soundfile  # noqa: E402
from PIL import Image  # noqa: E402

VOICES = ("asha", "zuri", "juma", "baraka")
SENTENCES = (
    "Karibu katika huduma kwa wateja.",
    "Je, ungependa kuendelea na malipo haya?",
    "Salio lako ni shilingi elfu tatu mia mbili na hamsini.",
)
WINDOW, HOP = 1024, 128
FLOOR_DB, TOP_DB = -90, -20


def spectrogram(samples: np.ndarray) -> np.ndarray:
    window = np.hanning(WINDOW)
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP]
    return 20 * np.log10(np.abs(np.fft.rfft(frames * window, axis=1)) / window.sum() * 2 + 1e-9).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sauti", type=Path, required=True, help="the program")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    figure, axes = plt.subplots(len(VOICES), len(SENTENCES), figsize=(15, 11), sharey=True, layout="constrained")
    for row, voice in zip(axes, VOICES):
        for axis, sentence in zip(row, SENTENCES):
            wav = subprocess.run([args.sauti, "speak", "--voice", voice, "--out", "-", sentence], check=True, capture_output=True).stdout
            samples, rate = soundfile.read(io.BytesIO(wav))
            seconds = len(samples) / rate
            axis.imshow(spectrogram(samples), origin="lower", aspect="auto", cmap="magma", vmin=FLOOR_DB, vmax=TOP_DB, extent=(0, seconds, 0, rate / 2000))
            axis.set_title(f"{voice}: {sentence}", fontsize=7)
            axis.tick_params(labelsize=6)
        row[0].set_ylabel("kHz", fontsize=7)
    figure.savefig(args.out, dpi=80)
    # Few colours are enough, and keep the file small.
    Image.open(args.out).convert("RGB").quantize(48).save(args.out, optimize=True)


if __name__ == "__main__":
    main()
