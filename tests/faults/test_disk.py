"""A disk that is full, cannot be written, or holds what was damaged."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from service import ROOT, Service, payment, until

SENTENCE = "Karibu tena, leo ni siku njema."
SECRET = "a secret of the payment bridge"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own for the data, of a few megabytes. Needs root."""
    assert os.geteuid() == 0, "only root can mount a small disk"
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(disk):
    """A file that leaves no room for others; without it there is room again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while out.write(b"x" * 4096):
            pass
    return filler


def speak_anew(service, number):
    """Something that is in no cache."""
    return service.speak(f"{SENTENCE} Nambari {number}.")


def test_a_full_disk_loses_no_money_and_is_over_when_there_is_room(tmp_path, small_disk):
    with Service(tmp_path, {"cache.bytes_max": "0"}, data=small_disk / "data") as service:
        assert speak_anew(service, 0)[0] == 200
        filler = fill(small_disk)
        answered, failed = [], []
        for number in range(1, 200):
            status, headers, body = speak_anew(service, number)
            if status == 200:
                assert body[:4] == b"RIFF" and len(body) == int(headers["content-length"])
                answered.append(int(headers["sauti-cost"]))
            else:
                failed.append((status, body))
                assert status == 503 and b"storage_unavailable" in body, body
            if len(failed) >= 3:
                break
        assert failed, "the disk was never full"
        assert "the data store cannot be reached" in service.log()
        assert service.status("/healthz") == 200
        filler.unlink()
        until("it works again", lambda: speak_anew(service, 1000)[0] == 200)
        service.nothing_held()
        service.books()


def test_every_door_says_that_the_disk_is_full_and_does_nothing_by_halves(tmp_path, small_disk):
    with Service(tmp_path, {"cache.bytes_max": "0", "payments.webhook_secret": SECRET}, data=small_disk / "data") as service:
        demo = json.loads((service.data / "demo.json").read_text())
        sign_in = {"email": demo["email"], "password": demo["password"]}
        status, headers, body = service.ask("POST", "/v1/account/session", sign_in)
        assert status == 200, body
        member = {"Cookie": headers["set-cookie"].split(";")[0], "X-CSRF-Token": json.loads(body)["csrf_token"]}
        paid = payment(demo["workspace_id"], "while full", SECRET)
        workspace = f"/v1/workspaces/{demo['workspace_id']}"
        doors = [
            ("POST", "/v1/keys", {"name": "mpya", "permissions": ["voices"]}, {}),
            ("POST", "/v1/webhooks", {"url": "https://example.com/hook"}, {}),
            ("PUT", "/v1/lexicon/Wanjiku", {"said": "wanjiku"}, {}),
            ("POST", "/v1/batches", {"operation": "speech", "items": [{"text": "Habari.", "voice_id": "asha"}]}, {}),
            ("POST", "/v1/payments/events", *paid),
            ("POST", "/v1/account/session", sign_in, {}),
            ("POST", "/v1/account", {"email": "mpya@example.com", "password": "nenosiri refu sana", "name": "Mpya"}, {}),
            ("PATCH", workspace, {"name": "Jina jipya"}, member),
            ("POST", f"{workspace}/credits", {"amount_micro": 5, "reference": "full"}, member),
        ]
        filler = fill(small_disk)
        # The database's own files have some room left.
        until("the disk is full", lambda: service.ask("PUT", "/v1/lexicon/jaza", {"said": "jaza"})[0] == 503)
        answers = {}
        for method, path, body, headers in doors:
            key, service.key = service.key, None if headers is member else service.key
            answers[f"{method} {path}"] = service.ask(method, path, body, headers)[0]
            service.key = key
        assert set(answers.values()) == {503}, answers
        listed = [service.ask("GET", path)[2] for path in ("/v1/keys", "/v1/webhooks", "/v1/lexicon", "/v1/batches")]
        assert not any(b"mpya" in found or b"example.com" in found or b"Wanjiku" in found or b"batch_" in found for found in listed), listed
        filler.unlink()
        until("it works again", lambda: speak_anew(service, "tena")[0] == 200)
        assert json.loads(service.ask("POST", "/v1/payments/events", *paid)[2])["status"] == "applied"
        service.nothing_held()
        service.books()


def test_a_recording_that_finds_no_room_is_asked_to_come_again(tmp_path, small_disk):
    with Service(tmp_path, {"cache.bytes_max": "0"}, data=small_disk / "data") as service:
        wav = service.speak(SENTENCE)[2]
        # Larger than what is kept in memory, and than the disk.
        status, headers, body = service.transcribe(wav + bytes(8 * 1024 * 1024))
        assert status == 503 and b"storage_unavailable" in body, (status, body)
        assert int(headers["retry-after"]) > 0
        assert service.transcribe(wav)[0] == 200
        service.nothing_held()


def test_a_disk_that_cannot_be_written_is_told_and_over_when_it_can(tmp_path, small_disk):
    with Service(tmp_path, {"cache.bytes_max": "0"}, data=small_disk / "data") as service:
        status, headers, _ = speak_anew(service, 0)
        balance = int(headers["sauti-balance"])
        # The open files stay writable to a plain remount: the limit on file size stops every growth instead.
        limit = ["prlimit", "--pid", str(service.process.pid), "--fsize=0:"]
        subprocess.run(limit, check=True)
        status, _, body = speak_anew(service, 1)
        assert status == 503 and b"storage_unavailable" in body, (status, body)
        assert service.status("/healthz") == 200
        subprocess.run(["prlimit", "--pid", str(service.process.pid), "--fsize=unlimited:"], check=True)
        answer = until("it works again", lambda: (found := speak_anew(service, 2))[0] == 200 and found)
        assert int(answer[1]["sauti-balance"]) == balance - int(answer[1]["sauti-cost"])
        service.nothing_held()


@pytest.mark.parametrize("used", [True, False])
def test_a_start_on_a_full_disk_says_so(tmp_path, small_disk, used):
    service = Service(tmp_path, {"cache.bytes_max": "0"}, data=small_disk / "data")
    if used:
        service.start().stop()
    service.data.mkdir(exist_ok=True)
    filler = fill(small_disk)
    told = f"there is no room on the disk of {service.data}"
    start = service.run("serve", "--listen", "127.0.0.1:0")
    assert start.returncode == 1 and told in start.stderr, start
    assert len(start.stderr.splitlines()) == 1, "it tried again and again"
    if used:
        assert told in service.run("doctor", "--quick").stdout
    filler.unlink()
    with service:
        assert speak_anew(service, 0)[0] == 200


def test_a_data_folder_that_cannot_be_written_is_named_at_the_start(tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    done = Service(tmp_path).run("serve", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and str(tmp_path / "data") in done.stderr, done.stderr


def damaged_models(tmp_path, name):
    """The models with one byte of one file turned."""
    models = tmp_path / "models"
    for source in (ROOT / "models").rglob("*"):
        target = models / source.relative_to(ROOT / "models")
        if source.is_dir():
            target.mkdir(parents=True)
        elif source.name == name:
            data = bytearray(source.read_bytes())
            data[len(data) // 2] ^= 1
            target.write_bytes(data)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)
    return models


@pytest.mark.parametrize("name", ["voices.safetensors", "encoder.safetensors", "languages.lm"])
def test_a_model_with_one_wrong_bit_is_refused_by_name(tmp_path, name):
    service = Service(tmp_path, models=damaged_models(tmp_path, name))
    service.start(ready=False)
    try:
        until("the log names the file", lambda: name in service.log() and "CRC-32" in service.log())
        assert service.status("/readyz") == 503 and service.status("/healthz") == 200
        assert service.run("health", "--listen", f"127.0.0.1:{service.port}").returncode == 1
        doctor = service.run("doctor", "--quick")
        assert doctor.returncode == 1 and name in doctor.stdout
    finally:
        service.stop()


def test_a_half_written_cache_is_made_again_and_never_sent(tmp_path):
    service = Service(tmp_path).start()
    whole = service.speak(SENTENCE)[2]
    files = until("it is in the cache", lambda: list((service.data / "cache").rglob("*.sound")))
    service.stop()
    shutil.copy(files[0], tmp_path / "copy")
    for damage in (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-40] + b"x" * 40):
        Path(files[0]).write_bytes(damage((tmp_path / "copy").read_bytes()))
        with service:
            status, headers, body = service.speak(SENTENCE)
            assert (status, headers["sauti-cache"]) == (200, "miss")
            assert body == whole
        service.nothing_held()
