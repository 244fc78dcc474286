"""The contract's own two operations with nothing but Python's standard library, as its examples do."""

import io
import json
import os
import urllib.error
import urllib.request
import uuid
import wave

import pytest

URL, KEY = os.environ["SAUTI_URL"], os.environ["SAUTI_KEY"]


def call(path, body=None, content_type="application/json", key=KEY, method=None):
    headers = {"Content-Type": content_type} if body is not None else {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(URL + path, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def speak(text, voice_id="asha", **more):
    return call("/v1/audio/speech", json.dumps({"text": text, "voice_id": voice_id, **more}).encode())


def transcribe(recording, name="recording.wav", **fields):
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts.append(head.encode() + b"Content-Type: audio/wav\r\n\r\n" + recording + b"\r\n")
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    return call("/v1/audio/transcriptions", body, f"multipart/form-data; boundary={boundary}")


def test_speech_is_a_wav_file_with_exact_sizes():
    status, headers, body = speak("Karibu katika huduma yetu.")
    assert status == 200
    assert headers.get_content_type() in ("audio/wav", "audio/x-wav")
    assert int(headers["Content-Length"]) == len(body)
    assert int.from_bytes(body[4:8], "little") == len(body) - 8
    with wave.open(io.BytesIO(body)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        assert file.getnframes() > 24_000


def test_a_billed_answer_says_what_it_cost():
    _, headers, _ = speak("Asante sana.")
    for name in ("Sauti-Units", "Sauti-Cost", "Sauti-Balance", "X-Request-Id"):
        assert headers[name], name


def test_a_transcript_is_an_object_with_text():
    _, _, recording = speak("Bei ni shilingi elfu mbili.")
    status, headers, body = transcribe(recording)
    assert status == 200
    assert headers.get_content_type() == "application/json"
    assert "shilingi" in json.loads(body)["text"].lower()


def test_silence_gives_an_empty_text():
    silence = io.BytesIO()
    with wave.open(silence, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(2 * 16_000 * 3))
    status, _, body = transcribe(silence.getvalue())
    assert (status, json.loads(body)["text"]) == (200, "")


@pytest.mark.parametrize("key", [None, "nonsense", "sauti_live_abc_def"])
def test_a_missing_or_unknown_key_is_401(key):
    status, headers, body = call("/v1/audio/speech", b'{"text":"Habari","voice_id":"asha"}', key=key)
    assert status == 401
    assert headers["WWW-Authenticate"].startswith("Bearer")
    assert_problem(headers, body, 401)


@pytest.mark.parametrize(
    ("path", "body", "method", "expected"),
    [
        ("/v1/audio/speech", b"{", None, 400),
        ("/v1/audio/speech", b"[]", None, 422),
        ("/v1/audio/speech", b'{"voice_id":"asha"}', None, 422),
        ("/v1/audio/speech", None, "GET", 405),
        ("/v1/nothing/here", None, "GET", 404),
    ],
)
def test_every_refusal_has_one_shape(path, body, method, expected):
    status, headers, answer = call(path, body, method=method)
    assert status == expected or (expected == 422 and status == 400)
    assert_problem(headers, answer, status)


def assert_problem(headers, body, status):
    assert headers.get_content_type() == "application/problem+json"
    problem = json.loads(body)
    assert problem["status"] == status
    for field in ("type", "title", "detail", "code", "request_id"):
        assert problem[field], field
    assert problem["error"]["message"]


def test_errors_are_told_in_swahili_on_request():
    request = urllib.request.Request(URL + "/v1/nothing", headers={"Accept-Language": "sw", "Authorization": f"Bearer {KEY}"})
    english = json.loads(call("/v1/nothing")[2])["detail"]
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=30)
    assert json.loads(caught.value.read())["detail"] != english
