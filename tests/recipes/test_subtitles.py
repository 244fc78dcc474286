"""A radio programme of several voices gets its subtitles from recipes/subtitles."""

import re
import subprocess
import sys
import wave
from pathlib import Path

RECIPE = Path(__file__).resolve().parents[2] / "recipes/subtitles/subtitle.py"
PROGRAMME = [
    ("asha", "Habari za asubuhi na karibu katika kipindi chetu cha kilimo. Leo tunazungumza kuhusu bei ya mahindi katika soko la mjini."),
    ("juma", "Asante sana. Wakulima wengi wanasema kwamba mvua ya mwaka huu imekuja mapema, na mavuno yatakuwa mazuri kuliko mwaka jana."),
    ("zuri", "Lakini bei ya mbolea imepanda. Gunia moja sasa linauzwa kwa shilingi elfu tatu mia tano, na wakulima wadogo hawawezi kulipa."),
    ("baraka", "Serikali imeahidi kusaidia. Waziri wa kilimo alisema kwamba mbegu bora zitapatikana kwa wakulima wote kabla ya mwezi ujao."),
    ("asha", "Tunawashukuru wasikilizaji wetu wote. Tutakutana tena kesho asubuhi saa moja kamili. Kwaheri."),
]


def test_a_programme_gets_subtitles_that_fit_it(sauti, tmp_path):
    recording = tmp_path / "kipindi.wav"
    with wave.open(str(recording), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        for voice, text in PROGRAMME:
            file.writeframes(sauti.speak(text, voice, output_format="raw_pcm_16000").audio + bytes(16_000))
    ran = subprocess.run([sys.executable, RECIPE, recording, "--names", "mbolea"], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    srt, vtt = (recording.with_suffix(kind).read_text() for kind in (".srt", ".vtt"))
    assert vtt.startswith("WEBVTT\n\n") and srt.count("-->") == vtt.count("-->") >= 8
    # The words of every speaker are there, in order; a few may be misheard.
    said = re.findall(r"\w+", re.sub(r"^(\d+|.*-->.*)$", "", srt, flags=re.M).lower())
    wanted = ["kilimo", "mahindi", "wakulima", "mvua", "mbolea", "gunia", "serikali", "waziri", "wasikilizaji", "kwaheri"]
    places = [said.index(word) for word in wanted if word in said]
    assert len(places) >= 9, srt
    assert places == sorted(places)
    seconds = sauti.transcribe(recording.read_bytes()).seconds
    last = max(re.findall(r"--> (\d\d:\d\d:\d\d,\d{3})", srt))
    hours, minutes, rest = last.replace(",", ".").split(":")
    assert seconds - 3 < int(hours) * 3600 + int(minutes) * 60 + float(rest) <= seconds


def test_a_recording_without_speech_gets_none(tmp_path):
    recording = tmp_path / "silence.wav"
    with wave.open(str(recording), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(96_000))
    ran = subprocess.run([sys.executable, RECIPE, recording], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and "nobody speaks" in ran.stderr
    assert not recording.with_suffix(".srt").exists()
