"""Spelling to the phoneme symbols that Kokoro knows: Swahili by rule, English words (marked with ~) from a lexicon.

The stress mark stands right before the vowel of the last syllable but one, as Kokoro was trained
with it; with the mark before the whole syllable its Swahili is twice as hard to understand.
"""

import json
import re

DIGRAPHS = [
    ("ng'", "ŋ"), ("ng", "ŋɡ"), ("ny", "ɲ"), ("ch", "ʧ"), ("sh", "ʃ"),
    ("th", "θ"), ("dh", "ð"), ("gh", "ɣ"), ("kh", "x"),
]
LETTERS = {
    "a": "a", "b": "b", "c": "k", "d": "d", "e": "e", "f": "f", "g": "ɡ", "h": "h", "i": "i",
    "j": "ʤ", "k": "k", "l": "l", "m": "m", "n": "n", "o": "o", "p": "p", "q": "k", "r": "ɾ",
    "s": "s", "t": "t", "u": "u", "v": "v", "w": "w", "x": "ks", "y": "j", "z": "z", "'": "",
}
VOWELS = "aeiou"
STRESS = "ˈ"


def word_phonemes(word: str) -> str:
    """Phonemes of one lower-case word."""
    out, at = "", 0
    while at < len(word):
        for spelling, sound in DIGRAPHS:
            if word.startswith(spelling, at):
                out += sound
                at += len(spelling)
                break
        else:
            out += LETTERS.get(word[at], "")
            at += 1
    vowels = [i for i, c in enumerate(out) if c in VOWELS]
    if len(vowels) >= 2:
        out = out[: vowels[-2]] + STRESS + out[vowels[-2]:]
    return out


# English as most East Africans say it: five full vowels, a tapped r, th as it comes.
NATIVE = str.maketrans({"ə": "a", "ᵊ": "e", "ʌ": "a", "ɪ": "i", "ᵻ": "i", "ʊ": "u", "ɒ": "o", "ɔ": "o", "ɜ": "a", "ɛ": "e", "æ": "a", "ɑ": "a",
                        "ː": "", "ɹ": "ɾ", "A": "e", "Q": "o", "I": "ai", "W": "au", "Y": "oi"})


def load_english(*paths: str) -> dict[str, str]:
    """Words and their sounds out of misaki's lexicons (PyPI misaki, data/gb_gold.json and gb_silver.json); of several, the first."""
    lexicon = {}
    for path in paths:
        for word, sounds in json.load(open(path, encoding="utf-8")).items():
            lexicon.setdefault(word.lower(), sounds if isinstance(sounds, str) else sounds["DEFAULT"])
    return lexicon | {"a": "ə"}  # the article, not the letter


def text_phonemes(text: str, english: dict[str, str] | None = None, native: bool = False) -> str:
    """Phonemes of a sentence: words apart by spaces, punctuation glued to the word before. Words after ~ are looked up in
    `english`; `native` says them with Swahili sounds."""
    out = ""
    for token in re.findall(r"~?[a-z']+|[.,!?;:]", text.lower().replace("’", "'")):
        if token in ".,!?;:":
            out += token
            continue
        sounds = english[token[1:]] if token[0] == "~" else word_phonemes(token)
        out += (" " if out else "") + (sounds.translate(NATIVE) if native and token[0] == "~" else sounds)
    return out.strip()
