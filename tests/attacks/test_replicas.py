"""Two replicas on one PostgreSQL: whoever goes from one to the other gets no more than from one."""

import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from live import Live, Refused
from postgres import Postgres
from service import Service, payment, until
from test_links import new_link, reset, sign_in
from test_passwords import GUESSES_MAX, guess
from test_webhooks import HANGING, SECRET, Receiver, ask, hook, pay, workspace

SENTENCE = "Karibu sana. Leo ni siku njema ya kusema Kiswahili."


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replicas")
    postgres = Postgres(folder / "postgres")
    postgres.start()
    settings = {
        "database.url": postgres.url,
        "server.trusted_proxies": "127.0.0.1/32",
        "payments.webhook_secret": SECRET,
        "webhooks.allow_private_addresses": "true",
        "limits.live_sessions_per_workspace_max": "2",
        "cache.bytes_max": "0",
    }
    try:
        (folder / "a").mkdir()
        (folder / "b" / "data").mkdir(parents=True)
        with Service(folder / "a", settings) as first:
            # The demonstration's account is in the database already; its key lies in the folder.
            shutil.copy(first.data / "demo.json", folder / "b" / "data")
            with Service(folder / "b", settings) as second:
                yield first, second
    finally:
        postgres.stop()


def at_once(replicas, work, count=40):
    """Does it so often, at the same time, on one replica and the other in turn."""
    with ThreadPoolExecutor(20) as threads:
        return list(threads.map(lambda number: work(replicas[number % 2], number), range(count)))


def test_guesses_at_an_account_are_counted_together(replicas):
    email = json.loads((replicas[0].data / "demo.json").read_text())["email"]
    answers = at_once(replicas, lambda service, number: guess(service, f"41.3.0.{number}", email))
    assert answers.count(401) == GUESSES_MAX and answers.count(429) == 40 - GUESSES_MAX


def test_guesses_of_an_address_are_counted_by_each_replica(replicas):
    """Said so in docs/SECURITY.md: the count of an address costs no query, and is each process's own."""
    answers = at_once(replicas, lambda service, number: guess(service, "41.4.0.1", f"r{number}@example.com"))
    assert answers.count(401) == 2 * GUESSES_MAX and answers.count(429) == 40 - 2 * GUESSES_MAX


def test_a_link_works_once_on_either(replicas):
    token = new_link(replicas[0])
    answers = at_once(replicas, lambda service, number: reset(service, token, f"nenosiri la mtu wa {number}"), 8)
    assert answers.count(204) == 1, answers
    # A new password begins the count of guesses anew.
    assert sum(sign_in(replicas[1], f"nenosiri la mtu wa {number}") == 200 for number in range(8)) == 1


def test_a_payment_sent_to_both_is_booked_and_told_once(replicas):
    workspace_id, key = workspace(replicas[0], "Malipo")
    with Receiver() as receiver:
        hook(replicas[0], key, receiver.url)
        body, headers = payment(workspace_id, "twice", SECRET)
        answers = at_once(replicas, lambda service, _: json.loads(service.ask("POST", "/v1/payments/events", body, headers)[2])["status"], 20)
        assert answers.count("applied") == 1 and answers.count("duplicate") == 19
        receiver.taken.get(timeout=30)
        delivered = until("it is written down", lambda: [d for d in ask(replicas[1], key, "GET", "/v1/webhooks")["deliveries"] if d["state"] == "delivered"])
        assert len(delivered) == 1 and receiver.taken.empty()
        receiver.shutdown()


def test_a_family_of_keys_spends_its_cap_once(replicas):
    first, second = replicas
    cap = 300_000
    made = ask(first, first.key, "POST", "/v1/keys", {"name": "mzazi", "permissions": ["speech", "keys"], "spend_cap_micro": cap})
    child = ask(second, made["api_key"], "POST", "/v1/keys", {"name": "mtoto", "permissions": ["speech"]})

    def speak(service, number):
        key = (made, child)[number // 2 % 2]["api_key"]
        status, headers, body = service.ask("POST", "/v1/audio/speech", {"text": f"Habari {number}.", "voice_id": "asha"}, {"Authorization": f"Bearer {key}"})
        return int(headers["sauti-cost"]) if status == 200 else json.loads(body)["code"]

    answers = at_once(replicas, speak, 24)
    costs = [answer for answer in answers if isinstance(answer, int)]
    assert costs and "spend_cap_reached" in answers, answers
    assert sum(costs) <= cap, answers


def test_a_key_revoked_at_one_loses_its_session_at_the_other(replicas):
    first, second = replicas
    key = ask(first, first.key, "POST", "/v1/keys", {"name": "ya muda", "permissions": ["transcription", "voices"]})
    header = {"Authorization": f"Bearer {key['api_key']}"}
    live = Live(second, key=key["api_key"])
    assert second.ask("GET", "/v1/voices", None, header)[0] == 200
    assert first.ask("DELETE", f"/v1/keys/{key['key_id']}")[0] == 204
    assert live.until("error")["code"] == "key_revoked"
    live.hang_up()
    until("the other has heard of it", lambda: second.ask("GET", "/v1/voices", None, header)[0] == 401, 5)
    assert first.ask("GET", "/v1/voices", None, header)[0] == 401


def test_each_replica_has_its_own_seats_for_live_sessions(replicas):
    held = [Live(service) for service in replicas for _ in range(2)]
    for service in replicas:
        with pytest.raises(Refused, match="429"):
            Live(service)
    for live in held:
        live.hang_up()
    for service in replicas:
        service.nothing_held()


def test_hanging_endpoints_delay_nobody_else_on_two(replicas):
    attacker_id, attacker = workspace(replicas[0], "Mshambuliaji")
    victim_id, victim = workspace(replicas[0], "Jirani")
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent, Receiver() as receiver:
        for at in range(HANGING):
            hook(replicas[0], attacker, f"http://127.0.0.1:{silent.getsockname()[1]}/{at}")
        hook(replicas[1], victim, receiver.url)
        for at in range(10):
            pay(replicas[at % 2], attacker_id, f"hang-{at}")
        silent.settimeout(30)
        taken = [silent.accept()]
        for at in range(20):
            pay(replicas[at % 2], victim_id, f"prompt-{at}")
        told = [receiver.taken.get(timeout=12) for _ in range(20)]
        assert all(event["workspace_id"] == victim_id for event in told)
        assert len({event["data"]["receipt"] for event in told}) == 20, "told twice"
        receiver.shutdown()
    assert taken


def test_the_books_add_up(replicas):
    replicas[0].nothing_held()
    replicas[0].books()
