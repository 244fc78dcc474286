"""Find out when each sound of a recording is said.

    python align.py --checkpoint gen16.pt --symbols teacher/config.json --native work/native --out work/aligned.npy

A small network tells the sounds apart, frame by frame. It first learns from what our own voices say, where the times
are known exactly; then it aligns the recordings, learns from them too, and aligns again. So its boundaries follow
the model's own idea of where a symbol begins, and durations read off a recording can be taught to the model as they are.

A sound is a phone with the symbols that have no sound of their own: its stress mark, and the space and marks after it.
"""

import argparse
import random
import re
import sys
import time
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(Path(__file__).parent.parent / "teacher"))
from features import MELS, is_held_out, log_mel  # noqa: E402
from model import Voice  # noqa: E402
from phonemes import STRESS, text_phonemes  # noqa: E402
from symbols import read_table  # noqa: E402

PHONES = "aeioubdðfɡɣhʤjklmnɲŋpɾsʃtʧθvwz"
SILENCE = len(PHONES)
MARKS = ".,!?;:"
# A pause this long is written as a comma; a comma without this much silence is not said.
PAUSE_FRAMES, NO_PAUSE_FRAMES = 12, 5
SILENT_BELOW = 5.0  # in log amplitude under the loudest frames
PROSODY = ("pt.", "spp.", "db.", "do.", "fi.", "fb.", "fo.")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
QUESTION = re.compile(r"^(je|kwa nini|nani|nini|wapi|lini)\b|\b(nini|nani|gani|wapi|lini|vipi)$")


@dataclass
class Sound:
    phone: str
    symbols: list[int]  # places in the symbol sequence, whose first symbol is the edge
    ends_word: bool = False
    pause: bool = False  # a mark follows


def sounds_of(phonemes: str) -> list[Sound]:
    sounds, waiting = [], []
    for at, symbol in enumerate(phonemes, start=1):
        if symbol in PHONES:
            sounds.append(Sound(symbol, [*waiting, at]))
            waiting = []
        elif symbol == STRESS or not sounds:
            waiting.append(at)
        else:
            sounds[-1].symbols.append(at)
            sounds[-1].ends_word = True
            sounds[-1].pause |= symbol in MARKS
    if sounds:
        sounds[-1].ends_word = sounds[-1].pause = True
    return sounds


def marked(text: str) -> str | None:
    """The text with a mark at its end; None where it cannot be read letter by letter."""
    text = text.strip().lower().strip("\"'“”‘’ ")
    if re.search(r"\d", text) or not re.search(r"[aeiou]", text):
        return None
    if text[-1] in MARKS:
        return text
    return text + ("?" if QUESTION.search(text) else ".")


def normalised(mel: np.ndarray) -> torch.Tensor:
    mel = torch.from_numpy(np.asarray(mel, dtype=np.float32))
    return (mel - mel.mean(0)) / (mel.std(0) + 0.1)


class Ear(nn.Module):
    """Mel frames to log probabilities of the phones and silence."""

    def __init__(self, width: int = 160):
        super().__init__()
        self.first = nn.Conv1d(MELS, width, 5, padding=2)
        self.blocks = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2 * d, dilation=d) for d in (1, 2, 4, 1, 2, 4))
        self.last = nn.Conv1d(width, len(PHONES) + 1, 1)

    def forward(self, mel):
        x = F.gelu(self.first(mel.transpose(1, 2)))
        for block in self.blocks:
            x = x + F.gelu(block(x))
        return self.last(x).transpose(1, 2)


def worn(mel: torch.Tensor, draw: random.Random) -> torch.Tensor:
    """As another person, through another microphone: shifted bands, a tilt, noise under the speech."""
    shift = draw.choice((-1, 0, 0, 1))
    mel = torch.roll(mel, shift, 1) + torch.linspace(-1, 1, MELS) * draw.uniform(-1, 1)
    floor = mel.max() - draw.uniform(4.0, 9.0) + torch.linspace(0, draw.uniform(-2, 1), MELS)
    return torch.logaddexp(mel, floor + 0.3 * torch.randn_like(mel))


