"""Blend two trainings of the recogniser, and set how readily it stays silent.

    python blend.py --first earlier16.pt --second later16.pt --share 0.5 --blank 1.5 --sharpen 1.2 --out recogniser16.pt

Weights half-way between a training and its continuation hear strangers better than either. `--blank` is
taken from the blank's logit: a model taught with much noise drops faint words until it is. `--sharpen` scales the logits:
two views that must agree make flat posteriors, which leave the language model more say than it should have.
"""

import argparse

import torch


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--first", required=True)
    args.add_argument("--second", required=True)
    args.add_argument("--share", type=float, default=0.5, help="of the second")
    args.add_argument("--blank", type=float, default=0.0)
    args.add_argument("--sharpen", type=float, default=1.0)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    first, second = (torch.load(path, map_location="cpu") for path in (args.first, args.second))
    halve_after = second.pop("halve_after")
    blend = {name: torch.lerp(first[name].float(), second[name].float(), args.share) for name in second}
    blend["head.bias"][0] -= args.blank
    for name in ("head.weight", "head.bias"):
        blend[name] *= args.sharpen
    torch.save({name: tensor.half() for name, tensor in blend.items()} | {"halve_after": halve_after}, args.out)


if __name__ == "__main__":
    main()
