"""Runs a peer on clips or texts in its own process, on the cores asked for, and gathers what it cost."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

from adapters import packages

BENCH = Path(__file__).resolve().parent.parent
# Libraries pick their number of threads by themselves unless told.
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class PeerFailed(RuntimeError):
    pass


class Running:
    """A peer that is loaded and waits for work."""

    def __init__(self, process):
        self.process = process
        self.ready = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise PeerFailed(f"the peer ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, **task):
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        """Ends the peer; what it took at most."""
        self.process.stdin.close()
        return self.answer()


@contextlib.contextmanager
def running(kind, name, python, cores=(0,), threads=None):
    """A peer of `kind` ("recognisers" or "voices") on these cores; `threads` is their number unless told."""
    threads = threads or len(cores)
    environment = os.environ | {setting: str(threads) for setting in THREAD_SETTINGS} | {"PYTHONPATH": str(BENCH)}
    command = ["taskset", "-c", ",".join(map(str, cores)), python, "-m", "adapters.worker", kind, name, "--threads", str(threads)]
    process = subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=packages.ROOT
    )
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def recognise(name, clips, python, cores=(0,)):
    """Every clip (a path to 16 kHz mono) once: the rows in order, and the figures of the whole."""
    with running("recognisers", name, python, cores) as peer:
        # The first call warms caches and lazy loading; it is done again and counted then.
        peer.ask(do="recognise", file=str(clips[0]))
        rows = [peer.ask(do="recognise", file=str(clip)) for clip in clips]
        return rows, summary(peer, rows)


def speak(name, texts, python, cores=(0,), folder=None):
    """Every text once, into `folder`/NUMBER.wav where one is given."""
    with running("voices", name, python, cores) as peer:
        peer.ask(do="speak", text=texts[0])
        rows = []
        for number, text in enumerate(texts):
            rows.append(peer.ask(do="speak", text=text, out=str(folder / f"{number:03}.wav") if folder else None))
        firsts = sorted(row["first_s"] for row in rows)
        return rows, summary(peer, rows) | {"first_sound_ms": 1000 * firsts[len(firsts) // 2]}


def summary(peer, rows):
    seconds = sum(row["seconds"] for row in rows)
    return {
        "describe": peer.ready["describe"],
        "load_s": peer.ready["load_s"],
        "seconds": seconds,
        "rtf_wall": sum(row["wall_s"] for row in rows) / seconds,
        "rtf_cpu": sum(row["cpu_s"] for row in rows) / seconds,
        "peak_mb": peer.end()["peak_mb"],
    }
