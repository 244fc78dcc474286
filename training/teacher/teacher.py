"""Kokoro-82M as a teacher: says Swahili phonemes in any blend of its voices.

Its durations, pitch and energy come back with the sound, and pitch can be shifted before the
decoder, so one model stands in for a crowd of speakers.
"""

import importlib
import json
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import torch

SAMPLE_RATE = 24_000
FRAME = 600  # samples a duration step stands for


def build_model(package_dir: str, config: dict):
    """Kokoro's network with plain (not weight-normed) parameters, untrained."""
    package = types.ModuleType("kokoro")
    package.__path__ = [str(package_dir)]
    sys.modules["kokoro"] = package
    for name in ("loguru", "huggingface_hub", "attr"):
        try:
            importlib.import_module(name)
        except ImportError:  # only logging and downloads need these
            stand_in = types.ModuleType(name)
            quiet = {k: (lambda *a, **k: None) for k in ("debug", "info", "warning", "error")}
            stand_in.logger = types.SimpleNamespace(**quiet)
            stand_in.hf_hub_download = stand_in.attr = None
            sys.modules[name] = stand_in
    network = importlib.import_module("kokoro.model")
    with tempfile.NamedTemporaryFile(suffix=".pth") as empty:
        torch.save({}, empty.name)
        model = network.KModel(repo_id="none", config=config, model=empty.name).eval()
    for module in model.modules():
        for name in list(getattr(module, "parametrizations", {})):
            torch.nn.utils.parametrize.remove_parametrizations(module, name)
        try:
            torch.nn.utils.remove_weight_norm(module)
        except ValueError:
            pass
    return model


class Teacher:
    def __init__(self, folder: str, device: str):
        """`folder` holds kokoro/ (model code), config.json, kokoro16.pth and voices16/*.bin."""
        folder = Path(folder)
        config = json.loads((folder / "config.json").read_text())
        self.vocab = config["vocab"]
        self.device = device
        self.model = build_model(folder / "kokoro", config)
        weights = torch.load(folder / "kokoro16.pth")
        self.model.load_state_dict({k: v.float() for k, v in weights.items()})
        self.model = self.model.to(device)
        self.voices = {
            path.stem: torch.from_numpy(
                np.fromfile(path, dtype=np.float16).astype(np.float32).reshape(-1, 256)
            ).to(device)
            for path in sorted((folder / "voices16").glob("*.bin"))
        }

    def symbols(self, phonemes: str) -> list[int]:
        return [self.vocab[c] for c in phonemes if c in self.vocab]

    def style(self, timbre: dict, prosody: dict, length: int) -> torch.Tensor:
        """Blend voices by weight; the first half of a style is timbre, the second prosody."""
        blend = lambda parts: sum(w * self.voices[v][min(length, len(self.voices[v]) - 1)] for v, w in parts.items())
        return torch.cat([blend(timbre)[:128], blend(prosody)[128:]])[None]

    @torch.no_grad()
    def say(self, symbols: list[int], style: torch.Tensor, speed: float = 1.0, pitch: float = 1.0, rhythm=None, melody=None):
        """Sound, symbols with both ends, durations, pitch and energy (two a duration step). `rhythm` may change the
        durations before they are rounded, `melody` the pitch before it is spoken."""
        net, device = self.model, self.device
        ids = torch.tensor([[0, *symbols, 0]], device=device)
        count = torch.tensor([ids.shape[1]], device=device)
        mask = torch.zeros_like(ids, dtype=torch.bool)
        encoded = net.bert_encoder(net.bert(ids, attention_mask=(~mask).int())).transpose(-1, -2)
        prosody = style[:, 128:]
        hidden = net.predictor.text_encoder(encoded, prosody, count, mask)
        lstm, _ = net.predictor.lstm(hidden)
        steps = torch.sigmoid(net.predictor.duration_proj(lstm)).sum(-1) / speed
        if rhythm is not None:
            steps = rhythm(steps)
        durations = steps.round().clamp(min=1).long().squeeze(0)
        index = torch.repeat_interleave(torch.arange(ids.shape[1], device=device), durations)
        alignment = torch.zeros(1, ids.shape[1], len(index), device=device)
        alignment[0, index, torch.arange(len(index), device=device)] = 1
        f0, energy = net.predictor.F0Ntrain(hidden.transpose(-1, -2) @ alignment, prosody)
        f0 = f0 * pitch
        if melody is not None:
            f0 = melody(f0)
        sound = net.decoder(net.text_encoder(ids, count, mask) @ alignment, f0, energy, style[:, :128])
        return sound.squeeze()[: int(durations.sum()) * FRAME], ids[0], durations, f0.squeeze(0), energy.squeeze(0)
