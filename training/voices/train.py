"""Teach the voice model. Stops after the given minutes and goes on where it stopped.

    python train.py --speech 'work/speech-*.pt' --state work/state.pt --out work/gen16.pt --minutes 27
    python train.py ... --init gen16.pt --minutes 5 --decay     fine-tune, rate falling to the end
    python train.py ... --tiny --steps 3                        dry run on a CPU

First `--warm` steps learn from mel spectra alone, then discriminators join in.
"""

import argparse
import copy
import glob
import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F

from data import Speech
from losses import Discriminators, MelDistance
from model import HOP, Voice

WINDOW, CONTEXT = 64, 16
CONTOUR_BATCH = 16


def prosody_losses(model, speech, batch):
    """Durations of the batch, contours of its first utterances: L1 but for voicing."""
    rhythm = model.spp(batch.speaker)
    prosody = model.pt(batch.symbols, batch.mask)
    wanted = (batch.ends - F.pad(batch.ends, (1, 0))[:, :-1]).clamp(min=1).float().log()
    duration = ((model.log_durations(prosody, rhythm).float() - wanted).abs() * batch.mask).sum() / batch.mask.sum()
    some = slice(0, CONTOUR_BATCH)
    frames = (int(speech.frames[batch.index[some]].max()) + 191) // 192 * 192
    guess, inside = model.contour(prosody[some], batch.ends[some], frames, rhythm[some])
    every = torch.arange(frames, device=speech.device)[None]
    truth, inside = speech.contour_at(batch.index[some], every), inside.float()
    voiced = inside * truth[..., 1]
    pitch = ((guess[..., 0] - truth[..., 0]).abs() * voiced).sum() / voiced.sum().clamp(min=1)
    voicing = F.binary_cross_entropy_with_logits(guess[..., 1], truth[..., 1], reduction="none")
    voicing = (voicing * inside).sum() / inside.sum()
    energy = ((guess[..., 2] - truth[..., 2]).abs() * inside).sum() / inside.sum()
    return {"duration": duration, "pitch": pitch, "voicing": voicing, "energy": energy}


def speak_windows(model, batch):
    frames = WINDOW + 2 * CONTEXT
    noise = torch.randn(len(batch.start), frames * HOP, device=batch.start.device)
    phase = torch.rand(len(batch.start), device=batch.start.device)
    content, timbre = model.te(batch.symbols, batch.mask), model.sp(batch.speaker)
    pitch, voiced, energy = batch.contour.unbind(-1)
    start = batch.start - CONTEXT
    samples = model.decode(content, batch.ends, start, frames, pitch, voiced, energy, timbre, noise, phase)
    return samples[:, CONTEXT * HOP : (CONTEXT + WINDOW) * HOP]


