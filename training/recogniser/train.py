"""Fine-tune the recogniser.

    python train.py --real real.pt --whisper encoder.onnx --synthetic DIR --out DIR --minutes 15

Time is the budget: the learning rate falls to nothing at the last minute. Synthetic shards are
picked up as they appear, so `synthesise.py` may run beside it. Averaged weights (recogniser16.pt)
are written every few minutes and at the end, also when the run is told to stop (SIGTERM), then
figures (figures.json) and the posteriors of the test sets (posteriors.npz).
"""

import argparse
import copy
import json
import random
import signal
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from augment import Noises, damaged_spectra
from data import Bank, unpacked
from features import LogMel
from hearing import recognise
from model import HALVE_AFTER, LAYERS, Recogniser, load_recogniser, load_whisper_encoder, state_of
from spelling import error_rates

WEIGHTS = {
    "broadcast": 0.32, "english": 0.30, "narrator-stories": 0.09, "narrator-stories-extra": 0.03,
    "reader-1": 0.10, "reader-2": 0.10, "narrator-man": 0.05, "english-read": 0.10, "voices": 0.08, "synthetic": 0.22,
}
AGREEMENT = 0.2  # weight of the difference between two views of a clip
MIDDLE_AFTER, MIDDLE_SHARE = 8, 0.2  # the loss at a middle layer, which keeps the upper ones from learning clips by heart


def parameter_groups(model, peak, decay, head):
    """Lower layers know sound, upper ones meaning: the learning rate falls on the way down."""
    groups = [{"params": [*model.head.parameters(), *model.layer_norm.parameters()], "lr": head}]
    for i, layer in enumerate(model.layers):
        groups.append({"params": list(layer.parameters()), "lr": peak * decay ** (LAYERS - 1 - i)})
    groups.append({"params": [*model.conv1.parameters(), *model.conv2.parameters()], "lr": 1e-5})
    model.embed_positions.weight.requires_grad_(False)
    return groups


