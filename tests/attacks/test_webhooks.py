"""Webhook endpoints that hang, break off or lead elsewhere: nobody else's deliveries wait for them."""

import http.server
import json
import queue
import socket
import threading

import pytest
from service import Service, payment, until

SECRET = "a secret of the payment bridge"
HANGING = 20


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    settings = {"webhooks.allow_private_addresses": "true", "payments.webhook_secret": SECRET}
    with Service(tmp_path_factory.mktemp("webhooks"), settings) as running:
        yield running


@pytest.fixture
def silent():
    """Takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield listener


class Receiver(http.server.ThreadingHTTPServer):
    def __init__(self, location=None):
        self.taken = queue.Queue()
        self.location = location
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hook"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(302 if self.server.location else 200)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.taken.put(json.loads(body))

    do_GET = do_POST

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running
        running.shutdown()


def workspace(service, name):
    """Another tenant with a key of its own."""
    owner = json.loads(service.run("account", "list", "--json").stdout)[0]["id"]
    made = service.run("workspace", "create", name, "--owner", owner)
    assert made.returncode == 0, made.stderr
    workspace_id = json.loads(made.stdout)["workspace_id"]
    made = service.run("key", "create", workspace_id, "--permissions", "keys")
    assert made.returncode == 0, made.stderr
    return workspace_id, json.loads(made.stdout)["api_key"]


def ask(service, key, method, path, body=None):
    status, _, answer = service.ask(method, path, body, {"Authorization": f"Bearer {key}"})
    assert status in (200, 201), answer
    return json.loads(answer)


def pay(service, workspace_id, event_id):
    status, _, answer = service.ask("POST", "/v1/payments/events", *payment(workspace_id, event_id, SECRET))
    assert status == 200, answer


def hook(service, key, url):
    return ask(service, key, "POST", "/v1/webhooks", {"url": url})["webhook_id"]


def test_hanging_endpoints_of_one_tenant_delay_nobody_else(service, silent, receiver):
    attacker_id, attacker = workspace(service, "Mshambuliaji")
    victim_id, victim = workspace(service, "Jirani")
    for at in range(HANGING):
        hook(service, attacker, f"http://127.0.0.1:{silent.getsockname()[1]}/{at}")
    hook(service, victim, receiver.url)
    for at in range(10):
        pay(service, attacker_id, f"hang-{at}")
    # All two hundred are older than what follows, and some are in flight.
    silent.settimeout(30)
    taken = [silent.accept()]
    for at in range(20):
        pay(service, victim_id, f"prompt-{at}")
    for _ in range(20):
        assert receiver.taken.get(timeout=12)["workspace_id"] == victim_id
    pending = ask(service, attacker, "GET", "/v1/webhooks")["deliveries"]
    assert taken and not any(d["state"] == "delivered" for d in pending)


def test_an_endpoint_that_keeps_failing_is_paused_shown_and_tried_again(service):
    workspace_id, key = workspace(service, "Inayofeli")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    hook(service, key, url)
    for at in range(6):
        pay(service, workspace_id, f"refused-{at}")
    paused = until("a pause is shown", lambda: [h for h in ask(service, key, "GET", "/v1/webhooks")["webhooks"] if h["paused_until_us"]])
    assert paused[0]["failures"] >= 3
    listed = ask(service, key, "GET", "/v1/webhooks")["deliveries"]
    assert len(listed) == 6 and all(d["state"] == "pending" for d in listed), "nothing is lost"
    assert "sauti_webhook_attempts_total" in service.ask("GET", "/metrics")[2].decode()


def test_a_redirect_leads_nowhere(service, receiver):
    workspace_id, key = workspace(service, "Inayoelekeza")
    with Receiver(location=receiver.url) as leading:
        hook(service, key, leading.url)
        pay(service, workspace_id, "redirected")
        leading.taken.get(timeout=30)
        until("it is written down", lambda: ask(service, key, "GET", "/v1/webhooks")["deliveries"][0]["last_status"] == 302)
        leading.shutdown()
    assert receiver.taken.empty()
