"""The voices' alphabet: one symbol for each sound of Swahili, and the teacher's for those of English.

The service's text (`crates/text`) writes prenasalised consonants as one sound (ᵐb) and marks nasals that are a syllable (m̩).
The teacher knows neither: for it they are taken apart, and what it says of the parts is put together again.
"""

import json
import re
from pathlib import Path

import numpy as np

# The sound, its parts for the teacher, its number: one that the teacher's table leaves free.
OWN = {
    "ᵐb": ("mb", 7), "ᵐv": ("mv", 8), "ⁿd": ("nd", 26), "ⁿz": ("nz", 27), "ⁿʤ": ("nʤ", 28), "ᵑɡ": ("ŋɡ", 29),
    "m̩": ("m", 30), "n̩": ("n", 32),
}
# Sounds of English alone, and what stood nearest before the voices knew them.
ENGLISH = {
    "A": "ei", "I": "ai", "O": "o", "W": "au", "Y": "oi", "ɑ": "a", "ɒ": "o", "ə": "a", "ɛ": "e", "ɜ": "a", "ɪ": "i", "ɔ": "o", "ʊ": "u", "ʌ": "a",
    "ɹ": "ɾ", "ʒ": "ʃ", "ˌ": "ˈ", "ː": "a",
}
# What else is ever said or taught; the rest of the teacher's table means nothing to the voices.
SHARED = "aeioubdðfɡɣhʤjklmnɲŋpɾsʃtʧθvwxz ˈ.,!?;:" + "".join(ENGLISH)
BETWEEN_WORDS = " .,!?;:"


def split(phonemes: str) -> list[str]:
    """A phoneme line as symbols: two characters where they are one of OWN."""
    symbols, at = [], 0
    while at < len(phonemes):
        size = 2 if phonemes[at : at + 2] in OWN else 1
        symbols.append(phonemes[at : at + size])
        at += size
    return symbols


def joined(phonemes: str) -> str:
    """A line in the teacher's symbols as `crates/text` writes it: nasals joined to what follows, or marked as syllables."""
    return re.sub(r"[^ .,!?;:]+", lambda word: joined_word(word[0]), phonemes)


def joined_word(word: str) -> str:
    pairs = {parts: sound for sound, (parts, _) in OWN.items() if len(parts) == 2}
    one_vowel = sum(c in "aeiou" for c in word) == 1
    out, at = "", 0
    while at < len(word):
        first = at == 0 and word[0] in "mn"
        pair = pairs.get(word[at : at + 2])
        if pair and not (first and one_vowel):
            out, at = out + pair, at + 2
            continue
        syllable = first and len(word) > 1 and word[1] not in "aeiouwjˈ"
        out, at = out + word[at] + ("\u0329" if syllable else ""), at + 1
    return out


def teachers(phonemes: str) -> str:
    """The same line in the teacher's symbols."""
    return "".join(OWN[s][0] if s in OWN else s for s in split(phonemes))


def english_in(phonemes: str) -> list[bool]:
    """For each symbol whether it is of a word with English sounds."""
    flags, word = [], []
    for symbol in [*split(phonemes), " "]:
        if symbol in BETWEEN_WORDS:
            flags += [any(s in ENGLISH for s in word)] * len(word) + [False]
            word = []
        else:
            word.append(symbol)
    return flags[:-1]


def language_of(phonemes: str) -> str:
    """sw, en or mixed, by the share of its symbols."""
    flags = [english for english, s in zip(english_in(phonemes), split(phonemes)) if s not in BETWEEN_WORDS]
    share = sum(flags) / max(1, len(flags))
    return "sw" if share == 0 else "en" if share > 0.7 else "mixed"


def parts_of(phonemes: str) -> list[int]:
    """For each symbol how many of the teacher's it stands for."""
    return [len(OWN[s][0]) if s in OWN else 1 for s in split(phonemes)]


def merged(parts: list[int], values: np.ndarray) -> np.ndarray:
    """Durations of the teacher's symbols, edges included, as those of ours."""
    starts = np.concatenate([[0], np.cumsum([1, *parts])])
    return np.add.reduceat(np.asarray(values), starts)


def table_from(vocabulary: dict[str, int]) -> dict[str, int]:
    """Symbols and numbers of the voices, given the teacher's."""
    table = {s: vocabulary[s] for s in SHARED}
    table.update({sound: number for sound, (_, number) in OWN.items()})
    if len(set(table.values())) != len(table):
        raise SystemExit("two symbols have one number")
    return dict(sorted(table.items(), key=lambda entry: entry[1]))


def read_table(path: Path) -> dict[str, int]:
    """Of symbols.json, which export.py wrote, or of the teacher's config.json."""
    content = json.loads(path.read_text())
    return content["symbols"] if "symbols" in content else content["vocab"]


def numbers_of(phonemes: str, table: dict[str, int]) -> list[int]:
    """Numbers without the edges; a table without OWN's sounds gets their parts."""
    knows = all(sound in table for sound in OWN)
    return [table[s] for s in (split(phonemes) if knows else teachers(phonemes))]


def with_own_sounds(state: dict, table: dict[str, int]) -> dict:
    """Weights of a model that knew the teacher's symbols only: a new sound starts as the mean of its parts."""
    state = dict(state)
    for name in ("te.e.weight", "pt.e.weight"):
        rows = state[name].clone()
        for parts, number in OWN.values():
            rows[number] = sum(rows[table[p]].float() for p in parts) / len(parts)
        # Written kh was taught as h before it had a symbol of its own.
        rows[table["x"]] = rows[table["h"]]
        state[name] = rows
    return state


def with_english_sounds(state: dict, table: dict[str, int]) -> dict:
    """Weights of a model that knew Swahili only: an English sound starts as what stood nearest."""
    state = dict(state)
    for name in ("te.e.weight", "pt.e.weight"):
        rows = state[name].clone()
        for sound, nearest in ENGLISH.items():
            rows[table[sound]] = sum(rows[table[n]] for n in nearest) / len(nearest)
        state[name] = rows
    return state
