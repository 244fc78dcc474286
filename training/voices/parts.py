"""Weights as several small files, for machines that hand back only such.

    python parts.py FILE.pt.0 FILE.pt.1 ... --out FILE.pt [--over OTHER.pt]    puts them together again
"""

import argparse
from pathlib import Path

import torch

BYTES_MAX = 15_000_000


def write_parts(weights: dict[str, torch.Tensor], path: Path) -> None:
    parts, size = [{}], 0
    for name, tensor in weights.items():
        count = tensor.numel() * tensor.element_size()
        if size + count > BYTES_MAX and parts[-1]:
            parts.append({})
            size = 0
        parts[-1][name] = tensor
        size += count
    for number, part in enumerate(parts):
        # Written beside and then moved: whoever copies the file away never gets half of it.
        beside = path.with_name(f"{path.name}.{number}.new")
        torch.save(part, beside)
        beside.replace(path.with_name(f"{path.name}.{number}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", type=Path, nargs="+")
    parser.add_argument("--over", type=Path, help="weights that the parts are laid over")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    weights = torch.load(args.over, map_location="cpu", weights_only=True) if args.over else {}
    for path in args.parts:
        weights.update(torch.load(path, map_location="cpu", weights_only=True))
    torch.save(weights, args.out)
    print(f"{len(weights)} tensors, {sum(t.numel() for t in weights.values()) / 1e6:.1f} M numbers")


if __name__ == "__main__":
    main()
