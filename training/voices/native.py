"""Turn aligned recordings into lessons for the prosody side of the model.

    python native.py --checkpoint gen16.pt --symbols teacher/config.json --aligned work/aligned.npy --out work/lessons.pt

A lesson keeps one of our voices' tempo and mean pitch and takes from a recording what is left: which sounds are long, where
the voice rises and falls, how long the pauses are. So a voice learns to speak like a native speaker without
becoming one. Where a sound has several symbols, they share its time as they do in the model; voicing and
energy, which the decoder was taught with, stay the model's own. Recordings are aligned in the teacher's symbols; a lesson
holds them and the voices' own (symbols.py), in which a prenasalised consonant is one.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from align import DEVICE, load_voice, sounds_of
from features import is_held_out
from symbols import OWN, joined, merged, numbers_of, parts_of as symbol_parts, read_table

VOICES, MEN = range(4), (2, 3)
OCTAVE_SLIP = 0.55  # in log pitch from the speaker's median: the tracker's mistake, not the speaker's
FAR_FROM_VOICE = 6  # frames: beyond that a pitch is a guess
FACTOR_RANGE = (0.2, 6.0)


def clean_pitch(hz: np.ndarray, median: float) -> tuple[np.ndarray, np.ndarray]:
    """Log pitch, drawn on through what is not voiced, smoothed; and how far the next voiced frame is."""
    log = np.log(np.maximum(hz, 1.0))
    voiced = (hz > 0) & (np.abs(log - median) < OCTAVE_SLIP)
    at = np.flatnonzero(voiced)
    if len(at) < 10:
        return np.full(len(hz), median), np.full(len(hz), 1000.0)
    line = np.interp(np.arange(len(hz)), at, log[at])
    line = np.convolve(np.pad(line, 2, mode="edge"), np.array([1, 2, 3, 2, 1]) / 9, mode="valid")
    return line, np.abs(np.arange(len(hz))[:, None] - at[None]).min(1).astype(float)


class Start:
    """What the model does of its own accord."""

    def __init__(self, model, numbers):
        self.model, self.numbers = model, numbers
        self.device = next(model.parameters()).device

    @torch.no_grad()
    def speak(self, phonemes: str, voice: int):
        """Symbols, frames of each, and a function that gives the contour for any other frames."""
        symbols = torch.tensor([[0, *(self.numbers[c] for c in phonemes), 0]], device=self.device)
        prosody = self.model.pt(symbols, torch.ones_like(symbols, dtype=torch.bool))
        rhythm = self.model.spp(torch.tensor([voice], device=self.device))
        frames = self.model.log_durations(prosody, rhythm).exp()[0].cpu().numpy()

        @torch.no_grad()
        def contour(ends: np.ndarray) -> np.ndarray:
            ends = torch.from_numpy(ends)[None].to(self.device)
            return self.model.contour(prosody, ends, int(ends[0, -1]), rhythm)[0][0].cpu().numpy()

        return symbols[0].cpu().numpy(), frames, contour


def whole_ends(frames: np.ndarray) -> np.ndarray:
    """Rounded so that errors do not add up, each symbol a frame or more."""
    ends, end = [], 0
    for exact in np.cumsum(frames):
        end = max(int(round(exact)), end + 1)
        ends.append(end)
    return np.array(ends)


def parts_of(clip: dict, start: Start, voice: int) -> dict:
    """The model's own frames beside the recording's, sound by sound."""
    sounds = sounds_of(clip["marked"])
    symbols, frames, contour = start.speak(clip["marked"], voice)
    ends = whole_ends(frames)
    owner = np.full(len(symbols), -1)
    pausing = np.ones(len(symbols), dtype=bool)
    for at, sound in enumerate(sounds):
        owner[sound.symbols], pausing[sound.symbols] = at, sound.pause
    values = contour(ends)
    symbol_of = np.repeat(np.arange(len(symbols)), np.diff(ends, prepend=0))
    silent = pausing[symbol_of] & (values[:, 1] <= 0)
    count = lambda where: np.bincount(owner[symbol_of][where] + 1, minlength=len(sounds) + 1)[1:]
    paused = np.array([s.pause for s in sounds])
    return {
        "symbols": symbols, "frames": frames, "ends": ends, "owner": owner, "symbol_of": symbol_of, "silent": silent, "paused": paused,
        "own_said": count(~silent), "own_still": count(silent), "contour": contour, "values": values,
        "said": clip["said"] + np.where(paused, 0, clip["still"][1:]), "still": np.where(paused, clip["still"][1:], 0),
    }


def lesson(clip: dict, part: dict, tempo: float, pitch_shift: float, median: float, numbers: dict) -> dict | None:
    """`tempo`: the recording's frames for one of ours; `pitch_shift`: from the recording's mean log pitch to the voice's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spoken = part["said"] / (part["own_said"] * tempo)
        still = part["still"] / (part["own_still"] * tempo)
    # The last pause is the end of the recording, whatever follows: not taught.
    still[-1] = 1.0
    spoken, still = (np.clip(np.nan_to_num(x, nan=1.0, posinf=FACTOR_RANGE[1]), *FACTOR_RANGE) for x in (spoken, still))
    owner = part["owner"][part["symbol_of"]]
    factor = np.where(owner < 0, 1.0, np.where(part["silent"], still[owner], spoken[owner]))
    frames = np.bincount(part["symbol_of"], weights=factor, minlength=len(part["symbols"]))
    ends = whole_ends(frames)
    values = part["contour"](ends)
    line, far = clean_pitch(clip["hz"], median)
    lead = float(ends[0])
    native = clip["still"][0] + (np.arange(int(ends[-1])) + 0.5 - lead) * tempo - 0.5
    inside = (native >= 0) & (native < len(line) - 1)
    log_pitch = np.interp(native, np.arange(len(line)), line) + pitch_shift - 5.0
    known = inside & (np.interp(native, np.arange(len(far)), far) <= FAR_FROM_VOICE) & (values[:, 1] > 0)
    if known.sum() < 20:
        return None
    own = joined(clip["marked"])
    return {
        "own_symbols": np.array([0, *numbers_of(own, {**numbers, **{sound: number for sound, (_, number) in OWN.items()}}), 0], dtype=np.int16),
        "own_frames": merged(symbol_parts(own), frames).astype(np.float32),
        "file": clip["file"], "set": clip["set"], "symbols": part["symbols"].astype(np.int16), "frames": frames.astype(np.float32),
        "pitch": log_pitch.astype(np.float16), "known": known, "voicing": values[:, 1].astype(np.float16), "energy": values[:, 2].astype(np.float16),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, required=True)
    parser.add_argument("--aligned", type=Path, required=True)
    parser.add_argument("--drop", type=float, default=0.1, help="share of each set whose alignment is least sure, left out")
    parser.add_argument("--men", nargs="+", default=[], help="sets whose lessons are for the men alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    start = Start(load_voice(args.checkpoint).to(DEVICE), read_table(args.symbols))
    began, lessons, facts = time.time(), [], {}
    clips = list(np.load(args.aligned, allow_pickle=True))
    for name in sorted({c["set"] for c in clips}):
        mine = [c for c in clips if c["set"] == name]
        sure = np.quantile([c["score"] for c in mine], args.drop)
        mine = [c for c in mine if c["score"] > sure]
        voiced = np.concatenate([c["hz"][c["hz"] > 0] for c in mine])
        median = float(np.median(np.log(voiced)))
        voices = MEN if name in args.men else VOICES
        parts = [parts_of(clip, start, voices[at % len(voices)]) for at, clip in enumerate(mine)]
        tempo, shift = {}, {}
        native_mean = np.mean([x for c in mine for x in np.log(c["hz"][c["hz"] > 0]) if abs(x - median) < OCTAVE_SLIP])
        for nth, voice in enumerate(voices):
            own = parts[nth :: len(voices)]
            ratio = np.concatenate([np.log(p["said"][~p["paused"]] / np.maximum(p["own_said"][~p["paused"]], 1)) for p in own])
            tempo[voice] = float(np.exp(np.mean(ratio)))
            shift[voice] = float(np.mean(np.concatenate([p["values"][p["values"][:, 1] > 0, 0] for p in own])) + 5.0 - native_mean)
        made = 0
        for at, (clip, part) in enumerate(zip(mine, parts)):
            voice = voices[at % len(voices)]
            one = lesson(clip, part, tempo[voice], shift[voice], median, start.numbers)
            if one is not None:
                lessons.append({**one, "voice": voice, "held_out": is_held_out(clip["file"])})
                made += 1
        facts[name] = {"lessons": made, "tempo": tempo, "shift": shift, "median_hz": float(np.exp(median))}
        print(name, facts[name], f"{time.time() - began:.0f} s", flush=True)
    torch.save({"lessons": lessons, "sets": sorted(facts)}, args.out)
    print(f"{len(lessons)} lessons, {sum(l['held_out'] for l in lessons)} held out, {args.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
