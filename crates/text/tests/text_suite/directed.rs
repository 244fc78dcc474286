//! SSML that directs a voice: how words are said, and the marks between them.

use proptest::prelude::*;
use sauti_text::{Lexicon, Prosody, Script, TextError};

fn ssml(text: &str) -> Result<Script, TextError> {
    Script::from_ssml(text, &Lexicon::builtin())
}

#[test]
fn ssml_directs_how_words_are_said() {
    let script = ssml(
        "<speak>Nataka <emphasis level=\"strong\">chai</emphasis>, si kahawa. \
         <prosody pitch=\"+2st\" volume=\"soft\" rate=\"fast\">Sawa \
         <prosody pitch=\"low\" volume=\"silent\">kimya</prosody></prosody></speak>",
    )
    .unwrap();
    assert_eq!(script.spoken(), "Nataka chai, si kahawa. Sawa kimya.");
    let said: Vec<_> = script
        .clauses
        .iter()
        .map(|clause| {
            let Prosody {
                rate,
                pitch_semitones,
                volume_db,
            } = clause.prosody;
            (
                clause.words[0].text.as_str(),
                rate,
                pitch_semitones,
                volume_db,
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("Nataka", 1.0, 0.0, 0.0),
            ("chai", 0.85, 2.5, 3.0),
            ("si", 1.0, 0.0, 0.0),
            ("Sawa", 1.25, 2.0, -6.0),
            ("kimya", 1.25, -1.0, f32::NEG_INFINITY),
        ]
    );
}

#[test]
fn what_changes_the_sound_changes_the_identity_and_marks_do_not() {
    let of = |text: &str| ssml(&format!("<speak>{text}</speak>")).unwrap().identity();
    let plain = of("Habari yako");
    assert_eq!(plain, of("Habari <mark name='a'/>yako<mark name='b'/>"));
    assert_ne!(plain, of("<prosody pitch='high'>Habari yako</prosody>"));
    assert_ne!(plain, of("<prosody volume='-3dB'>Habari yako</prosody>"));
}

#[test]
fn marks_know_how_many_words_come_before_them() {
    let script = ssml(
        "<speak><mark name='a'/>Bei ni <mark name='b'/>KSh <mark name=\"c&amp;d\"/>1,500.\n\
         <mark name='e'/><break/><mark name='f'/> Asante <say-as interpret-as='digits'>12</say-as>\
         <mark name='g'/></speak>",
    )
    .unwrap();
    assert_eq!(
        script.spoken(),
        "Bei ni shilingi elfu moja mia tano. Asante moja mbili."
    );
    let marks: Vec<_> = script
        .marks
        .iter()
        .map(|mark| (mark.name.as_str(), mark.words_before, mark.before_break))
        .collect();
    assert_eq!(
        marks,
        [
            ("a", 0, false),
            ("b", 2, false),
            // The amount is read in one piece, which the mark stands in.
            ("c&d", 7, true),
            ("e", 7, true),
            ("f", 7, false),
            ("g", 10, false),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn marks_change_nothing_that_is_said(
        parts in prop::collection::vec("[0-9]{1,4}|[,./:;*#+=%$@()'-]|[A-Za-z]{1,5}|KSh|saa|tarehe|[ \\n]|&amp;|é", 1..40),
        places in prop::collection::vec(any::<bool>(), 40),
    ) {
        let whole = ssml(&format!("<speak>{}</speak>", parts.concat()));
        let mut marked = String::from("<speak>");
        for (at, (part, mark)) in parts.iter().zip(&places).enumerate() {
            if *mark {
                marked += &format!("<mark name='{at}'/>");
            }
            marked += part;
        }
        marked += "</speak>";
        match (whole, ssml(&marked)) {
            (Ok(whole), Ok(script)) => {
                prop_assert_eq!(whole.identity(), script.identity());
                prop_assert_eq!(whole.characters(), script.characters());
                let words: usize = script.clauses.iter().map(|c| c.words.len()).sum();
                prop_assert!(script.marks.is_sorted_by_key(|mark| mark.words_before));
                prop_assert!(script.marks.iter().all(|mark| mark.words_before <= words));
                for word in script.clauses.iter().flat_map(|c| &c.words) {
                    prop_assert!(marked.get(word.source.clone()).is_some());
                }
            }
            (Err(whole), Err(marked)) => prop_assert_eq!(whole.to_string(), marked.to_string()),
            (whole, script) => prop_assert!(false, "{marked}: {whole:?} {script:?}"),
        }
    }

    #[test]
    fn no_ssml_of_likely_pieces_makes_it_panic(
        parts in prop::collection::vec("[0-9]{1,4}|[,./:;*#+=%$@()'-]|[A-Za-z]{1,5}|KSh|saa|[ \\n]|&gt;|é|<break/>|<mark name='a'/>\
            |<emphasis>[0-9a-z ]{1,4}</emphasis>|<lang xml:lang='en'>[0-9a-z= ]{1,4}</lang>|<sub alias='[0-9a-z ]{1,4}'>x</sub>\
            |<say-as interpret-as='(digits|cardinal|characters)'>[0-9]{1,3}</say-as>|<phoneme ph='a'>[0-9a-z]{0,3}</phoneme>|<s/>", 1..40),
    ) {
        let written = format!("<speak>{}</speak>", parts.concat());
        if let Ok(script) = ssml(&written) {
            let words = script.clauses.iter().flat_map(|c| &c.words);
            let sources: Vec<_> = words.map(|word| word.source.clone()).collect();
            prop_assert!(sources.iter().all(|source| written.get(source.clone()).is_some()));
            prop_assert!(sources.is_sorted_by_key(|source| source.start), "{written}");
        }
    }
}

#[test]
fn a_time_goes_on_behind_a_tag() {
    for (written, said) in [
        ("Saa <break time=\"300ms\"/> 3:30", "Saa tatu na nusu."),
        (
            "Ni saa <emphasis>3:30</emphasis> sasa",
            "Ni saa tatu na nusu sasa.",
        ),
        (
            "Nunua saa.<break/> 3:30",
            "Nunua saa. saa tisa na nusu usiku.",
        ),
    ] {
        let script = ssml(&format!("<speak>{written}</speak>")).unwrap();
        assert_eq!(script.spoken(), said, "{written}");
        let last = script.clauses.last().unwrap().words.last().unwrap();
        assert!(script.clauses.len() < 4 && last.source.start > 7);
    }
}

#[test]
fn tags_change_no_word_that_is_said() {
    let cases = [
        include_str!("../data/normalisation-cases.tsv"),
        include_str!("../data/further-cases.tsv"),
        include_str!("../data/fresh-cases.tsv"),
        include_str!("../data/line-cases.tsv"),
    ];
    let lines = cases.into_iter().flat_map(|cases| cases.lines().skip(1));
    // Thousands written with a space go no further than a tag, a fraction no further than a break.
    const GROUPED: &[&str] = &[
        "1 000 000",
        "25 500",
        "KES 12 000",
        "vyumba 3 250",
        "Ksh 1 250",
        "2 1/2",
    ];
    let texts = lines.filter_map(|line| line.split('\t').next());
    let texts = texts.filter(|text| !GROUPED.contains(text));
    for (n, text) in texts.filter(|text| !text.contains(['<', '⏎'])).enumerate() {
        let text = text.replace('&', "&amp;");
        let words = text
            .split(' ')
            .enumerate()
            .map(|(i, word)| match (i + n) % 4 {
                0 => format!("<emphasis>{word}</emphasis>"),
                1 => format!("<break/>{word}"),
                2 => format!("<prosody rate='slow'>{word}</prosody>"),
                _ => word.to_owned(),
            });
        let tagged = words.collect::<Vec<_>>().join(" ");
        let said = |text: &str| {
            let script = ssml(&format!("<speak>{text}</speak>")).unwrap();
            let words = script.clauses.iter().flat_map(|clause| &clause.words);
            let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
            words.join(" ")
        };
        assert_eq!(said(&tagged), said(&text), "{tagged}");
    }
}

#[test]
fn tags_part_no_sentence_and_no_number() {
    for (written, said) in [
        (
            "OTP yako ni <break time='300ms'/>482913",
            "o ti pi yako ni nne nane mbili, tisa moja tatu.",
        ),
        (
            "OTP 482 <break/> 913 ni yako",
            "o ti pi nne nane mbili, tisa moja tatu ni yako.",
        ),
        (
            "OTP yako ni <lang xml:lang='en'>482913</lang> asante",
            "o ti pi yako ni four eight two, nine one three asante.",
        ),
        (
            "OTP ni\n <emphasis>4421</emphasis>",
            "o ti pi ni nne nne mbili moja.",
        ),
        (
            "Till No. <emphasis>512345</emphasis>",
            "Till namba tano moja mbili, tatu nne tano.",
        ),
        (
            "Till No. <say-as interpret-as='digits'>51</say-as>",
            "Till namba tano moja.",
        ),
        (
            "tarehe <prosody rate='slow'>3 Novemba</prosody>",
            "tarehe tatu Novemba.",
        ),
        (
            "Ni <emphasis>KSh</emphasis> 1,500.50",
            "Ni shilingi elfu moja mia tano na senti hamsini.",
        ),
        ("watu <sub alias='3'>III</sub>", "watu watatu."),
        (
            "watu <say-as interpret-as='cardinal'>3</say-as>",
            "watu watatu.",
        ),
        (
            "Ni watu. <say-as interpret-as='cardinal'>3</say-as>",
            "Ni watu. tatu.",
        ),
        ("<phoneme ph='watu'>watu</phoneme> 3", "watu watatu."),
        (
            "Saa <say-as interpret-as='time'>9:30</say-as> asubuhi",
            "Saa tatu na nusu asubuhi.",
        ),
        (
            "Saa <say-as interpret-as='time'>9:30</say-as> <emphasis>usiku</emphasis>",
            "Saa tatu na nusu asubuhi usiku.",
        ),
        (
            "Habari<break/>Juma<emphasis>karibu</emphasis>sana",
            "Habari Juma karibu sana.",
        ),
        (
            "<p>PIN yako ni</p><p>1234</p>",
            "pini yako ni. elfu moja mia mbili thelathini na nne.",
        ),
    ] {
        let script = ssml(&format!("<speak>{written}</speak>")).unwrap();
        assert_eq!(script.spoken(), said, "{written}");
    }
}

#[test]
fn what_a_tag_stands_in_is_said_in_one_way_and_its_pause_is_at_a_comma_or_an_end() {
    let said = |text: &str| {
        let script = ssml(&format!("<speak>{text}</speak>")).unwrap();
        let clauses = script.clauses.iter();
        clauses
            .map(|c| (c.words.len(), c.break_after_ms, c.prosody.rate))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        said("Ni KSh<break time='1s'/>500 tu"),
        [(1, Some(1000), 1.0), (4, None, 1.0)]
    );
    assert_eq!(
        said("OTP 482 <break time='1s'/> 913"),
        [(6, Some(1000), 1.0), (3, None, 1.0)]
    );
    assert_eq!(
        said("Ni KSh <prosody rate='slow'>500</prosody> tu"),
        [(1, None, 1.0), (3, None, 0.75), (1, None, 1.0)]
    );
    assert_eq!(
        said("Ni <prosody rate='slow'>KSh</prosody> 500 tu"),
        [(1, None, 1.0), (3, None, 0.75), (1, None, 1.0)]
    );
    assert_eq!(
        said("<prosody rate='slow'>KSh</prosody> <prosody rate='fast'>500 tu</prosody> leo"),
        [(3, None, 1.25), (1, None, 1.25), (1, None, 1.0)]
    );
}

#[test]
fn a_date_is_read_in_its_format() {
    let spoken = |format: &str| {
        let date = format!("<say-as interpret-as='date' format='{format}'>3/4/2024</say-as>");
        let script = ssml(&format!("<speak>{date}</speak>"));
        script.map(|script| script.spoken())
    };
    let said = |day| Ok(format!("tarehe {day} elfu mbili na ishirini na nne."));
    for format in ["", "dmy", "dd/mm/yyyy"] {
        assert_eq!(spoken(format), said("tatu Aprili"), "{format}");
    }
    for format in ["mdy", "MM/dd/yyyy"] {
        assert_eq!(spoken(format), said("nne Machi"), "{format}");
    }
}
