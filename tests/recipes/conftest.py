import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sauti import Sauti
from server import until

RECIPES = Path(__file__).resolve().parents[2] / "recipes"


@pytest.fixture(scope="session")
def sauti():
    with Sauti() as connected:
        yield connected


@pytest.fixture
def started(tmp_path):
    """Starts a recipe's service on a free port; gives its address."""
    processes = []

    def start(script, *arguments, env):
        log = tmp_path / "service.log"
        command = [sys.executable, RECIPES / script, "--port", "0", *arguments]
        with log.open("w") as out:
            process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **env})
        processes.append(process)
        port = until("a port", lambda: re.search(r"listening on (\d+)", log.read_text()), 30, log.read_text)[1]
        return f"http://127.0.0.1:{port}", log

    yield start
    for process in processes:
        process.terminate()
        process.wait(10)
