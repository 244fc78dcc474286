#!/usr/bin/env python3
"""Product lines of Rust in each crate: what stands in `src`, without tests, comments and blank lines.

  tests/lines.py              this tree
  tests/lines.py COMMIT       that commit beside this tree
"""

import subprocess
import sys
from pathlib import Path

from circles import INLINE_TESTS

ROOT = Path(__file__).resolve().parent.parent


def is_product(path):
    parts = Path(path).with_suffix("").parts
    return len(parts) > 3 and parts[0] == "crates" and parts[2] == "src" and not any(part == "tests" or part.endswith("_tests") for part in parts)


def count(text):
    lines = (line.strip() for line in INLINE_TESTS.sub("", text).splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def sources(commit):
    """The text of each Rust file by its path; of this tree where no commit is named."""
    if commit is None:
        for file in sorted((ROOT / "crates").rglob("*.rs")):
            yield str(file.relative_to(ROOT)), file.read_text()
    else:
        for path in git("ls-tree", "-r", "--name-only", commit, "crates").splitlines():
            if path.endswith(".rs") and is_product(path):
                yield path, git("show", f"{commit}:{path}")


def by_crate(commit=None):
    totals = {}
    for path, text in sources(commit):
        if is_product(path):
            crate = path.split("/")[1]
            totals[crate] = totals.get(crate, 0) + count(text)
    return totals


def main(arguments):
    columns = [by_crate(commit) for commit in arguments] + [by_crate()]
    for crate in sorted(set().union(*columns)):
        print(f"{crate:8}", *(f"{column.get(crate, 0):8,}" for column in columns))
    print(f"{'all':8}", *(f"{sum(column.values()):8,}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1:])
