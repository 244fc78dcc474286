"""Guessing passwords: many at once, with an own account in between, at addresses with and without an account."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from service import Service

GUESSES_MAX = 10


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("passwords"), {"server.trusted_proxies": "127.0.0.1/32"}) as running:
        yield running


@pytest.fixture(scope="module")
def demo(service):
    return json.loads((service.data / "demo.json").read_text())


def guess(service, client, email, password="si hii kabisa"):
    body = {"email": email, "password": password}
    return service.ask("POST", "/v1/account/session", body, {"X-Forwarded-For": client})[0]


def at_once(service, guesses):
    with ThreadPoolExecutor(40) as threads:
        return list(threads.map(lambda pair: guess(service, *pair), guesses))


def test_eighty_guesses_at_once_from_one_address_are_not_all_looked_at(service):
    answers = at_once(service, [("41.0.0.1", f"n{number}@example.com") for number in range(80)])
    assert answers.count(401) == GUESSES_MAX and answers.count(429) == 80 - GUESSES_MAX


def test_eighty_guesses_at_once_at_one_account_from_many_addresses_are_not_all_looked_at(service, demo):
    answers = at_once(service, [(f"41.1.0.{number}", demo["email"]) for number in range(80)])
    assert answers.count(401) == GUESSES_MAX and answers.count(429) == 80 - GUESSES_MAX


def test_an_address_without_an_account_runs_out_of_guesses_as_well(service):
    answers = [guess(service, f"41.2.0.{number}", "nobody@example.com") for number in range(GUESSES_MAX + 2)]
    assert answers == [401] * GUESSES_MAX + [429] * 2


def test_the_addresses_of_one_ipv6_network_are_one_guesser(service):
    answers = [guess(service, f"2001:db8::{number:x}", f"m{number}@example.com") for number in range(GUESSES_MAX + 2)]
    assert answers == [401] * GUESSES_MAX + [429] * 2
