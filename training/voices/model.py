"""The voice model: phonemes to 24 kHz speech.

Two text encoders (content and prosody) read the phoneme symbols. The prosody side gives durations
and, frame by frame (93.75 a second), pitch, voicing and energy. A ConvNeXt decoder then says for
each STFT bin how to filter a band-limited pulse train at that pitch, how loud white noise is, and
adds a free complex part; one inverse STFT makes the samples. The pulse train carries the phases of
the harmonics, which is why little adversarial training is enough.

Timbre and prosody have separate speaker embeddings. Attribute names are short because checkpoints
carry them: te/pt are the content and prosody encoders, db/fb/dec the duration, contour and decoder
blocks, sp/spp the timbre and prosody embeddings.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

SAMPLE_RATE = 24_000
HOP, WINDOW = 256, 1024
BINS = WINDOW // 2 + 1
SYMBOLS = 178
SPEAKER_WIDTH = 128
POSITION_FEATURES = 6


class Block(nn.Module):
    """ConvNeXt: depthwise convolution over 7 rows, norm, two matrix products, residual."""

    def __init__(self, width: int, hidden: int, speaker: int = 0):
        super().__init__()
        self.w = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.n = nn.LayerNorm(width, elementwise_affine=speaker == 0)
        self.a = nn.Linear(width, hidden)
        self.b = nn.Linear(hidden, width)
        self.g = nn.Parameter(torch.full((width,), 0.1))
        self.c = nn.Linear(speaker, 2 * width) if speaker else None
        if self.c is not None:
            nn.init.zeros_(self.c.weight)
            nn.init.zeros_(self.c.bias)

    def forward(self, x, speaker=None):
        y = self.n(self.w(x.transpose(1, 2)).transpose(1, 2))
        if self.c is not None:
            scale, shift = self.c(speaker).chunk(2, -1)
            y = y * (1 + scale[:, None]) + shift[:, None]
        return x + self.g * self.b(F.gelu(self.a(y)))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int = 4):
        super().__init__()
        self.n = nn.LayerNorm(width)
        self.q = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)
        self.heads = heads

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.q(self.n(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None])
        return x + self.o(mixed.transpose(1, 2).reshape(batch, length, width))


class Encoder(nn.Module):
    def __init__(self, width: int, blocks: int = 6):
        super().__init__()
        self.e = nn.Embedding(SYMBOLS, width)
        self.cb = nn.ModuleList(Block(width, 3 * width) for _ in range(blocks))
        self.at = nn.ModuleList(Attention(width) for _ in range(blocks // 2))

    def forward(self, symbols, mask):
        x = self.e(symbols)
        for at, block in enumerate(self.cb):
            x = block(x) * mask[..., None]
            if at % 2:
                x = self.at[at // 2](x, mask)
        return x * mask[..., None]


def expand(features, ends, start, frames):
    """Symbol features to `frames` frames from frame `start` on, with the position in the symbol;
    zero outside the utterance."""
    frame = start[:, None] + torch.arange(frames, device=features.device)[None]
    total = ends[:, -1:]
    inside = (frame >= 0) & (frame < total)
    frame = torch.minimum(frame.clamp(min=0), total - 1).long()
    symbol = torch.searchsorted(ends.contiguous(), frame.contiguous(), right=True)
    symbol = symbol.clamp(max=features.shape[1] - 1)
    before = torch.gather(ends, 1, (symbol - 1).clamp(min=0))
    first = torch.where(symbol > 0, before, torch.zeros_like(symbol))
    end = torch.gather(ends, 1, symbol)
    length = (end - first).clamp(min=1).float()
    share = (frame - first).float() / length
    position = torch.stack(
        [
            share,
            1 - share,
            length.log(),
            torch.sin(math.pi * share),
            (frame - first).float().clamp(max=30) / 30,
            (end - 1 - frame).float().clamp(max=30) / 30,
        ],
        -1,
    )
    index = symbol[..., None].expand(-1, -1, features.shape[-1])
    rows = torch.cat([torch.gather(features, 1, index), position.to(features.dtype)], -1)
    return rows * inside[..., None], inside


class Voice(nn.Module):
    def __init__(self, speakers: int = 4, width: int = 256, decoder_width: int = 512, hidden: int = 1536, layers: int = 8):
        super().__init__()
        self.sp = nn.Embedding(speakers, SPEAKER_WIDTH)
        self.spp = nn.Embedding(speakers, SPEAKER_WIDTH)
        self.te = Encoder(width)
        self.pt = Encoder(width)
        self.db = nn.ModuleList(Block(width, 2 * width, SPEAKER_WIDTH) for _ in range(3))
        self.do = nn.Linear(width, 1)
        self.fi = nn.Linear(width + POSITION_FEATURES, width)
        self.fb = nn.ModuleList(Block(width, 2 * width, SPEAKER_WIDTH) for _ in range(5))
        self.fo = nn.Linear(width, 3)
        self.inp = nn.Linear(width + POSITION_FEATURES + 3, decoder_width)
        self.dec = nn.ModuleList(Block(decoder_width, hidden, SPEAKER_WIDTH) for _ in range(layers))
        self.n = nn.LayerNorm(decoder_width)
        self.out = nn.Linear(decoder_width, 5 * BINS)
        with torch.no_grad():
            # Start quiet: pulses, noise and the free part fade in as training finds their use.
            self.out.weight.mul_(0.3)
            self.out.bias.zero_()
            self.out.bias[:BINS] = -4.0
            self.out.bias[2 * BINS : 3 * BINS] = -5.0
            self.out.bias[3 * BINS : 4 * BINS] = -2.0
        self.register_buffer("win", torch.hann_window(WINDOW))

    def log_durations(self, prosody, speaker):
        for block in self.db:
            prosody = block(prosody, speaker)
        return self.do(prosody)[..., 0]

    def contour(self, prosody, ends, frames, speaker):
        """Log pitch - 5, the voicing's logit, energy; and which frames are in the utterance."""
        start = torch.zeros(len(prosody), dtype=torch.long, device=prosody.device)
        x, inside = expand(prosody, ends, start, frames)
        x = self.fi(x)
        for block in self.fb:
            x = block(x, speaker) * inside[..., None]
        return self.fo(x).float(), inside

    def decode(self, content, ends, start, frames, log_pitch, voiced, energy, speaker, noise, phase):
        x, _ = expand(content, ends, start, frames)
        extra = torch.stack([log_pitch * voiced, voiced, energy], -1).to(x.dtype)
        x = self.inp(torch.cat([x, extra], -1))
        for block in self.dec:
            x = block(x, speaker)
        rows = self.out(self.n(x)).float()
        with torch.autocast(rows.device.type, enabled=False):
            hz = torch.exp(log_pitch.float() + 5.0)
            return synthesise(rows, hz, voiced.float(), noise, phase, self.win)

    @torch.no_grad()
    def say(self, symbols, speaker, speed: float = 1.0, noise=None):
        """One utterance, symbols with 0 at both ends; gives samples."""
        mask = torch.ones_like(symbols, dtype=torch.bool)
        prosody, rhythm = self.pt(symbols, mask), self.spp(speaker)
        frames = (self.log_durations(prosody, rhythm).exp() / speed).round().clamp(min=1).long()
        ends = frames.cumsum(1)
        total = int(ends[0, -1])
        contour, _ = self.contour(prosody, ends, total, rhythm)
        log_pitch, voiced, energy = contour[..., 0], (contour[..., 1] > 0).float(), contour[..., 2]
        if noise is None:
            noise = torch.randn(1, total * HOP, device=symbols.device)
        zero = torch.zeros(1, dtype=torch.long, device=symbols.device)
        return self.decode(self.te(symbols, mask), ends, zero, total, log_pitch, voiced, energy, self.sp(speaker), noise[:, : total * HOP], zero.float())


