"""The taught speech as tensors on the device, and random windows of it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from model import HOP

TEACHER_STEP = 600  # samples a duration of the teacher stands for
TEACHER_PITCH_STEP = 300
SAMPLES_MIN = 20_000


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


class Speech:
    def __init__(self, files: list[Path], device: str):
        spoken = [u for f in files for u in torch.load(f, weights_only=False) if len(u["samples"]) > SAMPLES_MIN]
        if not spoken:
            raise SystemExit("no speech to learn from")
        longest = max(len(u["symbols"]) for u in spoken)
        self.symbols = torch.zeros(len(spoken), longest, dtype=torch.long)
        self.mask = torch.zeros(len(spoken), longest, dtype=torch.bool)
        self.ends = torch.zeros(len(spoken), longest, dtype=torch.long)
        contours, first_frame, first_sample = [], [0], [0]
        for row, utterance in enumerate(spoken):
            count = len(utterance["symbols"])
            ends = np.cumsum(utterance["durations"].astype(np.int64)) * TEACHER_STEP / HOP
            ends = np.minimum(np.round(ends).astype(np.int64), len(utterance["samples"]) // HOP)
            self.symbols[row, :count] = torch.from_numpy(utterance["symbols"].astype(np.int64))
            self.mask[row, :count] = True
            self.ends[row, :count] = torch.from_numpy(ends)
            self.ends[row, count:] = int(ends[-1])
            pitch, energy = utterance["pitch"].astype(np.float32), utterance["energy"].astype(np.float32)
            contours.append(frame_contour(pitch, energy, int(ends[-1])))
            first_frame.append(first_frame[-1] + int(ends[-1]))
            first_sample.append(first_sample[-1] + len(utterance["samples"]))
        self.contour = torch.from_numpy(np.concatenate(contours)).to(device)
        energy = self.contour[:, 2]
        self.contour[:, 2] = (energy - energy.mean()) / energy.std()
        self.samples = torch.from_numpy(np.concatenate([u["samples"] for u in spoken])).to(device)
        self.first_frame = torch.tensor(first_frame[:-1], device=device)
        self.first_sample = torch.tensor(first_sample[:-1], device=device)
        self.speaker = torch.tensor([u["speaker"] for u in spoken], device=device)
        self.symbols, self.mask, self.ends = self.symbols.to(device), self.mask.to(device), self.ends.to(device)
        self.frames = self.ends[:, -1]
        self.device = device

    def hours(self) -> float:
        return len(self.samples) / 24_000 / 3600

    def contour_at(self, index, frame):
        at = self.first_frame[index][:, None] + torch.minimum(frame.clamp(min=0), self.frames[index][:, None] - 1)
        return self.contour[at]

    def batch(self, size: int, window: int, context: int) -> Batch:
        """Random utterances, a random window in each, with `context` frames around it."""
        index = torch.randint(len(self.frames), (size,), device=self.device)
        # Lengths in few steps, so that compiled kernels are reused.
        width = (int(self.mask[index].sum(1).max()) + 47) // 48 * 48
        start = (torch.rand(size, device=self.device) * (self.frames[index] - window).clamp(min=1)).long()
        frame = start[:, None] - context + torch.arange(window + 2 * context, device=self.device)[None]
        inside = (frame >= 0) & (frame < self.frames[index][:, None])
        offset = (start * HOP)[:, None] + torch.arange(window * HOP, device=self.device)[None]
        at = (self.first_sample[index][:, None] + offset).clamp(max=len(self.samples) - 1)
        samples = self.samples[at].float() / 32767 * (offset < (self.frames[index] * HOP)[:, None])
        return Batch(
            index,
            self.symbols[index, :width],
            self.mask[index, :width],
            self.ends[index, :width],
            self.speaker[index],
            start,
            self.contour_at(index, frame) * inside[..., None],
            samples,
        )
