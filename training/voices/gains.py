"""Set each voice's gain so that it speaks at -16 LUFS, from recordings that `sauti eval speech --html PAGE` left in PAGE's folder.

    pip install pyloudnorm
    python gains.py PAGE.audio ../../models/voices/catalogue.json

A running correction in the service (`voice/ride.rs`) has already moved the recordings towards the aim, so what is left
is less than the gain is off: run it again after the next evaluation until nothing moves.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pyloudnorm
import soundfile

AIM_LUFS = -16.0
SECONDS_MIN = 0.5  # the meter wants a block and a little more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("catalogue", type=Path)
    args = parser.parse_args()
    catalogue = json.loads(args.catalogue.read_text())
    for voice in catalogue["voices"]:
        found = []
        for path in sorted(args.folder.glob(f"{voice['voice_id']}-*.wav")):
            samples, rate = soundfile.read(path)
            if len(samples) > SECONDS_MIN * rate:
                found.append(pyloudnorm.Meter(rate).integrated_loudness(samples))
        if not found:
            raise SystemExit(f"{args.folder}: nothing by {voice['voice_id']}")
        mean = float(np.mean(found))
        was, voice["gain"] = voice["gain"], round(voice["gain"] * 10 ** ((AIM_LUFS - mean) / 20), 3)
        print(f"{voice['voice_id']}: {mean:.1f} LUFS over {len(found)} clips, {np.std(found):.1f} apart, {min(found):.1f} to {max(found):.1f}; gain {was} -> {voice['gain']}")
    args.catalogue.write_text(json.dumps(catalogue, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
