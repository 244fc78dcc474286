"""How much effort and brightness suit each voice: DistillMOS over a grid of export.py's --energy and --brightness.

    python tone.py fine16.pt+settled16.pt:own --phonemes dev-phonemes.txt --vocabulary config.json --limit 20

Prints the mean and the worst clip of every setting. Give sentences that the voices are not measured with afterwards. Needs PyPI distillmos.
"""

import argparse
import json

import numpy as np
import torch

from compare import DEVICE, VOICES, add_options, judge_of_speech, judged, load, sayer, spread_over
from model import BINS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, 25)
    parser.add_argument("--energy", type=float, nargs="+", default=[0.3, 0.6, 0.9])
    parser.add_argument("--brightness", type=float, nargs="+", default=[0.6, 1.2, 1.8])
    parser.add_argument("model", help="as for compare.py")
    args = parser.parse_args()
    torch.set_num_threads(1)
    judge = judge_of_speech()
    lines = spread_over(args.phonemes.read_text().splitlines(), args.limit)
    model, table = load(args.model, json.loads(args.vocabulary.read_text())["vocab"])
    timid, dull = model.fo.bias[2].item(), model.out.bias[:BINS].detach().clone()
    for voice in args.voices:
        for brightness in args.brightness:
            for energy in args.energy:
                model.fo.bias.data[2] = timid + energy
                model.out.bias.data[:BINS] = dull + torch.linspace(0.0, brightness, BINS, device=DEVICE)
                figures = judged(judge, sayer(model, table, voice), lines)
                print(f"{VOICES[voice]} energy {energy:.2f} brightness {brightness:.2f}: mean {np.mean(figures):.3f}, worst {min(figures):.2f}", flush=True)


if __name__ == "__main__":
    main()
