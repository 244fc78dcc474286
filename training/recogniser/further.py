"""More Swahili text for the language model and the rescorer, a sentence a line.

    python further.py --clones DIR --speech SPEECH_DIR --exclude list.tsv --out texts

DIR holds git clones, each named OWNER+NAME, of the repositories below. Writes commands.txt (what people in Kenya tell a voice assistant),
every fiftieth of them apart in commands-held-out.txt, and further.txt. A line with a sentence of the --exclude lists or of a held-out
broadcast clip, of four words or more, is left out.

| source | licence |
|---|---|
| MASSIVE 1.1, Kenyan Swahili, through mikemwai/massive | CC BY 4.0 |
| Swahili Wikipedia: the passages of TyDi QA, through wuhjie/few_shots_that_matters_wu | CC BY-SA 3.0 |
| news, translated: MicrosoftTranslator/NTREX | CC BY-SA 4.0 |
| everyday sentences: XCOPA, through wuhjie/few_shots_that_matters_wu | CC BY 4.0 |
| Tatoeba, through the same | CC BY 2.0 FR |
"""

import argparse
import html
import io
import json
import re
import subprocess
import unicodedata
import zipfile
from pathlib import Path

from english import Tested, rows_of
from rescorer import CLIPS_HELD_OUT_EVERY
from spelling import spell

COMMANDS = ("mikemwai+massive", "e7429d84e3e71810813bf3fbe22a513215417f17", "output/xlsx/en-sw-KE.xlsx")
BENCHMARKS = ("wuhjie+few_shots_that_matters_wu", "6bfe6324e428ec21a777b5543cd8e50ec82dcb3c")
NEWS = ("MicrosoftTranslator+NTREX", "8561f6a622db9edad1217683e5c83daefd8bb2bf", "NTREX-128/newstest2019-ref.swa.txt")
HELD_OUT_EVERY, TESTED_RUN_MIN = 50, 4
SENTENCE_WORDS = range(2, 51)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[A-Z\"'“‘(])")
ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Dkt|Dk|Dr|Bw|Bi|Mh|Mt|Prof|St|Mr|Mrs|No|k\.k|n\.k|uk|Jr))\.$")
# What makes a line Swahili: words that stand everywhere, and words that end in vowels.
WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
ENGLISH = set("the of and to in is for with that on are this from as by an be or it at was you your".split())
EVERYWHERE = set("""na ya wa kwa ni za katika la kuwa kama kwamba cha hiyo lakini yake hata wakati hivyo sasa wake au watu hii zaidi vya huo tu kwenye si pia ili moja kila baada ambao
    ambayo yao wao kuna hilo kutoka kubwa pamoja bila huu hayo sana ndani mkuu hizo kufanya hadi mmoja hili juu kwanza wetu kuhusu yetu hivi mara nini ndiyo zao kati hao hapa ambaye
    nyingine tena bado basi vile yote zote leo haya huko mwa hasa kabla gani hapo yangu wangu langu zangu yako wako je mimi wewe yeye sisi hii huyu ile yule hizi huwa ndio hakuna nina
    una ana tuna mna wana iko yuko kuu mbili tatu tafadhali niambie nataka ningependa ikiwa lini wapi vipi ngapi kwangu kwako kwake""".split())


def is_swahili(line: str, is_short: bool) -> bool:
    words = WORD.findall(line.lower())
    share = lambda is_one: sum(map(is_one, words)) / max(1, len(words))
    vowels, everywhere = share(lambda word: word[-1] in "aeiou"), share(EVERYWHERE.__contains__)
    enough = vowels >= 0.6 if is_short else vowels >= 0.65 and everywhere >= 0.08
    return bool(words) and enough and share(ENGLISH.__contains__) <= 0.12


def tested_in(path: Path) -> list[str]:
    """Lists of clips have the text last; prompts.tsv says which column it is."""
    header = path.read_text(encoding="utf-8").splitlines()[0].split("\t")
    column = header.index("sentence") if "sentence" in header else -1
    return [row[column] for row in rows_of(path)]


