use super::*;

#[test]
fn a_list_grows_and_a_single_field_comes_once() {
    let mut fields = TranscriptionFields::default();
    assert!(fields.set("keyterms[]", vec!["M-Pesa".into()]));
    assert!(fields.set("keyterms", vec!["  Wanjiku   wa Juma ".into()]));
    assert!(fields.set("numerals", vec!["digits".into()]));
    assert!(!fields.set("model", vec!["whisper-1".into()]));
    let request = fields.check().unwrap();
    assert_eq!(request.keyterms, ["M-Pesa", "Wanjiku wa Juma"]);
    assert!(request.digits);

    assert!(fields.set("numerals", vec!["words".into()]));
    assert!(fields.set("language", vec!["sw".into(), "en".into()]));
    let twice = |field| FieldError::new(field, Reason::TooMany { max: 1 });
    let errors = fields.check().unwrap_err();
    assert_eq!(errors, [twice("numerals"), twice("language")]);
}

#[test]
fn an_item_of_a_batch_is_read_as_it_came() {
    let item = serde_json::json!({"keyterms": ["M-Pesa"], "choices[]": "ndiyo", "numerals": "digits",
        "stream": false, "expect": null, "url": "https://example.com/a.wav"});
    let fields = TranscriptionFields::of_json(item.as_object().unwrap());
    let request = fields.check().unwrap();
    assert_eq!(request.keyterms, ["M-Pesa"]);
    assert_eq!(request.expect, Expect::Choices(vec!["ndiyo".into()]));
    assert!(request.digits && !request.stream);
}

#[test]
fn a_choice_that_cannot_be_heard_is_named() {
    let figures = "9".repeat(90);
    for (choice, is_refused) in [("Namba 5", false), ("!?", true), (&*figures, true)] {
        let mut fields = TranscriptionFields::default();
        fields.set("choices[]", vec!["Salio".into(), choice.into()]);
        let refused = fields.check().err().unwrap_or_default();
        let expected = is_refused.then(|| nothing_to_hear(choice));
        assert_eq!(refused, Vec::from_iter(expected));
    }
}

#[test]
fn an_answer_that_is_expected_without_a_value_is_refused() {
    let check = |name: &str, values: &[&str]| {
        let mut fields = TranscriptionFields::default();
        fields.set(name, values.iter().map(|value| (*value).into()).collect());
        fields.check()
    };
    for (name, values) in [("choices[]", &["", " "][..]), ("expect", &[" "])] {
        let empty = FieldError::new(name, Reason::Empty);
        assert_eq!(check(name, values).unwrap_err(), [empty]);
    }
    let choices = check("choices[]", &["salio", ""]).unwrap().expect;
    assert_eq!(choices, Expect::Choices(vec!["salio".into()]));
    assert_eq!(check("choices[]", &[]).unwrap().expect, Expect::Any);
}

#[test]
fn names_are_for_channels_that_are_heard_apart() {
    let check = |channels: &str, names: &[&str]| {
        let mut fields = TranscriptionFields::default();
        fields.set("channels", vec![channels.into()]);
        fields.set(
            "channel_names[]",
            names.iter().map(|name| (*name).into()).collect(),
        );
        fields.check()
    };
    let named = check("separate", &["", "Mteja"]).unwrap();
    assert_eq!(named.channel_names, ["", "Mteja"]);
    assert!(check("mixed", &[""]).is_ok());
    for channels in ["", "mixed"] {
        let errors = check(channels, &["Wakala", "Mteja"]).unwrap_err();
        assert_eq!(errors[0].field, "channel_names[]");
    }
}

#[test]
fn what_other_clients_send_is_understood() {
    let mut fields = TranscriptionFields::default();
    fields.set("keywords[]", vec!["Wanjiku".into()]);
    fields.set("include[]", vec!["logprobs".into()]);
    fields.set("prompt", vec!["Mkutano na Wanjiku.".into()]);
    let request = fields.check().unwrap();
    assert_eq!(request.prompt, "Mkutano na Wanjiku.");
    assert_eq!(request.keyterms, ["Wanjiku"]);
    assert!(request.logprobs && !request.diarize);
    fields.set("response_format", vec!["diarized_json".into()]);
    assert!(fields.check().unwrap().diarize);
}

#[test]
fn what_speakers_cannot_be_told_apart_with_is_refused() {
    let with = [
        ("true", "expect", "digits"),
        ("true", "channels", "separate"),
        ("true", "known_speaker_names[]", "Juma"),
        ("perhaps", "numerals", "digits"),
    ];
    for (diarize, name, value) in with {
        let mut fields = TranscriptionFields::default();
        fields.set("diarize", vec![diarize.into()]);
        fields.set(name, vec![value.into()]);
        assert_eq!(fields.check().unwrap_err().len(), 1, "{name}");
    }
    // The format that asks for speakers is named where `diarize` was not sent.
    let with = [
        ("expect", "digits"),
        ("choices[]", "ndiyo"),
        ("channels", "separate"),
    ];
    for (name, value) in with {
        let mut fields = TranscriptionFields::default();
        fields.set("response_format", vec!["diarized_json".into()]);
        fields.set(name, vec![value.into()]);
        let with = "response_format=diarized_json";
        let expected = FieldError::new(name, Reason::NotTogether { with });
        assert_eq!(fields.check().unwrap_err(), [expected]);
    }
}

#[test]
fn one_to_ten_alternatives_come_with_json() {
    let asked = |count: &str, with: (&str, &str)| {
        let mut fields = TranscriptionFields::default();
        fields.set("alternatives", vec![count.to_owned()]);
        fields.set(with.0, vec![with.1.to_owned()]);
        fields
            .check()
            .map(|request| request.for_engine().alternatives)
    };
    let verbose = ("response_format", "verbose_json");
    assert_eq!(asked("1", verbose).unwrap(), 1);
    assert_eq!(asked("10", ("expect", "digits")).unwrap(), 10);
    assert_eq!(asked("", verbose).unwrap(), 0);
    for (count, with) in [
        ("0", verbose),
        ("11", verbose),
        ("many", verbose),
        ("3", ("response_format", "srt")),
        ("3", ("diarize", "true")),
    ] {
        let errors = asked(count, with).unwrap_err();
        assert_eq!(errors[0].field, "alternatives", "{count} {with:?}");
    }
}

#[test]
fn a_language_is_understood_as_clients_name_it() {
    let asked = |name: &str| {
        let mut fields = TranscriptionFields::default();
        fields.set("language", vec![name.to_owned()]);
        fields.check().unwrap().for_engine().language
    };
    for (name, language) in [
        ("sw", Some(SpokenLanguage::Swahili)),
        ("sw-TZ", Some(SpokenLanguage::Swahili)),
        ("English", Some(SpokenLanguage::English)),
        ("en_US", Some(SpokenLanguage::English)),
        ("auto", None),
        ("fr", None),
        ("", None),
    ] {
        assert_eq!(asked(name), language, "{name}");
    }
}

#[test]
fn every_wrong_value_is_named() {
    let mut fields = TranscriptionFields::default();
    fields.set("response_format", vec!["xml".into()]);
    fields.set("expect", vec!["joy".into()]);
    fields.set("stream", vec!["perhaps".into()]);
    let errors = fields.check().unwrap_err();
    let named: Vec<_> = errors.iter().map(|error| error.field.as_ref()).collect();
    assert_eq!(named, ["response_format", "expect", "stream"]);
}
