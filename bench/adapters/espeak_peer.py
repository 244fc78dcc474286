"""espeak-ng with its Swahili voice: rules and formants, no network."""

import subprocess

import numpy as np

from adapters import Peer, packages

PACKAGES = ("numpy", "soundfile")
HEADER_BYTES = 44


class Espeak(Peer):
    name = "espeak-ng"
    rate_hz = 22_050

    def __init__(self, threads=1):
        self.program = packages.need_program("espeak-ng")

    def describe(self):
        shown = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout
        return f"espeak-ng {shown.split(':')[1].split()[0]}, voice sw, a process for each text"

    def speak(self, text):
        with subprocess.Popen([self.program, "-v", "sw", "--stdout", text], stdout=subprocess.PIPE) as process:
            head, rest = process.stdout.read(HEADER_BYTES), b""
            if len(head) < HEADER_BYTES:
                raise RuntimeError("espeak-ng said nothing")
            while piece := process.stdout.read1(65_536):
                sound, rest = rest + piece, b""
                if len(sound) % 2:
                    sound, rest = sound[:-1], sound[-1:]
                if sound:
                    yield np.frombuffer(sound, "<i2").astype(np.float32) / 32768
