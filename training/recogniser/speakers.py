"""Speaker vectors: Resemblyzer's published network (PyPI, Apache-2.0; its weights are in the wheel) as the service reads it, and the
directions in which people differ on a telephone, found by linear discriminant analysis (LDA) on clips of many people.

    pip download --no-deps Resemblyzer==0.1.4 && unzip Resemblyzer-0.1.4-py3-none-any.whl resemblyzer/pretrained.pt
    python speakers.py --weights resemblyzer/pretrained.pt --clips people.tsv --out ../../models/recogniser/speakers.safetensors

People whose name begins with 0 (tests) or 1 (thresholds) are left out.
"""

import argparse
from math import gcd
from pathlib import Path

import numpy as np
import soundfile
import torch
from safetensors.numpy import save_file
from scipy.linalg import eigh
from scipy.signal import resample_poly

RATE, FRAMES, MELS, WIDTH = 16_000, 160, 40, 256
SAMPLES = (FRAMES - 1) * 160 + 400
LEVEL = 10 ** (-30 / 20)


def filters():
    """Slaney's mel scale, as librosa has it: 40 triangles of equal area up to 8 kHz."""
    step = np.log(6.4) / 27
    top = 15 + np.log(8) / step
    mel = top * np.arange(MELS + 2) / (MELS + 1)
    edges = np.where(mel >= 15, 1000 * np.exp(step * (mel - 15)), mel * 200 / 3)
    hz = np.arange(201) * 40.0
    low, mid, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rise, fall = (hz - low) / (mid - low), (high - hz) / (high - mid)
    return (np.maximum(0, np.minimum(rise, fall)) * 2 / (high - low)).astype(np.float32)


FILTERS = filters()
WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)).astype(np.float32)


def spectra(wave):
    """Frames of 25 ms every 10 ms, the first at the start; the power in each band, without a logarithm."""
    count = (len(wave) - 400) // 160 + 1
    frames = np.lib.stride_tricks.as_strided(wave, (count, 400), (wave.strides[0] * 160, wave.strides[0]))
    return ((np.abs(np.fft.rfft(frames * WINDOW)) ** 2).astype(np.float32) @ FILTERS.T).astype(np.float32)


def levelled(wave, level=LEVEL):
    return wave * np.float32(level / max(np.sqrt(np.mean(wave**2)), 1e-5))


def telephone(wave):
    """8 kHz, mu-law."""
    narrow = np.clip(resample_poly(wave, 1, 2), -1, 1)
    code = np.round(np.sign(narrow) * np.log1p(255 * np.abs(narrow)) / np.log(256) * 127) / 127
    heard = np.sign(code) * np.expm1(np.abs(code) * np.log(256)) / 255
    return resample_poly(heard, 2, 1).astype(np.float32)


