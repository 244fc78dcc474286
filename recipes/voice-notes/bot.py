#!/usr/bin/env python3
"""Answers voice notes with voice notes: a webhook as WhatsApp's Cloud API calls it, Ogg Opus in and out.

    PLATFORM_URL=https://graph.facebook.com/v21.0 PLATFORM_TOKEN=... PHONE_NUMBER_ID=... APP_SECRET=... VERIFY_TOKEN=...
    SAUTI_URL=... SAUTI_KEY=... python3 bot.py --port 8090
"""

import argparse
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import urllib.parse
import urllib.request
import uuid
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sauti import Sauti, SautiError

BODY_BYTES_MAX = 1_000_000
NOTE_BYTES_MAX = 16_000_000
WAITING_MAX = 100
SEEN_MAX = 10_000
VOICE = "asha"


def reply_to(text):
    """What the bot says. Put your own service here."""
    if "salio" in text.lower():
        return "Salio lako ni KSh 1,250."
    if not text:
        return "Samahani, sikukusikia. Tafadhali sema tena."
    return f"Nimekusikia ukisema: {text}"


class Platform:
    """The four calls of the Cloud API that voice notes need."""

    def __init__(self, url, token, phone_number_id):
        self.url, self.token, self.phone_number_id = url.rstrip("/"), token, phone_number_id

    def call(self, url, body=None, content_type=None):
        headers = {"Authorization": f"Bearer {self.token}", **({"Content-Type": content_type} if content_type else {})}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
            return answer.read(NOTE_BYTES_MAX + 1)

    def download(self, media_id):
        """An id leads to an address that lives a few minutes, and that to the note."""
        address = json.loads(self.call(f"{self.url}/{urllib.parse.quote(media_id, safe='')}"))["url"]
        note = self.call(address)
        if len(note) > NOTE_BYTES_MAX:
            raise ValueError(f"the note {media_id} is too large")
        return note

    def send_note(self, to, note):
        boundary = uuid.uuid4().hex
        fields = {"messaging_product": "whatsapp", "type": "audio/ogg"}
        parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="note.ogg"\r\nContent-Type: audio/ogg\r\n\r\n')
        body = "".join(parts).encode() + note + f"\r\n--{boundary}--\r\n".encode()
        sent = json.loads(self.call(f"{self.url}/{self.phone_number_id}/media", body, f"multipart/form-data; boundary={boundary}"))
        message = {"messaging_product": "whatsapp", "to": to, "type": "audio", "audio": {"id": sent["id"]}}
        self.call(f"{self.url}/{self.phone_number_id}/messages", json.dumps(message).encode(), "application/json")


class Bot:
    """Takes notes off a queue, one after the other: the platform wants its answer at once, long before we have ours."""

    def __init__(self, sauti, platform):
        self.sauti, self.platform = sauti, platform
        self.waiting = queue.Queue(WAITING_MAX)
        self.seen = OrderedDict()
        threading.Thread(target=self.work, daemon=True).start()

    def take(self, event):
        """Queues the notes of one webhook; False where the queue is full, so that the platform comes again."""
        for entry in event.get("entry", []):
            for change in entry.get("changes", []):
                for message in change.get("value", {}).get("messages", []):
                    if message.get("type") == "audio" and message["id"] not in self.seen:
                        try:
                            self.waiting.put_nowait((message["id"], message["from"], message["audio"]["id"]))
                        except queue.Full:
                            return False
                        self.remember(message["id"])
        return True

    def remember(self, message_id):
        """Webhooks come more than once."""
        self.seen[message_id] = True
        while len(self.seen) > SEEN_MAX:
            self.seen.popitem(last=False)

    def work(self):
        while True:
            message_id, sender, media_id = self.waiting.get()
            try:
                self.answer(message_id, sender, media_id)
            except (SautiError, OSError, ValueError, KeyError) as error:
                # The text of the note is nobody's business but the sender's: it is not logged.
                print(f"{message_id}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            self.waiting.task_done()

    def answer(self, message_id, sender, media_id):
        note = self.platform.download(media_id)
        # The message's id as the idempotency key: even after a restart a note is charged once.
        heard = self.sauti.transcribe(note, name="note.ogg", idempotency_key=f"{message_id}-heard")
        spoken = self.sauti.speak(reply_to(heard.text), VOICE, output_format="opus_48000", idempotency_key=f"{message_id}-said")
        self.platform.send_note(sender, spoken.audio)


def make_handler(bot, app_secret, verify_token):
    class Webhook(BaseHTTPRequestHandler):
        def do_GET(self):
            """The platform checks once that the address is ours."""
            asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            if hmac.compare_digest(asked.get("hub.verify_token", ""), verify_token):
                return self.say(200, asked.get("hub.challenge", ""))
            return self.say(403)

        def do_POST(self):
            size = int(self.headers.get("Content-Length") or 0)
            if not 0 < size <= BODY_BYTES_MAX:
                return self.say(413)
            body = self.rfile.read(size)
            expected = "sha256=" + hmac.new(app_secret.encode(), body, hashlib.sha256).hexdigest()
            if not hmac.compare_digest(self.headers.get("X-Hub-Signature-256", ""), expected):
                return self.say(401)
            try:
                taken = bot.take(json.loads(body))
            except (ValueError, KeyError, AttributeError, TypeError):
                return self.say(400)
            return self.say(200 if taken else 503)

        def say(self, status, text=""):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Webhook


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--port", type=int, default=8090)
    args = args.parse_args()
    names = ("PLATFORM_URL", "PLATFORM_TOKEN", "PHONE_NUMBER_ID", "APP_SECRET", "VERIFY_TOKEN")
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        sys.exit(f"please set {', '.join(missing)}")
    platform = Platform(*(os.environ[name] for name in names[:3]))
    handler = make_handler(Bot(Sauti(), platform), os.environ["APP_SECRET"], os.environ["VERIFY_TOKEN"])
    server = ThreadingHTTPServer(("127.0.0.1", args.port), handler)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
