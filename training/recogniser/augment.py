"""Waveform damage on the GPU: what rooms, telephones, crowds and cheap codecs do to speech.

All of it works on a batch at once (B x T, float, 16 kHz) with one random choice a clip.
"""

import random

import torch
from torch.nn import functional as F

from throat import other_throat, random_throat

SAMPLE_RATE = 16_000


class Dice:
    """Random numbers on the batch's device, one row a clip."""

    def __init__(self, batch, device):
        self.batch, self.device = batch, device

    def uniform(self, low, high):
        return torch.empty(self.batch, 1, device=self.device).uniform_(low, high)

    def chance(self, p):
        return torch.rand(self.batch, 1, device=self.device) < p


SPEEDS = (0.8, 0.87, 0.93, 1.0, 1.0, 1.07, 1.15, 1.25)
THROAT_SHARE = 0.4
NOT_SPEECH_SHARE = 0.04


def resized(wave, size):
    return F.interpolate(wave[:, None], size=size, mode="linear", align_corners=False)[:, 0]


def whole_frames(samples):
    """Lengths come in steps of 0.2 s, so that the same shapes come again and FFT plans are reused."""
    return max(1, round(samples / 3200)) * 3200


def change_speed(wave, lengths):
    """Another throat and pace, or faster and higher, or slower and lower: one change for the whole batch."""
    if random.random() < THROAT_SHARE:
        pitch, formants, pace = random_throat()
        size = whole_frames(wave.shape[1] / pace)
        return other_throat(wave, pitch, formants, pace, size), (lengths / pace).long().clamp(max=size)
    factor = random.choice(SPEEDS)
    if factor == 1.0:
        return wave, lengths
    size = whole_frames(wave.shape[1] / factor)
    return resized(wave, size), (lengths / factor).long().clamp(max=size)


def room_and_microphone(wave, dice):
    """Smooth random equaliser, band limits and a short synthetic room."""
    batch, samples = wave.shape
    spectrum = torch.fft.rfft(wave)
    hz = torch.linspace(0, SAMPLE_RATE / 2, spectrum.shape[1], device=wave.device)[None]
    bands = torch.randn(batch, 8, device=wave.device) * 4 * dice.chance(0.6)
    gain = 10 ** (F.interpolate(bands[:, None], size=spectrum.shape[1], mode="linear", align_corners=True)[:, 0] / 20)
    low_pass = torch.where(dice.chance(0.3), dice.uniform(3000, 6500), torch.full_like(bands[:, :1], 9000.0))
    high_pass = torch.where(dice.chance(0.3), dice.uniform(80, 350), torch.zeros_like(low_pass))
    gain = gain * torch.sigmoid((low_pass - hz) / 100) * torch.sigmoid((hz - high_pass) / 20 + 3)
    taps = 6400
    time = torch.arange(taps, device=wave.device)[None] / SAMPLE_RATE
    room = torch.randn(batch, taps, device=wave.device) * torch.exp(-6.9 * time / dice.uniform(0.05, 0.6))
    room = room * dice.uniform(0.02, 0.15) * dice.chance(0.5)
    room[:, 0] = 1
    return torch.fft.irfft(spectrum * gain * torch.fft.rfft(room, n=samples), n=samples)


def coloured_noise(shape, dice):
    noise = torch.fft.rfft(torch.randn(shape, device=dice.device))
    hz = torch.linspace(0, SAMPLE_RATE / 2, noise.shape[1], device=dice.device)[None]
    return torch.fft.irfft(noise / (hz + 50) ** dice.uniform(0, 1.2), n=shape[1])


