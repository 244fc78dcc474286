"""Choose what the teacher says: everyday sentences, and much of what telephones and applications say.

    python sentences.py --text DIR --exclude DIR/prompts.tsv DIR/prompts-mixed.tsv SPEECH/common-voice-dev.tsv --english list.tsv --out sentences.txt
    cargo run --release -p sauti-text --example phonemes < sentences.txt > phonemes.txt
    cargo run --release -p sauti-text --example phonemes -- en < sentences.english.txt >> phonemes.txt

Questions, lists, digits, amounts, times, single words, short prompts, exclamations and English words as they are said in
Swahili get more room than texts give them. No sentence of the lists that measure the voices is among them. With Common Voice's English
list (validated.tsv: columns client_id and sentence) also English, in a file of its own, and more Swahili with English words.
"""

import argparse
import csv
import lzma
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "recogniser"))
from english import ORDINALS, UNITS, mixed, talk  # noqa: E402

SOURCES = {"common-voice-sentences": 11_000, "general": 11_000, "bible": 2_000, "parliament": 2_500}
KINDS = {"question": 5_000, "exclamation": 2_500, "list": 2_500, "short": 7_000, "english": 2_500, "rare": 1_500, "nasal": 2_500}
WORDS, TELEPHONE, ENGLISH_LINES = 5_000, 5_000, 1_500
MIXED, ENGLISH, ENGLISH_TALK, ENGLISH_WORDS = 16_000, 15_000, 5_000, 2_500
READABLE = re.compile(r"[A-Za-z0-9 ,.!?;:'’“”\"()\-–%/]+")
# Sounds that few words have.
RARE = re.compile(r"kh|ng['’]", re.I)
FOREIGN = re.compile(r"[qx]|c(?!h)|[bdfgjklmnprstvwyz]$|sch|ck|oo$|ee", re.I)
CHARACTERS_MAX = 150
NASAL_SHARE = 0.4  # of a line's consonants: little but m and n, the voices' worst


def plain(line: str) -> str:
    return " ".join(re.findall(r"[a-z']+", line.lower().replace("’", "'")))


def read_lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = {line.strip(" •-–\t\n") for line in file}
    keep = lambda l: READABLE.fullmatch(l) and len(l) < CHARACTERS_MAX and not re.search(r"http|www|[A-Z]{5,}", l)
    return sorted(line for line in lines if keep(line))


def foreign_words(line: str) -> int:
    return sum(bool(FOREIGN.search(w)) for w in re.findall(r"[A-Za-z']+", line))


def kind_of(line: str) -> str | None:
    """What a line is an example of; None for an everyday sentence."""
    words, foreign = len(line.split()), foreign_words(line)
    if foreign > 3 or words > 22:
        return "unfit"
    if foreign > 1:
        return "english" if words > 5 * foreign / 2 else "unfit"
    if RARE.search(line):
        return "rare"
    consonants = re.findall(r"n[gy]?|m|[^\Waeiou\d_]", line.lower())
    if words <= 8 and sum(c[0] in "mn" for c in consonants) > NASAL_SHARE * len(consonants):
        return "nasal"
    if words <= 4:
        return "short"
    if line.endswith("?"):
        return "question"
    if line.endswith("!"):
        return "exclamation"
    return "list" if line.count(",") >= 3 else None


def telephone_line(dice: random.Random) -> str:
    digit = lambda: str(dice.randrange(10))
    digits = lambda n: "".join(digit() for _ in range(n))
    amount = f"{dice.choice([dice.randrange(1, 100), dice.randrange(1, 200) * 50, dice.randrange(1, 2000) * 1000, dice.randrange(1, 99999)]):,}"
    clock = f"{dice.randrange(24):02d}:{dice.choice(['00', '15', '30', '45', f'{dice.randrange(60):02d}'])}"
    date = f"{dice.randrange(1, 29)}/{dice.randrange(1, 13)}/{dice.randrange(1990, 2030)}"
    options = ["kujua salio lako", "huduma kwa wateja", "kutuma pesa", "kulipa bili", "kununua muda wa maongezi", "maelezo zaidi", "Kiswahili", "Kiingereza", "kurudia ujumbe huu", "kurudi mwanzo"]
    first, second, third = dice.sample(options, 3)
    return dice.choice([
        lambda: f"Nambari yako ni {' '.join(digit() for _ in range(dice.randrange(3, 9)))}.",
        lambda: f"0{dice.choice('17')}{digits(2)} {digits(3)} {digits(3)}.",
        lambda: f"Piga 0{dice.choice('17')}{digits(8)} sasa.",
        lambda: f"{', '.join(digit() for _ in range(dice.randrange(3, 7)))}.",
        lambda: f"Salio lako ni KSh {amount}.",
        lambda: f"Umepokea shilingi {amount} kutoka kwa {dice.choice(['Amina', 'Juma', 'Neema', 'Otieno', 'Fatuma', 'Baraka'])}.",
        lambda: f"Je, unataka kulipa {dice.choice(['KSh', 'TSh', 'USh'])} {amount}?",
        lambda: f"Saa {clock}.",
        lambda: f"Mkutano utaanza saa {clock} tarehe {date}.",
        lambda: f"Tarehe {date}.",
        lambda: f"Asilimia {dice.randrange(1, 101)}.",
        lambda: f"{dice.randrange(0, 20000)}.",
        lambda: f"Kwa {first}, bonyeza {digit()}. Kwa {second}, bonyeza {digit()}.",
        lambda: f"Kwa {first}, bonyeza {digit()}.",
        lambda: f"Bonyeza {digit()} kwa {first}, {digit()} kwa {second}, au {digit()} kwa {third}.",
        lambda: f"Chagua {first}, {second} au {third}.",
        lambda: f"Bonyeza {digit()}.",
        lambda: f"Nambari ya siri ni {digits(4)}!",
    ])()


