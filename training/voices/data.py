"""The taught speech as tensors on the device, and random windows of it.

Every utterance is kept in two spellings: with the voices' own symbols, and with the teacher's, in which a prenasalised
consonant is two. A share of the windows is read in the second, so that both go on being understood.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from model import HOP
from symbols import merged

TEACHER_STEP = 600  # samples a duration of the teacher stands for
TEACHER_PITCH_STEP = 300
SAMPLES_MIN = 9_000
SHORT = 60_000  # samples
TEACHERS_SPELLING = 0.2
CALIBRATION = 512


def frame_contour(pitch: np.ndarray, energy: np.ndarray, frames: int) -> np.ndarray:
    """The teacher's pitch and energy at our frames: log pitch - 5, voiced or not, energy."""
    at = np.clip((np.arange(frames) + 0.5) * HOP / TEACHER_PITCH_STEP - 0.5, 0, len(pitch) - 1.001)
    left = at.astype(int)
    share = at - left
    nearest = np.where(share < 0.5, left, left + 1)
    voiced, log = pitch > 50, np.log(np.maximum(pitch, 50))
    between = log[left] * (1 - share) + log[left + 1] * share
    # Never interpolate into silence.
    log = np.where(voiced[left] & voiced[left + 1], between, log[nearest])
    energy = energy[left] * (1 - share) + energy[left + 1] * share
    return np.stack([log - 5, voiced[nearest], energy], 1).astype(np.float32)


@dataclass
class Batch:
    index: torch.Tensor
    symbols: torch.Tensor
    mask: torch.Tensor
    ends: torch.Tensor
    speaker: torch.Tensor
    start: torch.Tensor
    contour: torch.Tensor
    samples: torch.Tensor
    spoken: torch.Tensor  # 1 inside the utterance, 0 beyond a short one's end


def whole_ends(durations: np.ndarray, frames: int) -> np.ndarray:
    ends = np.cumsum(durations.astype(np.int64)) * TEACHER_STEP / HOP
    return np.minimum(np.round(ends).astype(np.int64), frames)


def better_part(spoken: list[dict], drop: tuple[float, float]) -> list[dict]:
    """Without the utterances that the judge of synthesise.py liked least: a share of the short ones of each voice, and one of the others."""
    kept = []
    for voice in {u["speaker"] for u in spoken}:
        for short, share in zip((True, False), drop):
            ranked = sorted((u for u in spoken if u["speaker"] == voice and (len(u["samples"]) < SHORT) == short), key=lambda u: u["liked"])
            kept += ranked[int(share * len(ranked)) :]
    return kept


