"""Recordings with known texts, as the benches read them: NAME.tsv with NAME.tar or the files beside it."""

import tarfile
from pathlib import Path


def spread(items, limit):
    """So many, evenly over the list, as `sauti eval` chooses them; 0 takes all."""
    count = min(limit, len(items)) if limit else len(items)
    return [items[n * len(items) // count] for n in range(count)]


def unpack(manifest, limit, folder, wanted=lambda file: True):
    """The chosen ones of the wanted clips as 16 kHz mono WAV files in `folder`: (path, name in the list, text) of each."""
    import soundfile

    header, *lines = [line.split("\t") for line in manifest.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    file = next(i for i, name in enumerate(header) if name in ("file", "path"))
    text = next(i for i, name in enumerate(header) if name in ("text", "sentence"))
    archive = manifest.with_suffix(".tar")
    members = tarfile.open(archive) if archive.is_file() else None
    clips = []
    lines = [row for row in lines if wanted(row[file])]
    for number, row in enumerate(spread(lines, limit)):
        source = manifest.parent / row[file]
        source = source.open("rb") if source.is_file() else members.extractfile(row[file])
        samples, rate_hz = soundfile.read(source, dtype="int16")
        if rate_hz != 16_000 or samples.ndim != 1:
            raise SystemExit(f"{row[file]} is not 16 kHz mono")
        path = Path(folder) / f"{number:05}.wav"
        soundfile.write(path, samples, rate_hz, subtype="PCM_16")
        clips.append((path, row[file], row[text]))
    return clips