def stft(samples, window):
    pad = (WINDOW - HOP) // 2
    return torch.fft.rfft(F.pad(samples, (pad, pad)).unfold(1, WINDOW, HOP) * window, dim=2)


def pulses(hz, voiced, phase):
    """A band-limited pulse train: the sum of cosines of all harmonics below 11.5 kHz."""

    def upsample(x):
        return F.interpolate(x[:, None].float(), scale_factor=HOP, mode="linear")[:, 0]

    level = upsample(voiced)
    pitch = (upsample(hz * voiced) / level.clamp(min=1e-2)).clamp(50.0, 800.0)
    turns = (torch.cumsum(pitch.double() / SAMPLE_RATE, 1) + phase[:, None]) % 1
    turns = turns.float() - 0.5
    harmonics = torch.floor(11_500.0 / pitch)
    sine = torch.sin(math.pi * turns)
    at_pulse = sine.abs() < 1e-3
    ratio = torch.sin((2 * harmonics + 1) * math.pi * turns) / torch.where(at_pulse, torch.ones_like(sine), sine)
    train = torch.where(at_pulse, harmonics, 0.5 * (ratio - 1))
    return train * torch.sqrt(2.0 / harmonics) * level


def synthesise(rows, hz, voiced, noise, phase, window):
    """The decoder's five numbers per bin, pitch and noise to samples."""
    pulse_gain, pulse_phase, noise_gain, free_gain, free_phase = rows.split(BINS, -1)
    spectrum = stft(pulses(hz, voiced, phase), window) * torch.polar(torch.exp(pulse_gain.clamp(max=4.0)), pulse_phase)
    spectrum = spectrum + stft(noise, window) * torch.exp(noise_gain.clamp(max=4.0))
    spectrum = spectrum + torch.polar(torch.exp(free_gain.clamp(max=6.0)), free_phase)
    frames = (torch.fft.irfft(spectrum, n=WINDOW, dim=2) * window).transpose(1, 2)
    count = frames.shape[2]
    length = (count - 1) * HOP + WINDOW
    total = F.fold(frames, (1, length), (1, WINDOW), stride=(1, HOP))[:, 0, 0]
    squares = (window**2)[None, :, None].expand(1, -1, count)
    weight = F.fold(squares, (1, length), (1, WINDOW), stride=(1, HOP))[:, 0, 0]
    pad = (WINDOW - HOP) // 2
    return (total / weight.clamp(min=1e-3))[:, pad : pad + count * HOP]
