"""The command line as a person or a script uses it: no server, an empty folder."""

import json
import os
import shutil
import sqlite3
import subprocess
import wave
from pathlib import Path

import pytest

BINARY = os.environ["SAUTI_BINARY"]
MODELS = Path(__file__).resolve().parents[2] / "models"


@pytest.fixture
def sauti(tmp_path):
    """Runs the program in an empty folder; a wanted failure gives its exit code and message."""

    def run(*arguments, stdin="", fails=False):
        env = {**os.environ, "SAUTI_MODELS": str(MODELS)}
        result = subprocess.run(
            [BINARY, *map(str, arguments)], input=stdin, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=300
        )
        if fails:
            assert result.returncode != 0, result.stdout
            return result.stderr
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


def test_help_teaches_every_command(sauti):
    overview = sauti("--help")
    commands = ["serve", "bootstrap", "account", "workspace", "key", "speak", "transcribe", "normalise", "voices", "ledger", "eval", "config"]
    for command in commands:
        assert command in overview, command
        assert "Usage" in sauti(command, "--help")


def test_bootstrap_prints_an_account_with_a_key(sauti, tmp_path):
    made = json.loads(sauti("bootstrap", "--data", tmp_path / "data", "--credit", "100", "--permissions", "speech,transcription"))
    assert made["account_id"] and made["workspace_id"]
    assert made["api_key"].startswith("sauti_")
    sauti("ledger", "check", "--data", tmp_path / "data")


def everything_in(database):
    with sqlite3.connect(database) as connection:
        return list(connection.iterdump())


def change(database, *statements):
    with sqlite3.connect(database) as connection:
        for statement in statements:
            connection.execute(statement)


def test_looking_at_an_older_database_leaves_it_as_it_is(sauti, tmp_path):
    data = ["--data", tmp_path / "data"]
    sauti("bootstrap", *data)
    database = tmp_path / "data" / "sauti.db"
    change(database, "drop table vocabularies", "delete from _sqlx_migrations where version = 10")
    before = everything_in(database)
    assert "1 migration is pending" in sauti("doctor", "--quick", *data)
    assert "1 migration is pending" in sauti("ledger", "check", *data, fails=True)
    sauti("backup", tmp_path / "copy.db", *data)
    assert everything_in(database) == before == everything_in(tmp_path / "copy.db")
    sauti("workspace", "list", *data)
    assert "the books add up" in sauti("ledger", "check", *data)
    assert everything_in(database) != before


def test_a_database_of_a_newer_program_is_named_and_checked(sauti, tmp_path):
    data = ["--data", tmp_path / "data"]
    sauti("bootstrap", *data)
    newer = "insert into _sqlx_migrations select 9999, 'newer', installed_on, success, checksum, 0 from _sqlx_migrations limit 1"
    change(tmp_path / "data" / "sauti.db", newer)
    told = sauti("doctor", "--quick", *data)
    assert "the books add up; the database is newer than this program" in told
    sauti("ledger", "check", *data)


def test_a_sentence_is_spoken_and_read_back(sauti, tmp_path):
    wav = tmp_path / "greeting.wav"
    sauti("speak", "--voice", "asha", "--out", wav, "Habari za asubuhi, karibu sana.")
    with wave.open(str(wav)) as file:
        assert file.getframerate() == 24_000
        assert file.getnframes() > 24_000
    lines = sauti("transcribe", wav, wav).splitlines()
    assert len(lines) == 2 and lines[0] == lines[1]
    assert "habari" in lines[0].lower()
    objects = [json.loads(line) for line in sauti("transcribe", "--json", wav).splitlines()]
    assert "asubuhi" in objects[0]["text"].lower()


@pytest.mark.parametrize("name", ["wav_8000", "ulaw_8000", "alaw_8000", "flac_24000", "mp3_44100", "opus_48000"])
def test_every_file_format_is_read_by_other_programs(sauti, tmp_path, name):
    out = tmp_path / name
    sauti("speak", "--voice", "juma", "--format", name, "--out", out, "Moja, mbili, tatu.")
    reader = shutil.which("ffprobe") or pytest.fail("ffprobe is missing")
    asked = [reader, "-v", "error", "-show_entries", "format=duration:stream=sample_rate", "-of", "json", str(out)]
    told = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    assert 0.5 < float(told["format"]["duration"]) < 5
    assert told["streams"][0]["sample_rate"] == name.split("_")[1]


def test_lines_are_normalised_one_by_one(sauti):
    spoken = sauti("normalise", stdin="Nina watoto 3.\nSaa 2:30\n").splitlines()
    assert len(spoken) == 2
    assert "watatu" in spoken[0] or "tatu" in spoken[0]
    assert not any(character.isdigit() for character in "".join(spoken))


def test_voices_are_listed(sauti):
    listed = sauti("voices")
    for voice in ("asha", "zuri", "juma", "baraka"):
        assert voice in listed


def test_mistakes_are_explained(sauti, tmp_path):
    assert "nobody" in sauti("speak", "--voice", "nobody", "--out", tmp_path / "x.wav", "Habari.", fails=True)
    assert "missing.wav" in sauti("transcribe", "missing.wav", fails=True)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[limits]\ntext_chars_max = -1\n")
    assert "text_chars_max" in sauti("config", "check", "--config", wrong, fails=True)


def test_shell_completions_are_made(sauti):
    assert "sauti" in sauti("completions", "bash")