def teach(ear: Ear, clips: list[tuple[np.ndarray, np.ndarray]], steps: int, window: int = 256, batch: int = 16) -> None:
    draw = random.Random(1)
    rate = torch.optim.AdamW(ear.parameters(), 2e-3, weight_decay=0.01)
    weights = [len(labels) for _, labels in clips]
    for step in range(steps):
        for group in rate.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 50) * max(0.05, 1 - step / steps)
        rows, wanted = [], []
        for mel, labels in draw.choices(clips, weights, k=batch):
            row = normalised(worn(torch.from_numpy(np.asarray(mel, dtype=np.float32)), draw).numpy())
            at = draw.randrange(max(1, len(row) - window + 1))
            row, label = row[at : at + window], torch.from_numpy(labels[at : at + window].astype(np.int64))
            rows.append(F.pad(row, (0, 0, 0, window - len(row))))
            wanted.append(F.pad(label, (0, window - len(label)), value=-1))
        guess = ear(torch.stack(rows).to(DEVICE)).flatten(0, 1)
        loss = F.cross_entropy(guess, torch.stack(wanted).flatten().to(DEVICE), ignore_index=-1)
        rate.zero_grad()
        loss.backward()
        rate.step()
        if step % 200 == 0 or step == steps - 1:
            print(f"  ear: step {step} of {steps}, loss {loss.item():.3f}", flush=True)


@torch.no_grad()
def heard(ear: Ear, mel: np.ndarray, prior: np.ndarray) -> np.ndarray:
    scores = F.log_softmax(ear(normalised(mel)[None].to(DEVICE))[0], -1).cpu().numpy()
    return scores - 0.5 * prior


def best_path(scores: np.ndarray, sounds: list[Sound]) -> tuple[np.ndarray, np.ndarray, float]:
    """Frames of each sound, frames of silence after each (the first entry: before the first), the mean score.
    A sound lasts two frames or more; silence may stand between words."""
    states, silent = [(SILENCE, -1)], [True]
    for at, sound in enumerate(sounds):
        phone = PHONES.index(sound.phone)
        states += [(phone, at), (phone, at)]
        silent += [False, False]
        if sound.ends_word:
            states.append((SILENCE, at))
            silent.append(True)
    classes = np.array([c for c, _ in states])
    silent = np.array(silent)
    twin = np.array([i > 0 and states[i] == states[i - 1] for i in range(len(states))])
    stay = np.where(silent | twin, 0.0, -np.inf)
    skip = np.where(np.concatenate([[False, False], silent[1:-1]]), 0.0, -np.inf)
    frames, count = len(scores), len(states)
    emitted = scores[:, classes]
    total = np.full(count, -np.inf)
    total[:2] = emitted[0, :2]
    back = np.zeros((frames, count), dtype=np.int8)
    for frame in range(1, frames):
        options = np.stack([total + stay, np.concatenate([[-np.inf], total[:-1]]), np.concatenate([[-np.inf, -np.inf], total[:-2]]) + skip])
        back[frame] = options.argmax(0)
        total = options.max(0) + emitted[frame]
    state = count - 1 if total[-1] >= total[-2] else count - 2
    score = total[state] / frames
    said, still = np.zeros(len(sounds), dtype=int), np.zeros(len(sounds) + 1, dtype=int)
    for frame in range(frames - 1, -1, -1):
        _, at = states[state]
        if silent[state]:
            still[at + 1] += 1
        else:
            said[at] += 1
        state -= int(back[frame][state])
    return said, still, float(score)


def labels_from(said: np.ndarray, still: np.ndarray, sounds: list[Sound]) -> np.ndarray:
    parts = [np.full(still[0], SILENCE)]
    for at, sound in enumerate(sounds):
        parts += [np.full(said[at], PHONES.index(sound.phone)), np.full(still[at + 1], SILENCE)]
    return np.concatenate(parts)


