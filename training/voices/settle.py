"""Bring the voices' durations to the recordings', as they are heard: the last step of native rhythm.

    python settle.py --checkpoint fine16.pt --prosody native16.pt --symbols ../../models/voices/symbols.json \\
        --aligned work/aligned.npy --ear work/aligned.ear.pt --out work/settled16.pt

Learned by mean differences from noisy alignments, durations come out flatter than they were: long sounds too short, short
ones too long. Here the voices say sentences of recordings they were taught with (never held-out ones), the aligner measures
both as rhythm.py does, and what is left between the means of each kind of sound (which phone, stressed or not, where in
word and phrase) is put into the last layer of the durations, by ridge regression over its inputs. Two rounds do. In the end
`--share` of the change is kept: all of it halves the distance and costs 0.05 to 0.15 of DistillMOS in short sentences. Longer
vowels make speech slower; the whole is brought to `--tempo` times its length before.
"""

import argparse
import random
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch

from align import PROSODY, best_path, heard, load_ear, load_voice, sounds_of
from features import is_held_out, log_mel, pitch_hz
from rhythm import KIND_LEAST, measured
from symbols import OWN, joined, numbers_of, read_table, split

VOICES = 4
STEP = 0.9  # of what is left, a round
RIDGE = 1e-3
WORK = {}


def spoken(job: tuple[int, dict]) -> dict:
    at, clip = job
    torch.manual_seed(at)
    symbols = torch.tensor([[0, *numbers_of(joined(clip["marked"]), WORK["numbers"]), 0]])
    samples = WORK["model"].say(symbols, torch.tensor([at % VOICES]))[0].numpy()
    said, still, _ = best_path(heard(WORK["ear"], log_mel(samples), WORK["prior"]), sounds_of(clip["marked"]))
    return measured(clip["marked"], said, still, pitch_hz(samples))


def left_over(native: list[dict], voice: list[dict]) -> dict:
    found = defaultdict(list)
    for one, other in zip(native, voice):
        for kind, a, b in zip(one["kinds"], one["log"], other["log"]):
            found[kind].append(a - b)
    # Few examples of a kind say little.
    return {kind: float(np.mean(off)) * len(off) / (len(off) + KIND_LEAST / 2) for kind, off in found.items()}


def wanted_shifts(clip: dict, shifts: dict) -> np.ndarray:
    """The shift of log duration for each of our symbols, edges included; NaN where nothing is known."""
    phonemes, said = clip["marked"], len(sounds_of(clip["marked"]))
    kinds = measured(phonemes, np.ones(said, dtype=int), np.zeros(said + 1, dtype=int), np.zeros(2 * said + 2))["kinds"]
    by_place = np.full(len(phonemes) + 2, np.nan)
    for sound, kind in zip(sounds_of(phonemes), kinds):
        for place in sound.symbols:
            # Marks are pauses, which are right already.
            if phonemes[place - 1] not in ".,!?;:":
                by_place[place] = shifts.get(kind, 0.0)
    sizes = [len(OWN[s][0]) if s in OWN else 1 for s in split(joined(phonemes))]
    starts = np.concatenate([[0], np.cumsum([1, *sizes]), [len(by_place)]])
    return np.array([np.mean(by_place[a:b]) for a, b in zip(starts[:-1], starts[1:])])


@torch.no_grad()
def add_to_last_layer(model, numbers: dict, clips: list[dict], shifts: dict) -> float:
    rows, targets = [], []
    for at, clip in enumerate(clips):
        symbols = torch.tensor([[0, *numbers_of(joined(clip["marked"]), numbers), 0]])
        x, speaker = model.pt(symbols, torch.ones_like(symbols, dtype=torch.bool)), model.spp(torch.tensor([at % VOICES]))
        for block in model.db:
            x = block(x, speaker)
        target = wanted_shifts(clip, shifts)
        known = ~np.isnan(target)
        # The edges and marks keep their time.
        rows.append(x[0].numpy())
        targets.append(np.where(known, target, 0.0))
    x, y = np.concatenate(rows).astype(np.float64), np.concatenate(targets)
    mean, level = x.mean(0), y.mean()
    x, y = x - mean, y - level
    weight = np.linalg.solve(x.T @ x + RIDGE * np.trace(x.T @ x) / x.shape[1] * np.eye(x.shape[1]), x.T @ y)
    model.do.weight += STEP * torch.from_numpy(weight).float()
    model.do.bias += STEP * float(level - mean @ weight)
    return float(1 - ((y - x @ weight) ** 2).mean() / (y**2).mean())


