"""Teach the prosody side of the model native rhythm and melody; timbre and decoder stay as they are.

    python prosody.py --checkpoint gen16.pt --lessons work/lessons.pt --out work/native16.pt --minutes 5
    python prosody.py ... --steps 3 --batch 2                            dry run on a CPU

Every speaker of the recordings becomes a further prosody speaker; beside it stands a vector for each of our voices, which
carries its tempo and mean pitch. In the end a voice's prosody is a blend of the native speakers (BLENDS) with its own
vector, so it is no copy of one person's way of speaking. OUT holds the prosody side alone; export.py lays it over the
rest. `--phonemes` keeps the encoder general: on those lines the model must go on saying what it said before in its old
prosody, whether they are spelled in the teacher's symbols, which it knew, or in the voices' own (symbols.py). The first `--settle`
steps learn nothing but that spelling. What counts is measured as rhythm.py does: each sentence's tempo and mean pitch weigh
little, the rest much.
"""

import argparse
import copy
import json
import math
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from align import PROSODY, load_voice
from features import HELD_OUT_EVERY
from model import SPEAKER_WIDTH, Voice
from symbols import merged, numbers_of, parts_of, table_from, teachers, with_own_sounds

# How much each voice takes from the speakers of the recordings, by the name of the set.
BLENDS = [
    {"narrator-stories": 0.5, "reader-1": 0.3, "reader-2": 0.2},
    {"narrator-stories": 0.2, "reader-1": 0.5, "reader-2": 0.3},
    {"narrator-stories": 0.2, "reader-1": 0.3, "reader-2": 0.5},
    {"narrator-stories": 0.4, "reader-1": 0.4, "reader-2": 0.2},
]
# Besides the clips held out for measuring, these tell when to stop: numbers with this remainder.
DEV_REMAINDER = 10
DROPOUT = 0.2
ENCODER_RATE = 0.3  # the encoder learns slower: it has much to lose and the recordings are few
TEACHERS_SPELLING = 0.2
OLD_LINES = 12_000
SENTENCE_MEAN = 0.25  # how much a sentence's own tempo and mean pitch count
WEIGHTS = {"duration": 1.0, "pitch": 3.0, "voicing": 0.3, "energy": 0.3, "old": 0.7}


class Pupil(nn.Module):
    def __init__(self, voice: Voice, sets: list[str]):
        super().__init__()
        self.voice, self.sets = voice, sets
        self.native = nn.Embedding(len(sets), SPEAKER_WIDTH)
        self.own = nn.Embedding(len(BLENDS), SPEAKER_WIDTH)
        with torch.no_grad():
            # Start where the voices are now: the common part in the speakers, the rest in the voices.
            common = voice.spp.weight.mean(0)
            self.native.weight.copy_(common + 0.02 * torch.randn_like(self.native.weight))
            self.own.weight.copy_(voice.spp.weight - common)

    def taught(self):
        """The parameters that learn: nothing the decoder hears directly."""
        v = self.voice
        parts = [v.pt, v.db, v.do, v.fi, v.fb, v.fo, self.native, self.own]
        return [p for part in parts for p in part.parameters()]

    def speaker(self, native, voice):
        return self.native(native) + self.own(voice)

    def blended(self) -> torch.Tensor:
        rows = []
        for voice, blend in enumerate(BLENDS):
            mixed = sum(share * self.native.weight[self.sets.index(name)] for name, share in blend.items())
            rows.append(mixed + self.own.weight[voice])
        return torch.stack(rows)