def english_line(dice: random.Random, words: list[str]) -> str:
    word, other = dice.choice(words), dice.choice(words)
    return dice.choice([
        f"{word.capitalize()} yako iko tayari.", f"Tafadhali fungua {word} kwanza.", f"Hiyo {word} ni ya nani?", f"Alinitumia {word} na {other} jana.",
        f"Nataka {word}, siyo {other}.", f"Sijui {word} iko wapi!", f"{word.capitalize()}.", f"Kuna {word} mpya katika {other} yetu.",
    ])


def english_sentences(path: Path, words: list[str], dice: random.Random) -> list[str]:
    """Read sentences, telephone talk, and single words, letters and numbers."""
    with open(path, newline="") as file:
        # People whose id begins with 0 are for testing the recogniser.
        rows = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if not row["client_id"].startswith("0")]
    read = sorted({row["sentence"] for row in rows if READABLE.fullmatch(row["sentence"]) and len(row["sentence"]) < CHARACTERS_MAX})
    letters = lambda: " ".join(dice.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(dice.randrange(1, 6)))
    short = [lambda: dice.choice(words), lambda: dice.choice(words), letters, lambda: dice.choice([*UNITS, *ORDINALS.values()]), lambda: str(dice.randrange(10_000))]
    alone = [dice.choice(short)().capitalize() + dice.choice([".", ".", "?", "!"]) for _ in range(ENGLISH_WORDS)]
    return dice.sample(read, min(ENGLISH, len(read))) + talk(ENGLISH_TALK, dice) + alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="+", default=[], help="TSV files with a column `sentence` or `text`")
    parser.add_argument("--english", type=Path, help="Common Voice's list of English: both languages")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    dice = random.Random(args.seed)
    measured = set()
    for path in args.exclude:
        with open(path, newline="") as file:
            measured |= {plain(row.get("sentence") or row["text"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    chosen, kinds = [], {kind: [] for kind in KINDS}
    for name, count in SOURCES.items():
        everyday = []
        for line in read_lines(args.text / f"{name}.txt.xz"):
            kind = kind_of(line)
            if kind == "unfit" or plain(line) in measured or not plain(line):
                continue
            (everyday if kind is None else kinds[kind]).append(line)
        chosen += dice.sample(everyday, min(count, len(everyday)))
        print(name, len(everyday))
    for kind, lines in kinds.items():
        chosen += dice.sample(lines, min(KINDS[kind], len(lines)))
        print(kind, len(lines))
    with lzma.open(args.text / "word-frequencies.tsv.xz", "rt", encoding="utf-8") as file:
        frequent = [w for w in (line.split("\t")[0] for line in file) if re.fullmatch(r"[a-z']{2,}", w)][: 3 * WORDS]
    single = [w for w in frequent if not FOREIGN.search(w) and plain(w) not in measured]
    chosen += [w.capitalize() + dice.choice(["", "", "?", "!"] if len(w) > 3 else ["."]) for w in dice.sample(single, min(WORDS, len(single)))]
    with open(args.text / "english-words-in-swahili.tsv", newline="") as file:
        nouns = [(row["word"], int(row["total"])) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if re.fullmatch(r"[a-z]{3,}", row["word"])]
    english = [word for word, _ in nouns[:800]]
    made = [telephone_line(dice) for _ in range(TELEPHONE)] + [english_line(dice, english) for _ in range(ENGLISH_LINES)]
    if args.english:
        made += dice.sample(mixed(nouns, 2 * MIXED, dice), MIXED)
        spoken = [line for line in english_sentences(args.english, english, dice) if plain(line) not in measured]
        dice.shuffle(spoken)
        args.out.with_suffix(".english.txt").write_text("\n".join(spoken) + "\n")
        print(len(spoken), "English sentences")
    chosen += [line for line in made if plain(line) not in measured]
    dice.shuffle(chosen)
    args.out.write_text("\n".join(chosen) + "\n")
    print(len(chosen), "sentences")


if __name__ == "__main__":
    main()
