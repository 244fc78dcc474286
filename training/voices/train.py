"""Teach the voice model. Stops after the given minutes and goes on where it stopped.

    python train.py --speech 'work/speech/*.pt' --state work/state.pt --out work/gen16.pt --minutes 27
    python train.py ... --init gen16.pt --decoder-only --minutes 14 --decay    go on from trained weights, rate falling to the end
    python train.py ... --tiny --steps 3                                       dry run on a CPU

From nothing, the first `--warm` steps learn from mel spectra alone, then discriminators join in. Going on from trained weights
(`--init`), new discriminators first learn alone for `--judges-first` steps: fresh ones would only do harm. `--decoder-only` leaves
the prosody side as it is; prosody.py teaches it. OUT is written every `--save-minutes`, whole and as files
of at most 16 MB beside it (OUT.0, OUT.1, ...; parts.py puts them together).
"""

import argparse
import copy
import glob
import json
import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F

from data import Speech
from losses import Discriminators, MelDistance, cropped
from model import HOP, Voice
from parts import write_parts
from symbols import table_from, with_own_sounds

WINDOW, CONTEXT = 64, 16
CONTOUR_BATCH = 16
JUDGED = 8192  # samples of a window that the discriminators hear
PROSODY = ("pt.", "spp.", "db.", "do.", "fi.", "fb.", "fo.")


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
    return samples[:, CONTEXT * HOP : (CONTEXT + WINDOW) * HOP] * batch.spoken


class Trainer:
    def __init__(self, args, device):
        self.args, self.device, self.step = args, device, 0
        size = {"width": 32, "decoder_width": 32, "hidden": 64, "layers": 1} if args.tiny else {}
        self.model, self.judges = Voice(**size).to(device), Discriminators(args.strong_judges).to(device)
        self.mel = MelDistance().to(device)
        options = {"betas": (0.8, 0.99), "weight_decay": 0.01, "fused": device == "cuda"}
        if args.decoder_only:
            for name, parameter in self.model.named_parameters():
                parameter.requires_grad_(not name.startswith(PROSODY))
        self.taught = [p for p in self.model.parameters() if p.requires_grad]
        self.model_rate = torch.optim.AdamW(self.taught, args.rate, **options)
        self.judge_rate = torch.optim.AdamW(self.judges.parameters(), args.judge_rate, **options)
        if args.init:
            state = torch.load(args.init, map_location=device, weights_only=True)
            if args.vocabulary:
                state = with_own_sounds(state, table_from(json.loads(args.vocabulary.read_text())["vocab"]))
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
        weights = {k: v.half().cpu() for k, v in self.average.state_dict().items()}
        torch.save(weights, self.args.out)
        if self.args.decoder_only:
            weights = {k: v for k, v in weights.items() if not k.startswith(PROSODY)}
        write_parts(weights, self.args.out)

    def autocast(self):
        return torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda")

    def teach(self, speech, progress):
        args = self.args
        fall = max(0.03, 0.5 * (1 + math.cos(math.pi * progress))) if args.decay else 1.0
        alone = args.judges_first if args.init else 0
        for group in self.model_rate.param_groups:
            group["lr"] = args.rate * fall * min(1, max(1, self.step + 1 - alone) / 500)
        for group in self.judge_rate.param_groups:
            group["lr"] = args.judge_rate * fall
        batch = speech.batch(args.batch, WINDOW, CONTEXT)
        if self.step < alone:
            with torch.no_grad(), self.autocast():
                spoken = speak_windows(self.model, batch)
            self.step += 1
            return {"judges": self.teach_judges(*cropped(batch.samples, spoken, JUDGED))}
        with self.autocast():
            spoken = speak_windows(self.model, batch)
            losses = {} if args.decoder_only else prosody_losses(self.model, speech, batch)
        adversarial = self.step >= args.warm or bool(args.init)
        losses["mel"] = self.mel(spoken.float(), batch.samples)
        weights = {"duration": 1.0, "pitch": 2.0, "voicing": 1.0, "energy": 0.5, "mel": 15.0 if adversarial else 45.0}
        total = sum(weights[name] * loss for name, loss in losses.items())
        if adversarial:
            real, crop = cropped(batch.samples, spoken, JUDGED)
            losses["judges"] = self.teach_judges(real, crop.detach())
            losses["fooling"], losses["features"] = self.judged(real, crop)
            total = total + losses["fooling"] + 2 * losses["features"]
        self.model_rate.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.taught, 5.0)
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
    parser.add_argument("--decoder-only", action="store_true", help="leave the prosody side as it is")
    parser.add_argument("--expected", type=float, default=0.0, help="with --decoder-only: share of windows with the voicing and energy that the prosody side expects")
    parser.add_argument("--drop", type=float, nargs=2, default=(0.0, 0.0), metavar=("SHORT", "LONG"), help="shares of each voice's speech to leave out, the least liked (synthesise.py --judge)")
    parser.add_argument("--judges-first", type=int, default=400, help="with --init: steps of the discriminators alone")
    parser.add_argument("--strong-judges", action="store_true", help="discriminators with twice the channels: slower, harder to fool")
    parser.add_argument("--vocabulary", type=Path, help="the teacher's config.json: --init knows the teacher's symbols only")
    parser.add_argument("--save-minutes", type=float, default=1.5)
    parser.add_argument("--tiny", action="store_true", help="a toy model, to try the code")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans each new shape for a second
    start = time.time()
    speech = Speech([Path(p) for p in sorted(glob.glob(args.speech))], device, args.drop)
    trainer = Trainer(args, device)
    # A trained model keeps the scale it knows; the speech of a second lesson has another mean.
    scale = speech.energy_known_to(trainer.average) if args.init else speech.energy_scale
    print(f"{speech.hours():.2f} h in {speech.count} utterances, loaded in {time.time() - start:.0f} s; energy {scale}, of this speech {speech.energy_scale}", flush=True)
    speech.scale_energy(*scale)
    if args.expected:
        speech.expect(trainer.average, args.expected)
    first, saved = trainer.step, time.time()
    # Loading is part of the minutes given.
    while (passed := (time.time() - start) / 60) < args.minutes and trainer.step - first < args.steps:
        losses = trainer.teach(speech, passed / args.minutes)
        if trainer.step % 250 == 0 or device == "cpu":
            print(f"{trainer.step} {time.time() - start:.0f} s", *(f"{k} {v.item():.3f}" for k, v in losses.items()), flush=True)
        if time.time() - saved > args.save_minutes * 60:
            trainer.save()
            saved = time.time()
    trainer.save()


if __name__ == "__main__":
    main()
