"""Pack the English crowd, English that is read and real noise from public repositories as sets of the same form as the Swahili ones.

    python crowd.py --repositories DIR --out SPEECH_DIR

DIR holds bare clones: HW5_Dataset (Mydam0007), Accent_Classification (creativepurus) and whisper (korliu) with Common
Voice English (CC0), Voice-Age (zhangrui0712) with LibriSpeech's train-clean-5 (CC BY 4.0), AudioMNIST (soerenab, MIT),
PICO-tinyML-benchmark (thegtagamer) with Speech Commands' test part (CC BY 4.0), and ESC-50 (karolpiczak), of which only clips under
CC0 or CC BY are taken. Written are `english` (at most `--clips-a-person` of each), `english-dev` (people whose id begins with 0: for
testing only), `english-read` (books, digits in rows, commands), `noise` (ESC-50's folds 1 to 4) and `noise-dev` (fold 5): NAME.tar with
the crowd as it was published, the rest as Vorbis, and NAME.tsv (file, speaker, seconds, text).
"""

import argparse
import csv
import io
import random
import re
import subprocess
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

SAMPLE_RATE = 16_000
CROWDS = {  # repository: (commit with the list, the list, the folder of the clips)
    "HW5_Dataset": ("7b996c58", "en/validated.tsv", "en/clips"),
    "Accent_Classification": ("HEAD", "Data/validated.tsv", "Data/clips"),
    "whisper": ("HEAD", "dataset/validated.tsv", "dataset/clips"),
}
DIGITS = "zero one two three four five six seven eight nine".split()
DIGIT_ROWS, DIGITS_MAX, COMMANDS, PAUSE = 900, 8, 1500, 1200
TEST_PEOPLE = "0"  # ids that begin so are for testing only


def git(repository, *command):
    return subprocess.run(["git", "-C", repository, *command], check=True, capture_output=True).stdout


def objects(repository, commit):
    """The object of each path of a commit."""
    listed = (line.split("\t") for line in git(repository, "ls-tree", "-r", commit).decode().splitlines())
    return {path: fields.split()[2] for fields, path in listed}


