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
