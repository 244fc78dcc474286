"""Attacks over loopback against a service of each file's own: bounded, and waiting for the event itself."""

import sys
from pathlib import Path

# The service under attack is started as the fault tests start theirs: `from service import Service`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "faults"))
