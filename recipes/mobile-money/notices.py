#!/usr/bin/env python3
"""Payments told by voice: a payment comes in, a recording for the telephone comes out, and a USSD menu offers it.

    SAUTI_URL=... SAUTI_KEY=... BRIDGE_SECRET=... python3 notices.py --port 8091 --out /var/lib/asterisk/sounds/sw/notices

POST /payments  the payment bridge: {"receipt", "phone", "name", "amount", "balance", "paid_at"}, signed;
                paid_at as ISO 8601 (2026-10-12T14:30:00+03:00, 2026-10-12), day first (12/10/2026,
                12/10/2026 14:30), or as M-Pesa sends it (20261012143000)
POST /ussd      the USSD gateway (as Africa's Talking calls it): sessionId, phoneNumber, text
"""

import argparse
import hashlib
import hmac
import json
import os
import re
import sys
import urllib.parse
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sauti import InsufficientBalance, InvalidRequest, Sauti, SautiError

BODY_BYTES_MAX = 10_000
RECEIPT = re.compile(r"[A-Z0-9]{4,20}")
PHONE = re.compile(r"\+?[0-9]{9,15}")
# What one notice may cost at most, in micro-units: a text that grew by mistake is not spoken.
COST_MICRO_MAX = 2_000_000
COUNTRY = "254"
EAST_AFRICA = timezone(timedelta(hours=3))


def notice_text(payment):
    """Plain text as one would print it; numbers, money and the clock become words in the service."""
    return (
        f"Habari {payment['name']}. Tumepokea KSh {payment['amount']:,} tarehe {when(payment['paid_at'])}. "
        f"Salio lako ni KSh {payment['balance']:,}. Asante."
    )


def when(paid_at):
    """Day first and the local time, as people say it. A time of another zone becomes East Africa's; one without a zone stays."""
    for form in ("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%Y%m%d%H%M%S"):
        try:
            moment = datetime.strptime(paid_at, form)
            break
        except ValueError:
            pass
    else:
        try:
            moment = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", paid_at))
        except ValueError:
            raise ValueError("paid_at must be a time such as 2026-10-12T14:30:00+03:00 or 12/10/2026 14:30") from None
    if moment.tzinfo:
        moment = moment.astimezone(EAST_AFRICA)
    return moment.strftime("%d/%m/%Y" if len(paid_at) <= len("12/10/2026") else "%d/%m/%Y %H:%M")


class Notices:
    def __init__(self, sauti, folder):
        self.sauti, self.folder = sauti, folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, payment):
        """Speaks a payment into FOLDER/RECEIPT.ulaw and makes it the latest of its telephone. Safe to repeat."""
        check(payment)
        path = self.folder / f"{payment['receipt']}.ulaw"
        if not path.exists():
            text = notice_text(payment)
            quote = self.sauti.quote(text=text)
            if quote.cost_micro > COST_MICRO_MAX:
                raise ValueError(f"a notice of {quote.units} characters is too long")
            # The receipt as the idempotency key: a payment told twice is spoken and charged once.
            speech = self.sauti.speak(text, "zuri", output_format="raw_ulaw_8000", idempotency_key=f"notice-{payment['receipt']}")
            write_whole(path, speech.audio)
        write_whole(self.folder / f"latest-{digits(payment['phone'])}", payment["receipt"].encode())
        return path

    def latest(self, phone):
        mark = self.folder / f"latest-{digits(phone)}"
        return mark.read_text() if mark.exists() else None


def check(payment):
    if not isinstance(payment, dict):
        raise ValueError("a payment is an object")
    if not RECEIPT.fullmatch(str(payment.get("receipt", ""))) or not PHONE.fullmatch(str(payment.get("phone", ""))):
        raise ValueError("receipt or phone is wrong")
    for field in ("amount", "balance"):
        if type(payment.get(field)) is not int or payment[field] < 0:
            raise ValueError(f"{field} must be whole shillings")
    for field in ("name", "paid_at"):
        if not isinstance(payment.get(field), str) or not 0 < len(payment[field]) <= 60:
            raise ValueError(f"{field} is wrong")
    when(payment["paid_at"])


def digits(phone):
    """One number a telephone: 0712345678 is 254712345678, as the gateway writes it."""
    return re.sub(r"^0", COUNTRY, re.sub(r"\D", "", phone))


def write_whole(path, data):
    """Asterisk may read it at any moment: it sees the old file or the new one."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    part.replace(path)


def ussd(notices, phone, text):
    """One step of the dialogue. CON goes on, END is the last word."""
    if text == "":
        return "CON Karibu.\n1. Sikiliza risiti ya mwisho\n2. Maliza"
    if text == "1":
        receipt = notices.latest(phone)
        # The menu cannot play sound; the PBX rings back and plays notices/RECEIPT.
        return f"END Risiti {receipt}: utapigiwa simu sasa hivi." if receipt else "END Hakuna risiti."
    return "END Kwaheri."


def make_handler(notices, secret):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            size = int(self.headers.get("Content-Length") or 0)
            if not 0 < size <= BODY_BYTES_MAX:
                return self.say(413, "too large")
            body = self.rfile.read(size)
            return {"/payments": self.payment, "/ussd": self.menu}.get(self.path, lambda _: self.say(404, "no such path"))(body)

        def payment(self, body):
            expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            if not hmac.compare_digest(self.headers.get("X-Signature", "").encode(), expected.encode()):
                return self.say(401, "wrong signature")
            try:
                path = notices.add(json.loads(body))
            except (ValueError, InvalidRequest) as error:  # it will be no better next time
                return self.say(400, str(error))
            except InsufficientBalance as error:
                return self.say(503, f"the speech account is empty ({error.request_id})")
            except SautiError as error:
                # The bridge tries again later.
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                return self.say(503, "no speech now")
            return self.say(200, json.dumps({"file": path.name}))

        def menu(self, body):
            asked = dict(urllib.parse.parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
            return self.say(200, ussd(notices, asked.get("phoneNumber", ""), asked.get("text", "")))

        def say(self, status, text):
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Handler


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--port", type=int, default=8091)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    if not os.environ.get("BRIDGE_SECRET"):
        sys.exit("please set BRIDGE_SECRET")
    server = ThreadingHTTPServer(("127.0.0.1", args.port), make_handler(Notices(Sauti(), args.out), os.environ["BRIDGE_SECRET"]))
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
