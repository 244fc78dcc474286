"""Prepare the real recordings for training.

    python real.py --speech DIR --out real.pt [--start earlier16.pt]

With an earlier model (`--start`) wrong labels are left out and long recordings are cut at pauses. Clips kept for testing
go apart, and so do noise and music.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from align import cut_at_pauses, letter_frames
from data import NOISE_SETS, REAL_SETS, TEST_SETS, packed, read_set, usable
from features import LogMel
from hearing import recognise
from model import load_recogniser
from spelling import CLASS_OF, edit_distance

# A transcript farther than this from what an earlier model hears is not the clip's own, or only half of it.
WRONG_LABEL_CER = 0.3
LABELLED_SHARE = 0.7  # of a set without transcripts: those that the model is surest of
WRONG_LABEL_CER_OF = {"broadcast": 0.6}  # an earlier model hears it badly
TRUSTED = ("english", "english-read", "voices")  # a crowd that checked itself, and what was spoken from text


class Checker:
    """What an earlier model makes of the clips: wrong labels go, and long recordings are cut at pauses."""

    def __init__(self, weights, device):
        self.device = device
        self.amp = lambda: torch.autocast(device, torch.bfloat16)
        self.mel_of = LogMel(device)
        self.model = load_recogniser(weights, device)

    def labelled(self, name, clips):
        """Recordings without a transcript, with what the model hears in the surest of them."""
        clips = [(s, t) for s, t in clips if 16_000 < len(s) < 20 * 16_000]
        texts, posteriors = recognise(self.model, self.mel_of, clips, self.device, self.amp)
        sure = [float(np.exp(rows[rows.argmax(1) > 0].max(1).astype(np.float32)).mean()) if text else 0.0 for text, rows in zip(texts, posteriors)]
        limit = sorted(sure)[round(len(sure) * (1 - LABELLED_SHARE))]
        print(f"{name}: {sum(x >= limit for x in sure)} of {len(clips)} clips labelled by the model, sure of {limit:.2f} or more", flush=True)
        return [(samples, text) for (samples, _), text, x in zip(clips, texts, sure) if x >= limit]

    def __call__(self, name, clips):
        if name in TRUSTED:
            return clips
        if not any(text for _, text in clips):
            return self.labelled(name, clips)
        clips = [(s, t) for s, t in clips if usable(s, t, 59.0)]
        texts, posteriors = recognise(self.model, self.mel_of, clips, self.device, self.amp)
        kept, wrong, cut, limit = [], 0, 0, WRONG_LABEL_CER_OF.get(name, WRONG_LABEL_CER)
        for (samples, text), heard, rows in zip(clips, texts, posteriors):
            if edit_distance(text, heard) > limit * len(text):
                wrong += 1
            elif len(samples) < 20 * 16_000:
                kept.append((samples, text))
            else:
                starts, _ = letter_frames(rows.astype(np.float32), [CLASS_OF[c] for c in text])
                kept += cut_at_pauses(samples, text, starts)
                cut += 1
        print(f"{name}: {wrong} of {len(clips)} labels doubted and left out, {cut} long clips cut", flush=True)
        return kept


def prepare(speech, sets, checked, workers, clips_max=10**9):
    """Clips to train on and clips kept for testing, by set; and sounds without words."""
    train, held_out = {}, {}
    there = lambda name: (Path(speech) / f"{name}.tar").exists() or print(f"{name}: not there, left out", flush=True)
    for name in filter(there, sets):
        clips = read_set(speech, name, workers, clips_max)
        train[name] = [(s, t) for s, t in checked(name, [(s, t) for s, t, held in clips if not held]) if usable(s, t)]
        held_out[name] = [(s, t) for s, t, held in clips if held and usable(s, t, 29.0)]
    for name in filter(there, TEST_SETS):
        held_out[name] = [(s, t) for s, t, _ in read_set(speech, name, workers, clips_max)][:: TEST_SETS[name]]
    noise = [s for name in filter(there, NOISE_SETS) for s, _, held in read_set(speech, name, workers, clips_max) if not held]
    print({k: f"{sum(len(s) for s, _ in v) / 16_000 / 3600:.2f} h" for k, v in train.items()}, flush=True)
    return {"train": {k: packed(v) for k, v in train.items()}, "held_out": {k: packed(v) for k, v in held_out.items()}, "noise": packed([(s, "") for s in noise])}


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--speech", required=True)
    args.add_argument("--out", required=True)
    args.add_argument("--start", help="weights of an earlier run, to check labels with")
    args.add_argument("--sets", default=",".join(REAL_SETS))
    args.add_argument("--clips-max", type=int, default=10**9, help="of each set, for a quick trial")
    args.add_argument("--workers", type=int, default=14)
    args.add_argument("--device", default="cuda")
    args = args.parse_args()
    checked = Checker(args.start, args.device) if args.start else lambda _, clips: clips
    torch.save(prepare(args.speech, args.sets.split(","), checked, args.workers, args.clips_max), args.out)


if __name__ == "__main__":
    main()
