"""One peer in a process of its own, told by lines of JSON what to do. Started by `adapters.measure`.

    python -m adapters.worker recognisers NAME --threads N

First line out: {"ready": ..., "load_s", "describe"}. Then one line for each line in, and at the end of the input
{"peak_mb"}. Times of one call: `wall_s`, and `cpu_s` of all processes at work, which other load hardly touches.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import adapters


def cpu_seconds(pids):
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        # User and system time, with that of children that ended.
        total += sum(int(field) for field in fields[11:15]) / ticks
    return total


def peak_mb(pids):
    lines = "".join(Path(f"/proc/{pid}/status").read_text() for pid in pids).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def load_clip(path):
    import soundfile

    samples, rate_hz = soundfile.read(path, dtype="float32")
    if rate_hz != 16_000 or samples.ndim != 1:
        raise ValueError(f"{path} is not 16 kHz mono")
    return samples


def timed(peer, work):
    pids = peer.pids()
    cpu, begun = cpu_seconds(pids), time.perf_counter()
    answer = work()
    return answer | {"wall_s": time.perf_counter() - begun, "cpu_s": cpu_seconds(pids) - cpu}


def recognise(peer, task):
    samples = load_clip(task["file"])
    answer = timed(peer, lambda: {"text": peer.transcribe(samples)})
    return answer | {"seconds": len(samples) / 16_000}


def speak(peer, task):
    import numpy
    import soundfile

    begun, first_s, pieces = time.perf_counter(), None, []

    def work():
        nonlocal first_s
        for piece in peer.speak(task["text"]):
            first_s = first_s if first_s is not None else time.perf_counter() - begun
            pieces.append(piece)
        return {}

    begun = time.perf_counter()
    answer = timed(peer, work)
    sound = numpy.concatenate(pieces)
    if task.get("out"):
        soundfile.write(task["out"], sound, peer.rate_hz, subtype="PCM_16")
    return answer | {"first_s": first_s, "seconds": len(sound) / peer.rate_hz}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("kind", choices=["recognisers", "voices"])
    args.add_argument("name")
    args.add_argument("--threads", type=int, default=1)
    args = args.parse_args()
    table, do = (adapters.RECOGNISERS, recognise) if args.kind == "recognisers" else (adapters.VOICES, speak)
    # Libraries that write to standard output must not break the protocol.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def tell(answer):
        out.write(json.dumps(answer) + "\n")

    begun = time.perf_counter()
    peer = adapters.make(table, args.name, args.threads)
    try:
        tell({"ready": args.name, "load_s": time.perf_counter() - begun, "describe": peer.describe(), "parallel": peer.parallel})
        for line in sys.stdin:
            task = json.loads(line)
            if task["do"] == "streams":
                from adapters import streams

                tell(streams.hold(peer, task))
            else:
                tell(do(peer, task))
        tell({"peak_mb": peak_mb(peer.pids())})
    finally:
        peer.close()


if __name__ == "__main__":
    main()
