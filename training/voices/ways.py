"""Ways of speaking for the teacher besides its own: by chance, and as native speakers do.

The decoder will be asked for native durations and melodies, so it must have heard them spoken well. A trained prosody side
(prosody.py, settle.py) knows them; here the teacher is made to follow it.
"""

import random
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from data import TEACHER_PITCH_STEP, TEACHER_STEP
from model import HOP
from symbols import BETWEEN_WORDS, english_in, language_of, merged, numbers_of, parts_of, split

VOICED_HZ, HIGHEST_HZ = 50.0, 480.0
# Shares of the ways of speaking: the teacher's own, native; the rest is by chance. English has no native way here.
OWN_WAYS, NATIVE_WAYS = {"sw": 0.3, "mixed": 0.2, "en": 0.75}, {"sw": 0.5, "mixed": 0.6, "en": 0.0}


def random_rhythm(dice: random.Random):
    """Another tempo, and every sound longer or shorter by chance."""
    tempo = dice.uniform(-0.15, 0.2)
    return lambda steps: steps * torch.exp(tempo + 0.22 * torch.randn_like(steps))


def livelier(log, voiced, scope: float, shift: float):
    """Log pitch further from its mean, or nearer to it."""
    mean = log[voiced].mean()
    return mean + scope * (log - mean) + shift


def random_melody(dice: random.Random):
    """Flatter or livelier, a little higher or lower, and drifting."""
    scope, shift = dice.uniform(0.7, 1.5), dice.gauss(0, 0.04)

    def changed(hz):
        voiced = hz > VOICED_HZ
        if not voiced.any():
            return hz
        log = livelier(hz.clamp(min=VOICED_HZ).log(), voiced, scope, shift)
        points = torch.randn(1, 1, max(2, hz.shape[-1] // 30), device=hz.device) * 0.07
        drift = F.interpolate(points, size=hz.shape[-1], mode="linear", align_corners=True)[0]
        return torch.where(voiced, torch.exp(log + drift).clamp(VOICED_HZ, HIGHEST_HZ), hz)

    return changed


def way_of(line: str, dice: random.Random) -> str:
    language, way = language_of(line), dice.random()
    return "own" if way < OWN_WAYS[language] else "native" if way < OWN_WAYS[language] + NATIVE_WAYS[language] else "chance"


class NativeWays:
    """Durations and pitch of a trained prosody side, as changes of what the teacher is about to say."""

    def __init__(self, checkpoint: Path, prosody: Path, table: dict, device: str):
        from align import load_voice  # it needs packages that only the recordings need

        self.model, self.table, self.device = load_voice(checkpoint, prosody).to(device), table, device

    @torch.no_grad()
    def of(self, line: str, speaker: int, dice: random.Random) -> dict:
        """`rhythm` and `melody` for Teacher.say. The melody follows the durations that the rhythm gave."""
        model, parts = self.model, parts_of(line)
        symbols = torch.tensor([[0, *numbers_of(line, self.table), 0]], device=self.device)
        prosody = model.pt(symbols, torch.ones_like(symbols, dtype=torch.bool))
        way = model.spp(torch.tensor([speaker], device=self.device))
        frames = model.log_durations(prosody, way)[0].exp() * float(np.exp(dice.gauss(0, 0.07)))
        scope, shift = dice.uniform(0.9, 1.25), dice.gauss(0, 0.03)
        english = torch.tensor([False, *english_in(line), False], device=self.device)
        swahili = torch.tensor([False, *(s not in BETWEEN_WORDS for s in split(line)), False], device=self.device) & ~english
        group = torch.repeat_interleave(torch.arange(len(parts) + 2), torch.tensor([1, *parts, 1])).to(self.device)
        said = []

        def rhythm(steps):
            # A sound that is two for the teacher is shared out as the teacher would.
            whole = torch.zeros_like(frames).index_add(0, group, steps[0])
            wanted = frames * HOP / TEACHER_STEP
            # English words as the teacher says them, as quick or slow as the Swahili around them.
            tempo = (wanted[swahili].sum() / whole[swahili].sum()).clamp(0.8, 1.25) if swahili.any() else 1.0
            changed = steps * (torch.where(english, whole * tempo, wanted) / whole)[group]
            said.append(changed.round().clamp(min=1)[0].cpu().numpy())
            return changed

        def melody(hz):
            ends = torch.from_numpy(np.round(np.cumsum(merged(parts, said[-1])) * TEACHER_STEP / HOP)).long()[None].to(self.device)
            log = model.contour(prosody, ends, int(ends[0, -1]), way)[0][0, :, 0]
            at = (torch.arange(hz.shape[-1], device=self.device) + 0.5) * TEACHER_PITCH_STEP / HOP - 0.5
            left = at.floor().clamp(0, len(log) - 2).long()
            log = torch.lerp(log[left], log[left + 1], (at - left).clamp(0, 1)) + 5.0
            voiced = hz[0] > VOICED_HZ
            if not voiced.any():
                return hz
            return torch.where(voiced, livelier(log, voiced, scope, shift).exp().clamp(VOICED_HZ, HIGHEST_HZ), hz[0])[None]

        return {"rhythm": rhythm, "melody": melody}
