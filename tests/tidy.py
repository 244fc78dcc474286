"""Rules about the files themselves: length, size, and nothing of the author's machine in them."""

import re
import subprocess
import sys
from pathlib import Path

import circles
import documents
import names as type_names

ROOT = Path(__file__).resolve().parent.parent
LINES_MAX = 600
BYTES_MAX = 1_000_000
# Weights and test recordings may be large; GitHub refuses files above 100 MB.
LARGE_BYTES_MAX = 100_000_000
LARGE_FOLDERS = ("models/", "Cargo.lock")
# Put together so that this file does not find itself.
MACHINE_PATHS = re.compile("(?<![\\w.])/(?:" + "|".join(["root/", "work/(?:main|shared)", "opt/lab", "home/[a-z]+/"]) + ")")
TEXT = {".rs", ".py", ".md", ".toml", ".sh", ".sql", ".yml", ".yaml", ".json", ".html", ".css", ".js", ".mjs", ".tsv", ""}


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def no_source_file_is_too_long(names):
    for name in names:
        if name.startswith("crates/") and name.endswith(".rs"):
            lines = read(name).count("\n")
            if lines > LINES_MAX:
                yield f"{name} has {lines} lines, over {LINES_MAX}: a file is one idea"


def no_file_is_too_large(names):
    for name in names:
        size = (ROOT / name).stat().st_size
        limit = LARGE_BYTES_MAX if name.startswith(LARGE_FOLDERS) else BYTES_MAX
        if size > limit:
            yield f"{name} has {size} bytes, over {limit}"


def no_machine_path_is_written_down(names):
    for name in names:
        path = ROOT / name
        if path.suffix in TEXT and path.stat().st_size <= BYTES_MAX:
            for number, line in enumerate(read(name).splitlines(), 1):
                found = MACHINE_PATHS.search(line)
                if found:
                    yield f"{name}:{number} names {found.group()}"


def no_line_ends_in_spaces(names):
    for name in names:
        if Path(name).suffix in {".rs", ".py", ".sql", ".sh"}:
            for number, line in enumerate(read(name).splitlines(), 1):
                if line != line.rstrip():
                    yield f"{name}:{number} ends in spaces"


def unsafe_code_says_why(names):
    for name in names:
        if name.startswith("crates/") and name.endswith(".rs"):
            lines = read(name).splitlines()
            for at, line in enumerate(lines):
                if re.search(r"\bunsafe \{", line) and not line.lstrip().startswith("//"):
                    around = "\n".join(lines[max(0, at - 6) : at + 1])
                    if "SAFETY" not in around:
                        yield f"{name}:{at + 1} has an unsafe block without a SAFETY comment"


def main():
    names = tracked()
    rules = (
        no_source_file_is_too_long, no_file_is_too_large, no_machine_path_is_written_down,
        no_line_ends_in_spaces, unsafe_code_says_why, circles.no_import_circle_grows, type_names.no_type_name_means_two_things,
        *documents.RULES,
    )
    failed = 0
    for rule in rules:
        problems = list(rule(names))
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok'}  {rule.__name__.replace('_', ' ')}")
        for problem in problems[:40]:
            print(f"      {problem}")
    print(f"{len(rules) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