def commands(sheet: bytes) -> list[str]:
    """The second column but for its head: an .xlsx file is a zip of XML."""
    xml = zipfile.ZipFile(io.BytesIO(sheet)).read("xl/worksheets/sheet1.xml").decode()
    cells = (re.findall(r"<t[^>]*>(.*?)</t>", row, re.S) for row in re.findall(r"<row .*?</row>", xml, re.S)[1:])
    return [html.unescape(row[1]) for row in cells]


def passages(questions: str) -> list[str]:
    paragraphs = [paragraph["context"] for entry in json.loads(questions)["data"] for paragraph in entry["paragraphs"]]
    lines = [line for paragraph in paragraphs for line in paragraph.split("\n")]
    for mark in (r"\[\d+\]|\[(?:onesha|hariri)[^\]]*\]", r"\(\s*[,;]*\s*\)", r"\s*\[\s*$"):
        lines = [re.sub(mark, "", line) for line in lines]
    # Tables run together are no sentences.
    return [line for line in lines if len(re.findall(r"[a-z0-9²][A-Z]", line)) <= 2]


def choices(rows: str) -> list[str]:
    return [json.loads(row)[key] for row in rows.splitlines() for key in ("premise", "choice1", "choice2")]


def sentences(paragraph: str) -> list[str]:
    out = []
    for part in SENTENCE_END.split(paragraph):
        if out and ABBREVIATION.search(out[-1]):
            out[-1] += " " + part
        else:
            out.append(part)
    return [part.strip() for part in out if len(part.split()) in SENTENCE_WORDS]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--clones", type=Path, required=True)
    args.add_argument("--speech", type=Path, required=True)
    args.add_argument("--exclude", type=Path, action="append", required=True)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    show = lambda name, commit, path: subprocess.run(["git", "-C", args.clones / name, "show", f"{commit}:{path}"], capture_output=True, check=True).stdout
    benchmark = lambda path: show(*BENCHMARKS, path).decode()
    held_out = [row[-1] for row in rows_of(args.speech / "broadcast.tsv") if int(Path(row[0]).stem) % CLIPS_HELD_OUT_EVERY == 0]
    tested = Tested((spell(text) for text in [*held_out, *(text for path in args.exclude for text in tested_in(path))]), TESTED_RUN_MIN)
    seen = set()

    def fresh(lines, is_short):
        """Lines that are Swahili, each once."""
        found = {}
        for line in (" ".join(unicodedata.normalize("NFC", line).split()) for line in lines):
            if is_swahili(line, is_short):
                found.setdefault(line.lower(), line)
        return list(found.values())

    def write(name: str, lines: list[str]):
        kept = []
        for line in lines:
            form = spell(line)
            if form and form not in seen and form not in tested:
                seen.add(form)
                kept.append(line)
        (args.out / f"{name}.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
        print(f"{name}: {len(kept)} sentences, {sum(len(spell(line).split()) for line in kept)} words")

    said = fresh(commands(show(*COMMANDS)), True)
    write("commands-held-out", said[::HELD_OUT_EVERY])
    write("commands", [line for number, line in enumerate(said) if number % HELD_OUT_EVERY])
    questions = "data/tydiqa/tydiqa-goldp-v1.1-{0}/tydiqa.goldp.sw.{0}.json"
    wiki = [line for part in ("train", "dev") for line in passages(benchmark(questions.format(part)))]
    everyday = [line for part in ("test", "val") for line in choices(benchmark(f"data/xcopa/{part}-sw.jsonl"))]
    found = [(wiki, False), (show(*NEWS).decode().splitlines(), False), (everyday, True), (benchmark("data/tatoeba/sw-en.sw").splitlines(), True)]
    write("further", [part for lines, is_short in found for line in fresh(lines, is_short) for part in sentences(line)])


if __name__ == "__main__":
    main()
