"""Speech in memory: decoded once, held as 16-bit samples in one tensor on the device."""

import csv
import io
import random
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from scipy.signal import resample_poly

from spelling import CLASS_OF, spell

SAMPLE_RATE = 16_000
REAL_SETS = ("broadcast", "narrator-stories", "narrator-stories-extra", "reader-1", "reader-2", "narrator-man", "english", "english-read", "voices")
NOISE_SETS = ("noise", "broadcast-music")
TEST_SETS = {"common-voice-dev": 1, "broadcast-dev": 2, "english-dev": 2}  # never trained on; every how many-th clip is heard during training
WIDTHS_SECONDS = (1.6, 2, 2.4, 3.2, 4, 5.2, 6.4, 8, 10, 12, 16, 20, 24)  # whole frames at 25 a second
PADDING_SECONDS_MAX = 0.92  # around a clip, and between two joined ones
HELD_OUT_EVERY = 20  # clips of the real sets whose number divides by this are for testing only


def _decode(item):
    import soundfile

    blob, text = item
    samples, rate = soundfile.read(io.BytesIO(blob), dtype="float32")
    if samples.ndim > 1:
        samples = samples.mean(1)
    if rate != SAMPLE_RATE:
        divisor = np.gcd(rate, SAMPLE_RATE)
        samples = resample_poly(samples, SAMPLE_RATE // divisor, rate // divisor)
    return (samples * 32767).clip(-32768, 32767).astype(np.int16), text


def read_set(folder: str, name: str, workers: int = 14, clips_max: int = 10**9):
    """(samples, spelled text, held out) for every clip of a set, in the manifest's order."""
    folder = Path(folder)
    rows = list(csv.DictReader(open(folder / f"{name}.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE))[:clips_max]
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


def packed(clips):
    """Clips for a file, their samples as one tensor: twenty thousand small arrays take a minute to read back."""
    sizes = [len(samples) for samples, _ in clips]
    return torch.from_numpy(np.concatenate([np.zeros(0, np.int16), *(samples for samples, _ in clips)])), sizes, [text for _, text in clips]


def unpacked(samples, sizes, texts):
    return list(zip(np.split(samples.numpy(), np.cumsum(sizes)[:-1]), texts)) if sizes else []


class Bank:
    """Clips by group, with their samples back to back in one growing tensor."""

    def __init__(self, device, capacity_hours: float):
        self.samples = torch.zeros(int(capacity_hours * 3600 * SAMPLE_RATE), dtype=torch.int16, device=device)
        self.used = 0
        self.groups: dict[str, list[tuple[int, int, list[int]]]] = {}
        self.shards = set()
        self.waiting: dict[float, list] = {}

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

    def add_new_shards(self, folder):
        """What `synthesise.py` has written since the last call."""
        for path in sorted(Path(folder).glob("synthetic-*.pt")):
            if path.name not in self.shards:
                self.shards.add(path.name)
                shard = [(s, spell(t)) for s, t in torch.load(path, weights_only=False)]
                self.add("synthetic", [(s, t) for s, t in shard if usable(s, t)])

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
        """Clips by the narrowest width that holds them; a width always comes in the same batch size.

        Few distinct shapes let the GPU reuse its FFT plans and its memory. Clips left over at a
        width wait for the next call.
        """
        waiting = self.waiting
        for parts in clips:
            needed = sum(p[1] for p in parts) / SAMPLE_RATE + PADDING_SECONDS_MAX
            width = next((w for w in WIDTHS_SECONDS if needed <= w), None)
            if width:
                waiting.setdefault(width, []).append(parts)
        out = []
        for width, rows in waiting.items():
            size = max(1, int(seconds / width))
            while len(rows) >= size:
                out.append((width, [rows.pop() for _ in range(size)]))
        random.shuffle(out)
        return out

    def collate(self, width, batch):
        """Waves with random silence around the clips, their lengths, and the targets."""
        device = self.samples.device
        plan, targets, lengths = [], [], []
        for parts in batch:
            at, row, target = random.randrange(0, 4000), [], []
            for k, (start, size, classes) in enumerate(parts):
                if k:
                    at += random.randrange(800, 6400)
                    target = target + [CLASS_OF[" "]]
                row += [at, start, size]
                at += size
                target = target + classes
            lengths.append(at + random.randrange(0, 4000))
            plan.append(row + [0] * (6 - len(row)))
            targets.append(target)
        plan = torch.tensor(plan, device=device)[:, :, None]
        time = torch.arange(int(width * SAMPLE_RATE), device=device)[None]
        waves = torch.zeros(len(batch), time.shape[1], device=device)
        for at, start, size in (plan[:, 0:3].unbind(1), plan[:, 3:6].unbind(1)):
            inside = (time >= at) & (time < at + size)
            index = (start + time - at).clamp(0, len(self.samples) - 1)
            waves += self.samples[index].float() * inside
        return waves / 32768, torch.tensor(lengths, device=device), targets
