"""List the recogniser's files with their SHA-256 in manifest.json, without which the service refuses them.

    python manifest.py --models ../../models/recogniser --version 1
"""

import argparse
import hashlib
import json
from pathlib import Path

FILES = ("encoder.onnx", "vad.safetensors", "words.lm")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    sums = {name: hashlib.sha256((options.models / name).read_bytes()).hexdigest() for name in FILES}
    text = json.dumps({"version": options.version, "files": sums}, indent=2)
    (options.models / "manifest.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
