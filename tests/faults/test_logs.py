"""A busy run at the most talkative level: no key, password, token, text or recording may be in the log."""

import base64
import json
import re
import sys

import pytest
from service import ROOT, Service, form, until

sys.path.insert(0, str(ROOT / "tests" / "attacks"))

from live import Live  # noqa: E402

TEXT = "Mzigo wa parachichi umefika Nyahururu"
SSML = "<speak>Kitendawili cha mzee Kahindi</speak>"
PASSWORD = "nywila-ya-siri-4471"
SECRET = "siri-ya-malipo-ya-mfano-9913"
FILE_NAME = "mahojiano-ya-wanjiku.wav"
WORD = "mchafukoge"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The log, and everything that must not be in it."""
    folder = tmp_path_factory.mktemp("logs")
    settings = {"telemetry.log_level": "trace", "payments.webhook_secret": SECRET, "limits.requests_per_minute": "100000"}
    service = Service(folder, settings)
    service.start()
    demo = json.loads((service.data / "demo.json").read_text())
    wav = service.speak(TEXT)[2]
    service.speak(TEXT, stream="audio", speed=1.2)
    service.speak(TEXT, stream="sse", speed=1.3)
    service.speak(SSML)
    service.speak(TEXT, output_format="no such")
    service.ask("POST", "/v1/audio/speech", {"tetx": TEXT})
    service.ask("POST", "/v1/audio/speech", b'{"text": "' + TEXT.encode())
    service.ask("POST", "/v1/normalise", {"text": TEXT})
    heard = json.loads(service.transcribe(wav)[2])["text"]
    live = Live(service)
    live.sound(service.speak(TEXT, output_format="raw_pcm_16000")[2])
    live.finish()
    heard_live = live.until("done")["text"]
    live.hang_up()
    kind, body = form(wav, FILE_NAME)
    service.ask("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind, "Idempotency-Key": "mara-moja"})
    service.ask("POST", "/v1/audio/transcriptions", form(TEXT.encode(), FILE_NAME)[1], {"Content-Type": kind})
    service.ask("PUT", f"/v1/lexicon/{WORD}", {"spoken": "mchafu koge"})
    service.ask("GET", f"/v1/voices?api_key={service.key}")
    service.ask("GET", "/v1/voices", headers={"Authorization": f"Bearer {service.key}x"})
    service.ask("POST", "/v1/account", {"email": "wanjiku@example.com", "password": PASSWORD})
    service.ask("POST", "/v1/account/session", {"email": "wanjiku@example.com", "password": PASSWORD + "x"})
    signed_in = service.ask("POST", "/v1/account/session", {"email": "wanjiku@example.com", "password": PASSWORD})
    session = re.search(r"sauti_session=(\w+)", signed_in[1].get("set-cookie", "")).group(1)
    csrf = json.loads(signed_in[2])["csrf_token"]
    letter = until("a letter is written", lambda: [file.read_text() for file in (service.data / "outbox").glob("*")])[0]
    token = re.search(r"token=(\w{20,})", letter).group(1)
    service.ask("POST", "/v1/account/confirm", {"token": token})
    service.ask("POST", "/v1/payments/events", {"id": "e", "workspace_id": demo["workspace_id"], "amount_micro": 1},
                {"Sauti-Signature": f"t=1,v1={SECRET}"})
    made = json.loads(service.ask("POST", "/v1/keys", {"name": "mpya", "permissions": ["voices"]})[2])
    hook = json.loads(service.ask("POST", "/v1/webhooks", {"url": "https://example.com/x", "events": ["balance.low"]})[2])
    service.stop()
    secrets = {
        "the key": service.key.split("_")[-1], "a new key": made["api_key"].split("_")[-1], "the demo's password": demo["password"],
        "a password": PASSWORD, "a session": session, "a page's token": csrf, "a mail's token": token,
        "the payments' secret": SECRET, "a webhook's secret": hook.get("secret", "whsec_"),
        "a text": TEXT, "a word of the text": "parachichi", "SSML": "Kitendawili", "a transcript": heard, "a live transcript": heard_live,
        "a file's name": FILE_NAME, "a pronounced word": WORD, "an address": "wanjiku@example.com",
        "a recording": wav[2000:2040].decode("latin-1"), "a recording in base64": base64.b64encode(wav[3000:3060]).decode(),
    }
    # The demonstration prints its key on standard output on purpose; the log proper is JSON lines.
    log = "\n".join(line for line in service.log().splitlines() if line.startswith("{"))
    return log, secrets


def test_the_run_was_busy_and_logged(run):
    log, _ = run
    assert log.count('"answered"') >= 20 and '"level":"DEBUG"' in log


def test_no_secret_and_no_payload_is_in_the_log(run):
    log, secrets = run
    found = [name for name, secret in secrets.items() if len(secret) > 3 and secret.lower() in log.lower()]
    assert not found, found


def test_the_search_would_find_what_it_looks_for(run):
    log, _ = run
    assert "/v1/audio/speech" in log and "answered" in log
