import os

import pytest

import sauti


@pytest.fixture(scope="module")
def client():
    """Against a running server: SAUTI_URL and SAUTI_KEY."""
    with sauti.Sauti(os.environ["SAUTI_URL"], os.environ["SAUTI_KEY"]) as connected:
        yield connected


@pytest.fixture(scope="module")
def spoken(client):
    return client.speak("Habari za asubuhi. Karibu sana.", "asha")
