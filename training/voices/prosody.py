"""Teach the prosody side of the model native rhythm and melody; timbre and decoder stay as they are.

    python prosody.py --checkpoint gen16.pt --lessons work/lessons.pt --out work/native16.pt --minutes 5
    python prosody.py ... --steps 3 --batch 2                            dry run on a CPU

Every speaker of the recordings becomes a further prosody speaker; beside it stands a vector for each of our voices, which
carries its tempo and mean pitch. In the end a voice's prosody is a blend of the native speakers (BLENDS) with its own
vector, so it is no copy of one person's way of speaking. OUT holds the prosody side alone; export.py lays it over the
rest. `--sentences` keeps the encoder general: on those phoneme lines
the model must go on saying what it said before in its old prosody.
"""

import argparse
import copy
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
ENCODER_RATE = 0.2  # the encoder learns slower: it has much to lose and the recordings are few
WEIGHTS = {"duration": 1.0, "pitch": 3.0, "voicing": 0.3, "energy": 0.3, "old": 0.5}


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

    def batch(self, chosen: list[int]):
        some = [self.lessons[i] for i in chosen]
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


def differences(model: Voice, batch: dict, speaker, dropout: float = 0.0) -> dict:
    prosody = F.dropout(model.pt(batch["symbols"], batch["mask"]), dropout)
    speaker = F.dropout(speaker, dropout)
    mask = batch["mask"].float()
    wanted = batch["lengths"].clamp(min=0.5).log()
    duration = ((model.log_durations(prosody, speaker).float() - wanted).abs() * mask).sum() / mask.sum()
    guess, _ = model.contour(prosody, batch["ends"], batch["frames"], speaker)
    known, inside = batch["known"], batch["inside"]
    pitch = ((guess[..., 0] - batch["pitch"]).abs() * known).sum() / known.sum()
    voicing = F.binary_cross_entropy_with_logits(guess[..., 1], torch.sigmoid(batch["voicing"]), reduction="none")
    return {
        "duration": duration, "pitch": pitch, "voicing": (voicing * inside).sum() / inside.sum(),
        "energy": ((guess[..., 2] - batch["energy"]).abs() * inside).sum() / inside.sum(),
    }


def old_ways(model: Voice, before: Voice, lines: list[list[int]], voices, device: str):
    """How far the model has come from what it said before, in its old prosody."""
    width = max(len(line) for line in lines)
    symbols = torch.tensor([line + [0] * (width - len(line)) for line in lines], device=device)
    mask = torch.arange(width, device=device)[None] < torch.tensor([len(line) for line in lines], device=device)[:, None]
    speaker = before.spp(voices)
    with torch.no_grad():
        old = before.pt(symbols, mask)
        lengths = before.log_durations(old, speaker)
        ends = ((lengths.exp().round().clamp(min=1)) * mask).cumsum(1).long()
        frames = (int(ends[:, -1].max()) + 63) // 64 * 64
        truth, inside = before.contour(old, ends, frames, speaker)
    prosody = model.pt(symbols, mask)
    duration = ((model.log_durations(prosody, speaker) - lengths).abs() * mask).sum() / mask.sum()
    guess, _ = model.contour(prosody, ends, frames, speaker)
    inside = inside.float()
    contour = ((guess - truth).abs().clamp(max=5).mean(-1) * inside).sum() / inside.sum()
    return duration + contour


@torch.no_grad()
def held_out(pupil: Pupil, model: Voice, lessons: Lessons, chosen: list[int], how: str) -> dict[str, float]:
    """Means over the held-out lessons: log duration and log pitch, in the model's own measure."""
    totals = {}
    for at in range(0, len(chosen), 16):
        batch = lessons.batch(chosen[at : at + 16])
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--lessons", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, help="lines of symbol numbers: what must not be unlearned")
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
    before = load_voice(args.checkpoint)
    saved = torch.load(args.lessons, weights_only=False)
    pupil = Pupil(copy.deepcopy(before), saved["sets"]).to(device)
    before = before.to(device).eval().requires_grad_(False)
    average = copy.deepcopy(pupil)
    lessons = Lessons(saved["lessons"], saved["sets"], device)
    is_dev = lambda l: int(Path(l["file"]).stem) % HELD_OUT_EVERY == DEV_REMAINDER
    learn = [i for i, l in enumerate(lessons.lessons) if not l["held_out"] and not is_dev(l)]
    dev = [i for i, l in enumerate(lessons.lessons) if is_dev(l)]
    kept = [i for i, l in enumerate(lessons.lessons) if l["held_out"]]
    old = [[int(n) for n in line.split()] for line in args.sentences.read_text().splitlines()] if args.sentences else []
    print(f"{len(learn)} lessons, {len(kept)} held out, {len(old)} sentences in the old prosody, on {device}", flush=True)
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
        for group in rate.param_groups:
            group["lr"] = group["share"] * args.rate * min(1, (step + 1) / 100) * max(0.02, 0.5 * (1 + math.cos(math.pi * progress)))
        first = draw.randrange(max(1, len(learn) - 4 * args.batch))
        batch = lessons.batch(draw.sample(learn[first : first + 4 * args.batch], min(args.batch, len(learn))))
        losses = differences(pupil.voice, batch, pupil.speaker(batch["native"], batch["voice"]), DROPOUT)
        if old:
            lines = draw.sample(old, max(1, args.batch // 4))
            voices = torch.tensor([draw.randrange(len(BLENDS)) for _ in lines], device=device)
            losses["old"] = old_ways(pupil.voice, before, lines, voices, device)
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
        if step % 100 == 99:
            figures = held_out(average, average.voice, lessons, dev, "speaker")
            print(f"dev at {step}: {told(figures)}", flush=True)
            score = figures["duration"] + WEIGHTS["pitch"] * figures["pitch"]
            waited += 1
            if score < best:
                best, waited = score, 0
                best_state = copy.deepcopy(average.state_dict())
            if waited >= args.patience:
                break
        step += 1
    if best_state:
        average.load_state_dict(best_state)
    for how in ("speaker", "blend"):
        print(f"held out, {how}:", told(held_out(average, average.voice, lessons, kept, how)), flush=True)
    result = average.voice.state_dict()
    result["spp.weight"] = average.blended()
    torch.save({k: v.detach().half().cpu() for k, v in result.items() if k.startswith(PROSODY)}, args.out)
    torch.save({"native": average.native.weight.detach().cpu(), "own": average.own.weight.detach().cpu(), "sets": saved["sets"]}, args.out.with_suffix(".speakers.pt"))
    print(f"{step} steps in {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
