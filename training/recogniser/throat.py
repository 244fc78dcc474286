"""One recording in other throats: pitch, formants and pace changed each for itself.

Our real recordings are three women who read slowly; the people who will be heard are men too, and talk half again as
fast. A phase vocoder moves pace and pitch, the cepstrum's low end moves the formants, so a native's own sounds and
rhythm come in the voices of others. Rough by ear, but the recogniser reads it nearly as well as the recording itself.
"""

import random

import torch
from torch.nn import functional as F

SAMPLE_RATE = 16_000
FFT, HOP = 512, 128
ENVELOPE = 26  # quefrencies below this are the throat, above it the voice's pitch
LETTERS_A_SECOND = (10.0, 19.0)
PACE_LIMITS = (0.8, 2.0)


def stretched(spectrum, rate):
    """The same sound `rate` times as fast with its pitch kept. Bins x frames."""
    at = torch.arange(0, spectrum.shape[-1] - 1, rate, device=spectrum.device)
    low = at.long()
    share = at - low
    level = spectrum.abs()
    level = level[:, low] * (1 - share) + level[:, low + 1] * share
    advance = torch.angle(spectrum[:, low + 1] * spectrum[:, low].conj())
    phase = torch.angle(spectrum[:, :1]) + F.pad(advance[:, :-1].cumsum(1), (1, 0))
    return torch.polar(level, phase)


def moved_formants(spectrum, factor):
    """The spectral envelope moved up by `factor`; the harmonics stay. Bins x frames."""
    bins = len(spectrum)
    cepstrum = torch.fft.irfft(spectrum.abs().clamp(min=1e-5).log(), dim=0)
    cepstrum[ENVELOPE : len(cepstrum) - ENVELOPE + 1] = 0
    envelope = torch.fft.rfft(cepstrum, dim=0).real
    source = (torch.arange(bins, device=spectrum.device) / factor).clamp(max=bins - 1.001)
    low = source.long()
    share = (source - low)[:, None]
    moved = envelope[low] * (1 - share) + envelope[low + 1] * share
    return spectrum * (moved - envelope).clamp(-6, 4).exp()


def other_throat(wave, pitch, formants, pace):
    """wave: samples of one clip, float. All three are factors: 0.6 in pitch and 0.85 in formants make a man of a woman."""
    window = torch.hann_window(FFT, device=wave.device)
    spectrum = torch.stft(wave, FFT, HOP, window=window, return_complex=True)
    # Played at another rate at the end, the formants move with the pitch: here they are moved most of the way back.
    spectrum = stretched(moved_formants(spectrum, formants / pitch), pace / pitch)
    wave = torch.istft(spectrum, FFT, HOP, window=window)
    size = max(1, round(len(wave) / pitch))
    return F.interpolate(wave[None, None], size=size, mode="linear", align_corners=False)[0, 0]


def random_throat(samples, text, dice: random.Random, device="cpu"):
    """16-bit samples of the clip in a throat drawn at random, at a stranger's pace."""
    wave = torch.from_numpy(samples).to(device).float() / 32768
    wanted = dice.uniform(*LETTERS_A_SECOND) / (len(text) * SAMPLE_RATE / len(samples))
    pace = min(max(wanted, PACE_LIMITS[0]), PACE_LIMITS[1])
    pitch, formants = dice.choice([
        (dice.uniform(0.52, 0.72), dice.uniform(0.8, 0.95)),  # a man
        (dice.uniform(0.52, 0.72), dice.uniform(0.8, 0.95)),
        (dice.uniform(0.8, 1.1), dice.uniform(0.88, 1.05)),  # another woman
        (dice.uniform(1.1, 1.3), dice.uniform(1.05, 1.2)),  # a child
    ])
    wave = other_throat(wave, pitch, formants, pace)
    wave = wave / wave.abs().amax().clamp(min=1e-4) * 0.7
    return (wave * 32767).short().cpu().numpy()
