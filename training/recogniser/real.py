"""Prepare the real recordings for training.

    python real.py --speech DIR --out real.pt [--start earlier16.pt] [--throats 3]

With an earlier model (`--start`) wrong labels are left out and long recordings are cut at pauses. `--throats` adds that
many rounds of the same recordings in other voices at a stranger's pace (throat.py). Clips kept for testing go apart.
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch

from align import cut_at_pauses, letter_frames
from data import REAL_SETS, read_set, usable
from features import LogMel
from hearing import recognise
from model import Recogniser
from spelling import CLASS_OF, edit_distance
from throat import random_throat

WRONG_LABEL_CER = 0.3  # a transcript farther than this from what an earlier model hears is not the clip's own, or only half of it
TEST_SET = "common-voice-dev"


class Checker:
    """What an earlier model makes of the clips: wrong labels go, and long recordings are cut at pauses."""

    def __init__(self, weights, device):
        self.device = device
        self.amp = lambda: torch.autocast(device, torch.bfloat16)
        self.mel_of = LogMel(device)
        self.model = Recogniser().to(device)
        self.model.load_state_dict({k: v.float() for k, v in torch.load(weights, map_location=device).items()})

    def __call__(self, name, clips):
        clips = [(s, t) for s, t in clips if usable(s, t, 59.0)]
        texts, posteriors = recognise(self.model, self.mel_of, clips, self.device, self.amp)
        kept, wrong, cut = [], 0, 0
        for (samples, text), heard, rows in zip(clips, texts, posteriors):
            if edit_distance(text, heard) > WRONG_LABEL_CER * len(text):
                wrong += 1
            elif len(samples) < 20 * 16_000:
                kept.append((samples, text))
            else:
                starts, _ = letter_frames(rows.astype(np.float32), [CLASS_OF[c] for c in text])
                kept += cut_at_pauses(samples, text, starts)
                cut += 1
        print(f"{name}: {wrong} of {len(clips)} labels doubted and left out, {cut} long clips cut", flush=True)
        return kept


def throats(clips, rounds, minutes, device):
    """Rounds over the clips in other throats, each clip anew; ends early when the time is over."""
    dice, ends, out = random.Random(5), time.time() + 60 * minutes, []
    for _ in range(rounds):
        for samples, text in dice.sample(clips, len(clips)):
            if time.time() > ends:
                return out
            other = random_throat(samples, text, dice, device)
            if usable(other, text):
                out.append((other, text))
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--speech", required=True)
    args.add_argument("--out", required=True)
    args.add_argument("--start", help="weights of an earlier run, to check labels with")
    args.add_argument("--sets", default=",".join(REAL_SETS))
    args.add_argument("--clips-max", type=int, default=10**9, help="of each set, for a quick trial")
    args.add_argument("--throats", type=int, default=0, help="rounds of other voices")
    args.add_argument("--throat-minutes", type=float, default=10)
    args.add_argument("--workers", type=int, default=14)
    args.add_argument("--device", default="cuda")
    args = args.parse_args()
    checked = Checker(args.start, args.device) if args.start else lambda _, clips: clips
    train, held_out = {}, {}
    for name in args.sets.split(","):
        if not (Path(args.speech) / f"{name}.tar").exists():
            print(f"{name}: not there, left out", flush=True)
            continue
        clips = read_set(args.speech, name, args.workers, args.clips_max)
        training = [(s, t) for s, t, held in clips if not held]
        if name != "narrator-words":  # too short for an earlier model to judge, and not a test of sentences
            training = checked(name, training)
            held_out[name] = [(s, t) for s, t, held in clips if held and usable(s, t, 29.0)]
        train[name] = [(s, t) for s, t in training if usable(s, t)]
    if (Path(args.speech) / f"{TEST_SET}.tar").exists():
        held_out[TEST_SET] = [(s, t) for s, t, _ in read_set(args.speech, TEST_SET, args.workers, args.clips_max)]
    # The single words are many and short: a quarter of them keeps the sentences in front.
    sources = [c for name, clips in train.items() for c in (clips[::4] if name == "narrator-words" else clips)]
    train["throats"] = throats(sources, args.throats, args.throat_minutes, args.device)
    print({k: f"{sum(len(s) for s, _ in v) / 16_000 / 3600:.2f} h" for k, v in train.items()}, flush=True)
    torch.save({"train": train, "held_out": held_out}, args.out)


if __name__ == "__main__":
    main()