class Lessons:
    def __init__(self, lessons: list[dict], sets: list[str], device: str):
        self.lessons, self.sets, self.device = lessons, sets, device

    def batch(self, chosen: list[int], teachers_spelling: bool = False):
        some = [self.lessons[i] for i in chosen]
        if not teachers_spelling:
            some = [{**l, "symbols": l["own_symbols"], "frames": l["own_frames"]} for l in some]
        width, frames = max(len(l["symbols"]) for l in some), max(len(l["pitch"]) for l in some)
        frames = (frames + 63) // 64 * 64
        pad = lambda x, to: F.pad(torch.as_tensor(x), (0, to - len(x)))
        stack = lambda key, to, kind: torch.stack([pad(l[key], to) for l in some]).to(self.device, kind)
        symbols, lengths = stack("symbols", width, torch.long), stack("frames", width, torch.float32)
        mask = torch.arange(width)[None] < torch.tensor([len(l["symbols"]) for l in some])[:, None]
        inside = torch.arange(frames)[None] < torch.tensor([len(l["pitch"]) for l in some])[:, None]
        ends = torch.stack([pad_ends(l["frames"], width) for l in some]).to(self.device)
        return {
            "symbols": symbols, "mask": mask.to(self.device), "lengths": lengths, "ends": ends, "frames": frames,
            "pitch": stack("pitch", frames, torch.float32), "known": stack("known", frames, torch.float32),
            "voicing": stack("voicing", frames, torch.float32), "energy": stack("energy", frames, torch.float32),
            "inside": inside.to(self.device, torch.float32),
            "native": torch.tensor([self.sets.index(l["set"]) for l in some], device=self.device),
            "voice": torch.tensor([l["voice"] for l in some], device=self.device),
        }


def pad_ends(lengths, width: int) -> torch.Tensor:
    ends, end = [], 0
    for exact in torch.cumsum(torch.as_tensor(lengths, dtype=torch.float64), 0).tolist():
        end = max(int(round(exact)), end + 1)
        ends.append(end)
    return torch.tensor(ends + [end] * (width - len(ends)))


def apart(guess, truth, where):
    """Mean difference, most of it after each sentence's own mean difference is taken out."""
    count = where.sum(1, keepdim=True).clamp(min=1)
    off = (guess - truth) * where
    mean = off.sum(1, keepdim=True) / count
    inner = ((off - mean).abs() * where).sum() / where.sum()
    return inner + SENTENCE_MEAN * mean.abs().mean()


def differences(model: Voice, batch: dict, speaker, dropout: float = 0.0) -> dict:
    prosody = F.dropout(model.pt(batch["symbols"], batch["mask"]), dropout)
    speaker = F.dropout(speaker, dropout)
    wanted = batch["lengths"].clamp(min=0.5).log()
    duration = apart(model.log_durations(prosody, speaker).float(), wanted, batch["mask"].float())
    guess, _ = model.contour(prosody, batch["ends"], batch["frames"], speaker)
    inside = batch["inside"]
    voicing = F.binary_cross_entropy_with_logits(guess[..., 1], torch.sigmoid(batch["voicing"]), reduction="none")
    return {
        "duration": duration, "pitch": apart(guess[..., 0], batch["pitch"], batch["known"]), "voicing": (voicing * inside).sum() / inside.sum(),
        "energy": ((guess[..., 2] - batch["energy"]).abs() * inside).sum() / inside.sum(),
    }


def padded(rows: list[list[int]], device: str):
    width = max(len(row) for row in rows)
    mask = torch.arange(width)[None] < torch.tensor([len(row) for row in rows])[:, None]
    return torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device), mask.to(device)


@torch.no_grad()
def said_of_itself(model: Voice, symbols, mask, speaker) -> tuple:
    """How long each symbol is, where it ends in whole frames, the contour, and which frames are in the utterance."""
    prosody = model.pt(symbols, mask)
    exact = model.log_durations(prosody, speaker).exp() * mask
    ends = exact.round().clamp(min=1).long().mul(mask).cumsum(1)
    frames = (int(ends[:, -1].max()) + 63) // 64 * 64
    return exact, ends, *model.contour(prosody, ends, frames, speaker)


def unlike(model: Voice, symbols, mask, speaker, said: tuple):
    """How far a model is from what another said of the same lines."""
    exact, ends, truth, inside = said
    prosody, inside = model.pt(symbols, mask), inside.float()
    duration = ((model.log_durations(prosody, speaker) - exact.clamp(min=0.5).log()).abs() * mask).sum() / mask.sum()
    guess, _ = model.contour(prosody, ends, truth.shape[1], speaker)
    return duration + ((guess - truth).abs().clamp(max=5).mean(-1) * inside).sum() / inside.sum()


