"""Spellings that the sound does not tell: which doubled Swahili words are written as one, which words have ng' in them, and how English
words are written in East Africa.

    python orthography.py --text TEXT_DIR --out ../../crates/speech/src/recogniser/orthography.tsv

A doubled word is joined where the texts write it as one word at least twice as often as two ("mbali mbali": mbalimbali). An
apostrophe is put back where the texts that keep apostrophes have it at least twice as often ("ngombe": ng'ombe). Number words stay
as they are: "saba saba" may be a part of a telephone number.

English words have their British spelling, as in the texts: labour 217 times and labor 3, centre 401 and center 152, theatre 65 and theater 5,
dialogue 31 and dialog 2, defence 19 and defense 5, favour 10 and favor 1, travelling 5 and traveling 1. Left as they are: program (573; programme
362), percent (264; per cent 5), -ize (organization 104, organisation 54), and what is another word too (meter, check, tire, gray).
"""

import argparse
import collections
import lzma
import re
from pathlib import Path

from spelling import GROUPS, TENS, UNITS

WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
TEXTS = ("general", "common-voice-sentences", "bible", "parliament")
# Whoever made this list dropped most apostrophes.
WITHOUT_APOSTROPHES = {"common-voice-sentences"}
# Whoever wrote the minutes of the parliament spells doubled words as two, where books and newspapers do not.
DOUBLES_FROM = {"general", "common-voice-sentences", "bible"}
TIMES_MIN = 2
COUNT_MIN = 5
LETTERS_MIN = 4
NUMBERS = {*UNITS, *TENS.values(), *(name for _, name in GROUPS), "kumi"}

BRITISH = """colour colours coloured colourful favour favours favoured favourable favourite favourites honour honours honoured honourable labour
labourer labourers neighbour neighbours neighbouring neighbourhood neighbourhoods harbour harbours behaviour behaviours flavour flavours
humour rumour rumours tumour tumours odour vapour endeavour endeavours armour parlour vigour
centre centres centred theatre theatres litre litres kilometre kilometres centimetre centimetres millimetre millimetres fibre fibres
defence defences offence offences dialogue dialogues catalogue catalogues
travelling travelled traveller travellers cancelled cancelling labelled labelling modelling counselling counsellor counsellors jewellery""".split()
AMERICAN = [("our", "or"), ("tre", "ter"), ("bre", "ber"), ("fence", "fense"), ("ogue", "og"), ("ellery", "elry"), ("ell", "el")]
TOGETHER = {"screen shot": "screenshot", "screen shots": "screenshots", "whats app": "whatsapp"}


def american(word):
    """The first of the endings that it has, since no word has two."""
    british, other = next(pair for pair in AMERICAN if pair[0] in word)
    return word.replace("tred", "tered").replace(british, other)


def lines(folder, name):
    path = folder / f"{name}.txt"
    opened = path.open(encoding="utf-8") if path.exists() else lzma.open(f"{path}.xz", "rt", encoding="utf-8")
    with opened as file:
        for line in file:
            yield WORD.findall(re.sub("[’‘`´]", "'", line.lower()))


def count(folder):
    """How often each word is written, and each word twice in a row, in the texts that are to be believed."""
    words, joined, doubled = collections.Counter(), collections.Counter(), collections.Counter()
    for name in TEXTS:
        for line in lines(folder, name):
            if name not in WITHOUT_APOSTROPHES:
                words.update(line)
            if name in DOUBLES_FROM:
                joined.update(line)
                doubled.update(one for one, two in zip(line, line[1:]) if one == two)
    return words, joined, doubled


def rules(words, joined, doubled):
    for word, times in joined.items():
        half = word[: len(word) // 2]
        if half * 2 == word and len(half) >= LETTERS_MIN and half not in NUMBERS:
            if times >= COUNT_MIN and times >= TIMES_MIN * doubled[half]:
                yield f"{half} {half}", word
    yield from ((american(word), word) for word in BRITISH)
    yield from TOGETHER.items()
    for word, times in words.items():
        plain = word.replace("ng'", "ng")
        if plain != word and "'" not in plain and times >= COUNT_MIN and times >= TIMES_MIN * words[plain]:
            yield plain, word


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    table = sorted(set(rules(*count(args.text))))
    args.out.write_text("heard\twritten\n" + "".join(f"{heard}\t{written}\n" for heard, written in table), encoding="utf-8")
    print(f"{len(table)} spellings")


if __name__ == "__main__":
    main()