@torch.no_grad()
def spoken_frames(model, numbers: dict, clips: list[dict]) -> float:
    """Of everything but pauses."""
    total = 0.0
    for at, clip in enumerate(clips):
        line = joined(clip["marked"])
        symbols = torch.tensor([[0, *numbers_of(line, numbers), 0]])
        prosody = model.pt(symbols, torch.ones_like(symbols, dtype=torch.bool))
        frames = model.log_durations(prosody, model.spp(torch.tensor([at % VOICES]))).exp()[0]
        said = torch.tensor([False, *(symbol not in ".,!?;:" for symbol in split(line)), False])
        total += float(frames[said].sum())
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--prosody", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, required=True, help="of the model, as export.py writes them")
    parser.add_argument("--aligned", type=Path, required=True)
    parser.add_argument("--ear", type=Path, required=True)
    parser.add_argument("--clips", type=int, default=60, help="sentences spoken a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.6, help="of the change that is kept")
    parser.add_argument("--tempo", type=float, default=1.15, help="length of the speech afterwards, over its length before")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, (ear, prior) = load_voice(args.checkpoint, args.prosody), load_ear(args.ear)
    numbers = read_table(args.symbols)
    clips = [c for c in np.load(args.aligned, allow_pickle=True) if not is_held_out(c["file"])]
    sure = {name: np.quantile([c["score"] for c in clips if c["set"] == name], 0.2) for name in {c["set"] for c in clips}}
    clips = [c for c in clips if c["score"] > sure[c["set"]] and 20 < len(c["marked"]) < 90]
    random.Random(5).shuffle(clips)
    WORK.update(model=model, ear=ear, prior=prior, numbers=numbers)
    before, untouched = spoken_frames(model, numbers, clips[:100]), [p.detach().clone() for p in model.do.parameters()]
    for number in range(args.rounds):
        # Other sentences every round, as many of each set.
        some = []
        for name in sorted(sure):
            mine = [c for c in clips if c["set"] == name]
            count = args.clips // len(sure)
            some += (mine * args.rounds)[number * count : (number + 1) * count]
        native = [measured(c["marked"], c["said"], c["still"], c["hz"]) for c in some]
        with Pool(args.workers) as pool:
            voice = pool.map(spoken, list(enumerate(some)), chunksize=2)
        shifts = left_over(native, voice)
        counts = defaultdict(int)
        for one in native:
            for kind in one["kinds"]:
                counts[kind] += 1
        off = sum(counts[k] * abs(v) for k, v in shifts.items()) / sum(counts.values())
        fit = add_to_last_layer(model, numbers, clips[:400], shifts)
        print(f"round {number + 1}: {off:.3f} left between the kinds' means before, {100 * fit:.0f} % of it fits the last layer", flush=True)
    with torch.no_grad():
        for now, was in zip(model.do.parameters(), untouched):
            now.copy_(torch.lerp(was, now, args.share))
    longer = spoken_frames(model, numbers, clips[:100]) / before
    model.do.bias.data += float(np.log(args.tempo / longer))
    print(f"{longer:.3f} times as long, set to {args.tempo}")
    result = {k: v for k, v in model.state_dict().items() if k.startswith(PROSODY)}
    torch.save({k: v.detach().half() for k, v in result.items()}, args.out)


if __name__ == "__main__":
    main()