def blobs(repository, ids):
    """The contents of many objects, in order; one that is not there is None."""
    with subprocess.Popen(["git", "-C", repository, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for id in ids:
            process.stdin.write(f"{id}\n".encode())
            process.stdin.flush()
            head = process.stdout.readline().split()
            if head[-1] == b"missing":
                yield None
                continue
            yield process.stdout.read(int(head[2]))
            process.stdout.read(1)
        process.stdin.close()


def as_published(sound):
    """The file as it is with its seconds, or nothing if it cannot be read."""
    try:
        return sound, soundfile.info(io.BytesIO(sound)).duration
    except soundfile.SoundFileError:
        return None


def heard(sound):
    """The samples of a recording at the recogniser's rate."""
    samples, rate = soundfile.read(io.BytesIO(sound), dtype="float32")
    divisor = np.gcd(rate, SAMPLE_RATE)
    return resample_poly(samples, SAMPLE_RATE // divisor, rate // divisor).clip(-1, 1)


def as_vorbis(sounds):
    """One recording, or several one after the other with short pauses."""
    parts = [part for sound in sounds for part in (np.zeros(PAUSE, np.float32), heard(sound))]
    samples, out = np.concatenate(parts[1:]), io.BytesIO()
    soundfile.write(out, samples, SAMPLE_RATE, format="OGG", subtype="VORBIS")
    return out.getvalue(), len(samples) / SAMPLE_RATE


def english(repositories, clips_a_person):
    """Sound, speaker and text of each clip, people for testing apart; a clip that two repositories have counts once."""
    seen, people = set(), {}
    for name, (commit, listing, folder) in CROWDS.items():
        rows = csv.DictReader(io.StringIO(git(repositories / name, "show", f"{commit}:{listing}").decode()), delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in rows:
            if row["path"] not in seen:
                seen.add(row["path"])
                people.setdefault(row["client_id"], []).append((name, f"{folder}/{row['path']}", row["sentence"]))
    dice, wanted = random.Random(1), {}
    for person, clips in sorted(people.items()):
        for name, path, text in dice.sample(clips, min(len(clips), clips_a_person)):
            wanted.setdefault(name, []).append((path, person, text))
    for name, clips in wanted.items():
        ids = objects(repositories / name, "HEAD")
        for sound, (_, person, text) in zip(blobs(repositories / name, [ids.get(c[0], c[0]) for c in clips]), clips):
            if sound and not sound.startswith(b"version https://git-lfs"):
                yield sound, person, text


def books(repository):
    """LibriSpeech's smallest part: recordings beside lists of what they say."""
    ids = objects(repository, "HEAD")
    for path in sorted(path for path in ids if path.endswith(".trans.txt")):
        rows = [line.split(" ", 1) for line in git(repository, "show", f"HEAD:{path}").decode().splitlines()]
        folder = path.rsplit("/", 1)[0]
        for sound, (name, text) in zip(blobs(repository, [ids[f"{folder}/{name}.flac"] for name, _ in rows]), rows):
            if sound:
                yield [sound], name.split("-")[0], text.lower()


def digits(repository):
    """AudioMNIST's single digits in rows, each by one person: data/PERSON/DIGIT_PERSON_TAKE.wav."""
    ids, dice, people = objects(repository, "HEAD"), random.Random(2), {}
    for path in sorted(path for path in ids if path.endswith(".wav")):
        people.setdefault(path.split("/")[1], []).append(path)
    for _ in range(DIGIT_ROWS):
        person = dice.choice(sorted(people))
        row = dice.sample(people[person], dice.randint(1, DIGITS_MAX))
        sounds = list(blobs(repository, [ids[path] for path in row]))
        if all(sounds):
            yield sounds, f"mnist-{person}", " ".join(DIGITS[int(path.rsplit("/", 1)[1][0])] for path in row)


def commands(repository):
    """Speech Commands: dataset/WORD/PERSON_nohash_TAKE.wav; folders in _ hold other things."""
    ids = objects(repository, "HEAD")
    clips = random.Random(3).sample(sorted(path for path in ids if re.search(r"/dataset/[a-z]+/\w+\.wav$", path)), COMMANDS)
    for sound, path in zip(blobs(repository, [ids[path] for path in clips]), clips):
        if sound:
            yield [sound], path.rsplit("/", 1)[1].split("_")[0], path.split("/")[-2]


def noise(repository):
    licences = git(repository, "show", "HEAD:LICENSE").decode()
    free = {name for name, licence in re.findall(r"\[([\w-]+)\.ogg\].*\[(CC0|CC-BY)\]", licences)}
    rows = [r for r in csv.DictReader(io.StringIO(git(repository, "show", "HEAD:meta/esc50.csv").decode()))
            if r["filename"].rsplit("-", 1)[0] in free]
    ids = objects(repository, "HEAD")
    for sound, row in zip(blobs(repository, [ids["audio/" + r["filename"]] for r in rows]), rows):
        yield [sound], row["fold"], row["category"]


class Set:
    def __init__(self, folder, name, ending):
        self.name, self.ending, self.tar, self.count = name, ending, tarfile.open(folder / f"{name}.tar", "w"), 0
        self.list = (folder / f"{name}.tsv").open("w")
        self.list.write("file\tspeaker\tseconds\ttext\n")

    def add(self, sound, seconds, speaker, text):
        info = tarfile.TarInfo(f"{self.name}/{self.count:05}.{self.ending}")
        info.size = len(sound)
        self.tar.addfile(info, io.BytesIO(sound))
        self.list.write(f"{info.name}\t{speaker}\t{seconds:.2f}\t{' '.join(text.split())}\n")
        self.count += 1

    def close(self):
        self.tar.close()
        self.list.close()
        print(f"{self.name}: {self.count} clips", flush=True)


def pack(clips, name, ending, as_kept, out, workers, for_testing=None):
    """A set, and another of the speakers that are for testing only, if any are."""
    train = Set(out, name, ending)
    testing = Set(out, name + "-dev", ending) if for_testing else None
    clips = list(clips)
    with ProcessPoolExecutor(workers) as pool:
        for made, (_, speaker, text) in zip(pool.map(as_kept, (c[0] for c in clips), chunksize=32), clips):
            if made:
                (testing if testing and for_testing(speaker) else train).add(*made, speaker[:16], text)
    for one in filter(None, (train, testing)):
        one.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--clips-a-person", type=int, default=45)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    clones, out, workers = options.repositories, options.out, options.workers
    pack(english(clones, options.clips_a_person), "english", "mp3", as_published, out, workers, lambda person: person.startswith(TEST_PEOPLE))
    read = [*books(clones / "Voice-Age"), *digits(clones / "AudioMNIST"), *commands(clones / "PICO-tinyML-benchmark")]
    pack(read, "english-read", "ogg", as_vorbis, out, workers)
    pack(noise(clones / "ESC-50"), "noise", "ogg", as_vorbis, out, workers, lambda fold: fold == "5")


if __name__ == "__main__":
    main()
