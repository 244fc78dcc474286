"""Recordings in other throats: pitch, formants and pace changed each for itself.

Our clearest recordings are a few people who read slowly; the people who will be heard are men, women and children, and
talk half again as fast. A phase vocoder moves pace and pitch, the cepstrum's low end moves the formants, so a native's
own sounds and rhythm come in the voices of others. A batch gets one throat, while it is trained on: no copies are kept.
"""

import random

import torch
from torch.nn import functional as F

FFT, HOP = 512, 128
ENVELOPE = 26  # quefrencies below this are the throat, above it the voice's pitch
PACES = (0.87, 1.0, 1.0, 1.1, 1.2, 1.33)  # few, so that the same shapes come again
PITCHES = (0.55, 0.62, 0.7, 0.8, 1.0, 1.12, 1.25, 1.4)


def stretched(spectrum, rate):
    """The same sound `rate` times as fast with its pitch kept. Batch x bins x frames."""
    last = spectrum.shape[-1] - 2
    at = torch.arange(0, last + 1, rate, device=spectrum.device).clamp(max=last)
    low = at.long().clamp(max=last)
    share = at - low
    level = spectrum.abs()
    level = level[..., low] * (1 - share) + level[..., low + 1] * share
    advance = torch.angle(spectrum[..., low + 1] * spectrum[..., low].conj())
    phase = torch.angle(spectrum[..., :1]) + F.pad(advance[..., :-1].cumsum(-1), (1, 0))
    return torch.polar(level, phase)


def moved_formants(spectrum, factor):
    """The spectral envelope moved up by `factor`; the harmonics stay. Batch x bins x frames."""
    bins = spectrum.shape[1]
    cepstrum = torch.fft.irfft(spectrum.abs().clamp(min=1e-5).log(), dim=1)
    cepstrum[:, ENVELOPE : cepstrum.shape[1] - ENVELOPE + 1] = 0
    envelope = torch.fft.rfft(cepstrum, dim=1).real
    source = (torch.arange(bins, device=spectrum.device) / factor).clamp(max=bins - 1.001)
    low = source.long()
    share = (source - low)[:, None]
    moved = envelope[:, low] * (1 - share) + envelope[:, low + 1] * share
    return spectrum * (moved - envelope).clamp(-6, 4).exp()


def other_throat(waves, pitch, formants, pace, size):
    """waves: batch x samples. Three factors: 0.6 in pitch and 0.85 in formants make a man of a woman. `size`: samples wanted."""
    window = torch.hann_window(FFT, device=waves.device)
    spectrum = torch.stft(waves, FFT, HOP, window=window, return_complex=True)
    # Played at another rate at the end, the formants move with the pitch: here they are moved most of the way back.
    spectrum = stretched(moved_formants(spectrum, formants / pitch), pace / pitch)
    waves = torch.istft(spectrum, FFT, HOP, window=window)
    return F.interpolate(waves[:, None], size=size, mode="linear", align_corners=False)[:, 0]


def random_throat():
    """Pitch, formants and pace: deep voices have longer throats."""
    pitch = random.choice(PITCHES)
    return pitch, min(max(pitch**0.4 * random.uniform(0.93, 1.08), 0.78), 1.22), random.choice(PACES)
