"""Choose what the synthetic speakers say.

    python sentences.py --text DIR --test common-voice-dev.tsv --english gb_gold.json --out sentences.txt

A mixture of everyday sentences, a little of the Bible and the parliament, single words, and made-up
telephone talk (digits, amounts, times, yes and no), in random order; with a lexicon of English sounds also English talk and
Swahili with English words, which are marked with ~. No sentence of the test set.
"""

import argparse
import csv
import lzma
import random
import re
import sys
from pathlib import Path

from english import NAMES, PLACES, PREFIXES, STEMS, last_column, mixed, spoken, talk
from spelling import UNITS, number_words, spell

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "teacher"))
from phonemes import load_english  # noqa: E402

SOURCES = {"common-voice-sentences": 45_000, "general": 24_000, "bible": 4_000, "parliament": 7_000}
TELEPHONE = 7_000
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


def telephone_line(dice: random.Random) -> str:
    amount = number_words(dice.choice([dice.randrange(1, 100), dice.randrange(1, 100) * 50, dice.randrange(1, 1000) * 1000]))
    digits = lambda n: " ".join(dice.choice(UNITS) for _ in range(n))
    number = number_words(dice.randrange(0, 3000))
    return dice.choice([
        lambda: digits(dice.randrange(1, 11)),
        lambda: digits(4) + ", " + digits(3) + ", " + digits(3),
        lambda: f"shilingi {amount}",
        lambda: f"Nataka kutuma shilingi {amount}.",
        lambda: f"Salio lako ni shilingi {amount}.",
        lambda: f"Nambari yangu ni {digits(dice.choice([4, 6, 8, 10]))}.",
        lambda: f"{amount}",
        lambda: f"{number}",
        lambda: f"saa {number_words(dice.randrange(1, 13))} {dice.choice(['asubuhi', 'mchana', 'jioni', 'usiku', 'na nusu', 'na robo', 'kasorobo'])}",
        lambda: f"tarehe {number_words(dice.randrange(2, 32))} mwezi wa {number_words(dice.randrange(2, 13))}",
        lambda: dice.choice(["ndiyo", "ndio", "hapana", "la", "sawa", "sawa sawa", "naam", "ndiyo, sawa", "hapana, asante", "sijui", "rudia", "tafadhali rudia", "msaada", "salio", "nataka kuzungumza na mhudumu"]),
        lambda: f"bonyeza {dice.choice(UNITS)}",
    ])()


class Marker:
    """Marks the English words of sentences with ~. None for a sentence with a word whose sounds are not known."""

    def __init__(self, text: Path, lexicon: Path):
        with lzma.open(text / "word-frequencies.tsv.xz", "rt", encoding="utf-8") as rows:
            self.swahili = {row.split("\t")[0] for _, row in zip(range(60_000), rows)} | {w.lower() for name in NAMES + PLACES for w in name.split()}
        with open(text / "english-words-in-swahili.tsv", encoding="utf-8") as rows:
            self.nouns = [(r["word"], int(r["total"])) for r in csv.DictReader(rows, delimiter="\t") if len(r["word"]) > 2]
        self.sounds = load_english(lexicon)
        self.borrowed = {w for w, _ in self.nouns} | set(STEMS)

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
    """Swahili with English words, out of the texts and made by forms; and English talk and sentences."""
    mark, text = Marker(Path(args.text), args.english), Path(args.text)
    tested = tested | {spell(line) for line in last_column(text / "prompts-mixed.tsv")}
    lines = {line.strip(" •-\n") for name in SOURCES for line in lzma.open(text / f"{name}.txt.xz", "rt", encoding="utf-8")}
    found = [mark(spell_digits(line), False) for line in sorted(lines) if readable(line) and spell(line) not in tested]
    made = [mark(line, False) for line in mixed(mark.nouns, MIXED, dice)]
    some = lambda lines, count: dice.sample(lines, min(len(lines), count))
    crowd = last_column(args.crowd) if args.crowd else []
    written = [line.strip() for line in open(args.english_text, encoding="utf-8")] if args.english_text else []
    english = [mark(spoken(line, dice), True) for line in talk(ENGLISH_TALK, dice) + some(crowd, ENGLISH_TALK) + some(written, ENGLISH_WRITTEN) if len(line) < 110]
    counts = {"mixed, found": found, "mixed, made": made, "english": english}
    for name, lines in counts.items():
        print(name, sum(line is not None for line in lines), "of", len(lines))
    return [line for lines in counts.values() for line in lines if line and spell(line) not in tested]


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--text", required=True)
    args.add_argument("--test", required=True)
    args.add_argument("--english", help="misaki's gb_gold.json: adds English and mixed sentences")
    args.add_argument("--crowd", type=Path, help="english.tsv, whose sentences are read too")
    args.add_argument("--english-text", help="English sentences, one a line, for the spellings that a crowd is too small for")
    args.add_argument("--out", required=True)
    args.add_argument("--seed", type=int, default=3)
    args = args.parse_args()
    dice = random.Random(args.seed)
    tested = {spell(r["text"]) for r in csv.DictReader(open(args.test), delimiter="\t", quoting=csv.QUOTE_NONE)}
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
    chosen += [telephone_line(dice) for _ in range(TELEPHONE)]
    if args.english:
        chosen = chosen[: len(chosen) // 2] + bilingual(args, tested, dice)
    dice.shuffle(chosen)
    Path(args.out).write_text("\n".join(chosen) + "\n")


if __name__ == "__main__":
    main()
