"""Score an exported encoder on a test set, greedily, with ONNX Runtime.

    python evaluate.py --encoder encoder.onnx --speech DIR --set common-voice-dev [--weights recogniser16.pt]

With `--weights` the float model runs beside it, so that the loss by int8 shows. Real-time figures
and figures with the language model come from `sauti eval transcription`.
"""

import argparse

import numpy as np
import onnxruntime
import torch

from data import read_set
from features import LogMel
from hearing import greedy
from model import load_recogniser
from spelling import error_rates


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--encoder", required=True)
    args.add_argument("--speech", required=True)
    args.add_argument("--set", default="common-voice-dev")
    args.add_argument("--weights")
    args.add_argument("--held-out", action="store_true", help="only the clips kept for testing")
    args.add_argument("--posteriors", help="write the posteriors of every clip to this .npz")
    args = args.parse_args()
    clips = [c for c in read_set(args.speech, args.set, 2) if c[2] or not args.held_out]
    clips = [c for c in clips if len(c[0]) < 29 * 16_000]
    session = onnxruntime.InferenceSession(args.encoder, providers=["CPUExecutionProvider"])
    network = None
    if args.weights:
        network = load_recogniser(args.weights, "cpu").eval()
    mel_of = LogMel("cpu")
    texts, float_texts, posteriors = [], [], {}
    for n, (samples, _, _) in enumerate(clips):
        wave = torch.zeros(1, (len(samples) + 639) // 640 * 640)
        wave[0, : len(samples)] = torch.from_numpy(samples).float() / 32768
        mel = mel_of(wave / wave.abs().amax().clamp(min=1e-4) * 0.5)
        logprobs = session.run(None, {"mel": mel.transpose(1, 2).contiguous().numpy()})[0]
        posteriors[str(n)] = logprobs[0].astype(np.float16)
        texts += greedy(torch.from_numpy(logprobs), torch.tensor([logprobs.shape[1]]))
        if network:
            with torch.no_grad():
                float_texts += greedy(*network(mel, torch.tensor([mel.shape[2]])))
    references = [text for _, text, _ in clips]
    print(f"{args.set}: {len(clips)} clips, int8 WER, CER {error_rates(references, texts)}")
    if network:
        print(f"float WER, CER {error_rates(references, float_texts)}")
    if args.posteriors:
        np.savez_compressed(args.posteriors, **posteriors)


if __name__ == "__main__":
    main()
