"""Clips of many people with who speaks in each, out of a Git repository that once held Common Voice English (CC0).

    git clone --bare https://github.com/Mydam0007/HW5_Dataset
    python people.py --repository HW5_Dataset.git --out people

Writes people.tsv (file, speaker, text) and the clips beside it: people with two clips or more, at most twelve clips each (twenty of those
whose id begins with 0 or 1: they are for testing and for choosing thresholds).
"""

import argparse
import subprocess
from collections import defaultdict
from pathlib import Path

COMMIT = "7b996c58"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    git = ["git", "-C", str(options.repository)]

    def told(*arguments):
        return subprocess.run([*git, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()

    objects = {}
    for line in told("ls-tree", "-r", COMMIT):
        about, path = line.split("\t")
        objects[Path(path).name] = about.split()[2]
    people = defaultdict(list)
    for line in told("show", f"{COMMIT}:en/validated.tsv")[1:]:
        person, clip, text = line.split("\t")[:3]
        if clip in objects:
            people[person].append((clip, text))
    options.out.mkdir(parents=True, exist_ok=True)
    rows = ["file\tspeaker\ttext"]
    for person, clips in people.items():
        for clip, text in sorted(clips)[: 20 if person[0] in "01" else 12] if len(clips) > 1 else []:
            sound = subprocess.run([*git, "cat-file", "blob", objects[clip]], stdout=subprocess.PIPE, check=False).stdout
            if len(sound) > 300:
                (options.out / clip).write_bytes(sound)
                rows.append(f"{clip}\t{person}\t{text}")
    (options.out / "people.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