class Noises:
    """Real sounds without words, on the device: streets, rain, animals, engines, music and jingles."""

    def __init__(self, clips, device):
        size = 5 * SAMPLE_RATE
        rows = [torch.from_numpy(samples[:size]) for samples in clips if len(samples) > SAMPLE_RATE]
        rows = [row.repeat(-(-size // len(row)))[:size] for row in rows]
        self.samples = torch.stack(rows).to(device)

    def draw(self, shape):
        """A random sound a row, from a random place on, again and again, at an even loudness."""
        rows = torch.randint(len(self.samples), (shape[0], 1), device=self.samples.device)
        start = torch.randint(self.samples.shape[1], (shape[0], 1), device=self.samples.device)
        at = (start + torch.arange(shape[1], device=self.samples.device)[None]) % self.samples.shape[1]
        sound = self.samples[rows, at].float() / 32768
        return sound / sound.abs().amax(1, keepdim=True).clamp(min=1e-3)


def add_noise(wave, lengths, dice, noises=None):
    """Coloured noise, real noise, or a babble of one to six other clips of the batch, at 2 to 30 dB."""
    batch = wave.shape[0]
    power = (wave**2).sum(1, keepdim=True) / lengths[:, None].clamp(min=1)
    loudness = power.sqrt().clamp(min=1e-4)
    babble = torch.zeros_like(wave)
    for voice in range(6):
        order = torch.randperm(batch, device=wave.device)
        other = (wave / loudness)[order].roll(random.randrange(wave.shape[1]), 1)
        babble = babble + other * (dice.chance(0.6) if voice else 1)
    noise = coloured_noise(wave.shape, dice)
    if noises:
        noise = torch.where(dice.chance(0.7), noises.draw(wave.shape), noise)
    noise = torch.where(dice.chance(0.45), babble, noise)
    level = (noise**2).mean(1, keepdim=True).clamp(min=1e-9)
    scale = torch.sqrt(power.clamp(min=1e-9) / level / 10 ** (dice.uniform(2, 30) / 10))
    return wave + noise * scale * dice.chance(0.65)


def handling(wave, dice):
    """What phones and browsers add: mains hum, clicks of a finger on the case, a gain that drifts, short drop-outs."""
    batch, samples = wave.shape
    peak = wave.abs().amax(1, keepdim=True).clamp(min=1e-5)
    time = torch.arange(samples, device=wave.device)[None] / SAMPLE_RATE
    mains = torch.where(dice.chance(0.7), dice.uniform(49.9, 50.1), dice.uniform(100, 400))
    hum = sum(torch.sin(2 * torch.pi * mains * k * time) * dice.uniform(0, 1 / k) for k in (1, 2, 3, 5))
    wave = wave + hum * peak * 10 ** (-dice.uniform(15, 45) / 20) * dice.chance(0.15)
    for _ in range(2):
        since = time - dice.uniform(0, samples / SAMPLE_RATE)
        ring = torch.sin(2 * torch.pi * dice.uniform(300, 4000) * since) * torch.exp(-since.clamp(min=0) / dice.uniform(0.001, 0.01))
        wave = wave + ring * (since > 0) * peak * dice.uniform(0.05, 0.8) * dice.chance(0.12)
    drift = F.interpolate(torch.randn(batch, 1, 6, device=wave.device), size=samples, mode="linear", align_corners=True)[:, 0]
    wave = wave * torch.where(dice.chance(0.3), 10 ** (drift * 4 / 20), torch.ones_like(drift))
    start = dice.uniform(0, samples / SAMPLE_RATE)
    lost = (time >= start) & (time < start + dice.uniform(0.01, 0.06)) & dice.chance(0.1)
    return wave.masked_fill(lost, 0.0)


def telephone(wave, dice, p=0.25):
    """Narrow band and mu-law steps."""
    spectrum = torch.fft.rfft(wave)
    hz = torch.linspace(0, SAMPLE_RATE / 2, spectrum.shape[1], device=wave.device)[None]
    band = torch.sigmoid((dice.uniform(3300, 3900) - hz) / 40) * torch.sigmoid((hz - dice.uniform(50, 300)) / 15)
    narrow = torch.fft.irfft(spectrum * band, n=wave.shape[1])
    peak = narrow.abs().amax(1, keepdim=True).clamp(min=1e-5)
    loud = dice.uniform(0.05, 1.0)
    x = (narrow / peak * loud).clamp(-1, 1)
    code = torch.sign(x) * torch.log1p(255 * x.abs()) / 5.545
    code = torch.round(code * 127) / 127
    narrow = torch.sign(code) * (torch.exp(code.abs() * 5.545) - 1) / 255 / loud * peak
    return torch.where(dice.chance(p), narrow, wave)


def lost_packets(wave, dice, p=0.12):
    """Stretches of 20 ms that never came: silence, or the stretch before them again."""
    size, last = 320, wave.shape[1] // 320 * 320
    frames = wave[:, :last].reshape(wave.shape[0], -1, size)
    lost = (torch.rand(frames.shape[:2], device=wave.device) < dice.uniform(0.01, 0.1)) & dice.chance(p)
    filled = torch.where(dice.chance(0.5)[..., None], frames.roll(1, 1), torch.zeros_like(frames))
    return torch.cat([torch.where(lost[..., None], filled, frames).flatten(1), wave[:, last:]], 1)


def lossy_codec(wave, dice, p=0.2):
    """What a low bit rate leaves out: everything some way under each frame's loudest bin."""
    window = torch.hann_window(512, device=wave.device)
    spectrum = torch.stft(wave, 512, 128, window=window, return_complex=True)
    level = spectrum.abs()
    floor = level.amax(1, keepdim=True) * 10 ** (-dice.uniform(22, 50) / 20)[..., None]
    kept = torch.istft(spectrum * (level > floor), 512, 128, window=window, length=wave.shape[1])
    return torch.where(dice.chance(p), kept, wave)


def clipping(wave, dice, p=0.12):
    peak = wave.abs().amax(1, keepdim=True).clamp(min=1e-5)
    limit = peak * dice.uniform(0.2, 0.8)
    return torch.where(dice.chance(p), torch.maximum(torch.minimum(wave, limit), -limit), wave)


def not_speech(shape, device):
    """Hum, tones, noise, clicks and simple music: a recogniser must answer these with nothing."""
    batch, samples = shape
    dice = Dice(batch, device)
    time = torch.arange(samples, device=device)[None] / SAMPLE_RATE
    noise = coloured_noise(shape, dice)
    noise = noise / noise.abs().amax(1, keepdim=True)
    music = torch.zeros(shape, device=device)
    for _ in range(4):
        beat = dice.uniform(0.15, 0.8)
        step = torch.floor(time / beat)
        note = 110 * 2 ** (torch.floor(torch.frac(torch.sin(step * dice.uniform(10, 99)) * 999).abs() * 30) / 12)
        envelope = torch.exp(-torch.frac(time / beat) * dice.uniform(0.5, 6))
        phase = 2 * torch.pi * torch.cumsum(note, 1) / SAMPLE_RATE
        music = music + envelope * (torch.sin(phase) + dice.uniform(0, 0.6) * torch.sin(2 * phase) + dice.uniform(0, 0.4) * torch.sin(3 * phase))
    hum = sum(torch.sin(2 * torch.pi * 50 * k * time) * dice.uniform(0, 1) for k in range(1, 6))
    kind = torch.rand(batch, 1, device=device)
    music, hum = (x / x.abs().amax(1, keepdim=True).clamp(min=1e-4) for x in (music, hum))
    sound = torch.where(kind < 0.45, noise, torch.where(kind < 0.8, music, hum))
    return sound + noise * dice.uniform(0, 0.3)


def damage(wave, lengths, noises=None):
    """The whole chain but speed and throat, which move the frames."""
    dice = Dice(wave.shape[0], wave.device)
    wave = room_and_microphone(wave, dice)
    wave = add_noise(wave, lengths, dice, noises)
    wave = handling(wave, dice)
    wave = clipping(wave, dice)
    wave = telephone(wave, dice)
    wave = lost_packets(wave, dice)
    wave = lossy_codec(wave, dice)
    peak = wave.abs().amax(1, keepdim=True).clamp(min=1e-5)
    wave = wave / peak * 10 ** (dice.uniform(-20, 0) / 20)
    inside = torch.arange(wave.shape[1], device=wave.device)[None] < lengths[:, None]
    return wave * inside


def mask_spectrum(mel, frames, bands=2, band_width=22, gaps=7, gap_share=0.07, gap_max=40):
    """SpecAugment: drop a few bands and a few stretches of time."""
    batch, mels, length = mel.shape
    dice = Dice(batch, mel.device)
    band_index = torch.arange(mels, device=mel.device)[None]
    time_index = torch.arange(length, device=mel.device)[None]
    for _ in range(bands):
        width = dice.uniform(0, band_width)
        start = dice.uniform(0, 1) * (mels - width)
        mel = mel.masked_fill(((band_index >= start) & (band_index < start + width))[:, :, None], 0.0)
    for _ in range(gaps):
        width = dice.uniform(0, 1) * (frames[:, None] * gap_share).clamp(max=gap_max)
        start = dice.uniform(0, 1) * (frames[:, None] - width)
        mel = mel.masked_fill(((time_index >= start) & (time_index < start + width))[:, None, :], 0.0)
    return mel


def without_words(shape, noises, device):
    sound = not_speech(shape, device)
    if noises:
        sound = torch.where(torch.rand(shape[0], 1, device=device) < 0.7, noises.draw(shape), sound)
    return sound * 0.3


@torch.no_grad()
def damaged_spectra(waves, lengths, targets, noises, mel_of, views=1):
    """Masked spectra of damaged clips, their frames and their targets; some clips are silence or noise instead. With two views every
    clip is damaged and masked in two ways, and both must say the same."""
    clips = len(waves)
    waves, lengths = change_speed(waves, lengths)
    lengths, targets = lengths.repeat(views), targets * views
    waves = damage(waves.repeat(views, 1), lengths, noises)
    # Silence comes last: mixed with babble it would teach that faint speech is nothing.
    silent = (torch.rand(clips) < NOT_SPEECH_SHARE).repeat(views)
    if silent.any():
        rows = silent.nonzero()[:, 0]
        waves[rows] = without_words((len(rows), waves.shape[1]), noises, waves.device)
        targets = [[] if s else t for s, t in zip(silent.tolist(), targets)]
    frames = lengths // 160
    return mask_spectrum(mel_of(waves), frames), frames, targets
