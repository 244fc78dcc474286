"""A stand-in for the messaging platform sends recipes/voice-notes a note and listens to the answer."""

import hashlib
import hmac
import json
import threading
import urllib.error
import urllib.request
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from server import until

SECRET = "app-secret"


class Platform(BaseHTTPRequestHandler):
    """The Cloud API's four calls, with the notes in memory."""

    def do_GET(self):
        if self.headers["Authorization"] != "Bearer platform-token":
            return self.say(401, b"{}")
        if self.path == "/v1/note-1":
            return self.say(200, json.dumps({"url": f"http://127.0.0.1:{self.server.server_port}/files/note-1"}).encode())
        if self.path == "/files/note-1":
            return self.say(200, self.server.note, "audio/ogg")
        return self.say(404, b"{}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/555/media":
            parsed = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
            parts = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parsed.iter_parts()}
            assert parts["type"].strip() == b"audio/ogg"
            self.server.uploaded.append(parts["file"])
            return self.say(200, b'{"id": "reply-1"}')
        if self.path == "/v1/555/messages":
            self.server.sent.append(json.loads(body))
            return self.say(200, b"{}")
        return self.say(404, b"{}")

    def say(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def platform(sauti):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Platform)
    server.uploaded, server.sent = [], []
    server.note = sauti.speak("Naomba kujua salio langu tafadhali.", "juma", output_format="opus_48000").audio
    assert server.note.startswith(b"OggS")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def bot(platform, started):
    url = f"http://127.0.0.1:{platform.server_port}/v1"
    env = {"PLATFORM_URL": url, "PLATFORM_TOKEN": "platform-token", "PHONE_NUMBER_ID": "555", "APP_SECRET": SECRET, "VERIFY_TOKEN": "mine"}
    address, platform.bot_log = started("voice-notes/bot.py", env=env)
    return address


def webhook(address, event, secret=SECRET):
    body = json.dumps(event).encode()
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    request = urllib.request.Request(address, body, {"X-Hub-Signature-256": signature})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def note(message_id="wamid.1"):
    message = {"id": message_id, "from": "254700000001", "type": "audio", "audio": {"id": "note-1", "mime_type": "audio/ogg; codecs=opus"}}
    return {"object": "whatsapp_business_account", "entry": [{"changes": [{"value": {"messages": [message]}}]}]}


def test_a_note_is_heard_and_answered_with_a_note(bot, platform, sauti):
    assert webhook(bot, note()) == 200
    # The platform repeats itself; the note is answered once.
    assert webhook(bot, note()) == 200
    sent = until("an answer", lambda: platform.sent, 120, platform.bot_log.read_text)
    assert sent[0]["to"] == "254700000001" and sent[0]["audio"] == {"id": "reply-1"}
    assert platform.uploaded[0].startswith(b"OggS") and b"OpusHead" in platform.uploaded[0][:64]
    heard = sauti.transcribe(platform.uploaded[0], numerals="digits").text
    assert "1,250" in heard, heard
    before = sauti.balance().available_micro
    assert webhook(bot, note()) == 200
    assert (len(platform.sent), sauti.balance().available_micro) == (1, before)


def test_a_stranger_is_turned_away(bot, platform):
    assert webhook(bot, note(), secret="guess") == 401
    assert webhook(bot, []) == 400
    assert platform.sent == []


def test_the_platform_can_check_the_address(bot):
    with urllib.request.urlopen(f"{bot}/?hub.mode=subscribe&hub.verify_token=mine&hub.challenge=77", timeout=10) as answer:
        assert answer.read() == b"77"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{bot}/?hub.verify_token=yours&hub.challenge=77", timeout=10)
    assert refused.value.code == 403
