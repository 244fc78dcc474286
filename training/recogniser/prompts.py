"""Let four voices of Kokoro say the English and the mixed prompts, and list the clips for `sauti eval transcription`.

    python prompts.py --prompts TEXT_DIR/prompts-mixed.tsv --teacher teacher --misaki misaki/data --out prompts

Every voice says every second prompt with English sounds in its English words and the others with Swahili ones, and of the four voices two
say any prompt so. Pace 1, the teacher's own rhythm and melody. The recogniser knows blends of these voices, but not these sentences.
"""

import argparse
import csv
import re
import tarfile
from pathlib import Path

import soundfile
import torch

from synthesise import Teacher, load_english, resample_24_to_16, text_phonemes

VOICES = ("af_heart", "hf_beta", "am_fenrir", "hm_omega")
PLACES = {"wanjiku", "mombasa", "zanzibar", "nakuru"}  # the words of the English prompts that are read as Swahili
# The English words of the mixed prompts; what sentences.py takes for English may change with its texts.
ENGLISH = set("""laptop download assignment screenshot whatsapp group class confirm booking customer care restart update app password expire
meeting next week send location google maps manager busy after lunch interview order spare parts battery charger pin reset traffic road
account activate fever vomiting x ray blood test internet bundle top up phone storage gigabyte sixty four programme live radio cancel flight
form signature check balance savings project deadline friday discount twenty per cent supermarket movie fire watch stage boss salary this
month police speed gun highway transaction code transformer estate apply loan reject printer call technician maternity theatre
back five minutes reception mister price petrol results size medium colour blue coach formation defend feedback improve ticket vip regular
online text subscription renew automatically complaint delivery final sunday workshop climate change pressure morning cash m credit card
save number plumbing parliament system down budget email job opening accountant ngo clinic tuesday thursday submit documents visa emergency
ambulance farm irrigation greenhouse graduate first honours receipt claim screen touch""".split())
# Sounds that misaki's lists lack or give for the letter's name; the symbols are theirs.
SOUNDS = {"whatsapp": "wˈɒtsap", "vip": "vˌiːIpˈiː", "ngo": "ˌɛnʤˌiːˈQ", "m": "ˈɛm", "x": "ˈɛks", "b": "bˈiː", "agents": "ˈAʤᵊnts",
          "answered": "ˈɑːnsəd", "holidays": "hˈɒlɪdAz", "kilogrammes": "kˈɪləɡɹamz", "kilometres": "kˈɪləmˌiːtəz", "students": "stjˈuːdnts"}


def marked(text: str, kind: str) -> str:
    """With ~ before each English word; a hyphen between prefix and stem parts words, as in the normal form of figures."""
    english = (lambda word: word not in PLACES) if kind == "english" else ENGLISH.__contains__
    return re.sub(r"[A-Za-z']+", lambda m: "~" + m[0] if english(m[0].lower()) else m[0], text)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--prompts", type=Path, required=True)
    args.add_argument("--teacher", required=True, help="kokoro/, config.json, kokoro16.pth, voices16/")
    args.add_argument("--misaki", type=Path, required=True, help="the folder of gb_gold.json and gb_silver.json (PyPI misaki, Apache-2.0)")
    args.add_argument("--voices", nargs="+", default=VOICES)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    english = load_english(args.misaki / "gb_gold.json", args.misaki / "gb_silver.json") | SOUNDS
    with open(args.prompts, encoding="utf-8") as rows:
        prompts = list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))
    words = {w[1:] for p in prompts for w in re.findall(r"~[a-z']+", marked(p["text"], p["kind"]).lower())}
    unknown = sorted(words - english.keys())
    if unknown:
        raise SystemExit(f"no sounds for {unknown}")
    teacher = Teacher(args.teacher, "cpu")
    lists = {}
    for nth, voice in enumerate(args.voices):
        (args.out / voice).mkdir(parents=True, exist_ok=True)
        for number, prompt in enumerate(prompts):
            kind, text = prompt["kind"], prompt["text"]
            native = (number + nth) % 2 == 1
            phonemes = text_phonemes(marked(text, kind), english, native)
            lost = [c for c in phonemes if c not in teacher.vocab]
            symbols = teacher.symbols(phonemes)
            torch.manual_seed(1000 * nth + number)
            wave = teacher.say(symbols, teacher.style({voice: 1.0}, {voice: 1.0}, len(symbols)))[0]
            assert torch.isfinite(wave).all() and not lost, (voice, text, lost)
            samples = resample_24_to_16(wave)
            file = f"{voice}/{number:05d}.flac"
            soundfile.write(args.out / file, samples, 16_000, subtype="PCM_16")
            seconds = len(samples) / 16_000
            row = (file, voice + (" swahili-sounds" if native else " english-sounds"), f"{seconds:.2f}", text)
            for name in (voice if kind == "mixed" else f"{voice}-english", kind):
                lists.setdefault(name, []).append(row)
        print(voice, len(prompts), flush=True)
    for name, rows in lists.items():
        (args.out / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in [("file", "speaker", "seconds", "text"), *rows]), encoding="utf-8")
        with tarfile.open(args.out / f"{name}.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
            for row in rows:
                archive.add(args.out / row[0], row[0])


if __name__ == "__main__":
    main()