class Trainer:
    def __init__(self, args, device):
        self.args, self.device, self.step = args, device, 0
        size = {"width": 32, "decoder_width": 32, "hidden": 64, "layers": 1} if args.tiny else {}
        self.model, self.judges = Voice(**size).to(device), Discriminators().to(device)
        self.mel = MelDistance().to(device)
        options = {"betas": (0.8, 0.99), "weight_decay": 0.01, "fused": device == "cuda"}
        self.model_rate = torch.optim.AdamW(self.model.parameters(), args.rate, **options)
        self.judge_rate = torch.optim.AdamW(self.judges.parameters(), args.judge_rate, **options)
        if args.init:
            state = torch.load(args.init, map_location=device, weights_only=True)
            self.model.load_state_dict({k: v.float() for k, v in state.items()})
        self.average = copy.deepcopy(self.model)
        if args.state.exists():
            self.resume()

    def parts(self):
        return {"model": self.model, "judges": self.judges, "average": self.average, "model_rate": self.model_rate, "judge_rate": self.judge_rate}

    def resume(self):
        saved = torch.load(self.args.state, map_location=self.device, weights_only=True)
        for name, part in self.parts().items():
            part.load_state_dict(saved[name])
        self.step = saved["step"]
        print("resumed at step", self.step)

    def save(self):
        # Written beside and then moved: a run that is cut off leaves the old state whole.
        saved = {name: part.state_dict() for name, part in self.parts().items()}
        beside = self.args.state.with_suffix(".new")
        torch.save({**saved, "step": self.step}, beside)
        beside.replace(self.args.state)
        torch.save({k: v.half() for k, v in self.average.state_dict().items()}, self.args.out)

    def autocast(self):
        return torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda")

    def teach(self, speech, progress):
        args = self.args
        fall = max(0.05, 0.5 * (1 + math.cos(math.pi * progress))) if args.decay else 1.0
        for group in self.model_rate.param_groups:
            group["lr"] = args.rate * fall * min(1, (self.step + 1) / 500)
        for group in self.judge_rate.param_groups:
            group["lr"] = args.judge_rate * fall
        batch = speech.batch(args.batch, WINDOW, CONTEXT)
        with self.autocast():
            spoken = speak_windows(self.model, batch)
            losses = prosody_losses(self.model, speech, batch)
        adversarial = self.step >= args.warm
        if adversarial:
            losses["judges"] = self.teach_judges(batch.samples, spoken)
        losses["mel"] = self.mel(spoken.float(), batch.samples)
        total = losses["mel"] * (15 if adversarial else 45) + losses["duration"]
        total = total + 2 * losses["pitch"] + losses["voicing"] + 0.5 * losses["energy"]
        if adversarial:
            losses["fooling"], losses["features"] = self.judged(batch.samples, spoken)
            total = total + losses["fooling"] + 2 * losses["features"]
        self.model_rate.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.model_rate.step()
        self.step += 1
        weight = args.average if self.step > 4000 or args.init else 0.01
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), weight)
        return losses

    def teach_judges(self, real, spoken):
        self.judges.requires_grad_(True)
        with self.autocast():
            verdicts, _ = self.judges(torch.cat([real, spoken.detach()]))
        count = len(real)
        hinge = [F.relu(1 - v[:count].float()).mean() + F.relu(1 + v[count:].float()).mean() for v in verdicts]
        loss = sum(hinge) / len(hinge)
        self.judge_rate.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.judges.parameters(), 10.0)
        self.judge_rate.step()
        return loss.detach()

    def judged(self, real, spoken):
        self.judges.requires_grad_(False)
        with self.autocast():
            with torch.no_grad():
                _, wanted = self.judges(real)
            verdicts, found = self.judges(spoken)
        fooling = sum(F.relu(1 - v.float()).mean() for v in verdicts) / len(verdicts)
        pairs = [(a, b) for x, y in zip(wanted, found) for a, b in zip(x, y)]
        features = sum((a.float() - b.float()).abs().mean() for a, b in pairs) / len(wanted)
        return fooling, features


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speech", required=True, help="pattern of the files synthesise.py wrote")
    parser.add_argument("--state", type=Path, required=True, help="everything needed to go on")
    parser.add_argument("--out", type=Path, required=True, help="the averaged generator, float16, for export.py")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--steps", type=int, default=10**9)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--warm", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--judge-rate", type=float, default=4e-4)
    parser.add_argument("--average", type=float, default=0.001, help="how fast the averaged weights follow")
    parser.add_argument("--init", type=Path, help="a generator to start from")
    parser.add_argument("--decay", action="store_true", help="let the rates fall over this run")
    parser.add_argument("--tiny", action="store_true", help="a toy model, to try the code")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    speech = Speech([Path(p) for p in sorted(glob.glob(args.speech))], device)
    print(f"{speech.hours():.2f} h of speech")
    trainer = Trainer(args, device)
    start, first = time.time(), trainer.step
    while (passed := (time.time() - start) / 60) < args.minutes and trainer.step - first < args.steps:
        losses = trainer.teach(speech, passed / args.minutes)
        if trainer.step % 250 == 0 or device == "cpu":
            print(trainer.step, *(f"{k} {v.item():.3f}" for k, v in losses.items()), flush=True)
        if trainer.step % 2000 == 0:
            trainer.save()
    trainer.save()


if __name__ == "__main__":
    main()
