"""Speech in memory: decoded once, held as 16-bit samples in one tensor on the device."""

import csv
import io
import random
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch

from spelling import CLASS_OF, spell

SAMPLE_RATE = 16_000
REAL_SETS = ("narrator-stories", "narrator-stories-extra", "narrator-words", "reader-1", "reader-2")
HELD_OUT_EVERY = 20  # clips of the real sets whose number divides by this are for testing only


def _decode(item):
    import soundfile

    blob, text = item
    samples, rate = soundfile.read(io.BytesIO(blob), dtype="float32")
    if samples.ndim > 1:
        samples = samples.mean(1)
    if rate != SAMPLE_RATE:  # libsndfile gives Opus at 48 or 16 kHz as the file says
        raise ValueError(f"expected {SAMPLE_RATE} Hz, got {rate}")
    return (samples * 32767).clip(-32768, 32767).astype(np.int16), text


def read_set(folder: str, name: str, workers: int = 14):
    """(samples, spelled text, held out) for every clip of a set, in the manifest's order."""
    folder = Path(folder)
    rows = list(csv.DictReader(open(folder / f"{name}.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE))
    with tarfile.open(folder / f"{name}.tar") as tar:
        members = {m.name.removeprefix("./"): m for m in tar.getmembers()}
        items = [(tar.extractfile(members[r["file"]]).read(), spell(r["text"])) for r in rows]
    with ProcessPoolExecutor(workers) as pool:
        decoded = list(pool.map(_decode, items, chunksize=64))
    held = [int(Path(r["file"]).stem) % HELD_OUT_EVERY == 0 for r in rows]
    return [(s, t, h) for (s, t), h in zip(decoded, held)]


def usable(samples, text, seconds_max=20.0):
    seconds = len(samples) / SAMPLE_RATE
    return 0.3 < seconds < seconds_max and 0 < len(text) < seconds * 22


class Bank:
    """Clips by group, with their samples back to back in one growing tensor."""

    def __init__(self, device, capacity_hours: float):
        self.samples = torch.zeros(int(capacity_hours * 3600 * SAMPLE_RATE), dtype=torch.int16, device=device)
        self.used = 0
        self.groups: dict[str, list[tuple[int, int, list[int]]]] = {}

    def add(self, group, clips):
        """clips: (samples, text). What does not fit any more is left out."""
        entries = self.groups.setdefault(group, [])
        sizes = [len(s) for s, _ in clips]
        if not clips or self.used + sum(sizes) > len(self.samples):
            return
        block = torch.from_numpy(np.concatenate([s for s, _ in clips]))
        self.samples[self.used:self.used + len(block)].copy_(block)
        for size, (_, text) in zip(sizes, clips):
            entries.append((self.used, size, [CLASS_OF[c] for c in text if c in CLASS_OF]))
            self.used += size

    def hours(self):
        return {g: round(sum(e[1] for e in entries) / SAMPLE_RATE / 3600, 2) for g, entries in self.groups.items()}

    def draw(self, weights: dict[str, float], count: int, join_p: float = 0.3, seconds_max: float = 18.0):
        """Random clips by group weight; some are two clips joined by a pause."""
        present = {g: w for g, w in weights.items() if self.groups.get(g)}
        picked = random.choices(list(present), list(present.values()), k=count)
        out = []
        for group in picked:
            parts = [random.choice(self.groups[group])]
            if random.random() < join_p:
                other = random.choice(self.groups[random.choice(picked)])
                if parts[0][1] + other[1] < seconds_max * SAMPLE_RATE:
                    parts.append(other)
            out.append(parts)
        return out

    def batches(self, clips, seconds):
        """Clips of like length together, at most `seconds` a batch with padding, in random order."""
        length = lambda parts: sum(p[1] for p in parts)
        batch, out = [], []
        for parts in sorted(clips, key=length):
            if batch and (length(parts) + 16_000) * (len(batch) + 1) > seconds * SAMPLE_RATE:
                out.append(batch)
                batch = []
            batch.append(parts)
        if batch:
            out.append(batch)
        random.shuffle(out)
        return out

    def collate(self, batch):
        """Waves with random silence around the clips, their lengths, and the targets."""
        device = self.samples.device
        plans, targets, lengths = [], [], []
        for parts in batch:
            at, plan, target = random.randrange(0, 6400), [], []
            for k, (start, size, classes) in enumerate(parts):
                if k:
                    at += random.randrange(800, 9600)
                    target = target + [CLASS_OF[" "]]
                plan.append((at, start, size))
                at += size
                target = target + classes
            lengths.append(at + random.randrange(0, 6400))
            plans.append(plan)
            targets.append(target)
        width = (max(lengths) + 639) // 640 * 640
        waves = torch.zeros(len(batch), width, device=device)
        for row, plan in enumerate(plans):
            for at, start, size in plan:
                waves[row, at:at + size] = self.samples[start:start + size].float() / 32768
        return waves, torch.tensor(lengths, device=device), targets
