"""Synthetic speakers: Kokoro says Swahili, English and mixed sentences in randomly blended voices.

    python synthesise.py --teacher DIR --sentences FILE --out DIR --rank R --world N --minutes M

Writes shards of (16-bit samples at 16 kHz, sentence). Several processes share one GPU well, each
with its own rank. Blends, accent, pace, rhythm, pitch and melody are drawn anew for every sentence:
strangers read faster, flatter and less evenly than Kokoro does, and with the sounds of their first languages.
"""

import argparse
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "teacher"))
from phonemes import load_english, text_phonemes  # noqa: E402
from teacher import Teacher  # noqa: E402


def resample_24_to_16(wave: torch.Tensor) -> np.ndarray:
    """By cutting the spectrum: exact for a whole utterance."""
    size = len(wave) // 3 * 3
    spectrum = torch.fft.rfft(wave[:size].float())
    out = torch.fft.irfft(spectrum[: size // 3 + 1], n=size // 3 * 2) * (2 / 3)
    out = out / out.abs().max().clamp(min=1e-3) * 0.7
    return (out * 32767).short().cpu().numpy()


# How often a speaker says another sound for one of Swahili: open vowels, an English r, r and l mixed up, and the Arabic sounds
# that many do not have.
ACCENTS = (
    (0.35, "eo", "ɛɔ"), (0.15, "ɾ", "ɹ"), (0.06, "ɾ", "l"), (0.04, "l", "ɾ"), (0.12, "θ", "s"), (0.06, "θ", "t"),
    (0.15, "ð", "z"), (0.06, "ð", "d"), (0.2, "ɣ", "ɡ"), (0.04, "ʃ", "s"), (0.03, "z", "s"), (0.1, "a", "ɑ"),
)
PAUSE_P, STOPS = 0.04, ",.!?;:"
NATIVE_SHARE = 0.5  # of the speakers of English words say them with Swahili sounds


def with_accent(phonemes: str, dice: random.Random) -> str:
    """The sounds of one speaker who makes pauses at will."""
    for chance, of, to in ACCENTS:
        if dice.random() < chance:
            phonemes = phonemes.translate(str.maketrans(of, to))
    if dice.random() < 0.4:  # reads over the commas
        phonemes = "".join(c for c in phonemes[:-1] if c not in STOPS) + phonemes[-1:]
    elif dice.random() < 0.4:  # hesitates between words
        words = phonemes.split(" ")
        phonemes = " ".join(w + "," if w[-1:] not in STOPS and dice.random() < 3 * PAUSE_P else w for w in words)
    return phonemes


def uneven_rhythm(count: int, dice: random.Random) -> list[float]:
    """A factor a symbol: fast and slow stretches, and some jitter of each sound."""
    spread, jitter = dice.uniform(0, 0.18), dice.uniform(0, 0.22)
    drift, factors = 0.0, []
    for _ in range(count):
        drift = 0.9 * drift + dice.gauss(0, spread * 0.44)
        factors.append(min(2.0, max(0.5, math.exp(drift + dice.gauss(0, jitter)))))
    return factors


def stretched(factors: list[float]):
    """For the teacher: each symbol's length times its factor; the silence at both ends stays."""
    return lambda steps: steps * torch.tensor([1.0, *factors, 1.0], device=steps.device)


def swung(share: float):
    """For the teacher: how wide the pitch swings around its middle; 0 is a monotone."""

    def change(f0: torch.Tensor) -> torch.Tensor:
        voiced = f0 > 30
        if not voiced.any():
            return f0
        middle = f0[voiced].log().mean()
        return torch.where(voiced, (middle + share * (f0.clamp(min=1).log() - middle)).exp(), f0)

    return change


def random_blend(names, dice: random.Random):
    count = dice.choice([1, 2, 2, 3, 3, 4])
    chosen = dice.sample(names, count)
    weights = [dice.gammavariate(1.0, 1.0) for _ in chosen]
    return {name: w / sum(weights) for name, w in zip(chosen, weights)}


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--teacher", required=True)
    args.add_argument("--sentences", required=True)
    args.add_argument("--english", nargs="+", help="misaki's gb_gold.json and gb_silver.json, for words marked with ~")
    args.add_argument("--out", required=True)
    args.add_argument("--rank", type=int, default=0)
    args.add_argument("--world", type=int, default=1)
    args.add_argument("--minutes", type=float, default=5)
    args.add_argument("--shard-clips", type=int, default=120)
    args.add_argument("--speed", type=float, nargs=2, default=(0.85, 1.5), help="slowest and fastest pace")
    args.add_argument("--seed", type=int, default=1, help="another one for other speakers and other sentences")
    args.add_argument("--device", default="cuda")
    args = args.parse_args()
    Path(args.out).mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dice = random.Random(args.seed * 1000 + args.rank)
    teacher = Teacher(args.teacher, args.device)
    names = list(teacher.voices)
    english = load_english(*args.english) if args.english else None
    sentences = [line.strip() for line in open(args.sentences)][args.rank::args.world]
    dice.shuffle(sentences)
    ends, shard, number, hours = time.time() + 60 * args.minutes, [], 0, 0.0
    for sentence in sentences:
        if time.time() > ends:
            break
        symbols = teacher.symbols(with_accent(text_phonemes(sentence, english, dice.random() < NATIVE_SHARE), dice))
        if not 4 < len(symbols) < 300:
            continue
        style = teacher.style(random_blend(names, dice), random_blend(names, dice), len(symbols))
        pitch = dice.choice([1.0, 1.0, dice.uniform(0.85, 1.18)])
        rhythm = stretched(uneven_rhythm(len(symbols), dice))
        melody = swung(dice.choice([1.0, dice.uniform(0.2, 1.5)]))
        wave = teacher.say(symbols, style, dice.uniform(*args.speed), pitch, rhythm, melody)[0]
        if not torch.isfinite(wave).all():
            continue
        shard.append((resample_24_to_16(wave), sentence.replace("~", "")))
        hours += len(shard[-1][0]) / 16_000 / 3600
        if len(shard) == args.shard_clips:
            save(shard, args, number)
            shard, number = [], number + 1
    save(shard, args, number)
    print(f"rank {args.rank}: {hours:.2f} h", flush=True)


def save(shard, args, number):
    """Write under another name first, so that a reader never sees half a shard."""
    final = Path(args.out) / f"synthetic-{args.rank:02d}-{number:04d}.pt"
    part = final.with_suffix(".part")
    torch.save(shard, part)
    part.rename(final)


if __name__ == "__main__":
    main()