def clip(path):
    wave, rate = soundfile.read(path, dtype="float32", always_2d=True)
    wave = wave.mean(1)
    shared = gcd(rate, RATE)
    wave = resample_poly(wave, RATE // shared, rate // shared).astype(np.float32) if rate != RATE else wave
    loud = np.sqrt(np.convolve(wave**2, np.ones(400) / 400, "same")[::160])
    spoken = np.where(loud > loud.max() * 0.03)[0]
    return wave[spoken[0] * 160 : spoken[-1] * 160 + 160] if len(spoken) else wave[:0]


class Network(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.lstm = torch.nn.LSTM(MELS, WIDTH, 3, batch_first=True)
        self.linear = torch.nn.Linear(WIDTH, WIDTH)
        state = torch.load(weights, map_location="cpu", weights_only=False)["model_state"]
        self.load_state_dict({name: value for name, value in state.items() if not name.startswith("similarity")})

    @torch.no_grad()
    def forward(self, windows):
        out = []
        for some in torch.from_numpy(windows).split(256):
            # Before the last rectifier, which throws away what a telephone needs.
            voice = self.linear(self.lstm(some)[1][0][-1])
            out.append(torch.nn.functional.normalize(voice, dim=1))
        return torch.cat(out).numpy()


def windows_of(wave):
    """Windows of 1.6 s, every 0.8 s, each brought to one level."""
    starts = range(0, len(wave) - SAMPLES + 1, 12_800)
    return [spectra(levelled(wave[start : start + SAMPLES])) for start in starts]


def directions(voices, people, width, shrink=0.1):
    """LDA: the mean, and the directions with the most difference between people for that within one."""
    mean = voices.mean(0)
    centred = voices - mean
    _, person, count = np.unique(people, return_inverse=True, return_counts=True)
    own = np.zeros((len(count), voices.shape[1]))
    np.add.at(own, person, centred)
    own /= count[:, None]
    rest = centred - own[person]
    within = rest.T @ rest / len(voices)
    within = (1 - shrink) * within + shrink * np.trace(within) / len(within) * np.eye(len(within))
    between = (own * count[:, None]).T @ own / len(voices)
    _, vectors = eigh(between, within)
    return mean, vectors[:, ::-1][:, :width]


def codes(name, weight, bias=None):
    """Int8 with a step for each output; inputs by outputs."""
    weight = weight.T.astype(np.float32)
    step = np.abs(weight).max(0) / 127
    tensors = {f"{name}.codes": np.round(weight / step).astype(np.int8), f"{name}.scale": step.astype(np.float32)}
    return tensors if bias is None else {**tensors, f"{name}.bias": bias.astype(np.float32)}


def write_golden(network, mean, apart, folder):
    """What the Rust network is tested against: the vector of a clip of 1.5 s, said over and over to fill a window."""
    clip = np.fromfile(folder / "mel-input.s16", np.int16).astype(np.float32) / 32_768
    voice = network(spectra(levelled(np.resize(clip, SAMPLES)))[None])[0]
    vector = (voice - mean) @ apart
    (vector / np.linalg.norm(vector)).astype(np.float32).tofile(folder / "speaker-vector.f32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--clips", type=Path, required=True, help="file and speaker, tab-separated; files beside it")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--golden", type=Path, help="a folder with mel-input.s16")
    options = parser.parse_args()
    network = Network(options.weights)
    windows, people = [], []
    header, *rows = [line.split("\t") for line in options.clips.read_text().splitlines()]
    file, speaker = header.index("file"), header.index("speaker")
    for row in rows:
        if row[speaker][0] not in "01":
            wave = clip(options.clips.parent / row[file])
            own = windows_of(telephone(levelled(wave, 0.05))) if len(wave) > RATE else []
            windows += own
            people += [row[speaker]] * len(own)
    voices = network(np.stack(windows))
    mean, apart = directions(voices, np.array(people), options.width)
    weights = {name: value.detach().numpy() for name, value in network.named_parameters()}
    bias = [weights[f"lstm.bias_ih_l{layer}"] + weights[f"lstm.bias_hh_l{layer}"] for layer in range(3)]
    tensors = {"lstm0.input": weights["lstm.weight_ih_l0"].T, "lstm0.bias": bias[0]}
    tensors |= codes("lstm0.state", weights["lstm.weight_hh_l0"])
    for layer in (1, 2):
        both = np.concatenate([weights[f"lstm.weight_ih_l{layer}"], weights[f"lstm.weight_hh_l{layer}"]], axis=1)
        tensors |= codes(f"lstm{layer}", both, bias[layer])
    tensors |= {"output.weight": weights["linear.weight"].T, "output.bias": weights["linear.bias"], "mean": mean, "apart": apart}
    save_file({name: np.ascontiguousarray(value if value.dtype == np.int8 else value.astype(np.float32)) for name, value in tensors.items()}, options.out)
    if options.golden:
        write_golden(network, mean, apart, options.golden)
    print(f"{len(voices)} windows of {len(set(people))} people; {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
