"""Links in letters: each works once, however many use it at the same moment, and an older one not at all."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from service import Service, until

RESET = "/v1/account/password-reset"


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path, {"server.trusted_proxies": "127.0.0.1/32", "limits.sign_in_failures_max": "1000"}) as running:
        yield running


def demo(service):
    return json.loads((service.data / "demo.json").read_text())


def tokens(service):
    letters = [path.read_text() for path in sorted((service.data / "outbox").glob("*.eml"))]
    return [found for letter in letters for found in re.findall(r"/console/reset\?token=(\w+)", letter)]


def new_link(service):
    before = tokens(service)
    assert service.ask("POST", RESET, {"email": demo(service)["email"]})[0] == 202
    found = until("the letter is there", lambda: [token for token in tokens(service) if token not in before])
    return found[0]


def reset(service, token, password):
    return service.ask("PUT", RESET, {"token": token, "password": password})[0]


def sign_in(service, password):
    return service.ask("POST", "/v1/account/session", {"email": demo(service)["email"], "password": password})[0]


def test_of_many_who_use_a_link_at_once_one_gets_in(service):
    token = new_link(service)
    passwords = [f"nenosiri la mtu wa {number}" for number in range(20)]
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(lambda password: reset(service, token, password), passwords))
    assert answers.count(204) == 1 and set(answers) <= {204, 404, 422, 429, 503}, answers
    assert [sign_in(service, password) for password in passwords].count(200) == 1
    assert reset(service, token, "mara ya pili kabisa") not in (200, 204)


def test_a_newer_link_ends_the_older_one(service):
    older, newer = new_link(service), new_link(service)
    assert reset(service, older, "nenosiri la zamani") not in (200, 204)
    assert reset(service, newer, "nenosiri jipya kabisa") == 204
    assert sign_in(service, "nenosiri jipya kabisa") == 200


def test_a_link_is_good_for_its_purpose_only(service):
    token = new_link(service)
    assert service.ask("POST", "/v1/account/confirm", {"token": token})[0] not in (200, 204)
    assert service.ask("POST", "/v1/invitations", {"token": token})[0] not in (200, 204)
    assert reset(service, token, "nenosiri jipya kabisa") == 204
