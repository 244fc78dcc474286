"""Holds the README to its word: every file it links exists and every `sh` command in it works.

Commands of the program are parsed by the program itself (with `--help` behind them, so that nothing
is changed), curl lines run against a demo server, scripts must exist.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
ADDRESS = re.compile(r"http://(?:localhost|127\.0\.0\.1):\d+")
KEY = re.compile(r"\$\{?SAUTI_(?:API_)?KEY\}?|<API_KEY>")


def commands(text):
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.strip()
            if line and not line.startswith("#"):
                yield line


def problem_with(line, folder):
    """What is wrong with one command, or None."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    program = words[0] if words else ""
    if program == "curl":
        return problem_with_curl(line, folder)
    if Path(program).name == "sauti":
        return fails([os.environ["SAUTI_BINARY"], *up_to_pipe(words[1:]), "--help"], folder)
    if program == "cargo" and "--" in words:
        return fails([os.environ["SAUTI_BINARY"], *up_to_pipe(words[words.index("--") + 1 :]), "--help"], folder)
    if program.startswith("./") and not (ROOT / program).exists() and not program.startswith("./target/"):
        return f"there is no {program}"
    return None


def up_to_pipe(words):
    for at, word in enumerate(words):
        if word in ("|", ">", "&&", "&", ";"):
            return words[:at]
    return words


def problem_with_curl(line, folder):
    line = ADDRESS.sub(os.environ["SAUTI_URL"], line)
    line = KEY.sub(os.environ["SAUTI_KEY"], line)
    line = line.replace("curl ", "curl --fail-with-body --silent --show-error --max-time 120 ", 1)
    return fails(["bash", "-o", "pipefail", "-c", line], folder)


def fails(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    if result.returncode:
        return f"exit {result.returncode}: {(result.stderr or result.stdout).decode(errors='replace')[-500:]}"
    return None


def main():
    text = (ROOT / "README.md").read_text()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        checks = [(f"link {target}", lambda t=target: None if (ROOT / t).exists() else "no such file") for target in LINK.findall(text)]
        checks += [(line, lambda l=line: problem_with(l, folder)) for line in commands(text)]
        for name, check in checks:
            problem = check()
            passed, failed = passed + (not problem), failed + bool(problem)
            print(f"{'FAIL' if problem else 'ok'}  {name}")
            if problem:
                print(f"      {problem}")
    if not shutil.which("curl"):
        failed += 1
        print("FAIL  curl is missing")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
