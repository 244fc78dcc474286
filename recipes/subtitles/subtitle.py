#!/usr/bin/env python3
"""Subtitles for a radio programme: PROGRAMME.srt and PROGRAMME.vtt beside the recording, checked before they are written.

    SAUTI_URL=... SAUTI_KEY=... python3 subtitle.py programme.mp3 [--names "Wanjiku,Dodoma"]

One transcription makes both files.
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

from sauti import Sauti

CUE = re.compile(r"(\d+)\n(\d\d:\d\d:\d\d,\d{3}) --> (\d\d:\d\d:\d\d,\d{3})\n(.+?)(?:\n\n|\Z)", re.S)
LINE_CHARACTERS_MAX = 42
LINES_MAX = 2


def cues_of(srt):
    """(start, end, text) of each cue, in seconds."""
    return [(seconds(start), seconds(end), text.strip()) for _, start, end, text in CUE.findall(srt.strip() + "\n\n")]


def seconds(stamp):
    hours, minutes, rest = stamp.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def to_vtt(srt):
    return "WEBVTT\n\n" + re.sub(r"(\d\d:\d\d:\d\d),(\d{3})", r"\1.\2", srt.strip()) + "\n"


def problems(cues):
    """What a player or a viewer would stumble over."""
    before = 0.0
    for number, (start, end, text) in enumerate(cues, 1):
        lines = text.splitlines()
        if start < before:
            yield f"cue {number} starts before the last one ends"
        if end <= start:
            yield f"cue {number} has no length"
        if len(lines) > LINES_MAX or any(len(line) > LINE_CHARACTERS_MAX for line in lines):
            yield f"cue {number} does not fit the screen"
        before = end


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("recording", type=Path)
    args.add_argument("--names", default="", help="names and terms to listen for, separated by commas")
    args = args.parse_args()
    data = args.recording.read_bytes()
    names = [name.strip() for name in args.names.split(",") if name.strip()]
    with Sauti(timeout_s=3600) as sauti:
        # The content as the key: the same programme again, after a break in the line or by mistake, costs nothing more.
        key = "subtitles-" + hashlib.sha256(data + args.names.encode()).hexdigest()
        srt = sauti.subtitles(data, "srt", name=args.recording.name, keyterms=names, idempotency_key=key)
    cues = cues_of(srt)
    found = list(problems(cues)) if cues else ["nobody speaks in it"]
    for problem in found:
        print(f"{args.recording}: {problem}", file=sys.stderr)
    if found:
        return 1
    args.recording.with_suffix(".srt").write_text(srt, encoding="utf-8")
    args.recording.with_suffix(".vtt").write_text(to_vtt(srt), encoding="utf-8")
    print(f"{len(cues)} subtitles over {cues[-1][1]:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