class OldLines:
    """Phoneme lines in both spellings, and what the model said of them before."""

    def __init__(self, lines: list[str], table: dict, before: Voice, device: str):
        edged = lambda numbers: [0, *numbers, 0]
        self.known = [edged([table[c] for c in teachers(line)]) for line in lines]
        self.own = [edged(numbers_of(line, table)) for line in lines]
        self.parts = [parts_of(line) for line in lines]
        self.before, self.device = before, device

    def apart(self, model: Voice, chosen: list[int], voices, teachers_spelling: bool):
        device = self.device
        known, known_mask = padded([self.known[i] for i in chosen], device)
        speaker = self.before.spp(voices)
        exact, ends, truth, inside = said_of_itself(self.before, known, known_mask, speaker)
        symbols, mask = known, known_mask
        if not teachers_spelling:
            symbols, mask = padded([self.own[i] for i in chosen], device)
            groups = [merged(self.parts[i], torch.arange(len(self.known[i])).numpy() * 0 + 1) for i in chosen]
            last = [(torch.from_numpy(g).cumsum(0) - 1).tolist() for g in groups]
            last, _ = padded([row + [row[-1]] * (symbols.shape[1] - len(row)) for row in last], device)
            ends = torch.gather(ends, 1, last)
            exact = torch.diff(torch.gather(exact.cumsum(1), 1, last), prepend=torch.zeros(len(chosen), 1, device=device))
        return unlike(model, symbols, mask, speaker, (exact, ends, truth, inside))


@torch.no_grad()
def held_out(pupil: Pupil, model: Voice, lessons: Lessons, chosen: list[int], how: str) -> dict[str, float]:
    """Means over the held-out lessons: log duration and log pitch, in the model's own measure."""
    totals = {}
    for at in range(0, len(chosen), 16):
        batch = lessons.batch(chosen[at : at + 16], how == "start")
        if how == "start":
            speaker = model.spp(batch["voice"])
        elif how == "speaker":
            speaker = pupil.speaker(batch["native"], batch["voice"])
        else:
            speaker = pupil.blended()[batch["voice"]]
        for key, value in differences(model, batch, speaker).items():
            totals.setdefault(key, []).append(float(value))
    return {k: sum(v) / len(v) for k, v in totals.items()}


def told(figures: dict[str, float]) -> str:
    return ", ".join(f"{k} {v:.4f}" for k, v in figures.items())


