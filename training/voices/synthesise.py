"""Let the teacher say sentences in the four blended voices, with durations, pitch and energy.

    python synthesise.py --teacher DIR --sentences sents.txt --hours 2.5 --rank 0 --world 6 --out speech-0.pt

Several processes share one accelerator well: start one for each rank. See ../teacher for DIR.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "teacher"))
from phonemes import text_phonemes  # noqa: E402
from teacher import SAMPLE_RATE, Teacher  # noqa: E402

# Timbre and prosody by weight. The order is the speakers' number in the model.
BLENDS = [
    ("asha", {"hf_alpha": 0.5, "af_bella": 0.5}, {"hf_alpha": 0.4, "if_sara": 0.6}),
    ("zuri", {"ef_dora": 0.5, "af_bella": 0.5}, {"ef_dora": 0.5, "if_sara": 0.5}),
    ("juma", {"am_michael": 0.5, "im_nicola": 0.5}, {"im_nicola": 0.7, "em_alex": 0.3}),
    ("baraka", {"em_alex": 0.4, "am_michael": 0.6}, {"em_alex": 0.6, "im_nicola": 0.4}),
]
SYMBOLS_RANGE = range(6, 260)
PEAK = 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--sentences", type=Path, required=True, help="one a line, numbers spelled out")
    parser.add_argument("--hours", type=float, required=True, help="of speech, for this process")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    teacher = Teacher(args.teacher, "cuda" if torch.cuda.is_available() else "cpu")
    sentences = args.sentences.read_text().splitlines()[args.rank :: args.world]
    random.Random(900 + args.rank).shuffle(sentences)
    start, seconds, spoken = time.time(), 0.0, []
    for sentence in sentences:
        if seconds > args.hours * 3600:
            break
        symbols = teacher.symbols(text_phonemes(sentence))
        if len(symbols) not in SYMBOLS_RANGE:
            continue
        speaker = (len(spoken) + args.rank) % len(BLENDS)
        _, timbre, prosody = BLENDS[speaker]
        sound, ids, durations, pitch, energy = teacher.say(symbols, teacher.style(timbre, prosody, len(symbols)))
        sound = sound / sound.abs().max().clamp(min=0.05) * PEAK * 32767
        spoken.append(
            {
                "samples": sound.short().cpu().numpy(),
                "symbols": ids.cpu().numpy().astype(np.int16),
                "durations": durations.cpu().numpy().astype(np.int16),
                "pitch": pitch.cpu().numpy().astype(np.float16),
                "energy": energy.cpu().numpy().astype(np.float16),
                "speaker": speaker,
            }
        )
        seconds += len(sound) / SAMPLE_RATE
    torch.save(spoken, args.out)
    print(f"rank {args.rank}: {len(spoken)} sentences, {seconds / 3600:.2f} h in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
