"""How far the voices' rhythm and melody are from native speakers', on held-out sentences.

    python rhythm.py --checkpoint gen16.pt [--prosody native16.pt] --symbols ../../models/voices/symbols.json \\
        --aligned work/aligned.npy --ear work/aligned.ear.pt [--per-set 20] [--out figures.json]

Each voice says the sentences of held-out recordings, with pauses where the recording has them. The same aligner
(align.py) and the same pitch tracker (features.py) then measure both, so that their habits cancel out.
Tempo and mean pitch are taken out sentence by sentence. Four figures, smaller is nearer:

  durations         mean difference of log durations, sound by sound
  duration pattern  the same for the means of kinds of sounds (which phone, stressed or not, in the last syllable of a phrase or of a
                    word or elsewhere): what is left when one speaker's chance in one sentence is averaged out
  pitch             mean difference of the pitch of vowels, in semitones, vowel by vowel
  pitch pattern     the same for the mean course of pitch over a phrase, in ten steps

`--imitate` has the voices speak with the recordings' own durations and pitch instead of theirs: what the figures come to when
nothing is left to learn, since aligner and tracker hear a recording and our speech a little differently.

r is the correlation over sounds or vowels; range is the standard deviation of the voice's pitch over the speakers'.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from align import STRESS, best_path, heard, load_ear, load_voice, sounds_of, speak_as
from features import is_held_out, log_mel, pitch_hz
from model import HOP
from native import Start, clean_pitch, lesson, parts_of, whole_ends
from symbols import OWN, joined, numbers_of, read_table

VOICES = ("asha", "zuri", "juma", "baraka")
STEPS = 10
KIND_LEAST = 8
VOWELS = "aeiou"


def measured(phonemes: str, said: np.ndarray, still: np.ndarray, hz: np.ndarray) -> dict:
    """Of one sentence: kind and relative log duration of every sound; relative pitch and place in the phrase of every vowel."""
    sounds = sounds_of(phonemes)
    log = np.log(np.maximum(said, 1))
    voiced = hz[hz > 0]
    median = float(np.median(np.log(voiced))) if len(voiced) else 5.0
    line, far = clean_pitch(hz, median)
    stressed = [any(phonemes[s - 1] == STRESS for s in sound.symbols) for sound in sounds]
    vowels = [i for i, sound in enumerate(sounds) if sound.phone in VOWELS]
    last_vowel = {}
    for i in reversed(vowels):
        later = sounds[i:]
        until = next((n for n, s in enumerate(later) if s.ends_word), len(later) - 1)
        nearest = all(s.phone not in VOWELS for s in later[1 : until + 1])
        last_vowel[i] = ("phrase" if later[until].pause else "word") if nearest else ""
    kinds = []
    for i, sound in enumerate(sounds):
        place = last_vowel.get(i)
        if place is None:  # a consonant stands where its vowel does
            following = next((v for v in vowels if v > i), None)
            place = last_vowel.get(following, "")
        kinds.append((sound.phone, stressed[i], place))
    starts = still[0] + np.concatenate([[0], np.cumsum(said + still[1:])[:-1]])
    pitch = np.full(len(sounds), np.nan)
    for i in vowels:
        part = slice(int(starts[i]), int(starts[i] + said[i]))
        sure = far[part] <= 1
        if sure.sum() >= 2:
            pitch[i] = line[part][sure].mean() * 12 / np.log(2)
    place, first = np.zeros(len(sounds)), 0
    for i, sound in enumerate(sounds):
        if sound.pause:
            inside = [v for v in vowels if first <= v <= i]
            for n, v in enumerate(inside):
                place[v] = (n + 0.5) / len(inside)
            first = i + 1
    known = ~np.isnan(pitch)
    pitch = pitch - pitch[known].mean() if known.any() else pitch
    return {"kinds": kinds, "log": log - log.mean(), "pitch": pitch, "place": place}


def predicted(start: Start, phonemes: str, voice: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the model means to do: frames of each sound, of the silence after it, and the pitch."""
    part = parts_of({"marked": phonemes, "said": 0, "still": np.zeros(len(sounds_of(phonemes)) + 1)}, start, voice)
    hz = np.where(part["values"][:, 1] > 0, np.exp(part["values"][:, 0] + 5.0), 0.0)
    return part["own_said"], np.concatenate([part["ends"][:1], part["own_still"]]), hz


@torch.no_grad()
def imitated(start: Start, clip: dict, voice: int) -> np.ndarray | None:
    """The recording's durations and pitch in the voice's timbre, at the voice's mean pitch."""
    model, part = start.model, parts_of(clip, start, voice)
    voiced = np.log(clip["hz"][clip["hz"] > 0])
    own = part["values"][part["values"][:, 1] > 0, 0]
    if not len(voiced) or not len(own):
        return None
    taught = lesson(clip, part, 1.0, float(own.mean() + 5.0 - voiced.mean()), float(np.median(voiced)), start.numbers)
    if taught is None:
        return None
    symbols, speaker = torch.from_numpy(taught["symbols"].astype(np.int64))[None], torch.tensor([voice])
    ends = torch.from_numpy(whole_ends(taught["frames"]))[None]
    frames = int(ends[0, -1])
    contour = [torch.from_numpy(taught[key].astype(np.float32))[None] for key in ("pitch", "voicing", "energy")]
    content, zero = model.te(symbols, torch.ones_like(symbols, dtype=torch.bool)), torch.zeros(1, dtype=torch.long)
    voicing = (contour[1] > 0).float()
    noise = torch.randn(1, frames * HOP)
    return model.decode(content, ends, zero, frames, contour[0], voicing, contour[2], model.sp(speaker), noise, zero.float())[0].numpy()


