"""Fine-tune the recogniser.

    python train.py --speech DIR --whisper encoder.onnx --synthetic DIR --out DIR --minutes 15

Time is the budget: the learning rate falls to nothing at the last minute. Synthetic shards are
picked up as they appear, so `synthesise.py` may run beside it. Writes averaged weights
(recogniser16.pt), figures (figures.json) and the posteriors of the test sets (posteriors.npz).
"""

import argparse
import copy
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from align import cut_at_pauses, letter_frames
from augment import change_speed, damage, mask_spectrum, not_speech
from data import REAL_SETS, Bank, read_set, usable
from features import LogMel
from model import LAYERS, Recogniser, load_whisper_encoder
from spelling import ALPHABET, CLASS_OF, edit_distance, error_rates, spell

WEIGHTS = {
    "narrator-stories": 0.12, "narrator-stories-extra": 0.06, "narrator-words": 0.04,
    "reader-1": 0.16, "reader-2": 0.14, "synthetic": 0.48,
}
NOT_SPEECH_SHARE = 0.03
AGREEMENT = 0.2  # weight of the difference between two views of a clip
WRONG_LABEL_CER = 0.5  # a transcript farther than this from what an earlier model hears is not the clip's own


def parameter_groups(model, peak, decay):
    """Lower layers know sound, upper ones meaning: the learning rate falls on the way down."""
    groups = [{"params": [*model.head.parameters(), *model.layer_norm.parameters()], "lr": 1e-3}]
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


def greedy(logprobs, lengths):
    texts = []
    for row, length in zip(logprobs.argmax(-1).tolist(), lengths.tolist()):
        text, last = "", 0
        for symbol in row[:length]:
            if symbol and symbol != last:
                text += ALPHABET[symbol - 1]
            last = symbol
        texts.append(" ".join(text.split()))
    return texts


WINDOW, MARGIN = 14 * 16_000, 16_000  # long clips are heard in windows, whose margins are heard twice and dropped


