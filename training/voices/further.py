"""Teach a trained prosody side further: English and mixed sentences, and a man's rhythm and melody for the men.

    python further.py --checkpoint base16.pt --lessons lessons.pt --speech 'speech/*.pt' --phonemes phonemes.txt --vocabulary config.json --out further16.pt
    python further.py ... --steps 3 --batch 2                            dry run on a CPU

English is learned from what the teacher said in its own way, mixed sentences from what it said in a native one (synthesise.py). Lessons of the
sets in MENS_SETS (native.py --men) teach the men. Swahili lines keep the women as they were, and the men a little: two hours
of stories hold few questions, digits and lists. Every other set is a style: a vector beside a voice's own, so that a voice can
be asked for a reader's or a storyteller's ways. OUT holds the prosody side alone, export.py lays it over the rest; the styles lie beside it.
"""

import argparse
import copy
import glob
import json
import math
import random
import time
from pathlib import Path

import torch
from torch import nn

from align import PROSODY, load_voice
from data import Speech
from model import SPEAKER_WIDTH
from prosody import Lessons, differences, padded, said_of_itself, told, unlike
from symbols import ENGLISH, numbers_of, table_from, teachers
from train import CONTEXT, WINDOW, prosody_losses

MENS_SETS = {"narrator-man"}
OLD_SHARES = (0.4, 0.4, 0.1, 0.1)  # how often a line is to stay as it was in each voice
TEACHERS_SPELLING = 0.2
OLD_LINES = 12_000
ENCODER_RATE = 0.5
WEIGHTS = {"duration": 1.0, "pitch": 3.0, "voicing": 0.3, "energy": 0.3, "old": 1.5, "english": 1.0}
ENGLISH_WEIGHTS = {"duration": 1.0, "pitch": 3.0, "voicing": 0.5, "energy": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--lessons", type=Path, required=True)
    parser.add_argument("--speech", required=True, help="pattern of the files synthesise.py wrote")
    parser.add_argument("--phonemes", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-4)
    args = parser.parse_args()
    torch.manual_seed(1)
    draw, began = random.Random(1), time.time()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = table_from(json.loads(args.vocabulary.read_text())["vocab"])
    before = load_voice(args.checkpoint).to(device).requires_grad_(False)
    model = copy.deepcopy(before).requires_grad_(True)
    speech = Speech([Path(p) for p in sorted(glob.glob(args.speech))], device)
    speech.scale_energy(*speech.energy_known_to(before))
    saved = torch.load(args.lessons, weights_only=False)
    lessons = Lessons(saved["lessons"], saved["sets"], device)
    styles = nn.Embedding(len(saved["sets"]), SPEAKER_WIDTH).to(device)
    nn.init.zeros_(styles.weight)
    own = torch.tensor([[float(name not in MENS_SETS)] for name in saved["sets"]], device=device)
    speaker = lambda batch, m, s: m.spp(batch["voice"]) + (s.weight * own)[batch["native"]]
    groups = {True: [], False: []}
    for at, lesson in enumerate(lessons.lessons):
        if not lesson["held_out"]:
            groups[lesson["set"] in MENS_SETS].append(at)
    kept = {name: [i for i, l in enumerate(lessons.lessons) if l["held_out"] and l["set"] == name] for name in saved["sets"]}
    lines = [line for line in args.phonemes.read_text().splitlines() if 3 < len(line) < 220 and not set(line) & set(ENGLISH)][:OLD_LINES]
    edged = lambda numbers: [0, *numbers, 0]
    spelled = [[edged(numbers_of(line, table)) for line in lines], [edged([table[c] for c in teachers(line)]) for line in lines]]
    print(f"{len(groups[True])} lessons for the men, {len(groups[False])} of styles, {len(speech.prosody)} of English, {time.time() - began:.0f} s", flush=True)

    taught = [p for name, p in model.named_parameters() if name.startswith(PROSODY)] + list(styles.parameters())
    encoder = list(model.pt.parameters())
    others = [p for p in taught if all(p is not q for q in encoder)]
    rate = torch.optim.AdamW([{"params": encoder, "share": ENCODER_RATE}, {"params": others, "share": 1.0}], args.rate, betas=(0.9, 0.98), weight_decay=0.02)
    average, average_styles = copy.deepcopy(model), copy.deepcopy(styles)

    @torch.no_grad()
    def measure(m, s, name: str) -> dict:
        totals = {}
        for at in range(0, len(kept[name]), 16):
            batch = lessons.batch(kept[name][at : at + 16])
            for key, value in differences(m, batch, speaker(batch, m, s)).items():
                totals.setdefault(key, []).append(float(value))
        return {k: sum(v) / len(v) for k, v in totals.items()}

    def save() -> None:
        torch.save({k: v.detach().half().cpu() for k, v in average.state_dict().items() if k.startswith(PROSODY)}, args.out)
        torch.save({"styles": average_styles.weight.detach().cpu(), "sets": saved["sets"]}, args.out.with_suffix(".styles.pt"))

    for name in saved["sets"]:
        print(f"start, held out of {name}: {told(measure(before, styles, name))}", flush=True)
    for at in groups:
        groups[at].sort(key=lambda i: len(lessons.lessons[i]["pitch"]))
    began = time.time()
    for step in range(args.steps):
        progress = max(step / args.steps, (time.time() - began) / (args.minutes * 60))
        if progress >= 1:
            break
        for group in rate.param_groups:
            group["lr"] = group["share"] * args.rate * min(1, (step + 1) / 100) * max(0.02, 0.5 * (1 + math.cos(math.pi * progress)))
        teachers_spelling = draw.random() < TEACHERS_SPELLING
        losses = {}
        for learn in groups.values():
            size = min(args.batch, len(learn))
            first = draw.randrange(max(1, len(learn) - 4 * size))
            batch = lessons.batch(draw.sample(learn[first : first + 4 * size], size), teachers_spelling)
            for key, value in differences(model, batch, speaker(batch, model, styles), 0.1).items():
                losses[key] = losses.get(key, 0) + value
        rows = [spelled[teachers_spelling][draw.randrange(len(lines))] for _ in range(args.batch)]
        voices = torch.tensor(draw.choices(range(len(OLD_SHARES)), OLD_SHARES, k=len(rows)), device=device)
        symbols, mask = padded(rows, device)
        losses["old"] = unlike(model, symbols, mask, model.spp(voices), said_of_itself(before, symbols, mask, before.spp(voices)))
        found = prosody_losses(model, speech, speech.batch(args.batch, WINDOW, CONTEXT, speech.prosody))
        losses["english"] = sum(ENGLISH_WEIGHTS[k] * v for k, v in found.items())
        loss = sum(WEIGHTS[k] * v for k, v in losses.items())
        rate.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(taught, 1.0)
        rate.step()
        keep = min(0.995, (1 + step) / (10 + step))
        with torch.no_grad():
            for a, b in ((average, model), (average_styles, styles)):
                torch._foreach_lerp_(list(a.parameters()), list(b.parameters()), 1 - keep)
        if step % 200 == 0 or device == "cpu":
            print(f"step {step}, {time.time() - began:.0f} s: " + ", ".join(f"{k} {v.item():.4f}" for k, v in losses.items()), told({k: v.item() for k, v in found.items()}), flush=True)
        if step % 600 == 599:
            save()
    save()
    for name in saved["sets"]:
        print(f"held out of {name}: {told(measure(average, average_styles, name))}", flush=True)


if __name__ == "__main__":
    main()
