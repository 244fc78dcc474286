"""Swahili spelling to the phoneme symbols that Kokoro knows.

The stress mark stands right before the vowel of the last syllable but one, as Kokoro was trained
with it; with the mark before the whole syllable its Swahili is twice as hard to understand.
"""

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


def text_phonemes(text: str) -> str:
    """Phonemes of a sentence: words apart by spaces, punctuation glued to the word before."""
    out = ""
    for token in re.findall(r"[a-z']+|[.,!?;:]", text.lower().replace("’", "'")):
        if token in ".,!?;:":
            out += token
        else:
            out += (" " if out else "") + word_phonemes(token)
    return out.strip()
