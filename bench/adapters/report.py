"""The figures as one page of Markdown."""

from adapters.streams import COUNT_MAX

MISSING = """Vosk: no Swahili model was found on PyPI or npm, so it did not run. sherpa-onnx: no Swahili recogniser was found there;
as a voice it runs Piper's. Of Piper no Swahili voice was found either: an American one reads Swahili, right for speed and not for
sound. Whisper is the small model; none above it was found."""


def cell(value, digits):
    return "not measured" if value is None else f"{value:,.{digits}f}"


def held(figures):
    count = figures.get("streams")
    return f"{count} or more" if count == COUNT_MAX else cell(count, 0)


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def rows_of(peers, columns):
    for name, figures in peers.items():
        if "failed" in figures:
            yield [name, "did not run", *[""] * (len(columns) - 1)]
        else:
            yield [name, *(show(figures) for show in columns)]


def recognisers(peers):
    heads = ["recogniser", "word errors, %", "95 %", "letter errors, %", "RTF cpu", "RTF wall", "memory, MB", "start, s", "streams"]
    columns = [
        lambda f: cell(f["wer"], 1), lambda f: f"{f['wer_low']:.0f} to {f['wer_high']:.0f}", lambda f: cell(f["cer"], 1),
        lambda f: cell(f["rtf_cpu"], 3), lambda f: cell(f["rtf_wall"], 3), lambda f: cell(f["peak_mb"], 0),
        lambda f: cell(f["load_s"], 1), held,
    ]
    return table(heads, rows_of(peers, columns))


def voices(peers):
    heads = ["voice", "DistillMOS", "letter errors, %", "RTF cpu", "RTF wall", "first sound, ms", "memory, MB", "start, s", "streams"]
    columns = [
        lambda f: cell(f["mos"], 2), lambda f: cell(f["cer"], 1), lambda f: cell(f["rtf_cpu"], 3), lambda f: cell(f["rtf_wall"], 3),
        lambda f: cell(f["first_sound_ms"], 0), lambda f: cell(f["peak_mb"], 0), lambda f: cell(f["load_s"], 1),
        held,
    ]
    return table(heads, rows_of(peers, columns))


def page(results):
    every = {**results["recognisers"], **{f"{name} (voice)": figures for name, figures in results["voices"].items()}}
    programs = "\n".join(f"- {name}: {figures.get('describe') or figures['failed']}" for name, figures in every.items())
    note = "A quick run with few clips: a check that all of it works, not a measurement.\n\n" if results["quick"] else ""
    return f"""# Sauti beside its peers

{note}Written by `bench/peers`: the same input for every program, one at a time. Errors, RTF, memory and first sound on one core; streams
are those held at real time on two. RTF is seconds of work for a second of sound, in processor time and as waited for; the load
average at the start was {results["load"]:.1f}.

## Hearing: {results["clips"]} clips of {results["clips_from"]}

{recognisers(results["recognisers"])}

## Speaking: {results["sentences"]} sentences

Letter errors are those of Whisper small listening.

{voices(results["voices"])}

![Accuracy or naturalness against cost](peers.png)

## What ran

{programs}

{MISSING}
"""