@torch.no_grad()
def posteriors_of(model, mel_of, samples, device, amp):
    """Log-probabilities of one clip, alone as the service hears it."""
    if len(samples) > 25 * 16_000:
        parts, step = [], WINDOW - 2 * MARGIN
        for start in range(0, len(samples) - 2 * MARGIN, step):
            part = posteriors_of(model, mel_of, samples[start : start + WINDOW], device, amp)
            last = start + step >= len(samples) - 2 * MARGIN
            parts.append(part[MARGIN // 640 if start else 0 : None if last else (WINDOW - MARGIN) // 640])
        return torch.cat(parts)
    size = (len(samples) + 639) // 640 * 640
    wave = torch.zeros(1, size, device=device)
    wave[0, : len(samples)] = torch.from_numpy(samples).to(device).float() / 32768
    wave = wave / wave.abs().amax().clamp(min=1e-4) * 0.5
    with amp():
        logprobs, length = model(mel_of(wave), torch.tensor([size // 160], device=device))
    return logprobs[0, : int(length[0])]


def recognise(model, mel_of, clips, device, amp):
    """Greedy texts and posteriors."""
    model.eval()
    posteriors = [posteriors_of(model, mel_of, samples, device, amp) for samples, _ in clips]
    model.train()
    texts = [greedy(rows[None], torch.tensor([len(rows)]))[0] for rows in posteriors]
    return texts, [rows.half().cpu().numpy() for rows in posteriors]


class Trainer:
    def __init__(self, args):
        self.args, self.device = args, args.device
        self.amp = lambda: torch.autocast(args.device, torch.bfloat16)
        self.mel_of = LogMel(args.device)
        self.bank = Bank(args.device, args.capacity_hours)
        self.model = Recogniser(args.halve_after).to(args.device)
        if args.start:
            state = torch.load(args.start, map_location=args.device)
            self.model.load_state_dict({k: v.float() for k, v in state.items()})
        else:
            load_whisper_encoder(args.whisper, self.model)
        self.tests = {}
        for name in args.sets.split(","):
            clips = read_set(args.speech, name, args.workers)
            training = [(s, t) for s, t, held in clips if not held]
            if args.start and name != "narrator-words":
                training = self.checked(name, training)
            self.bank.add(name, [(s, t) for s, t in training if usable(s, t)])
            held = [(s, t) for s, t, held in clips if held and usable(s, t, 29.0)]
            if name != "narrator-words":
                self.tests[name] = held
        self.tests["common-voice-dev"] = [(s, t) for s, t, _ in read_set(args.speech, "common-voice-dev", args.workers)]
        self.seen = set()
        self.average = copy.deepcopy(self.model)
        self.optimiser = torch.optim.AdamW(
            parameter_groups(self.model, args.peak_rate, args.layer_decay), weight_decay=0.01, betas=(0.9, 0.98),
            fused=args.device == "cuda",
        )
        self.base_rates = [g["lr"] for g in self.optimiser.param_groups]
        self.step = 0
        print("hours", self.bank.hours(), {k: len(v) for k, v in self.tests.items()}, flush=True)

    def checked(self, name, clips):
        """What an earlier model makes of the clips: wrong labels go, and long recordings are cut at pauses."""
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

    def take_new_shards(self):
        for path in sorted(Path(self.args.synthetic).glob("synthetic-*.pt")):
            if path.name not in self.seen:
                self.seen.add(path.name)
                shard = [(s, spell(t)) for s, t in torch.load(path, weights_only=False)]
                self.bank.add("synthetic", [(s, t) for s, t in shard if usable(s, t)])

    def train_batch(self, width, batch, progress):
        factor = min(1, (self.step + 1) / self.args.warm_steps) * (0.98 * (1 - progress) + 0.02)
        for group, base in zip(self.optimiser.param_groups, self.base_rates):
            group["lr"] = base * factor
        waves, lengths, targets = self.bank.collate(width, batch)
        with torch.no_grad():
            waves, lengths = change_speed(waves, lengths)
            # Every clip is seen twice, damaged and masked in two ways, and both must say the same.
            lengths, targets = lengths.repeat(2), targets * 2
            waves = damage(waves.repeat(2, 1), lengths)
            # Silence comes last: mixed with babble it would teach that faint speech is nothing.
            silent = (torch.rand(len(batch)) < NOT_SPEECH_SHARE).repeat(2)
            if silent.any():
                rows = silent.nonzero()[:, 0]
                waves[rows] = not_speech((len(rows), waves.shape[1]), self.device) * 0.3
                targets = [[] if s else t for s, t in zip(silent.tolist(), targets)]
            frames = lengths // 160
            mel = mask_spectrum(self.mel_of(waves), frames)
        with self.amp():
            logprobs, valid = self.model(mel, frames, dropout=0.1, layer_drop=0.05)
        flat = torch.tensor([c for t in targets for c in t], device=self.device)
        sizes = torch.tensor([len(t) for t in targets], device=self.device)
        losses = F.ctc_loss(logprobs.transpose(0, 1), flat, valid, sizes, reduction="none", zero_infinity=True)
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
        start, budget, shown = time.time(), self.args.minutes * 60, time.time()
        while (progress := (time.time() - start) / budget) < 1 and self.step < self.args.steps_max:
            self.take_new_shards()
            clips = self.bank.draw(WEIGHTS, self.args.pool_clips)
            for width, batch in self.bank.batches(clips, self.args.batch_seconds):
                progress = (time.time() - start) / budget
                if progress >= 1 or self.step >= self.args.steps_max:
                    break
                loss = self.train_batch(width, batch, progress)
                if time.time() - shown > 20:
                    shown = time.time()
                    print(f"step {self.step} {progress:.0%} loss {loss.item():.3f} {self.bank.hours().get('synthetic', 0)} h synthetic", flush=True)
        self.save()

    def save(self):
        out = Path(self.args.out)
        torch.save({k: v.half() for k, v in self.average.state_dict().items()}, out / "recogniser16.pt")
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
    args.add_argument("--speech", required=True)
    args.add_argument("--whisper")
    args.add_argument("--start", help="weights of an earlier run to go on from")
    args.add_argument("--synthetic", required=True)
    args.add_argument("--out", required=True)
    args.add_argument("--minutes", type=float, default=15)
    args.add_argument("--sets", default=",".join(REAL_SETS))
    args.add_argument("--halve-after", type=int, default=6)
    args.add_argument("--peak-rate", type=float, default=1.5e-4)
    args.add_argument("--layer-decay", type=float, default=0.85)
    args.add_argument("--batch-seconds", type=float, default=480, help="of distinct speech; each clip is seen twice")
    args.add_argument("--pool-clips", type=int, default=3000)
    args.add_argument("--capacity-hours", type=float, default=70)
    args.add_argument("--warm-steps", type=int, default=300)
    args.add_argument("--steps-max", type=int, default=10**9)
    args.add_argument("--workers", type=int, default=14)
    args.add_argument("--device", default="cuda")
    args = args.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    Trainer(args).run()


if __name__ == "__main__":
    main()