def disagreement(logprobs, valid):
    """How far each view's posteriors lie from its twin's (consistency-regularised CTC), summed over the clip's frames."""
    twin = logprobs.detach().roll(len(logprobs) // 2, 0)
    frames = F.kl_div(logprobs, twin, reduction="none", log_target=True).sum(-1)
    inside = torch.arange(frames.shape[1], device=frames.device)[None] < valid[:, None]
    return (frames * inside).sum(1)


class Trainer:
    def __init__(self, args):
        self.args, self.device = args, args.device
        self.amp = lambda: torch.autocast(args.device, torch.bfloat16)
        self.mel_of = LogMel(args.device)
        self.bank = Bank(args.device, args.capacity_hours)
        if args.start:
            self.model = load_recogniser(args.start, args.device, args.halve_after)
        else:
            self.model = Recogniser(args.halve_after).to(args.device)
            load_whisper_encoder(args.whisper, self.model)
        self.tests, noise = {}, []
        for path in args.real:
            real = torch.load(path, weights_only=False)
            for name, clips in real["train"].items():
                self.bank.add(name, unpacked(*clips))
            self.tests |= {name: unpacked(*clips) for name, clips in real["held_out"].items()}
            noise += [samples for samples, _ in unpacked(*real["noise"])]
        self.noises = Noises(noise, args.device) if noise else None
        self.average = copy.deepcopy(self.model)
        self.optimiser = torch.optim.AdamW(
            parameter_groups(self.model, args.peak_rate, args.layer_decay, args.head_rate), weight_decay=0.01, betas=(0.9, 0.98),
            fused=args.device == "cuda",
        )
        if args.compile:  # the average stays as it is: it is heard with, in many shapes
            for layer in self.model.layers:
                layer.compile(dynamic=True)
        self.base_rates = [g["lr"] for g in self.optimiser.param_groups]
        self.step = 0
        print("hours", self.bank.hours(), {k: len(v) for k, v in self.tests.items()}, flush=True)

    def train_batch(self, width, batch, progress):
        factor = min(1, (self.step + 1) / self.args.warm_steps) * (0.98 * (1 - progress) + 0.02)
        for group, base in zip(self.optimiser.param_groups, self.base_rates):
            group["lr"] = base * factor
        views = self.args.views
        mel, frames, targets = damaged_spectra(*self.bank.collate(width, batch), self.noises, self.mel_of, views)
        with self.amp():
            logprobs, valid, middle = self.model(mel, frames, dropout=0.1, layer_drop=0.05, middle_after=MIDDLE_AFTER)
        flat = torch.tensor([c for t in targets for c in t], device=self.device)
        sizes = torch.tensor([len(t) for t in targets], device=self.device)
        ctc = lambda rows: F.ctc_loss(rows.transpose(0, 1), flat, valid, sizes, reduction="none", zero_infinity=True)
        losses = (1 - MIDDLE_SHARE) * ctc(logprobs) + MIDDLE_SHARE * ctc(middle)
        if views == 2:
            losses = losses + AGREEMENT * disagreement(logprobs, valid)
        loss = (losses / sizes.clamp(min=20)).mean()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        keep = min(0.999, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - keep)
        return loss

    def evaluate(self):
        figures, posteriors = {}, {}
        for name, clips in self.tests.items():
            texts, rows = recognise(self.average, self.mel_of, clips, self.device, self.amp)
            wer, cer = error_rates([t for _, t in clips], texts)
            figures[name] = {"clips": len(clips), "wer_greedy": wer, "cer_greedy": cer}
            posteriors[name] = (rows, [t for _, t in clips])
        return figures, posteriors

    def run(self):
        start, budget, shown, saved = time.time(), self.args.minutes * 60, time.time(), time.time()
        signal.signal(signal.SIGTERM, lambda *_: setattr(self.args, "steps_max", self.step))
        while (progress := (time.time() - start) / budget) < 1 and self.step < self.args.steps_max:
            self.bank.add_new_shards(self.args.synthetic)
            clips = self.bank.draw(WEIGHTS, self.args.pool_clips)
            for width, batch in self.bank.batches(clips, self.args.batch_seconds):
                progress = (time.time() - start) / budget
                if progress >= 1 or self.step >= self.args.steps_max:
                    break
                loss = self.train_batch(width, batch, progress)
                if time.time() - shown > 20:
                    shown = time.time()
                    if time.time() - saved > 60 * self.args.save_minutes:
                        saved = time.time()
                        self.save_weights()
                    print(f"step {self.step} {progress:.0%} loss {loss.item():.3f} {self.bank.hours().get('synthetic', 0)} h synthetic", flush=True)
        self.save()

    def save_weights(self):
        """Under another name first: a run that is cut short leaves the last whole ones."""
        final = Path(self.args.out) / "recogniser16.pt"
        torch.save(state_of(self.average), final.with_suffix(".part"))
        final.with_suffix(".part").rename(final)

    def save(self):
        out = Path(self.args.out)
        self.save_weights()
        print(f"step {self.step}: weights written", flush=True)
        figures, posteriors = self.evaluate()
        figures["steps"] = self.step
        figures["hours"] = self.bank.hours()
        (out / "figures.json").write_text(json.dumps(figures, indent=1))
        arrays = {f"{name}/{i}": row for name, (rows, _) in posteriors.items() for i, row in enumerate(rows)}
        np.savez_compressed(out / "posteriors.npz", **arrays)
        (out / "references.json").write_text(json.dumps({n: texts for n, (_, texts) in posteriors.items()}))
        print("FINAL", json.dumps(figures), flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--real", nargs="+", required=True, help="what real.py wrote, in one file or several")
    args.add_argument("--whisper")
    args.add_argument("--start", help="weights of an earlier run to go on from")
    args.add_argument("--synthetic", default="shards", help="folder of synthetic speech, if any")
    args.add_argument("--out", required=True)
    args.add_argument("--minutes", type=float, default=15)
    args.add_argument("--halve-after", type=int, default=HALVE_AFTER)
    args.add_argument("--peak-rate", type=float, default=1.5e-4)
    args.add_argument("--head-rate", type=float, default=1e-3)
    args.add_argument("--layer-decay", type=float, default=0.85)
    args.add_argument("--batch-seconds", type=float, default=480, help="of distinct speech in a step")
    args.add_argument("--views", type=int, default=2, choices=(1, 2), help="one is quicker, two hear strangers better in the end")
    args.add_argument("--pool-clips", type=int, default=3000)
    args.add_argument("--capacity-hours", type=float, default=70)
    args.add_argument("--warm-steps", type=int, default=300)
    args.add_argument("--steps-max", type=int, default=10**9)
    args.add_argument("--save-minutes", type=float, default=2)
    args.add_argument("--compile", action="store_true", help="fuse each layer's small steps; the first minute goes into it")
    args.add_argument("--device", default="cuda")
    args = args.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans each new shape for a second, and there are hundreds
    Path(args.out).mkdir(parents=True, exist_ok=True)
    Trainer(args).run()


if __name__ == "__main__":
    main()
