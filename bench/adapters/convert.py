"""Any recordings to 16 kHz mono WAV, for every recogniser alike: pairs of paths as JSON on standard input."""

import json
import sys

import soundfile
import soxr

for source, target in json.load(sys.stdin):
    samples, rate_hz = soundfile.read(source, dtype="float32", always_2d=True)
    soundfile.write(target, soxr.resample(samples.mean(axis=1), rate_hz, 16_000), 16_000, subtype="PCM_16")
