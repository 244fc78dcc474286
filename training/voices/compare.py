"""DistillMOS of checkpoints that are not exported yet, quickly: on an accelerator 400 sentences take half a minute.

    python compare.py --phonemes prompts-phonemes.txt --vocabulary config.json gen16.pt fine16.pt+native16.pt:own

Each model is CHECKPOINT[+PROSODY][:own]; `:own` spells with the voices' own symbols (symbols.py), else the teacher's. Prints
the mean and the worst for every voice, and the worst lines; with --teacher DIR also for the teacher in the same blends. Needs
PyPI distillmos. The service's own figures come from `sauti eval speech`: these are of the float model, without the service's
level and its int8.
"""

import argparse
import json
import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import torch

from align import DEVICE, load_voice, speak_as
from features import SAMPLE_RATE
from symbols import OWN, numbers_of, table_from, teachers

VOICES = ("asha", "zuri", "juma", "baraka")
JUDGE_HZ = 16_000
PEAK = 0.7


def narrowed(samples: torch.Tensor) -> torch.Tensor:
    """To 16 kHz through the spectrum of the whole clip."""
    count = len(samples) // 3 * 3
    spectrum = torch.fft.rfft(samples[:count])
    return torch.fft.irfft(spectrum[: count // 3 + 1], n=count // 3 * 2) * (JUDGE_HZ / SAMPLE_RATE)


def judge_of_speech():
    # Only distillmos's own command line uses torchaudio, which must match torch to the build.
    absent = types.ModuleType("torchaudio")
    absent.__spec__ = ModuleSpec("torchaudio", None)
    sys.modules.setdefault("torchaudio", absent)
    import distillmos

    return distillmos.ConvTransformerSQAModel().eval().to(DEVICE)


def spoken(say, line: str, seed: int) -> torch.Tensor:
    """A line as the judges hear it; `say` makes samples of it."""
    torch.manual_seed(seed)
    samples = say(line)
    return narrowed(samples / samples.abs().max().clamp(min=1e-3) * PEAK)


@torch.no_grad()
def judged(judge, say, lines: list[str]) -> list[float]:
    """What the judge says of each line."""
    return [float(judge(spoken(say, line, at)[None])) for at, line in enumerate(lines)]


def sayer(model, table: dict, voice: int):
    def say(line: str) -> torch.Tensor:
        symbols = torch.tensor([[0, *numbers_of(line, table), 0]], device=DEVICE)
        return model.say(symbols, torch.tensor([voice], device=DEVICE))[0]

    return say


def teacher_sayer(teacher, voice: int):
    """The teacher in the same blend, with its own rhythm and melody."""
    from synthesise import BLENDS

    _, timbre, prosody = BLENDS[voice]

    def say(line: str) -> torch.Tensor:
        symbols = teacher.symbols(teachers(line))
        return teacher.say(symbols, teacher.style(timbre, prosody, len(symbols)))[0]

    return say


def told(named: str, voice: int, figures: list[float], lines: list[str]) -> str:
    worst = "; ".join(f"{figures[i]:.2f} {lines[i][:50]}" for i in np.argsort(figures)[:3])
    return f"{named} {VOICES[voice]}: mean {np.mean(figures):.3f}, {sum(f < 4 for f in figures)} under 4.0, worst {worst}"


def spread_over(lines: list[str], count: int) -> list[str]:
    """So many of the lines, evenly; all where there are not more."""
    return lines if count >= len(lines) else [lines[n * len(lines) // count] for n in range(count)]


def load(named: str, teachers_table: dict) -> tuple:
    named, _, spelling = named.partition(":")
    checkpoint, _, prosody = named.partition("+")
    model = load_voice(Path(checkpoint), Path(prosody) if prosody else None)
    table = table_from(teachers_table)
    if spelling != "own":
        table = {symbol: number for symbol, number in table.items() if symbol not in OWN}
    return model.to(DEVICE), table


def add_options(parser: argparse.ArgumentParser, limit: int) -> None:
    parser.add_argument("--phonemes", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=limit)
    parser.add_argument("--voices", type=int, nargs="+", default=[0, 1, 2, 3])


def add_sayers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kh-as-h", action="store_true", help="for models that never learned kh")
    parser.add_argument("--teacher", type=Path, help="the teacher's folder: it says the lines too")
    parser.add_argument("models", nargs="*")


def sayers(args):
    """Name, voice and speech of everyone that `add_options` and `add_sayers` asked for, one after the other."""
    teachers_table = json.loads(args.vocabulary.read_text())["vocab"]
    for named in args.models:
        model, table = load(named, teachers_table)
        if args.kh_as_h:
            table["x"] = table["h"]
        for voice in args.voices:
            speak_as(model, voice)
            yield named, voice, sayer(model, table, voice)
    if args.teacher:
        from teacher import Teacher  # align.py has named its folder

        teacher = Teacher(str(args.teacher), DEVICE)
        for voice in args.voices:
            yield "teacher", voice, teacher_sayer(teacher, voice)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, 100)
    add_sayers(parser)
    args = parser.parse_args()
    torch.set_num_threads(1)
    judge = judge_of_speech()
    lines = spread_over(args.phonemes.read_text().splitlines(), args.limit)
    for named, voice, say in sayers(args):
        print(told(named, voice, judged(judge, say, lines), lines), flush=True)


if __name__ == "__main__":
    main()
