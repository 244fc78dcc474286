"""Every method against the real server."""

import io
import os
import wave

import pytest

import sauti


def test_speech_is_a_wav_file_with_its_price(spoken, tmp_path):
    assert spoken.content_type == "audio/wav"
    assert spoken.charge.units == 31
    assert spoken.charge.cost_micro > 0 and spoken.charge.currency == "KES"
    assert spoken.charge.request_id.startswith("req_")
    spoken.save(tmp_path / "habari.wav")
    with wave.open(str(tmp_path / "habari.wav")) as file:
        assert file.getnframes() > file.getframerate()


def test_the_same_idempotency_key_is_charged_once(client):
    first = client.speak("Asante kwa kupiga simu.", "juma", idempotency_key="client-test-1")
    before = client.balance().available_micro
    again = client.speak("Asante kwa kupiga simu.", "juma", idempotency_key="client-test-1")
    assert again.audio == first.audio and again.charge.replayed
    assert client.balance().available_micro == before


def test_words_come_with_their_times(client):
    timed = client.speak_timed("Bei ni Ksh 200.", "zuri")
    assert [word.word for word in timed.words][:2] == ["Bei", "ni"]
    assert "mbili" in timed.normalised_text
    assert timed.words[-1].end <= timed.seconds + 0.1
    assert timed.audio.startswith(b"RIFF")


def test_marks_come_with_their_times_and_the_volume_is_followed(client):
    text = '<speak><mark name="mwanzo"/>Bei ni <mark name="bei"/>Ksh 200.<mark name="mwisho"/></speak>'
    timed = client.speak_timed(text, "zuri")
    assert [mark.name for mark in timed.marks] == ["mwanzo", "bei", "mwisho"]
    assert [mark.time for mark in timed.marks] == [timed.words[0].start, timed.words[2].start, timed.seconds]
    soft = client.speak(text, "zuri", pitch=2, volume=-12)
    assert not soft.charge.cached
    assert len(soft.audio) > 24_000 and soft.audio != timed.audio
    told = [mark for piece in client.speak_events(text, "zuri") for mark in piece.marks]
    assert told == list(timed.marks)


def test_sound_streams_in_pieces(client):
    text = "Karibu katika huduma kwa wateja, " * 4 + "asante."
    pieces = list(client.speak_stream(text, "baraka"))
    assert len(pieces) > 1
    assert sum(map(len, pieces)) > 24_000 * 2 * 4


def test_events_carry_the_same_sound_and_all_words(client):
    pieces = list(client.speak_events("Habari za jioni.", "asha"))
    assert [word.word.lower() for piece in pieces for word in piece.words] == ["habari", "za", "jioni"]
    assert sum(len(piece.audio) for piece in pieces) > 24_000


def test_a_recording_is_transcribed_from_bytes_path_and_file(client, spoken, tmp_path):
    path = tmp_path / "habari.wav"
    spoken.save(path)
    with path.open("rb") as file:
        heard = [client.transcribe(spoken.audio, words=True), client.transcribe(path, words=True), client.transcribe(file, words=True)]
    assert len({transcript.text for transcript in heard}) == 1
    assert "asubuhi" in heard[0].text.lower()
    assert any(word.word == "karibu" for word in heard[0].words)
    assert heard[0].segments[0].end > heard[0].segments[0].start
    assert not heard[0].no_speech and heard[0].charge.cost_micro > 0


def test_numbers_come_as_digits_on_request(client):
    spoken = client.speak("Lipa shilingi elfu mbili mia tano.", "asha")
    assert "2,500" in client.transcribe(spoken.audio, numerals="digits").text


def test_only_the_choices_can_be_heard(client):
    spoken = client.speak("Mizigo.", "juma")
    heard = client.transcribe(spoken.audio, choices=["salio", "mizigo", "mhudumu"])
    assert heard.text.lower().strip(".") == "mizigo"


def test_an_expected_answer_is_one_plain_value_at_once_in_a_stream_and_live(client):
    spoken = client.speak("Shilingi elfu mbili mia tano.", "asha")
    heard = client.transcribe(spoken.audio, expect="amount")
    assert (heard.answer, heard.currency, heard.not_understood) == (2500, "shilingi", False)
    assert heard.confidence > 0.5
    last = list(client.transcribe_stream(spoken.audio, expect="amount"))[-1]
    assert (last.answer, last.currency, last.not_understood) == (2500, "shilingi", False)
    assert last.seconds > 0 and last.cost_micro > 0 and last.balance_micro > 0
    assert live_events(client, spoken, expect="amount")[-1].answer == 2500
    assert client.transcribe(spoken.audio).answer is None