class Speech:
    def __init__(self, files: list[Path], device: str, drop: tuple[float, float] = (0.0, 0.0)):
        spoken = [u for f in files for u in torch.load(f, weights_only=False) if len(u["samples"]) > SAMPLES_MIN]
        spoken = better_part(spoken, drop)
        if not spoken:
            raise SystemExit("no speech to learn from")
        self.count = len(spoken)
        longest = max(len(u["symbols"]) for u in spoken)
        # Row `count + i` is utterance i in the teacher's spelling.
        self.symbols = torch.zeros(2 * self.count, longest, dtype=torch.long)
        self.mask = torch.zeros(2 * self.count, longest, dtype=torch.bool)
        self.ends = torch.zeros(2 * self.count, longest, dtype=torch.long)
        contours, first_frame, first_sample = [], [0], [0]
        for row, utterance in enumerate(spoken):
            frames = len(utterance["samples"]) // HOP
            own_durations = merged(utterance["parts"].astype(int).tolist(), utterance["durations"])
            self.put(row, utterance["own_symbols"], whole_ends(own_durations, frames))
            self.put(self.count + row, utterance["symbols"], ends := whole_ends(utterance["durations"], frames))
            pitch, energy = utterance["pitch"].astype(np.float32), utterance["energy"].astype(np.float32)
            contours.append(frame_contour(pitch, energy, int(ends[-1])))
            first_frame.append(first_frame[-1] + int(ends[-1]))
            first_sample.append(first_sample[-1] + len(utterance["samples"]))
        self.contour = torch.from_numpy(np.concatenate(contours)).to(device)
        energy = self.contour[:, 2]
        self.energy_scale = (float(energy.mean()), float(energy.std()))
        self.samples = torch.from_numpy(np.concatenate([u["samples"] for u in spoken])).to(device)
        self.first_frame = torch.tensor(first_frame[:-1], device=device)
        self.first_sample = torch.tensor(first_sample[:-1], device=device)
        self.speaker = torch.tensor([u["speaker"] for u in spoken], device=device)
        self.own_ways = torch.tensor([u["own_ways"] for u in spoken])
        self.prosody = torch.nonzero(torch.tensor([u["prosody"] for u in spoken]))[:, 0].to(device)
        self.symbols, self.mask, self.ends = self.symbols.to(device), self.mask.to(device), self.ends.to(device)
        self.frames = self.ends[: self.count, -1]
        self.device = device
        self.expected, self.expected_share = None, 0.0

    def put(self, row: int, symbols: np.ndarray, ends: np.ndarray) -> None:
        count = len(symbols)
        self.symbols[row, :count] = torch.from_numpy(symbols.astype(np.int64))
        self.mask[row, :count] = True
        self.ends[row, :count] = torch.from_numpy(ends)
        self.ends[row, count:] = int(ends[-1])

    def scale_energy(self, mean: float, spread: float) -> None:
        """Once: the model knows energy less its mean, over its spread."""
        self.contour[:, 2] = (self.contour[:, 2] - mean) / spread

    @torch.no_grad()
    def energy_known_to(self, model) -> tuple[float, float]:
        """Mean and spread with which a trained model was taught, from what it expects of sentences said in the teacher's own
        way: the teacher's energy as a straight line over the model's."""
        at = torch.nonzero(self.own_ways)[:, 0]
        at = at[torch.randperm(len(at))[:CALIBRATION]]
        expected, said = [], []
        for index in at.to(self.device).split(16):
            row, frames = index + self.count, int(self.frames[index].max())
            prosody = model.pt(self.symbols[row], self.mask[row])
            guess, inside = model.contour(prosody, self.ends[row], frames, model.spp(self.speaker[index]))
            truth = self.contour_at(index, torch.arange(frames, device=self.device)[None])
            expected.append(guess[..., 2][inside])
            said.append(truth[..., 2][inside])
        expected, said = torch.cat(expected).double(), torch.cat(said).double()
        spread = ((expected - expected.mean()) * (said - said.mean())).mean() / expected.var(unbiased=False)
        return float(said.mean() - spread * expected.mean()), float(spread)

    @torch.no_grad()
    def expect(self, model, share: float) -> None:
        """Once, after scale_energy: in `share` of the utterances of a batch the decoder gets the voicing and energy that a trained
        prosody side expects, as when it speaks by itself, and the teacher's pitch where there is one."""
        self.expected, self.expected_share = self.contour.clone(), share
        for index in torch.arange(self.count, device=self.device).split(16):
            frames = int(self.frames[index].max())
            prosody = model.pt(self.symbols[index], self.mask[index])
            guess, inside = model.contour(prosody, self.ends[index], frames, model.spp(self.speaker[index]))
            truth = self.contour_at(index, torch.arange(frames, device=self.device)[None])
            pitch = torch.where(truth[..., 1] > 0, truth[..., 0], guess[..., 0])
            expected = torch.stack([pitch, (guess[..., 1] > 0).float(), guess[..., 2]], -1)
            at = self.first_frame[index][:, None] + torch.arange(frames, device=self.device)[None]
            self.expected[at[inside]] = expected[inside]

    def hours(self) -> float:
        return len(self.samples) / 24_000 / 3600

    def contour_at(self, index, frame, some_expected: bool = False):
        at = self.first_frame[index][:, None] + torch.minimum(frame.clamp(min=0), self.frames[index][:, None] - 1)
        if self.expected is None or not some_expected:
            return self.contour[at]
        chosen = torch.rand(len(index), 1, 1, device=self.device) < self.expected_share
        return torch.where(chosen, self.expected[at], self.contour[at])

    def batch(self, size: int, window: int, context: int, among: torch.Tensor | None = None) -> Batch:
        """Random utterances, of those in `among` if given, a random window in each, with `context` frames around it."""
        index = torch.randint(self.count if among is None else len(among), (size,), device=self.device)
        index = index if among is None else among[index]
        row = index + self.count * (torch.rand(size, device=self.device) < TEACHERS_SPELLING)
        # Lengths in few steps, so that compiled kernels are reused.
        width = (int(self.mask[row].sum(1).max()) + 47) // 48 * 48
        start = (torch.rand(size, device=self.device) * (self.frames[index] - window).clamp(min=1)).long()
        frame = start[:, None] - context + torch.arange(window + 2 * context, device=self.device)[None]
        inside = (frame >= 0) & (frame < self.frames[index][:, None])
        offset = (start * HOP)[:, None] + torch.arange(window * HOP, device=self.device)[None]
        at = (self.first_sample[index][:, None] + offset).clamp(max=len(self.samples) - 1)
        spoken = (offset < (self.frames[index] * HOP)[:, None]).float()
        samples = self.samples[at].float() / 32767 * spoken
        return Batch(
            index,
            self.symbols[row, :width],
            self.mask[row, :width],
            self.ends[row, :width],
            self.speaker[index],
            start,
            self.contour_at(index, frame, some_expected=True) * inside[..., None],
            samples,
            spoken,
        )
