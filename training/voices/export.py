"""Turn a trained generator into the files that the service loads.

    python export.py --checkpoint gen16.pt [--prosody native16.pt] --vocabulary config.json --out ../../models/voices

Writes into OUT:

  voices.safetensors   weights: matrix products as int8 with one scale per output, the rest as float32
  symbols.json         which number stands for which phoneme symbol
  manifest.json        size, CRC-32 and SHA-256 of each file, checked by the loader

What is folded here, so that the service does not have to do it for every frame:
  * the learned gain of a block's residual branch goes into its second matrix;
  * the speaker's part of a norm becomes one table per voice (scale and shift);
  * the first layer of the frame networks is split into a part that depends on the phoneme only
    (done once per phoneme) and a part that depends on the position inside it (done per frame).
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy as np
import torch

from symbols import table_from

sys.path.append(str(Path(__file__).resolve().parent.parent / "recogniser"))
from manifest import write_manifest  # noqa: E402

FORMAT = "sauti-voices-1"
DECODER_PARTS = 5
FEATURES = 256  # width of the phoneme encoders; the rest of a frame network's input is position


def quantise(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(outputs, inputs) float -> (inputs, outputs) int8 and a scale per output."""
    scale = np.abs(weight).max(axis=1) / 127.0
    scale[scale == 0] = 1.0
    codes = np.clip(np.rint(weight / scale[:, None]), -127, 127).astype(np.int8)
    return np.ascontiguousarray(codes.T), scale.astype(np.float32)


class Exporter:
    def __init__(self, state: dict[str, torch.Tensor], pitch_range: float = 1.0, pitch_means: tuple = (0.0,), energy: tuple = (0.0,), brightness: float = 0.0):
        self.pitch_range, self.pitch_means, self.energy, self.brightness = pitch_range, pitch_means, energy, brightness
        self.state = {name: tensor.detach().float().numpy() for name, tensor in state.items()}
        self.tensors: dict[str, np.ndarray] = {}

    def linear(self, name: str, weight: np.ndarray, bias: np.ndarray) -> None:
        codes, scale = quantise(weight)
        self.tensors[f"{name}.codes"] = codes
        self.tensors[f"{name}.scale"] = scale
        self.tensors[f"{name}.bias"] = bias

    def block(self, source: str, name: str, speakers: np.ndarray | None) -> None:
        """One ConvNeXt block: depthwise convolution, norm, two matrix products, residual."""
        get = lambda part: self.state[f"{source}.{part}"]
        # (channels, 1, 7) -> (7, channels): the service walks along the channels.
        self.tensors[f"{name}.conv"] = get("w.weight")[:, 0].T
        self.tensors[f"{name}.conv_bias"] = get("w.bias")
        if speakers is None:
            self.tensors[f"{name}.norm_scale"] = get("n.weight")[None]
            self.tensors[f"{name}.norm_shift"] = get("n.bias")[None]
        else:
            table = speakers @ get("c.weight").T + get("c.bias")
            scale, shift = np.split(table, 2, axis=1)
            self.tensors[f"{name}.norm_scale"] = 1.0 + scale
            self.tensors[f"{name}.norm_shift"] = shift
        self.linear(f"{name}.expand", get("a.weight"), get("a.bias"))
        gain = get("g")
        self.linear(f"{name}.reduce", get("b.weight") * gain[:, None], get("b.bias") * gain)

    def attention(self, source: str, name: str) -> None:
        get = lambda part: self.state[f"{source}.{part}"]
        self.tensors[f"{name}.norm_scale"] = get("n.weight")[None]
        self.tensors[f"{name}.norm_shift"] = get("n.bias")[None]
        self.linear(f"{name}.query_key_value", get("q.weight"), get("q.bias"))
        self.linear(f"{name}.merge", get("o.weight"), get("o.bias"))

    def encoder(self, source: str, name: str) -> None:
        self.tensors[f"{name}.embedding"] = self.state[f"{source}.e.weight"]
        for i in range(self.count(f"{source}.cb")):
            self.block(f"{source}.cb.{i}", f"{name}.block.{i}", None)
        for i in range(self.count(f"{source}.at")):
            self.attention(f"{source}.at.{i}", f"{name}.attention.{i}")

    def frame_input(self, source: str, name: str) -> None:
        weight = self.state[f"{source}.weight"].T
        self.tensors[f"{name}.phoneme"] = weight[:FEATURES]
        self.tensors[f"{name}.position"] = weight[FEATURES:]
        self.tensors[f"{name}.bias"] = self.state[f"{source}.bias"]

    def contour_output(self) -> tuple[np.ndarray, np.ndarray]:
        """The last layer of the contour, with a bias for each voice: its pitch moves `pitch_range` times as far from its mean,
        and it speaks with `energy` more effort."""
        weight, bias = self.state["fo.weight"].copy(), np.tile(self.state["fo.bias"], (len(self.state["spp.weight"]), 1))
        weight[0] *= self.pitch_range
        bias[:, 0] = bias[:, 0] * self.pitch_range + (1 - self.pitch_range) * np.asarray(self.pitch_means)
        bias[:, 2] += np.asarray(self.energy)
        return weight, bias

    def decoder_bias(self) -> np.ndarray:
        """The last layer's bias: its first part is the log gain of the pulses, bin by bin."""
        bias = self.state["out.bias"].copy()
        bins = len(bias) // DECODER_PARTS
        bias[:bins] += np.linspace(0.0, self.brightness, bins)
        return bias

    def count(self, prefix: str) -> int:
        return len({k[len(prefix) + 1 :].split(".")[0] for k in self.state if k.startswith(prefix + ".")})

    def run(self) -> dict[str, np.ndarray]:
        timbre, prosody = self.state["sp.weight"], self.state["spp.weight"]
        self.encoder("te", "content")
        self.encoder("pt", "prosody")
        for source, name, speakers in [
            ("db", "duration", prosody),
            ("fb", "contour", prosody),
            ("dec", "decoder", timbre),
        ]:
            for i in range(self.count(source)):
                self.block(f"{source}.{i}", f"{name}.block.{i}", speakers)
        self.frame_input("fi", "contour.input")
        self.frame_input("inp", "decoder.input")
        self.tensors["duration.output.weight"] = self.state["do.weight"]
        self.tensors["duration.output.bias"] = self.state["do.bias"]
        self.tensors["contour.output.weight"], self.tensors["contour.output.bias"] = self.contour_output()
        self.tensors["decoder.norm_scale"] = self.state["n.weight"][None]
        self.tensors["decoder.norm_shift"] = self.state["n.bias"][None]
        self.linear("decoder.output", self.state["out.weight"], self.decoder_bias())
        return self.tensors


