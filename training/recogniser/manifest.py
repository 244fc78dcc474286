"""List the recogniser's files with their size, CRC-32 and SHA-256 in manifest.json, without which the service refuses them.

    python manifest.py --models ../../models/recogniser --version 1
"""

import argparse
import hashlib
import json
import zlib
from pathlib import Path

FORMAT = "sauti-recogniser-1"
FILES = ("encoder.safetensors", "languages.lm", "readable.safetensors", "rescorer.safetensors", "speakers.safetensors", "vad.safetensors")


def write_manifest(folder, form, version, names):
    """For the voices too."""
    files = {name: (folder / name).read_bytes() for name in names}
    listed = {name: {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}", "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    text = json.dumps({"format": form, "model_version": version, "files": listed}, indent=2)
    (folder / "manifest.json").write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    write_manifest(options.models, FORMAT, options.version, FILES)


if __name__ == "__main__":
    main()
