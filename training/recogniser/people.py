"""Clips of many people with who speaks in each, out of a Git repository that once held Common Voice English (CC0).

    git clone --bare https://github.com/Mydam0007/HW5_Dataset
    python people.py --repository HW5_Dataset.git --out people

Writes people.tsv (file, speaker, text) and the clips beside it: people with two clips or more, at most twelve clips each (twenty of those
whose id begins with 0 or 1: they are for testing and for choosing thresholds).
"""

import argparse
from collections import defaultdict
from pathlib import Path

from crowd import CROWDS, blobs, git, objects

COMMIT, LIST, _ = CROWDS["HW5_Dataset"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    ids = {Path(path).name: id for path, id in objects(options.repository, COMMIT).items()}
    people = defaultdict(list)
    for line in git(options.repository, "show", f"{COMMIT}:{LIST}").decode().splitlines()[1:]:
        person, clip, text = line.split("\t")[:3]
        if clip in ids:
            people[person].append((clip, text))
    wanted = [(person, clip, text) for person, clips in people.items() if len(clips) > 1
              for clip, text in sorted(clips)[: 20 if person[0] in "01" else 12]]
    options.out.mkdir(parents=True, exist_ok=True)
    rows = ["file\tspeaker\ttext"]
    for sound, (person, clip, text) in zip(blobs(options.repository, [ids[clip] for _, clip, _ in wanted]), wanted):
        if sound and len(sound) > 300:
            (options.out / clip).write_bytes(sound)
            rows.append(f"{clip}\t{person}\t{text}")
    (options.out / "people.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