def save(pupil: Pupil, sets: list[str], path: Path) -> None:
    result = pupil.voice.state_dict()
    result["spp.weight"] = pupil.blended()
    beside = path.with_suffix(".new")
    torch.save({k: v.detach().half().cpu() for k, v in result.items() if k.startswith(PROSODY)}, beside)
    beside.replace(path)
    torch.save({"native": pupil.native.weight.detach().cpu(), "own": pupil.own.weight.detach().cpu(), "sets": sets}, path.with_suffix(".speakers.pt"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--lessons", type=Path, required=True)
    parser.add_argument("--phonemes", type=Path, required=True, help="lines of phonemes: what must not be unlearned")
    parser.add_argument("--vocabulary", type=Path, required=True, help="config.json of the PyPI package kokoro-onnx")
    parser.add_argument("--settle", type=int, default=500, help="first steps, for the spelling alone")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--patience", type=int, default=6, help="stop after so many hundreds of steps without a better dev set")
    parser.add_argument("--rate", type=float, default=3e-4)
    args = parser.parse_args()
    torch.manual_seed(1)
    draw = random.Random(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = table_from(json.loads(args.vocabulary.read_text())["vocab"])
    before = load_voice(args.checkpoint)
    before.load_state_dict(with_own_sounds(before.state_dict(), table))
    saved = torch.load(args.lessons, weights_only=False)
    pupil = Pupil(copy.deepcopy(before), saved["sets"]).to(device)
    before = before.to(device).eval().requires_grad_(False)
    average = copy.deepcopy(pupil)
    lessons = Lessons(saved["lessons"], saved["sets"], device)
    is_dev = lambda l: int(Path(l["file"]).stem) % HELD_OUT_EVERY == DEV_REMAINDER
    learn = [i for i, l in enumerate(lessons.lessons) if not l["held_out"] and not is_dev(l)]
    dev = [i for i, l in enumerate(lessons.lessons) if is_dev(l)]
    kept = [i for i, l in enumerate(lessons.lessons) if l["held_out"]]
    lines = [line for line in args.phonemes.read_text().splitlines() if 3 < len(line) < 220][:OLD_LINES]
    old = OldLines(lines, table, before, device)
    print(f"{len(learn)} lessons, {len(kept)} held out, {len(lines)} lines in the old prosody, on {device}", flush=True)
    print("start:", told(held_out(pupil, before, lessons, kept, "start")), flush=True)
    encoder = list(pupil.voice.pt.parameters())
    others = [p for p in pupil.taught() if all(p is not q for q in encoder)]
    groups = [{"params": encoder, "share": ENCODER_RATE}, {"params": others, "share": 1.0}]
    rate = torch.optim.AdamW(groups, args.rate, betas=(0.9, 0.98), weight_decay=0.05)
    best, best_state, waited = float("inf"), None, 0
    # Lessons of about the same length go together, so that little is computed for padding.
    learn.sort(key=lambda i: len(lessons.lessons[i]["pitch"]))
    began, step = time.time(), 0
    while step < args.steps:
        progress = max(step / args.steps, (time.time() - began) / (args.minutes * 60))
        if progress >= 1:
            break
        settling = step < args.settle
        for group in rate.param_groups:
            share = 1.0 if settling else group["share"]
            group["lr"] = share * args.rate * min(1, (step + 1) / 100) * max(0.02, 0.5 * (1 + math.cos(math.pi * progress)))
        teachers_spelling = draw.random() < TEACHERS_SPELLING
        losses = {}
        if not settling:
            first = draw.randrange(max(1, len(learn) - 4 * args.batch))
            chosen = draw.sample(learn[first : first + 4 * args.batch], min(args.batch, len(learn)))
            batch = lessons.batch(chosen, teachers_spelling)
            losses = differences(pupil.voice, batch, pupil.speaker(batch["native"], batch["voice"]), DROPOUT)
        some = args.batch if settling else max(1, args.batch // 2)
        chosen = draw.sample(range(len(lines)), min(some, len(lines)))
        voices = torch.tensor([draw.randrange(len(BLENDS)) for _ in chosen], device=device)
        losses["old"] = old.apart(pupil.voice, chosen, voices, teachers_spelling)
        loss = sum(WEIGHTS[k] * v for k, v in losses.items())
        rate.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(pupil.taught(), 1.0)
        rate.step()
        keep = min(0.99, (1 + step) / (10 + step))
        with torch.no_grad():
            for mean, now in zip(average.taught(), pupil.taught()):
                mean.lerp_(now, 1 - keep)
        if step % 100 == 0:
            print(f"step {step}, {time.time() - began:.0f} s: " + ", ".join(f"{k} {v.item():.4f}" for k, v in losses.items()), flush=True)
        if step % 100 == 99 and not settling:
            figures = held_out(average, average.voice, lessons, dev, "speaker")
            print(f"dev at {step}: {told(figures)}", flush=True)
            score = figures["duration"] + WEIGHTS["pitch"] * figures["pitch"]
            waited += 1
            if score < best:
                best, waited = score, 0
                best_state = copy.deepcopy(average.state_dict())
                save(average, saved["sets"], args.out)
            if waited >= args.patience:
                break
        step += 1
    if best_state:
        average.load_state_dict(best_state)
    for how in ("speaker", "blend"):
        print(f"held out, {how}:", told(held_out(average, average.voice, lessons, kept, how)), flush=True)
    save(average, saved["sets"], args.out)
    print(f"{step} steps in {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
