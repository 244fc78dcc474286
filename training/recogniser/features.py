"""Log-mel spectra as Whisper takes them. The Rust front end is tested against this file."""

import math

import torch

SAMPLE_RATE = 16_000
FFT, HOP, MELS = 400, 160, 80


def mel_filters() -> torch.Tensor:
    """Slaney's mel filters, area-normalised: FFT bins by mel bands."""
    step = math.log(6.4) / 27

    def to_mel(hz):
        return torch.where(hz >= 1000, 15 + torch.log(hz / 1000) / step, hz * 3 / 200)

    def to_hz(mel):
        return torch.where(mel >= 15, 1000 * torch.exp(step * (mel - 15)), mel * 200 / 3)

    bins = torch.linspace(0, SAMPLE_RATE / 2, FFT // 2 + 1)
    edges = to_hz(torch.linspace(0.0, float(to_mel(torch.tensor(8000.0))), MELS + 2))
    width = edges[1:] - edges[:-1]
    slope = edges[None] - bins[:, None]
    triangles = torch.minimum(-slope[:, :-2] / width[:-1], slope[:, 2:] / width[1:])
    return torch.clamp(triangles, min=0) * (2 / (edges[2:] - edges[:-2]))[None]


class LogMel:
    def __init__(self, device):
        self.window = torch.hann_window(FFT, device=device)
        self.filters = mel_filters().to(device)

    def __call__(self, wave: torch.Tensor) -> torch.Tensor:
        """Batch of waves to batch x mels x frames; the floor is 8 decades under the clip's loudest bin."""
        power = torch.stft(wave, FFT, HOP, window=self.window, return_complex=True)[..., :-1].abs() ** 2
        mel = torch.clamp(power.transpose(1, 2) @ self.filters, min=1e-10).log10().transpose(1, 2)
        mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8)
        return (mel + 4) / 4
