"""Choose what the synthetic speakers say.

    python sentences.py --text DIR --test common-voice-dev.tsv --english gb_gold.json gb_silver.json --mixed texts/transplanted.marked \
        --english-text texts/english-read.txt --out sentences.txt

A mixture of everyday sentences, a little of the Bible and the parliament, single words, and telephone talk (telephone.py: digits,
amounts, times, yes and no), in random order, with English talk and Swahili with English words, which are marked with ~. No
sentence of the test sets.
"""

import argparse
import collections
import csv
import itertools
import lzma
import random
import re
import sys
from pathlib import Path

import telephone
from english import NAMES, PLACES, PREFIXES, STEMS, last_column, spoken, talk
from spelling import number_words, spell

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "teacher"))
from phonemes import load_english  # noqa: E402

SOURCES = {"common-voice-sentences": 45_000, "general": 24_000, "bible": 4_000, "parliament": 7_000}
TELEPHONE = 20_000
MIXED, ENGLISH_TALK, ENGLISH_WRITTEN = 25_000, 6_000, 12_000
WORDS = 4_000  # utterances of one or two words, which a sentence's flow does not help
FOREIGN = re.compile(r"[qx]|c(?!h)|[bdfgjklmnprstvwyz]$|sch|ck|oo$|ee", re.I)


def readable(line: str) -> bool:
    words = line.split()
    plain = re.fullmatch(r"[A-Za-z0-9 ,.!?;:'’“”\"()\-–]+", line)
    return bool(plain) and 3 <= len(words) <= 17 and len(line) < 120 and not re.search(r"http|www|[A-Z]{4,}", line)


def foreign_words(line: str) -> int:
    return sum(bool(FOREIGN.search(w)) for w in re.findall(r"[A-Za-z']+", line))


def spell_digits(line: str) -> str:
    line = re.sub(r"(\d),(\d{3})", r"\1\2", line)
    return re.sub(r"\d+", lambda m: number_words(int(m[0])) if len(m[0]) < 10 else " ", line)


class Marker:
    """Marks the English words of sentences with ~. None for a sentence with a word whose sounds are not known."""

    def __init__(self, text: Path, lexicons: list[Path], written: list[str]):
        with lzma.open(text / "word-frequencies.tsv.xz", "rt", encoding="utf-8") as rows:
            swahili = {word: int(count) for word, count in (row.split("\t")[:2] for row in rows)}
        with open(text / "english-words-in-swahili.tsv", encoding="utf-8") as rows:
            self.borrowed = {r["word"] for r in csv.DictReader(rows, delimiter="\t") if len(r["word"]) > 2} | set(STEMS)
        names = {w.lower() for name in NAMES + PLACES for w in name.split()}
        english = collections.Counter(word for line in written for word in spell(line).split())
        # Parliament says "manager" often, English books oftener.
        oftener = sum(swahili.values()) / sum(english.values())
        self.borrowed |= {word for word, count in swahili.items() if len(word) > 3 and english[word] * oftener > count} - names
        self.swahili = set(itertools.islice(swahili, 60_000)) | names
        self.sounds = load_english(*lexicons)

    def __call__(self, line: str, english: bool) -> str | None:
        out, marks = [], 0
        for word in re.findall(r"[A-Za-z']+|[^A-Za-z']+", line):
            plain = word.lower()
            if not word[0].isalpha():
                out.append(word)
            elif plain in self.sounds and (plain in self.borrowed or english and plain.capitalize() not in NAMES + PLACES):
                out.append("~" + word)
                marks += 1
            elif plain in self.swahili or plain in PREFIXES:
                out.append(word)
            else:
                return None
        return "".join(out) if marks else None


def bilingual(args, tested: set[str], dice: random.Random) -> list[str]:
    """Swahili with English words, out of the texts and of transplant.py; and English talk and sentences."""
    text, written = Path(args.text), args.english_text.read_text(encoding="utf-8").splitlines()
    mark = Marker(text, args.english, written)
    lines = {line.strip(" •-\n") for name in SOURCES for line in lzma.open(text / f"{name}.txt.xz", "rt", encoding="utf-8")} | also_said(args)
    found = [mark(spell_digits(line), False) for line in sorted(lines) if readable(line) and spell(line) not in tested]
    some = lambda lines, count: dice.sample(lines, min(len(lines), count))
    has_sounds = lambda line: all(word in mark.sounds for word in re.findall("~([a-z']+)", line))
    made = [line if has_sounds(line) and len(line) < 110 else None for line in some(Path(args.mixed).read_text(encoding="utf-8").splitlines(), MIXED)]
    crowd = last_column(args.crowd) if args.crowd else []
    english = [mark(spoken(line, dice), True) for line in talk(ENGLISH_TALK, dice) + some(crowd, ENGLISH_TALK) + some(written, ENGLISH_WRITTEN) if len(line) < 110]
    counts = {"mixed, found": found, "mixed, made": made, "english": english}
    for name, lines in counts.items():
        print(name, sum(line is not None for line in lines), "of", len(lines))
    return [line for lines in counts.values() for line in lines if line and spell(line) not in tested]


def also_said(args) -> set[str]:
    return {line for path in args.also for line in path.read_text(encoding="utf-8").splitlines()}


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--text", required=True)
    args.add_argument("--test", type=Path, action="append", required=True, help="a list whose sentences are left out; may be repeated")
    args.add_argument("--english", nargs="+", required=True, help="misaki's gb_gold.json and gb_silver.json")
    args.add_argument("--mixed", required=True, help="transplanted.marked")
    args.add_argument("--crowd", type=Path, help="english.tsv, whose sentences are read too")
    args.add_argument("--english-text", type=Path, required=True, help="English sentences, one a line, for the spellings that a crowd is too small for, and to tell whose a word is")
    args.add_argument("--also", type=Path, nargs="*", default=[], help="further Swahili lines, all of which are said: commands, everyday sentences")
    args.add_argument("--out", required=True)
    args.add_argument("--seed", type=int, default=3)
    args = args.parse_args()
    dice = random.Random(args.seed)
    tested = {spell(text) for path in args.test for text in last_column(path)}
    chosen = []
    for name, count in SOURCES.items():
        lines = {line.strip(" •-\n") for line in lzma.open(Path(args.text) / f"{name}.txt.xz", "rt", encoding="utf-8")}
        lines = sorted(line for line in lines if readable(line) and spell(line) not in tested)
        dice.shuffle(lines)
        # Kokoro is given Swahili sounds only: a sentence full of English would teach wrong spellings.
        lines = [line for line in lines if foreign_words(line) <= 1][:count]
        print(name, len(lines))
        chosen += [spell_digits(line) for line in lines]
    words = sorted({w for line in chosen for w in spell(line).split() if 3 < len(w) < 16 and not FOREIGN.search(w)})
    chosen += [" ".join(dice.sample(words, dice.choice([1, 1, 2]))) for _ in range(WORDS)]
    dice.shuffle(chosen)
    chosen = chosen[: len(chosen) // 2] + bilingual(args, tested, dice)
    also = [line for line in sorted(also_said(args)) if readable(line) and spell(line) not in tested and not foreign_words(line)]
    print("also", len(also))
    chosen += [spell_digits(line) for line in also]
    talked = [telephone.line(dice) for _ in range(TELEPHONE)]
    chosen += [line for line in talked if spell(line) not in tested]
    dice.shuffle(chosen)
    Path(args.out).write_text("\n".join(chosen) + "\n")


if __name__ == "__main__":
    main()
