"""What the language model and the figures need: the readers' words, and the clips that were held out of training.

    python texts.py --speech SPEECH_DIR --out texts

Writes readers.txt (what the readers say in the clips trained on, a sentence a line), and for each set NAME.tsv with only the
held-out clips, whose number divides by 20, beside a link to its recordings.
"""

import argparse
from pathlib import Path

SETS = ("narrator-stories", "narrator-stories-extra", "reader-1", "reader-2")
HELD_OUT_EVERY = 20


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--speech", type=Path, required=True)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    known = []
    for name in SETS:
        header, *lines = (args.speech / f"{name}.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
        held_out = []
        for line in lines:
            file, *_, text = line.split("\t")
            if int(Path(file).stem) % HELD_OUT_EVERY:
                known.append(text)
            else:
                held_out.append(line)
        (args.out / f"{name}.tsv").write_text("\n".join([header, *held_out]) + "\n", encoding="utf-8")
        recordings = args.out / f"{name}.tar"
        recordings.unlink(missing_ok=True)
        recordings.symlink_to((args.speech / f"{name}.tar").resolve())
        print(f"{name}: {len(held_out)} of {len(lines)} clips held out")
    (args.out / "readers.txt").write_text("\n".join(known) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
