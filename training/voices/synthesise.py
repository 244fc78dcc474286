"""Let the teacher say sentences in the four blended voices, with durations, pitch and energy.

    python synthesise.py --teacher DIR --phonemes phonemes.txt --minutes 5 --rank 0 --world 15 --out speech

Several processes share one accelerator well, best under NVIDIA's MPS: start one for each rank. See ../teacher for DIR and
sentences.py for the lines. Most sentences are said in a rhythm and with a melody that are not the teacher's own: the decoder
will be asked for native ones, and must have heard more than one way of speaking (ways.py). With `--native` CHECKPOINT PROSODY
the teacher also follows a prosody side that knows native speech. Writes shards of speech as it goes, so that what was said is
kept when it is stopped.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "teacher"))
from symbols import language_of, numbers_of, parts_of, table_from, teachers  # noqa: E402
from teacher import SAMPLE_RATE, Teacher  # noqa: E402
from ways import NativeWays, random_melody, random_rhythm, way_of  # noqa: E402

# Timbre and prosody by weight. The order is the speakers' number in the model.
BLENDS = [
    ("asha", {"hf_alpha": 0.5, "af_bella": 0.5}, {"hf_alpha": 0.4, "if_sara": 0.6}),
    ("zuri", {"ef_dora": 0.5, "af_bella": 0.5}, {"ef_dora": 0.5, "if_sara": 0.5}),
    ("juma", {"am_michael": 0.5, "im_nicola": 0.5}, {"im_nicola": 0.7, "em_alex": 0.3}),
    ("baraka", {"em_alex": 0.4, "am_michael": 0.6}, {"em_alex": 0.6, "im_nicola": 0.4}),
]
SYMBOLS_RANGE = range(3, 260)
PEAK = 0.7
LESSONS = {("en", "own"), ("mixed", "native")}
SHARD = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--phonemes", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--hours", type=float, default=1e9, help="of speech, for this process")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--seed", type=int, default=900, help="another one, other sentences first and other ways by chance")
    parser.add_argument("--native", type=Path, nargs=2, metavar=("CHECKPOINT", "PROSODY"), help="weights whose rhythm and melody the teacher follows at times")
    parser.add_argument("--judge", action="store_true", help="DistillMOS of every utterance, for train.py --drop")
    parser.add_argument("--out", type=Path, required=True, help="folder of the shards")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed + args.rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dice = random.Random(args.seed + args.rank)

    began, seconds, spoken, number, count = time.time(), 0.0, [], 0, 0
    device = "cuda" if torch.cuda.is_available() else "cpu"
    teacher = Teacher(args.teacher, device)
    table = table_from(teacher.vocab)
    native = NativeWays(*args.native, table, device) if args.native else None
    if args.judge:
        from compare import judge_of_speech, narrowed  # they need packages that nothing else here needs

        judge = judge_of_speech()
    lines = args.phonemes.read_text().splitlines()[args.rank :: args.world]
    dice.shuffle(lines)

    def save() -> None:
        # Under another name first: a reader never sees half a shard.
        nonlocal spoken, number
        if spoken:
            part = args.out / f"speech-{args.rank:02d}-{number:04d}.part"
            torch.save(spoken, part)
            part.rename(part.with_suffix(".pt"))
            spoken, number = [], number + 1

    for line in lines:
        if time.time() - began > args.minutes * 60 or seconds > args.hours * 3600:
            break
        symbols = teacher.symbols(teachers(line))
        if len(symbols) not in SYMBOLS_RANGE:
            continue
        speaker = (count + args.rank) % len(BLENDS)
        _, timbre, prosody = BLENDS[speaker]
        way = way_of(line, dice)
        if way == "own":
            change = {}
        elif native and way == "native":
            change = native.of(line, speaker, dice)
        else:
            change = {"rhythm": random_rhythm(dice), "melody": random_melody(dice)}
        sound, ids, durations, pitch, energy = teacher.say(symbols, teacher.style(timbre, prosody, len(symbols)), **change)
        if not torch.isfinite(sound).all():
            continue
        sound = sound / sound.abs().max().clamp(min=0.05) * PEAK
        if args.judge:
            with torch.no_grad():
                liked = float(judge(narrowed(sound)[None]))
        spoken.append(
            {
                "samples": (sound * 32767).short().cpu().numpy(),
                "symbols": ids.cpu().numpy().astype(np.int16),
                "parts": np.array(parts_of(line), dtype=np.int8),
                "own_symbols": np.array([0, *numbers_of(line, table), 0], dtype=np.int16),
                "durations": durations.cpu().numpy().astype(np.int16),
                "pitch": pitch.cpu().numpy().astype(np.float16),
                "energy": energy.cpu().numpy().astype(np.float16),
                "speaker": speaker,
                "own_ways": way == "own",
                "liked": liked if args.judge else 0.0,
                # What the prosody side learns English from.
                "prosody": (language_of(line), way) in LESSONS,
            }
        )
        count += 1
        seconds += len(sound) / SAMPLE_RATE
        if len(spoken) == SHARD:
            save()
    save()
    print(f"rank {args.rank}: {count} sentences, {seconds / 3600:.2f} h in {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
