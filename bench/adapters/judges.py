"""Judges of speech, run in the benches' own Python: naturalness by DistillMOS, clarity by what Whisper small makes of it.

    python -m adapters.judges FOLDER      # NUMBER.wav and texts.json; writes judged.json beside them
"""

import json
import sys
import types
from pathlib import Path

PACKAGES = ("distillmos", "faster-whisper", "onnx", "soundfile", "soxr")


def main(folder):
    # Only distillmos's own command line uses torchaudio, which must match torch to the build.
    sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
    import distillmos
    import soundfile
    import soxr
    import torch

    from adapters import scoring
    from adapters.faster_whisper_peer import FasterWhisper

    torch.set_num_threads(1)
    judge = distillmos.ConvTransformerSQAModel()
    judge.eval()
    whisper = FasterWhisper(beam=1)
    texts = json.loads((folder / "texts.json").read_text())
    scores, heard = [], []
    for number in range(len(texts)):
        sound, rate_hz = soundfile.read(folder / f"{number:03}.wav", dtype="float32")
        sound = soxr.resample(sound, rate_hz, 16_000)
        with torch.no_grad():
            scores.append(float(judge(torch.from_numpy(sound)[None])))
        heard.append(whisper.transcribe(sound))
    figures = {"mos": sum(scores) / len(scores), "cer": scoring.rates(texts, heard)["cer"], "heard": heard}
    (folder / "judged.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
