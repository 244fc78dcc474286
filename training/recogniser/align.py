"""Forced alignment: where each letter of a known transcript lies in a clip, by the recogniser itself.

Used to cut long recordings at pauses into clips that fit a training batch.
"""

import numpy as np

FRAME_SAMPLES = 640  # 25 frames a second at 16 kHz


def letter_frames(logprobs: np.ndarray, classes: list[int]) -> tuple[np.ndarray, float]:
    """The first frame of each letter on the best CTC path, and the path's log-probability a letter.

    logprobs: frames x classes, with the blank first.
    """
    states = np.zeros(2 * len(classes) + 1, np.int64)
    states[1::2] = classes
    emit = logprobs[:, states]
    may_skip = np.zeros(len(states), bool)
    may_skip[3::2] = states[3::2] != states[1:-2:2]
    score = np.full(len(states), -np.inf)
    score[:2] = emit[0, :2]
    steps = np.zeros((len(emit), len(states)), np.int8)
    for t in range(1, len(emit)):
        one = np.concatenate([[-np.inf], score[:-1]])
        two = np.where(may_skip, np.concatenate([[-np.inf, -np.inf], score[:-2]]), -np.inf)
        choices = np.stack([score, one, two])
        steps[t] = choices.argmax(0)
        score = choices.max(0) + emit[t]
    state = len(states) - 1 if score[-1] >= score[-2] else len(states) - 2
    best = float(score[state])
    first = np.zeros(len(classes), np.int64)
    for t in range(len(emit) - 1, -1, -1):
        if state % 2:
            first[state // 2] = t
        state -= int(steps[t, state])
    return first, best / max(1, len(classes))


def cut_at_pauses(samples, text, starts, seconds_max=15.0, seconds_min=3.0):
    """Pieces (samples, words) of a long clip, cut in the middle of its longest gaps between words."""
    words, at = [], 0
    for word in text.split():
        begin = starts[at] * FRAME_SAMPLES
        end = (starts[at + len(word) - 1] + 3) * FRAME_SAMPLES  # a letter's peak, and what rings on after it
        words.append((word, begin, end))
        at += len(word) + 1
    pieces = [(0, len(words))]
    done = []
    while pieces:
        first, last = pieces.pop()
        start = 0 if first == 0 else (words[first - 1][2] + words[first][1]) // 2
        stop = len(samples) if last == len(words) else (words[last - 1][2] + words[last][1]) // 2
        inner = [k for k in range(first + 1, last)
                 if words[k][1] - start > seconds_min * 16_000 and stop - words[k][1] > seconds_min * 16_000]
        if stop - start <= seconds_max * 16_000 or not inner:
            done.append((samples[start:stop], " ".join(w for w, _, _ in words[first:last])))
            continue
        cut = max(inner, key=lambda k: words[k][1] - words[k - 1][2])
        pieces += [(first, cut), (cut, last)]
    return done
