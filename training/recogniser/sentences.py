"""Choose what the synthetic speakers say.

    python sentences.py --text DIR --test common-voice-dev.tsv --out sentences.txt

A mixture of everyday sentences, a little of the Bible and the parliament, single words, and made-up
telephone talk (digits, amounts, times, yes and no), in random order. No sentence of the test set.
"""

import argparse
import csv
import lzma
import random
import re
from pathlib import Path

from spelling import UNITS, number_words, spell

SOURCES = {"common-voice-sentences": 45_000, "general": 24_000, "bible": 4_000, "parliament": 7_000}
TELEPHONE = 7_000
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


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--text", required=True)
    args.add_argument("--test", required=True)
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
    dice.shuffle(chosen)
    Path(args.out).write_text("\n".join(chosen) + "\n")


if __name__ == "__main__":
    main()
