"""Hostile SSML as long as it may be: read or refused at once, priced by what is said, and never a failure of ours."""

import json

import pytest
from service import Service

CHARS_MAX = 5_000
FREE_MICRO = 30_000


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("ssml")) as running:
        yield running


def full(unit, before="", after=""):
    """As often as there is room for."""
    room = CHARS_MAX - len(f"<speak>{before}{after}</speak>")
    return f"<speak>{before}{unit * (room // len(unit))}{after}</speak>"


TAKEN = {
    "breaks": full('<break time="10s"/>', "a"),
    "short breaks": full("<break/>a"),
    "aliases": full('<sub alias="9999999999999">a</sub>'),
    "telephones": full('<say-as interpret-as="telephone">0712345678</say-as>'),
    "slow marks": full("%", '<prosody rate="x-slow">', "</prosody>"),
    "slower than slow": full("habari ", '<prosody rate="50%">' * 30, "</prosody>" * 30),
    "directions": full("habari ", '<prosody pitch="+12st" volume="+12dB">' * 30, "</prosody>" * 30),
    "emphasis": full("<emphasis>a</emphasis>"),
    "marks without words": full("<mark name='a'/>", "", "a"),
    "entities": full("&amp;"),
    "tabs": full("&#9;", "", "a"),
    "comments": full("<!---->", "", "a"),
    "instructions": full("<?x?>", "", "a"),
    "elements": full("<s></s>", "", "a"),
    "marks": full("%"),
    "Roman numbers": full("MCMXCIX "),
}
REFUSED = {
    "directions beyond bounds": full("habari ", '<prosody pitch="+999st" volume="+999dB">', "</prosody>"),
    "a long alias": full("9", '<sub alias="', '">a</sub>'),
    "characters without end": full("9", '<say-as interpret-as="characters">', "</say-as>"),
    "a number without end": full("9", '<say-as interpret-as="cardinal">', "</say-as>"),
    "dates that are none": full('<say-as interpret-as="date" format="dmy">99/99/99999999</say-as>'),
    "phonemes without end": full("a", '<phoneme alphabet="ipa" ph="', '">x</phoneme>'),
    "depth": full("<p>"),
    "attributes": full('b="c" ', "<s ", ">x</s>"),
    "unknown entities": full("&a;"),
    "entities in entities": '<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "&b;&b;">]><speak>&b;</speak>',
    "a file": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><speak>&b;</speak>',
    "CDATA": full("<![CDATA[<a>]]>"),
    "angles": full("<"),
    "quotes": full("'", '<s b="'),
    "sums of money": full("$9,"),
    "nothing that is said": full("\u200d"),
    "a megabyte of elements": "<speak>" + "<s></s>" * 140_000 + "a</speak>",
    "sound from elsewhere": full('<audio src="http://127.0.0.1:1/a.wav"/>'),
}


def ask(service, path, text, **more):
    status, headers, body = service.ask("POST", path, {"text": text, "ssml": True, "voice_id": "asha", **more})
    assert status < 500, body
    return status, headers, body


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_costs_what_is_quoted(service, name):
    status, _, body = ask(service, "/v1/quotes", TAKEN[name], operation="speech")
    assert status == 200, body
    quoted = json.loads(body)["cost_micro"]
    # What is long is paid by its length; little of it is said here, for speaking it takes long.
    if quoted <= FREE_MICRO:
        status, headers, sound = ask(service, "/v1/audio/speech", TAKEN[name])
        assert (status, sound[:4]) == (200, b"RIFF")
        assert int(headers["sauti-cost"]) == quoted


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_everywhere_and_unpaid(service, name):
    before = service.balance()["available_micro"]
    for path, more in (("/v1/quotes", {"operation": "speech"}), ("/v1/audio/speech", {}), ("/v1/audio/speech", {"stream": "audio"})):
        status, _, body = ask(service, path, REFUSED[name], **more)
        assert status in (413, 422), (path, status, body[:300])
        assert b"root:" not in body
    assert service.balance()["available_micro"] == before
