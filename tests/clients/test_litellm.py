"""litellm against a running server, with the defaults of its documentation's examples."""

import os

import litellm
import openai
import pytest

WHERE = {"api_base": os.environ["SAUTI_URL"] + "/v1", "api_key": os.environ["SAUTI_KEY"]}
SENTENCE = "Karibu sana. Habari za asubuhi?"


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    path = tmp_path_factory.mktemp("litellm") / "speech.mp3"
    litellm.speech(model="openai/tts-1", voice="alloy", input=SENTENCE, **WHERE).stream_to_file(path)
    return path


def test_speech_is_an_mp3_file(spoken):
    assert spoken.read_bytes().startswith((b"ID3", b"\xff"))


def test_what_was_spoken_is_understood(spoken):
    with spoken.open("rb") as file:
        assert "asubuhi" in litellm.transcription(model="openai/whisper-1", file=file, **WHERE).text.lower()


def test_more_can_be_asked_for(spoken):
    with spoken.open("rb") as file:
        transcript = litellm.transcription(
            model="openai/whisper-1", file=file, language="sw", prompt="Salamu.", temperature=0, response_format="verbose_json",
            timestamp_granularities=["word"], **WHERE,
        )
    assert any(word["word"] == "asubuhi" for word in transcript.words)


def test_a_wrong_key_is_an_authentication_error():
    with pytest.raises(openai.AuthenticationError):
        litellm.speech(model="openai/tts-1", voice="alloy", input="Habari.", api_base=WHERE["api_base"], api_key="sauti_live_wrong")
