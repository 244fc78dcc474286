"""Addresses that a customer names, for webhooks and recordings: names that change under the check, and hosts that send on."""

import contextlib
import ctypes
import http.server
import json
import os
import socket
import subprocess
import threading

import pytest
from service import Service, payment, until

SECRET = "a secret of the payment bridge"
# Public by its number; here it is an address of this machine, in a network that nothing leaves.
OUTSIDE, INSIDE = "41.90.64.1", "127.0.0.1"
CLONE_NEWNET = 0x40000000
A, AAAA = 1, 28


class Names(threading.Thread):
    """A name server whose answer changes with every question: outside first, then inside, and so on."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((INSIDE, 53))
        self.asked = {}

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                question, client = self.socket.recvfrom(512)
                self.socket.sendto(self.answer(question), client)

    def answer(self, question):
        end = question.index(b"\0", 12) + 5
        name, kind = question[12 : end - 5], int.from_bytes(question[end - 4 : end - 2], "big")
        addresses = []
        if kind == A:
            nth = self.asked[name] = self.asked.get(name, 0) + 1
            addresses = [socket.inet_aton(OUTSIDE if nth % 2 else INSIDE)]
        # The other family leads inside whenever it is asked for, in disguise.
        if kind == AAAA:
            addresses = [socket.inet_pton(socket.AF_INET6, f"::ffff:{INSIDE}"), socket.inet_pton(socket.AF_INET6, "::1")]
        head = question[:2] + b"\x81\x80\0\x01" + len(addresses).to_bytes(2, "big") + bytes(4)
        records = (b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\x01" + bytes(4) + len(found).to_bytes(2, "big") + found for found in addresses)
        return head + question[12:end] + b"".join(records)

    def count(self, name):
        labels = name.split(".")
        return self.asked.get(b"".join(bytes([len(label)]) + label.encode() for label in labels), 0)


class Host(http.server.ThreadingHTTPServer):
    """Remembers who came, and sends them on where it has been told to."""

    def __init__(self, address=INSIDE, port=0, status=200, location=None):
        self.visits, self.status, self.location = [], status, location
        super().__init__((address, port), Visit)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *reason):
        # On a closed socket its loop would go round without a pause until the last test has ended.
        self.shutdown()
        super().__exit__(*reason)


class Visit(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.visits.append(self.path)
        # Whoever sends on does so with the status that the path names.
        self.send_response(int(self.path[1:]) if self.server.location else self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def own_network():
    """A network of this test's own, for whatever is started from here until its end."""
    libc, home = ctypes.CDLL(None), os.open("/proc/self/ns/net", os.O_RDONLY)
    assert libc.unshare(CLONE_NEWNET) == 0, "only root can make a network"
    try:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "addr", "add", f"{OUTSIDE}/32", "dev", "lo"], check=True)
        yield
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(home)


@pytest.fixture
def names(own_network):
    server = Names()
    server.start()
    yield server
    server.socket.close()


def results(service, batch_id):
    def over():
        batch = json.loads(service.ask("GET", f"/v1/batches/{batch_id}")[2])
        return batch if batch["status"] == "finished" else None

    until("the batch is finished", over, 180)
    lines = service.ask("GET", f"/v1/batches/{batch_id}/results")[2].splitlines()
    return [json.loads(line) for line in lines]


def order(service, *urls):
    status, _, body = service.ask("POST", "/v1/batches", {"operation": "transcription", "items": [{"url": url} for url in urls]})
    assert status == 201, body
    return json.loads(body)["batch_id"]


def test_a_name_that_changes_its_address_never_leads_inside(tmp_path, names):
    resolver = tmp_path / "resolv.conf"
    resolver.write_text(f"nameserver {INSIDE}\n")
    prefix = ["unshare", "--mount", "sh", "-c", f'mount --bind {resolver} /etc/resolv.conf && exec "$0" "$@"']
    with Host() as inside, Host(OUTSIDE, inside.server_port, status=500) as outside:
        hook, origin = f"http://hook.test:{inside.server_port}/hook", f"http://recording.test:{inside.server_port}"
        settings = {"payments.webhook_secret": SECRET, "batches.url_origins": origin}
        with Service(tmp_path, settings, prefix=prefix) as service:
            status, _, body = service.ask("POST", "/v1/webhooks", {"url": hook, "events": ["payment.received"]})
            assert status == 201, body
            workspace_id = json.loads((service.data / "demo.json").read_text())["workspace_id"]
            assert service.ask("POST", "/v1/payments/events", *payment(workspace_id, "one", SECRET))[0] == 200
            lines = results(service, order(service, f"{origin}/a.wav"))
            assert lines[0]["error"]["code"] == "recording_unreachable" and lines[0]["cost_micro"] == 0, lines

            def refused():
                told = json.loads(service.ask("GET", "/v1/webhooks")[2])["deliveries"][0]
                return told["attempts"] if "may not go to" in told["last_error"] else None

            attempts = until("the answer that leads inside is refused", refused)
    # One question when it is added and one for each attempt: what was checked is what is connected to. Every second one leads outside.
    assert (names.count("hook.test"), outside.visits.count("/hook")) == (1 + attempts, attempts // 2)
    assert (names.count("recording.test"), outside.visits.count("/a.wav")) == (5, 3)
    assert inside.visits == []


def test_a_host_of_recordings_that_sends_on_is_not_followed(tmp_path):
    statuses = [301, 302, 303, 307, 308]
    with Host() as inside, Host(location=f"http://{INSIDE}:{inside.server_port}/secret") as leading:
        origin = f"http://{INSIDE}:{leading.server_port}"
        with Service(tmp_path, {"batches.url_origins": origin, "batches.allow_private_addresses": "true"}) as service:
            lines = results(service, order(service, *(f"{origin}/{status}" for status in statuses)))
            for status, line in zip(statuses, lines):
                assert line["error"]["code"] == "recording_unreachable" and str(status) in line["error"]["message"], line
    assert {int(path[1:]) for path in leading.visits} == set(statuses) and inside.visits == []
