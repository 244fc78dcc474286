"""Word and character errors with confidence bounds, in the recogniser's own spelling (digits spelled, punctuation dropped)."""

import random
import sys

from adapters import packages

sys.path.insert(0, str(packages.ROOT / "training/recogniser"))
from spelling import edit_distance, spell  # noqa: E402

RESAMPLES = 1000


def errors(reference, hypothesis):
    """(wrong words, words, wrong letters, letters) of one clip."""
    reference, hypothesis = spell(reference), spell(hypothesis)
    return (edit_distance(reference.split(), hypothesis.split()), len(reference.split()),
            edit_distance(reference, hypothesis), len(reference))


def rates(references, hypotheses):
    """Word and character error rates in per cent, the former with its 95 % bounds by resampling clips."""
    counted = [errors(reference, hypothesis) for reference, hypothesis in zip(references, hypotheses, strict=True)]

    def share(rows, wrong, all_of):
        return 100 * sum(row[wrong] for row in rows) / max(1, sum(row[all_of] for row in rows))

    draw = random.Random(1)
    spread = sorted(share(draw.choices(counted, k=len(counted)), 0, 1) for _ in range(RESAMPLES))
    return {"wer": share(counted, 0, 1), "wer_low": spread[RESAMPLES // 40], "wer_high": spread[-RESAMPLES // 40], "cer": share(counted, 2, 3)}
