"""What the generator is judged by: mel spectra at four scales, and discriminators."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class PeriodDiscriminator(nn.Module):
    """Looks at every p-th sample."""

    def __init__(self, period: int, channels: tuple):
        super().__init__()
        self.period = period
        widths = [1, *channels]
        layers = [nn.Conv2d(a, b, (5, 1), (3, 1), (2, 0)) for a, b in zip(widths, widths[1:])]
        layers.append(nn.Conv2d(channels[-1], channels[-1], (5, 1), 1, (2, 0)))
        self.layers = nn.ModuleList(weight_norm(layer) for layer in layers)
        self.verdict = weight_norm(nn.Conv2d(channels[-1], 1, (3, 1), 1, (1, 0)))

    def forward(self, samples):
        padding = -samples.shape[1] % self.period
        x = F.pad(samples[:, None], (0, padding), mode="reflect").view(len(samples), 1, -1, self.period)
        return judge(self, x)


class SpectrumDiscriminator(nn.Module):
    def __init__(self, window: int, channels: int):
        super().__init__()
        self.size = window
        self.register_buffer("window", torch.hann_window(window))
        wide = [nn.Conv2d(channels, channels, (3, 9), (1, 2), (1, 4)) for _ in range(3)]
        layers = [nn.Conv2d(2, channels, (3, 9), padding=(1, 4)), *wide, nn.Conv2d(channels, channels, (3, 3), padding=1)]
        self.layers = nn.ModuleList(weight_norm(layer) for layer in layers)
        self.verdict = weight_norm(nn.Conv2d(channels, 1, (3, 3), padding=1))

    def forward(self, samples):
        spectrum = torch.stft(samples.float(), self.size, self.size // 4, window=self.window, return_complex=True)
        return judge(self, torch.view_as_real(spectrum).permute(0, 3, 2, 1))


def judge(discriminator, x):
    features = []
    for layer in discriminator.layers:
        x = F.leaky_relu(layer(x), 0.1)
        features.append(x)
    return discriminator.verdict(x), features


class Discriminators(nn.Module):
    def __init__(self, strong: bool = False, periods=(2, 3, 5, 7, 11), windows=(2048, 1024, 512)):
        super().__init__()
        channels, width = ((32, 128, 384, 768), 64) if strong else ((32, 96, 256, 384), 32)
        parts = [PeriodDiscriminator(p, channels) for p in periods] + [SpectrumDiscriminator(w, width) for w in windows]
        self.parts = nn.ModuleList(parts)

    def forward(self, samples):
        results = [part(samples) for part in self.parts]
        return [verdict for verdict, _ in results], [features for _, features in results]


def mel_filters(rate: int, window: int, count: int) -> torch.Tensor:
    top = 2595 * math.log10(1 + rate / 2 / 700)
    hz = 700 * (10 ** (torch.linspace(0, top, count + 2) / 2595) - 1)
    steps, slopes = hz[1:] - hz[:-1], hz[None] - torch.linspace(0, rate / 2, window // 2 + 1)[:, None]
    return torch.clamp(torch.minimum(-slopes[:, :-2] / steps[:-1], slopes[:, 2:] / steps[1:]), min=0)


def cropped(real, spoken, length: int):
    """The same stretch of both for the discriminators, whose work it halves."""
    at = int(torch.randint(real.shape[1] - length + 1, (1,)))
    return real[:, at : at + length], spoken[:, at : at + length]


class MelDistance(nn.Module):
    SCALES = [(2048, 100), (1024, 80), (512, 40), (256, 20)]

    def __init__(self):
        super().__init__()
        for window, count in self.SCALES:
            self.register_buffer(f"window{window}", torch.hann_window(window))
            self.register_buffer(f"filters{window}", mel_filters(24_000, window, count))

    def log_mel(self, samples, window):
        hann, filters = getattr(self, f"window{window}"), getattr(self, f"filters{window}")
        spectrum = torch.stft(samples, window, window // 4, window=hann, return_complex=True).abs()
        return torch.log((spectrum.transpose(1, 2) @ filters).clamp(min=1e-5))

    def forward(self, a, b):
        distances = [(self.log_mel(a, w) - self.log_mel(b, w)).abs().mean() for w, _ in self.SCALES]
        return sum(distances) / len(distances)
