"""The official `openai` Python client, unchanged, against a running server. Runs with each major version of it."""

import io
import os
import wave

import openai
import pytest

SENTENCE = "Karibu sana. Habari za asubuhi?"


@pytest.fixture(scope="module")
def client():
    return make_client(os.environ["SAUTI_KEY"])


def make_client(key):
    return openai.OpenAI(base_url=os.environ["SAUTI_URL"] + "/v1", api_key=key, max_retries=0, timeout=120)


def wav_seconds(data):
    with wave.open(io.BytesIO(data)) as file:
        return file.getnframes() / file.getframerate()


@pytest.fixture(scope="module")
def spoken(client):
    """The sentence as a WAV file."""
    return client.audio.speech.create(model="sauti", voice="asha", input=SENTENCE, response_format="wav").read()


def test_speech_is_a_wav_file_of_a_sensible_length(spoken):
    assert spoken[:4] == b"RIFF"
    assert 1 < wav_seconds(spoken) < 8


@pytest.mark.parametrize(
    ("response_format", "magic"),
    [("mp3", (b"ID3", b"\xff")), ("opus", (b"OggS",)), ("flac", (b"fLaC",)), ("wav", (b"RIFF",))],
)
def test_every_format_name_of_the_client_works(client, response_format, magic):
    answer = client.audio.speech.create(model="tts-1", voice="juma", input="Habari.", response_format=response_format)
    assert answer.read().startswith(magic)


def test_raw_samples_are_whole_and_not_silent(client):
    samples = client.audio.speech.create(model="tts-1", voice="juma", input="Habari.", response_format="pcm").read()
    assert len(samples) % 2 == 0
    peak = max(abs(int.from_bytes(samples[at : at + 2], "little", signed=True)) for at in range(0, len(samples), 2))
    assert peak > 1000


def test_speech_streams_to_a_file(client, tmp_path):
    path = tmp_path / "speech.wav"
    request = client.audio.speech.with_streaming_response.create(
        model="sauti", voice="zuri", input=SENTENCE, response_format="wav"
    )
    with request as answer:
        answer.stream_to_file(path)
    assert path.stat().st_size > 20_000


def test_speed_changes_the_length(client, spoken):
    fast = client.audio.speech.create(model="sauti", voice="asha", input=SENTENCE, response_format="wav", speed=2.0)
    assert wav_seconds(fast.read()) < 0.75 * wav_seconds(spoken)


@pytest.mark.parametrize(
    ("voice", "sentence", "words"),
    [
        ("asha", "Karibu sana. Habari za asubuhi?", {"karibu", "habari", "asubuhi"}),
        ("juma", "Mtoto anasoma kitabu shuleni.", {"mtoto", "anasoma", "kitabu"}),
        ("zuri", "Bei ya mahindi imepanda sokoni.", {"bei", "mahindi", "sokoni"}),
    ],
)
def test_what_was_spoken_is_understood(client, voice, sentence, words):
    spoken = client.audio.speech.create(model="sauti", voice=voice, input=sentence, response_format="wav").read()
    heard = client.audio.transcriptions.create(model="whisper-1", file=("spoken.wav", spoken)).text.lower()
    # Several sentences, so that no fixed answer can pass; one word of three may be misheard.
    assert sum(word in heard for word in words) >= 2, heard


def test_a_verbose_transcript_has_words_with_times(client, spoken):
    transcript = client.audio.transcriptions.create(
        model="whisper-1", file=("karibu.wav", spoken), response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    assert transcript.segments and transcript.words
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert transcript.words[-1].end <= wav_seconds(spoken) + 0.1


@pytest.mark.parametrize(("response_format", "mark"), [("text", "habari"), ("srt", "-->"), ("vtt", "webvtt")])
def test_plain_transcripts_come_as_text(client, spoken, response_format, mark):
    transcript = client.audio.transcriptions.create(
        model="whisper-1", file=("karibu.wav", spoken), response_format=response_format
    )
    assert mark in str(transcript).lower()


def test_a_transcript_streams(client, spoken):
    events = list(client.audio.transcriptions.create(model="whisper-1", file=("karibu.wav", spoken), stream=True))
    assert events[-1].type == "transcript.text.done"
    assert "habari" in events[-1].text.lower()
    assert all(event.type == "transcript.text.delta" for event in events[:-1])


def test_an_example_of_its_documentation_is_answered_with_an_mp3_file(client):
    answer = client.audio.speech.with_raw_response.create(model="tts-1", voice="alloy", input="Habari za asubuhi.")
    assert answer.headers["content-type"] == "audio/mpeg"
    assert answer.headers["sauti-voice"] in {"asha", "zuri", "juma", "baraka"}
    assert answer.content.startswith((b"ID3", b"\xff"))


def test_what_a_transcript_can_be_asked_for_is_understood(client, spoken):
    transcript = client.audio.transcriptions.create(
        model="gpt-4o-transcribe", file=("karibu.wav", spoken), language="sw", temperature=0, prompt="Salamu kwa wageni.",
        chunking_strategy={"type": "server_vad", "silence_duration_ms": 300}, include=["logprobs"],
    )
    assert "asubuhi" in transcript.text.lower()
    tokens = [each.token for each in transcript.logprobs]
    assert "habari" in " ".join(tokens).lower()
    assert all(each.logprob <= 0 for each in transcript.logprobs)


def test_languages_and_keywords_are_understood(client, spoken):
    more = {"languages": ["sw", "en"], "keywords": ["Wanjiku"], "chunking_strategy": "auto"}
    transcript = client.audio.transcriptions.create(model="gpt-transcribe", file=("karibu.wav", spoken), extra_body=more)
    assert "asubuhi" in transcript.text.lower()


def test_models_are_listed(client):
    assert len(list(client.models.list())) >= 1


def test_every_voice_of_the_list_speaks(client):
    voices = client.get("/voices", cast_to=object)["voices"]
    assert {"asha", "zuri", "juma", "baraka"} <= {voice["voice_id"] for voice in voices}
    for voice in voices:
        answer = client.audio.speech.create(model="sauti", voice=voice["voice_id"], input="Ndiyo.", response_format="wav")
        assert wav_seconds(answer.read()) > 0.2


def test_a_wrong_key_is_an_authentication_error():
    with pytest.raises(openai.AuthenticationError) as caught:
        make_client("sauti_live_wrong_key").audio.speech.create(model="sauti", voice="asha", input="Habari.")
    assert caught.value.status_code == 401
    assert caught.value.code and caught.value.request_id


def test_an_unknown_voice_is_answered_with_the_voices_there_are(client):
    with pytest.raises(openai.APIStatusError) as caught:
        client.audio.speech.create(model="sauti", voice="nobody", input="Habari.")
    assert caught.value.status_code == 422
    assert "asha" in caught.value.message


def test_an_empty_text_is_refused(client):
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        client.audio.speech.create(model="sauti", voice="asha", input="   ")
    assert caught.value.param in ("text", "input")


def test_a_file_that_is_no_recording_is_refused(client):
    with pytest.raises(openai.APIStatusError) as caught:
        client.audio.transcriptions.create(model="whisper-1", file=("letter.wav", b"Dear reader, this is no sound."))
    assert caught.value.status_code in (415, 422)
