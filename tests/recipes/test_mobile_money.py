"""A payment bridge and a USSD gateway call recipes/mobile-money."""

import hashlib
import hmac
import importlib.util
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

RECIPE = Path(__file__).resolve().parents[2] / "recipes/mobile-money/notices.py"
PAYMENT = {"receipt": "QK12AB34", "phone": "+254700000001", "name": "Wanjiku", "amount": 2500, "balance": 13450, "paid_at": "12/10/2026"}


@pytest.fixture
def notices(started, tmp_path):
    address, _ = started("mobile-money/notices.py", "--out", tmp_path / "notices", env={"BRIDGE_SECRET": "bridge"})
    return address


def post(address, body, headers=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers or {}), timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def pay(address, payment, secret="bridge"):
    body = json.dumps(payment).encode()
    return post(f"{address}/payments", body, {"X-Signature": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()})


def dial(address, text, phone="+254700000001"):
    return post(f"{address}/ussd", urllib.parse.urlencode({"sessionId": "s1", "phoneNumber": phone, "text": text}).encode())[1]


def test_a_payment_is_told_once_and_can_be_heard(notices, tmp_path, sauti):
    status, answer = pay(notices, PAYMENT)
    assert (status, json.loads(answer)) == (200, {"file": "QK12AB34.ulaw"})
    sound = (tmp_path / "notices/QK12AB34.ulaw").read_bytes()
    heard = sauti.transcribe(sound, content_type="audio/basic", numerals="digits").text
    assert "2,500" in heard and "13,450" in heard, heard
    before = sauti.balance().available_micro
    assert pay(notices, PAYMENT)[0] == 200
    # Even after the file is lost: the service gives the same answer again, and takes nothing for it.
    (tmp_path / "notices/QK12AB34.ulaw").unlink()
    assert pay(notices, PAYMENT)[0] == 200
    assert (tmp_path / "notices/QK12AB34.ulaw").read_bytes() == sound
    assert sauti.balance().available_micro == before


def test_the_menu_offers_the_latest_receipt(notices):
    assert dial(notices, "").startswith("CON ")
    assert dial(notices, "1", "+254711111111") == "END Hakuna risiti."
    pay(notices, PAYMENT)
    assert "QK12AB34" in dial(notices, "1")
    pay(notices, {**PAYMENT, "receipt": "QK99", "phone": "0700000001"})
    assert "QK99" in dial(notices, "1")
    assert dial(notices, "2").startswith("END ")


@pytest.mark.parametrize("change", [
    {"receipt": "../../etc/passwd"}, {"amount": -1}, {"amount": 2.5}, {"name": ""}, {"phone": "x"}, {"name": "\u4f60\u597d"},
])
def test_a_wrong_payment_is_refused(notices, tmp_path, change):
    assert pay(notices, {**PAYMENT, **change})[0] == 400
    assert list((tmp_path / "notices").iterdir()) == []


def test_an_unsigned_payment_is_refused(notices):
    assert pay(notices, PAYMENT, secret="guess")[0] == 401
    assert post(f"{notices}/payments", b"{}", {"X-Signature": "\u00e9"})[0] == 401


def test_what_is_no_payment_is_refused(notices):
    assert pay(notices, []) == (400, "a payment is an object")


@pytest.mark.parametrize("paid_at, told", [
    ("12/10/2026", "12/10/2026"),
    ("12/10/2026 14:30", "12/10/2026 14:30"),
    ("2026-10-12", "12/10/2026"),
    ("20261012143000", "12/10/2026 14:30"),
    ("2026-10-12T14:30:00", "12/10/2026 14:30"),
    ("2026-10-12T14:30:00+03:00", "12/10/2026 14:30"),
    ("2026-10-12T22:30:00Z", "13/10/2026 01:30"),
    ("2026-10-12T14:30:00.250+02:00", "12/10/2026 15:30"),
])
def test_the_time_of_a_payment_is_told_day_first_in_local_time(paid_at, told):
    assert load_recipe().when(paid_at) == told


@pytest.mark.parametrize("paid_at", ["jana", "10/31/2026", "2026-13-01", "20261312143000", "14:30"])
def test_a_time_that_cannot_be_understood_is_refused(notices, paid_at):
    status, answer = pay(notices, {**PAYMENT, "paid_at": paid_at})
    assert status == 400 and "2026-10-12T14:30:00+03:00" in answer


def load_recipe():
    spec = importlib.util.spec_from_file_location("notices", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