def test_the_language_that_is_told_is_the_one_that_is_heard(client):
    spoken = client.speak("Shilingi elfu mbili mia tano.", "asha")
    assert client.transcribe(spoken.audio, expect="amount", language="sw").answer == 2500
    assert client.transcribe(spoken.audio, expect="amount", language="en").not_understood
    assert list(client.transcribe_stream(spoken.audio, expect="amount", language="en"))[-1].not_understood
    heard = live_events(client, spoken, expect="amount", language="en", prompt="malipo", alternatives=2)
    assert any(isinstance(event, sauti.NotUnderstood) for event in heard) and heard[-1].not_understood


def test_a_choice_with_a_comma_is_one_choice_live_and_a_long_piece_of_sound_is_sent_in_parts(client):
    spoken = client.speak("Shilingi elfu moja.", "asha")
    assert live_events(client, spoken, choices=["KSh 1,000", "KSh 500"])[-1].answer == "KSh 1,000"
    with client.live(24_000) as live:
        live.send(spoken.audio[44:] + bytes(300_000))
        live.finish()
        assert "elfu" in list(live)[-1].text.lower()
        assert list(live) == [], "and whoever asks again does not wait for ever"


def test_speech_that_was_not_expected_is_told_apart_from_silence_live_too(client):
    spoken = client.speak("Mvua kubwa imenyesha jijini Nairobi usiku wa kuamkia leo.", "asha")
    assert client.transcribe(spoken.audio, expect="yes_no").not_understood
    heard = live_events(client, spoken, expect="yes_no")
    assert any(isinstance(event, sauti.NotUnderstood) for event in heard)
    assert heard[-1].is_last and heard[-1].not_understood and heard[-1].answer is None


def live_events(client, spoken, **more):
    with wave.open(io.BytesIO(spoken.audio)) as file:
        rate_hz, samples = file.getframerate(), file.readframes(file.getnframes())
    with client.live(rate_hz, **more) as live:
        for start in range(0, len(samples), rate_hz // 5):
            live.send(samples[start : start + rate_hz // 5])
        live.finish()
        return list(live)


def test_silence_has_no_words(client):
    silence = io.BytesIO()
    with wave.open(silence, "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(64_000))
    heard = client.transcribe(silence.getvalue())
    assert heard.no_speech and heard.text == ""


@pytest.mark.parametrize(("kind", "mark"), [("srt", "1\n00:00:00,"), ("vtt", "WEBVTT")])
def test_subtitles(client, spoken, kind, mark):
    assert client.subtitles(spoken.audio, kind).startswith(mark)


def test_a_transcript_streams(client, spoken):
    pieces = list(client.transcribe_stream(spoken.audio))
    assert pieces[-1].is_last and "karibu" in pieces[-1].text.lower()
    assert not any(piece.is_last for piece in pieces[:-1]) and len(pieces) > 1


def test_live_speech_is_heard_while_it_runs(client, spoken):
    heard = live_events(client, spoken)
    assert any(isinstance(event, sauti.Partial) for event in heard)
    assert heard[-1].is_last and "asubuhi" in heard[-1].text.lower()
    assert heard[-1].cost_micro > 0
    finals = [event for event in heard if isinstance(event, sauti.Final) and not event.is_last]
    assert finals[0].segment.words


def test_a_live_connection_with_a_wrong_key_is_refused():
    with pytest.raises(sauti.AuthenticationError):
        sauti.Sauti(os.environ["SAUTI_URL"], "sauti_live_wrong").live()


def test_voices_limits_quotes_balance_and_usage(client, spoken):
    assert {"asha", "juma"} <= {voice.voice_id for voice in client.voices()}
    assert client.limits().text_characters_max == 5000
    quote = client.quote(text="Habari za asubuhi. Karibu sana.")
    assert quote.covered and quote.units == 31
    assert client.quote(audio_seconds=60).operation == "transcription"
    assert client.balance().available_micro > 0
    assert sum(day.amount_micro for day in client.usage() if day.operation == "speech") > 0


def test_refusals_are_typed(client):
    with pytest.raises(sauti.InvalidRequest) as caught:
        client.speak("Habari.", "nobody")
    assert caught.value.code == "validation_failed" and caught.value.errors[0]["field"] == "voice_id"
    assert caught.value.request_id.startswith("req_")
    with pytest.raises(sauti.UnsupportedMedia):
        client.transcribe(b"Dear reader, this is no sound.")
    with pytest.raises(sauti.AuthenticationError) as caught:
        sauti.Sauti(os.environ["SAUTI_URL"], "sauti_live_wrong").balance()
    assert caught.value.status == 401


def test_refusals_are_told_in_swahili_on_request(client):
    swahili = sauti.Sauti(os.environ["SAUTI_URL"], os.environ["SAUTI_KEY"], language="sw")
    details = []
    for each in (client, swahili):
        with pytest.raises(sauti.InvalidRequest) as caught:
            each.speak("  ", "asha")
        details.append(caught.value.detail)
    assert details[0] != details[1]