def write_safetensors(path: Path, tensors: dict[str, np.ndarray], version: str) -> None:
    """The safetensors layout: header length, JSON header, raw little-endian data."""
    header: dict = {"__metadata__": {"format": FORMAT, "model_version": version}}
    offset, chunks = 0, []
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        if array.dtype != np.int8:
            array = array.astype("<f4")
        data = array.tobytes()
        header[name] = {
            "dtype": "I8" if array.dtype == np.int8 else "F32",
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
        chunks.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        file.writelines(chunks)


def load_state(checkpoint: Path, prosody: Path | None) -> dict[str, torch.Tensor]:
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    if prosody:
        over = torch.load(prosody, map_location="cpu", weights_only=True)
        unknown = [name for name in over if name not in state or over[name].shape != state[name].shape]
        if unknown:
            raise SystemExit(f"{prosody}: not of this model: {unknown}")
        state.update(over)
    return state


def add_contour_options(parser: argparse.ArgumentParser) -> None:
    # Learned by mean differences, a melody comes out flatter than it was.
    parser.add_argument("--pitch-range", type=float, default=1.0, help="widen every voice's pitch by this factor")
    parser.add_argument("--pitch-means", type=float, nargs="+", default=[0.0], help="each voice's mean log pitch less 5, for --pitch-range")
    # The same mean differences make it timid: a little more effort than predicted sounds clearer.
    parser.add_argument("--energy", type=float, nargs="+", default=[0.0], help="added to each voice's energy")
    parser.add_argument("--brightness", type=float, default=0.0, help="added to the log gain of the harmonics at 12 kHz, in proportion below")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True, help="the generator's state, as train.py writes it")
    parser.add_argument("--prosody", type=Path, help="the prosody side alone, as prosody.py writes it, laid over the checkpoint")
    parser.add_argument("--vocabulary", type=Path, required=True, help="config.json of the PyPI package kokoro-onnx")
    parser.add_argument("--out", type=Path, required=True, help="the folder the service loads from")
    add_contour_options(parser)
    parser.add_argument("--version", default="1.0.0", help="changes whenever the weights change")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    state = load_state(args.checkpoint, args.prosody)
    state.pop("win", None)
    write_safetensors(args.out / "voices.safetensors", Exporter(state, args.pitch_range, args.pitch_means, args.energy, args.brightness).run(), args.version)
    symbols = json.dumps({"symbols": table_from(json.loads(args.vocabulary.read_text())["vocab"])}, ensure_ascii=False, indent=0)
    (args.out / "symbols.json").write_text(symbols + "\n")
    write_manifest(args.out, FORMAT, args.version, ["voices.safetensors", "symbols.json"])
    for path in sorted(args.out.iterdir()):
        print(f"{path.stat().st_size:>10}  {path.name}")


if __name__ == "__main__":
    main()
