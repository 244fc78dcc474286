"""A caller rings the line of recipes/asterisk, hears its prompts and leaves a message, which is transcribed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import asterisk
from sauti import Sauti
from server import until

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "recipes/asterisk"
MESSAGE = "Habari, naomba mnipigie kesho asubuhi kuhusu mzigo wangu."
# The caller listens until the line falls silent, as people do, and then speaks.
CALLER = """
[caller]
exten => s,1,Answer()
 same => n,Record(%(heard)s.wav,2,30,q)
 same => n,Playback(%(message)s)
 same => n,Hangup()
"""


@pytest.fixture
def line(tmp_path):
    """The recipe as its README installs it, with a caller beside it."""
    environment = {
        "VOICEMAIL_DIR": str(tmp_path / "spool/voicemail"), "PYTHONPATH": str(ROOT / "clients/python/src"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    pbx = asterisk.Asterisk(asterisk.need_asterisk(), tmp_path, environment)
    build = [os.environ["SAUTI_BINARY"], "prompts", "build", RECIPE / "menu.csv", "--out", pbx.data / "sounds/sw"]
    subprocess.run([str(part) for part in build], check=True, env={**os.environ, "SAUTI_MODELS": str(ROOT / "models")})
    script = pbx.etc / "transcribe-voicemail"
    shutil.copy(RECIPE / "transcribe-voicemail", script)
    voicemail = (RECIPE / "voicemail.conf").read_text()
    (pbx.etc / "voicemail.conf").write_text(voicemail.replace("/etc/asterisk/transcribe-voicemail", str(script)))
    caller = CALLER % {"heard": tmp_path / "heard", "message": tmp_path / "message"}
    (pbx.etc / "extensions.conf").write_text((RECIPE / "extensions.conf").read_text() + caller)
    with Sauti() as sauti:
        (tmp_path / "message.ulaw").write_bytes(sauti.speak(MESSAGE, "juma", output_format="raw_ulaw_8000").audio)
    pbx.start()
    until("a booted exchange", lambda: "fully booted" in pbx.ask("core waitfullybooted").stdout, 60, pbx.log)
    yield pbx
    pbx.stop()


def test_a_caller_hears_the_prompts_and_the_message_is_transcribed(line, tmp_path):
    line.ask("channel originate Local/100@sauti/n extension s@caller")
    inbox = tmp_path / "spool/voicemail/default/100/INBOX"
    transcript = until("a transcript", lambda: next(iter(inbox.glob("msg*.transcript")), None), 120, line.log)
    heard = transcript.read_text().lower()
    # One word of four may be misheard.
    assert sum(word in heard for word in ("habari", "kesho", "asubuhi", "mzigo")) >= 3, heard
    with Sauti() as sauti:
        prompts = sauti.transcribe(tmp_path / "heard.wav").text.lower()
    assert sum(word in prompts for word in ("karibu", "huduma", "wahudumu", "ujumbe", "simu")) >= 4, prompts
    assert transcript.with_suffix(".wav").exists()
    assert not list(inbox.glob("*.part"))


FORMATS = ("ulaw", "alaw", "sln", "sln16", "sln24", "wav", "wav16")
PROMPT = "Karibu katika huduma ya simu. Subiri mhudumu."


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """One extension for each format that plays it, and one that records what it hears."""
    folder = tmp_path_factory.mktemp("formats")
    pbx = asterisk.Asterisk(asterisk.need_asterisk(), folder)
    (folder / "menu.csv").write_text(f"id,text\nkaribu,{PROMPT}\n")
    build = [os.environ["SAUTI_BINARY"], "prompts", "build", folder / "menu.csv", "--out", folder / "sounds"]
    build += [word for name in FORMATS for word in ("--format", name)]
    subprocess.run([str(part) for part in build], check=True, env={**os.environ, "SAUTI_MODELS": str(ROOT / "models")})
    play = [f"exten => {name},1,Answer()\n same => n,Playback({folder}/sounds/{name}/karibu)\n same => n,Hangup()" for name in FORMATS]
    hear = [f"exten => {name},1,Answer()\n same => n,Record({folder}/{name}.wav,0,30,qk)\n same => n,Hangup()" for name in FORMATS]
    (pbx.etc / "extensions.conf").write_text("\n".join(["[play]", *play, "[hear]", *hear, ""]))
    pbx.start()
    until("a booted exchange", lambda: "fully booted" in pbx.ask("core waitfullybooted").stdout, 60, pbx.log)
    yield pbx
    pbx.stop()


@pytest.mark.parametrize("name", FORMATS)
def test_asterisk_plays_every_format_that_goes_by_its_name(exchange, name):
    exchange.ask(f"channel originate Local/{name}@play/n extension {name}@hear")
    recording = exchange.folder / f"{name}.wav"
    until("a recording", lambda: recording.exists() and "0 active channels" in exchange.ask("core show channels").stdout, 60, exchange.log)
    with Sauti() as sauti:
        heard = sauti.transcribe(recording).text.lower()
    assert sum(word in heard for word in ("karibu", "huduma", "simu", "subiri", "mhudumu")) >= 4, heard
