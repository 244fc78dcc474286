"""Transcripts as the recogniser spells them: lower-case letters, apostrophe and space.

The same normal form serves for training targets and for scoring, so figures can be compared with
the Rust side (`sauti_text::compare::comparable`).
"""

import re
import unicodedata

ALPHABET = " 'abcdefghijklmnopqrstuvwxyz"
CLASS_OF = {c: i + 1 for i, c in enumerate(ALPHABET)}  # 0 is the blank
CLASSES = len(ALPHABET) + 1

UNITS = "sifuri moja mbili tatu nne tano sita saba nane tisa".split()
TENS = dict(zip(range(10, 100, 10), "kumi ishirini thelathini arobaini hamsini sitini sabini themanini tisini".split()))
GROUPS = ((10**9, "bilioni"), (10**6, "milioni"), (1000, "elfu"), (100, "mia"))


def number_words(n: int) -> str:
    if n < 10:
        return UNITS[n]
    if n < 100:
        tens, unit = n - n % 10, n % 10
        return TENS[tens] + (f" na {UNITS[unit]}" if unit else "")
    base, name = next(g for g in GROUPS if n >= g[0])
    count, rest = divmod(n, base)
    words = f"{name} {number_words(count)}"
    if rest:
        joined = rest < 100 and (rest < 20 or rest % 10 == 0)
        words += (" na " if joined else " ") + number_words(rest)
    return words


def spelled_number(digits: str) -> str:
    return number_words(int(digits)) if len(digits) < 10 else " ".join(UNITS[int(c)] for c in digits)


def spell(text: str) -> str:
    text = unicodedata.normalize("NFKD", text).lower()
    text = re.sub("[\u0300-\u036f]", "", text)  # accents, which NFKD set apart
    text = re.sub("[’‘`´]", "'", text)
    text = re.sub(r"(\d)[,.](?=\d{3}\b)", r"\1", text)
    text = re.sub(
        r"(\d+)[.](\d+)",
        lambda m: number_words(int(m[1])) + " nukta " + " ".join(UNITS[int(c)] for c in m[2]),
        text,
    )
    text = text.replace("%", " asilimia ")
    text = re.sub(r"\d+", lambda m: f" {spelled_number(m[0])} ", text)
    text = re.sub(r"[^a-z' ]+", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def edit_distance(a, b) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def error_rates(references: list[str], hypotheses: list[str]) -> tuple[float, float]:
    """Word and character error rate in per cent over all pairs."""
    pairs = list(zip(references, hypotheses))
    words = sum(edit_distance(r.split(), h.split()) for r, h in pairs) / max(1, sum(len(r.split()) for r in references))
    letters = sum(edit_distance(r, h) for r, h in pairs) / max(1, sum(map(len, references)))
    return round(100 * words, 2), round(100 * letters, 2)