def summary(native: list[dict], voice: list[dict]) -> dict:
    log_a, log_b = (np.concatenate([m["log"] for m in side]) for side in (native, voice))
    pitch_a, pitch_b = (np.concatenate([m["pitch"] for m in side]) for side in (native, voice))
    both = ~np.isnan(pitch_a) & ~np.isnan(pitch_b)
    return {
        "durations": float(np.abs(log_a - log_b).mean()), "durations r": float(np.corrcoef(log_a, log_b)[0, 1]),
        "duration pattern": kinds_apart(native, voice),
        "pitch": float(np.abs(pitch_a - pitch_b)[both].mean()), "pitch r": float(np.corrcoef(pitch_a[both], pitch_b[both])[0, 1]),
        "pitch pattern": courses_apart(native, voice), "range": float(pitch_b[both].std() / pitch_a[both].std()),
    }


def kinds_apart(native: list[dict], voice: list[dict]) -> float:
    def means(side):
        found = defaultdict(list)
        for m in side:
            for kind, log in zip(m["kinds"], m["log"]):
                found[kind].append(log)
        return found

    a, b = means(native), means(voice)
    counted = [(len(a[k]), abs(np.mean(a[k]) - np.mean(b[k]))) for k in a if len(a[k]) >= KIND_LEAST]
    return float(sum(n * d for n, d in counted) / sum(n for n, _ in counted))


def courses_apart(native: list[dict], voice: list[dict]) -> float:
    def course(side):
        place, pitch = (np.concatenate([m[k] for m in side]) for k in ("place", "pitch"))
        step = np.minimum((place * STEPS).astype(int), STEPS - 1)
        known = ~np.isnan(pitch)
        return np.array([pitch[known & (step == s)].mean() for s in range(STEPS)])

    return float(np.abs(course(native) - course(voice)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--prosody", type=Path, help="laid over the checkpoint")
    parser.add_argument("--symbols", type=Path, required=True)
    parser.add_argument("--aligned", type=Path, required=True)
    parser.add_argument("--ear", type=Path, required=True)
    parser.add_argument("--per-set", type=int, default=20)
    parser.add_argument("--sets", nargs="+", help="these alone")
    parser.add_argument("--imitate", action="store_true", help="speak as the recordings do: the least that can be measured")
    parser.add_argument("--predicted", action="store_true", help="ask the model for its durations and pitch instead of measuring its speech: quick")
    parser.add_argument("--voices", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--drop", type=float, default=0.15, help="share of each set whose alignment is least sure, left out")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, (ear, prior) = load_voice(args.checkpoint, args.prosody), load_ear(args.ear)
    numbers = read_table(args.symbols)
    own_sounds = all(sound in numbers for sound in OWN)
    if own_sounds and (args.predicted or args.imitate):
        raise SystemExit("--predicted and --imitate want a model in the teacher's symbols")
    clips = []
    everything = list(np.load(args.aligned, allow_pickle=True))
    for name in args.sets or sorted({c["set"] for c in everything}):
        mine = [c for c in everything if c["set"] == name]
        sure = np.quantile([c["score"] for c in mine], args.drop)
        mine = [c for c in mine if c["score"] > sure and is_held_out(c["file"])]
        clips += random.Random(7).sample(mine, min(args.per_set, len(mine)))
    native = [measured(c["marked"], c["said"], c["still"], c["hz"]) for c in clips]
    results = {}
    for voice in args.voices:
        spoken = []
        speak_as(model, voice)
        for at, clip in enumerate(clips):
            torch.manual_seed(at)
            if args.predicted:
                spoken.append(measured(clip["marked"], *predicted(Start(model, numbers), clip["marked"], voice)))
                continue
            line = joined(clip["marked"])
            symbols = torch.tensor([[0, *numbers_of(line, numbers), 0]])
            samples = imitated(Start(model, numbers), clip, voice) if args.imitate else model.say(symbols, torch.tensor([voice]))[0].numpy()
            if samples is None:
                samples = model.say(symbols, torch.tensor([voice]))[0].numpy()
            said, still, _ = best_path(heard(ear, log_mel(samples), prior), sounds_of(clip["marked"]))
            spoken.append(measured(clip["marked"], said, still, pitch_hz(samples)))
        results[VOICES[voice]] = summary(native, spoken)
        print(VOICES[voice], " ".join(f"{k} {v:.3f}" for k, v in results[VOICES[voice]].items()), flush=True)
    results["mean"] = {k: float(np.mean([r[k] for r in results.values()])) for k in results[VOICES[args.voices[0]]]}
    print(f"mean of {len(clips)} sentences:", " ".join(f"{k} {v:.3f}" for k, v in results["mean"].items()))
    if args.out:
        args.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