def with_real_pauses(phonemes: str, sounds: list[Sound], still: np.ndarray) -> str:
    """Marks where the speaker paused, and nowhere else."""
    out, at, written = list(phonemes), -1, []
    for place, symbol in enumerate(out, start=1):
        if symbol in PHONES:
            at += 1
        last = at == len(sounds) - 1
        paused = at >= 0 and still[at + 1] >= PAUSE_FRAMES
        if symbol in MARKS and not last and still[at + 1] < NO_PAUSE_FRAMES:
            continue
        if symbol == " " and paused and not last and written and written[-1] not in MARKS:
            written.append(",")
        written.append(symbol)
    return "".join(written)


def own_speech(model: Voice, numbers: dict, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the voices say, with the sound of every frame."""
    clips = []
    for at, text in enumerate(texts):
        phonemes = text_phonemes(text).replace("x", "h")
        mel, labels = speak_labelled(model, numbers, phonemes, at % 4)
        clips.append((mel, labels))
    return clips


@torch.no_grad()
def speak_labelled(model: Voice, numbers: dict, phonemes: str, speaker: int) -> tuple[np.ndarray, np.ndarray]:
    symbols = torch.tensor([[0, *(numbers[c] for c in phonemes), 0]], device=DEVICE)
    voice, mask = torch.tensor([speaker], device=DEVICE), torch.ones_like(symbols, dtype=torch.bool)
    samples = model.say(symbols, voice)[0].cpu().numpy()
    frames = model.log_durations(model.pt(symbols, mask), model.spp(voice)).exp().round().clamp(min=1).long()[0].cpu().numpy()
    mel = log_mel(samples)
    quiet = mel.max(1) < np.percentile(mel.max(1), 95) - SILENT_BELOW
    owner, sounds = np.full(len(frames), SILENCE), sounds_of(phonemes)
    pausing = np.zeros(len(frames), dtype=bool)
    pausing[0] = pausing[-1] = True
    for sound in sounds:
        owner[sound.symbols] = PHONES.index(sound.phone)
        pausing[sound.symbols] = sound.pause
    labels = np.where(np.repeat(pausing, frames)[: len(mel)] & quiet, SILENCE, np.repeat(owner, frames)[: len(mel)])
    return mel, labels


def prior_of(clips: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    counts = sum(np.bincount(labels, minlength=len(PHONES) + 1) for _, labels in clips) + 1.0
    return np.log(counts / counts.sum())


def path_of(job: tuple[np.ndarray, list[Sound]]) -> tuple[np.ndarray, np.ndarray, float]:
    return best_path(*job)


def align(ear: Ear, prior: np.ndarray, clips: list[dict], workers: int = 1) -> None:
    jobs = [(heard(ear, clip["mel"], prior), clip["sounds"]) for clip in clips]
    if workers > 1:
        with Pool(workers) as pool:
            paths = pool.map(path_of, jobs, chunksize=8)
    else:
        paths = [best_path(*job) for job in jobs]
    for clip, path in zip(clips, paths):
        said, still, clip["score"] = path
        clip["said"], clip["still"] = said.astype(np.int16), still.astype(np.int16)


def save_ear(path: Path, ear: Ear, prior: np.ndarray) -> None:
    torch.save({"ear": ear.state_dict(), "prior": torch.from_numpy(prior)}, path)


def load_ear(path: Path) -> tuple[Ear, np.ndarray]:
    saved = torch.load(path, map_location=DEVICE, weights_only=True)
    ear = Ear().eval()
    ear.load_state_dict(saved["ear"])
    return ear.to(DEVICE), saved["prior"].cpu().numpy()


def load_voice(checkpoint: Path, prosody: Path | None = None) -> Voice:
    """The model of a checkpoint, with the prosody side of another file laid over it."""
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    model = Voice(speakers=len(state["spp.weight"])).eval()
    # A restored export (restore.py) has a bias of the contour for each voice.
    model.voice_bias = state.pop("fo.bias.voices", None)
    missing, unknown = model.load_state_dict({k: v.float() for k, v in state.items()}, strict=False)
    # The prosody side may come alone.
    if unknown or any(name.startswith(PROSODY) for name in missing):
        raise SystemExit(f"{checkpoint}: not of this model: {unknown or missing}")
    if prosody:
        over = torch.load(prosody, map_location="cpu", weights_only=True)
        model.load_state_dict({k: v.float() for k, v in over.items()}, strict=False)
    return model


def speak_as(model: Voice, voice: int) -> None:
    """Puts a restored export's bias of the contour for the voice in its place; other models have none."""
    if model.voice_bias is not None:
        model.fo.bias.data.copy_(model.voice_bias[voice])


def read_clips(folder: Path) -> list[dict]:
    clips = []
    for path in sorted(folder.glob("*.npy")):
        for clip in np.load(path, allow_pickle=True):
            text = marked(clip["text"])
            if text is None:
                continue
            # Written kh is heard as h more often than not.
            clip["phonemes"] = text_phonemes(text).replace("x", "h")
            clip["sounds"] = sounds_of(clip["phonemes"])
            if clip["sounds"] and 2 * len(clip["sounds"]) + 1 < len(clip["mel"]) and len(clip["phonemes"]) < 400:
                clips.append(clip)
    return clips


def learned_ear(args, numbers: dict, learn: list[dict]) -> tuple[Ear, np.ndarray]:
    start = time.time()
    texts = [marked(c["text"]) for c in learn if 8 < len(c["text"]) < 110]
    if args.own_speech and args.own_speech.exists():
        own = [(clip["mel"], clip["labels"]) for clip in np.load(args.own_speech, allow_pickle=True)]
    else:
        own = own_speech(load_voice(args.checkpoint).to(DEVICE), numbers, random.Random(1).sample(texts, min(args.own, len(texts))))
    if args.own_speech and not args.own_speech.exists():
        np.save(args.own_speech, np.array([{"mel": m.astype(np.float16), "labels": l.astype(np.int8)} for m, l in own], dtype=object))
    print(f"{len(own)} sentences of our own in {time.time() - start:.0f} s", flush=True)
    ear = Ear().to(DEVICE)
    teach(ear, own, args.steps[0])
    align(ear.eval(), prior_of(own), learn, args.workers)
    good = sorted(learn, key=lambda c: c["score"])[len(learn) // 5 :]
    print(f"first alignment after {time.time() - start:.0f} s: score {np.mean([c['score'] for c in good]):.3f}", flush=True)
    native = [(c["mel"], labels_from(c["said"], c["still"], c["sounds"])) for c in random.Random(2).sample(good, min(len(good), args.learn))]
    teach(ear.train(), own + native, args.steps[1])
    return ear, prior_of(own + native)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, required=True, help="the teacher's config.json: recordings are aligned in its symbols")
    parser.add_argument("--native", type=Path, required=True, help="folder that features.py filled")
    parser.add_argument("--own", type=int, default=320, help="sentences of our own voices to learn from")
    parser.add_argument("--own-speech", type=Path, help="where our own sentences are kept, so that they are spoken once")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--steps", type=int, nargs=2, default=(1200, 800), help="of the ear's two lessons")
    parser.add_argument("--learn", type=int, default=600, help="recordings that the ear's second lesson uses")
    parser.add_argument("--load-ear", type=Path, help="an ear that has learned already")
    parser.add_argument("--per-set", type=int, default=0, help="recordings taken from a set, 0 for all; to try it out")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.manual_seed(1)
    numbers = read_table(args.symbols)
    torch.set_num_threads(1)
    clips = read_clips(args.native)
    if args.per_set:
        clips = [c for name in {c["set"] for c in clips} for c in [d for d in clips if d["set"] == name][: args.per_set]]
    learn = [c for c in clips if not is_held_out(c["file"])]
    start = time.time()
    ear, prior = load_ear(args.load_ear) if args.load_ear else learned_ear(args, numbers, learn)
    align(ear.eval(), prior, clips, args.workers)
    save_ear(args.out.with_suffix(".ear.pt"), ear, prior)
    keep = ("file", "set", "phonemes", "said", "still", "score", "hz")
    for clip in clips:
        clip["marked"] = with_real_pauses(clip["phonemes"], clip["sounds"], clip["still"])
    np.save(args.out, np.array([{k: c[k] for k in (*keep, "marked")} for c in clips], dtype=object), allow_pickle=True)
    print(f"{len(clips)} clips aligned in {time.time() - start:.0f} s, score {np.mean([c['score'] for c in clips]):.3f}")


if __name__ == "__main__":
    main()
