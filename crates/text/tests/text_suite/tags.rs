//! Tags glued to words and figures: nothing is lost, nothing melts.

use proptest::prelude::*;
use sauti_text::{Lexicon, Script, TextError};

fn ssml(text: &str) -> Result<Script, TextError> {
    Script::from_ssml(text, &Lexicon::builtin())
}

fn words(text: &str) -> Vec<String> {
    let script = ssml(&format!("<speak>{text}</speak>"));
    let clauses = script.map(|script| script.clauses).unwrap_or_default();
    let words = clauses.iter().flat_map(|clause| &clause.words);
    let parts = words.flat_map(|word| word.text.split('\''));
    parts.map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn words_glued_to_an_element_are_said_as_those_beside_it(
        parts in prop::collection::vec("mbili|yako|'ombe|ng|[1-9][0-9]{0,2}|<mark name='a'/>|<!-- a -->|<break/>\
            |<(emphasis>(ndiyo|[1-9]{1,3})</emphasis|prosody rate='slow'>(hii|[1-9]00)</prosody)>\
            |<sub alias='(moja|Kenya Revenue|12|&lt;b|&amp;lt)'>x</sub>|<phoneme ph='a'>(|ng|12|&lt;b|moja)</phoneme>\
            |<say-as interpret-as='(digits|cardinal)'>[1-9]{1,3}</say-as>\
            |<say-as interpret-as='characters'>(KRA|ng|&lt;b)</say-as>", 1..12),
    ) {
        let is_element = |part: &str| part.starts_with('<') && !part.starts_with("<mark") && !part.starts_with("<!");
        let apart = |part: &String| match is_element(part) {
            true => format!(" {part} "),
            false => part.clone(),
        };
        let spaced: String = parts.iter().map(apart).collect();
        prop_assert_eq!(words(&parts.concat()), words(&spaced), "{} {}", parts.concat(), spaced);
    }
}

#[test]
fn nothing_is_lost_behind_an_element() {
    for (written, said) in [
        (
            "<say-as interpret-as='digits'>12</say-as>34 tu",
            "moja mbili thelathini na nne tu.",
        ),
        (
            "<phoneme alphabet='ipa' ph='ˈakme'>Acme</phoneme>ndiyo hii",
            "Acme ndiyo hii.",
        ),
        (
            "<say-as interpret-as='characters'>KRA</say-as><!-- a --><mark name='a'/>yako",
            "kei ari ei yako.",
        ),
        ("<phoneme ph='a'>ng</phoneme>'ombe", "ng ombe."),
        ("<phoneme ph='a'>&lt;</phoneme>= 3", "< ni sawa na tatu."),
        ("<sub alias='moja'>1</sub>mbili", "moja mbili."),
        (
            "ni<sub alias='Kenya Revenue Authority'>KRA</sub>ni",
            "ni Kenya Revenue Authority ni.",
        ),
        ("<sub alias='12'>XII</sub>500", "kumi na mbili mia tano."),
        ("<sub alias='lt'>x</sub>2 1", "lita mbili moja."),
        (
            "<say-as interpret-as='digits'>1</say-as>ng'ombe 1",
            "moja ng'ombe mmoja.",
        ),
        (
            "<say-as interpret-as='characters'>ng</say-as>'ombe<phoneme ph='a'/>1",
            "eni ji ombe a moja.",
        ),
        (
            "<say-as interpret-as='characters'>&lt;b</say-as> ni kubwa > kidogo",
            "bi ni kubwa kidogo.",
        ),
        ("<sub alias='a &lt;b'>x</sub> na y > z", "a b na y z."),
        ("<sub alias='&amp;amp'>x</sub>; moja", "na amp, moja."),
    ] {
        let script = ssml(&format!("<speak>{written}</speak>")).unwrap();
        assert_eq!(script.spoken(), said, "{written}");
    }
}

#[test]
fn figures_on_both_sides_of_a_tag_are_two_numbers() {
    let said = |text: &str| {
        let script = ssml(&format!("<speak>{text}</speak>")).unwrap();
        let clauses = script.clauses.iter();
        let pauses: Vec<_> = clauses
            .filter(|c| c.break_after_ms.is_some())
            .map(|c| c.words.last().unwrap().text.clone())
            .collect();
        (script.spoken(), pauses.join(" "))
    };
    for (written, spoken, paused) in [
        (
            "Jumla 12<break time='2s'/>500 zimebaki",
            "Jumla kumi na mbili mia tano zimebaki.",
            "mbili",
        ),
        (
            "Jumla 12 <break/>\n 500 zimebaki",
            "Jumla kumi na mbili mia tano zimebaki.",
            "mbili",
        ),
        (
            "20<break/>000",
            "ishirini sifuri sifuri sifuri.",
            "ishirini",
        ),
        ("2<break/>1/2", "mbili nusu.", "mbili"),
        (
            "KSh 12 <break/>500",
            "shilingi kumi na mbili mia tano.",
            "mbili",
        ),
        (
            "<lang xml:lang='en'>KSh 12 <break/>500</lang>",
            "twelve shillings five hundred.",
            "shillings",
        ),
        (
            "<prosody rate='slow'>12</prosody> <prosody rate='slow'>500</prosody>",
            "kumi na mbili mia tano.",
            "",
        ),
        ("12 <emphasis>500</emphasis>", "kumi na mbili mia tano.", ""),
        ("2 <emphasis>1/2</emphasis>", "mbili na nusu.", ""),
        (
            "12<mark name='a'/> <!-- a -->500",
            "elfu kumi na mbili mia tano.",
            "",
        ),
    ] {
        let (said, pauses) = said(written);
        assert_eq!(
            (said.as_str(), pauses.as_str()),
            (spoken, paused),
            "{written}"
        );
    }
}

#[test]
fn a_part_of_the_day_is_said_once() {
    for (written, said) in [
        ("3:30</say-as> Usiku", "saa tatu na nusu Usiku."),
        ("3:30</say-as> usiku", "saa tatu na nusu usiku."),
        ("9:30</say-as> asb", "saa tatu na nusu asubuhi."),
        ("9:30</say-as> ASBH", "saa tatu na nusu asubuhi."),
    ] {
        let written = format!("<speak><say-as interpret-as='time'>{written}</speak>");
        assert_eq!(ssml(&written).unwrap().spoken(), said, "{written}");
    }
}

/// The clauses with their breaks, and the marks with the words before them.
fn told(text: &str) -> String {
    let script = ssml(&format!("<speak>{text}</speak>")).unwrap();
    let mut out = String::new();
    for clause in &script.clauses {
        let words: Vec<&str> = clause.words.iter().map(|word| word.text.as_str()).collect();
        out.push_str(&format!("{}{}", words.join(" "), clause.end.mark()));
        if let Some(ms) = clause.break_after_ms {
            out.push_str(&format!("[{ms}]"));
        }
        out.push(' ');
    }
    for mark in &script.marks {
        let side = if mark.before_break { "<" } else { ">" };
        out.push_str(&format!("{}@{}{side} ", mark.name, mark.words_before));
    }
    out.trim_end().to_owned()
}

fn all_told(cases: &[(&str, &str)]) {
    let wrong = cases.iter().filter(|(text, wanted)| told(text) != *wanted);
    let wrong: Vec<String> = wrong
        .map(|(text, _)| format!("{text}\n    {}", told(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dash_at_an_element_is_no_minus() {
    let time = |text: &str| format!("<say-as interpret-as='time'>{text}</say-as>");
    let (eight, five) = (time("8:00"), time("17:00"));
    assert_eq!(
        told(&format!("Jumatatu {eight} - {five}, karibu.")),
        "Jumatatu saa mbili asubuhi hadi saa kumi na moja jioni, karibu."
    );
    all_told(&[
        (
            "<say-as interpret-as='currency'>KSh 100</say-as> - 200",
            "shilingi mia moja hadi mia mbili.",
        ),
        (
            "<say-as interpret-as='currency'>KSh 100</say-as> - <say-as interpret-as='currency'>KSh 200</say-as>",
            "shilingi mia moja hadi shilingi mia mbili.",
        ),
        (
            "<say-as interpret-as='date'>5/3</say-as> - <say-as interpret-as='date'>8/3</say-as>",
            "tarehe tano Machi hadi tarehe nane Machi.",
        ),
        (
            "Kurasa <say-as interpret-as='cardinal'>5</say-as> - <say-as interpret-as='cardinal'>9</say-as>.",
            "Kurasa tano hadi tisa.",
        ),
        (
            "Kurasa <say-as interpret-as='cardinal'>5</say-as> – 9.",
            "Kurasa tano hadi tisa.",
        ),
        (
            "Kurasa 5 - <say-as interpret-as='cardinal'>9</say-as>.",
            "Kurasa tano hadi tisa.",
        ),
        (
            "<say-as interpret-as='digits'>4829</say-as> - <say-as interpret-as='digits'>3355</say-as>",
            "nne nane mbili tisa, tatu tatu tano tano.",
        ),
        (
            "<say-as interpret-as='digits'>4829</say-as> - 9355",
            "nne nane mbili tisa, elfu tisa mia tatu hamsini na tano.",
        ),
        (
            "<say-as interpret-as='telephone'>0722123456</say-as> - <say-as interpret-as='telephone'>0733123456</say-as>",
            "sifuri saba mbili mbili, moja mbili tatu, nne tano sita, sifuri saba tatu tatu, moja mbili tatu, nne tano sita.",
        ),
        (
            "<lang xml:lang='en'>Monday 8:00</lang> - 17:00",
            "Monday eight o'clock hadi saa kumi na moja jioni.",
        ),
        (
            "<lang xml:lang='en'><say-as interpret-as='time'>8:00</say-as> - <say-as interpret-as='time'>17:00</say-as></lang>",
            "eight o'clock to seventeen hundred hours.",
        ),
        ("<sub alias='9'>x</sub> - 5", "tisa, tano."),
        (
            "<sub alias='5'>x</sub> - <sub alias='9'>x</sub>",
            "tano hadi tisa.",
        ),
        (
            "<sub alias='8:00'>x</sub> - 17:00",
            "saa mbili asubuhi hadi saa kumi na moja jioni.",
        ),
        (
            "<say-as interpret-as='time'>8:00</say-as> - 5",
            "saa mbili asubuhi, tano.",
        ),
        (
            "<say-as interpret-as='time'>8:00</say-as> -5 leo",
            "saa mbili asubuhi hasi tano leo.",
        ),
        (
            "Saa 8:00 - <say-as interpret-as='time'>17:00</say-as>",
            "Saa nane hadi saa kumi na moja jioni.",
        ),
        (
            "20 - 15 = 5 <emphasis>- 3</emphasis>",
            "ishirini toa kumi na tano ni sawa na tano toa tatu.",
        ),
    ]);
}

#[test]
fn a_moved_break_keeps_the_mark_it_stands_at() {
    all_told(&[
        (
            "Bei ni KSh <break strength='none'/>500. Lipa sasa.",
            "Bei ni shilingi mia tano. Lipa sasa.",
        ),
        (
            "Bei ni KSh <break time='1s'/>500! Lipa sasa.",
            "Bei ni shilingi mia tano![1000] Lipa sasa.",
        ),
        (
            "Je, bei ni KSh <break time='200ms'/>500? Ndiyo.",
            "Je, bei ni shilingi mia tano? Ndiyo.",
        ),
        (
            "Bei ni KSh <break time='300ms'/>500, asante.",
            "Bei ni shilingi mia tano,[300] asante.",
        ),
        (
            "Ndiyo. KSh <break time='100ms'/>500,000,000 tu.",
            "Ndiyo. shilingi milioni mia tano tu.",
        ),
        (
            "Bei ni KSh <break time='1s'/>500",
            "Bei ni shilingi mia tano.[1000]",
        ),
        (
            "Jumatatu 8:00 <mark name='a'/><break time='1s'/>- 17:00 tu.",
            "Jumatatu[1000] saa mbili asubuhi hadi saa kumi na moja jioni tu. a@1<",
        ),
        (
            "Jumatatu 8:00 <break time='1s'/><mark name='a'/>- 17:00 tu.",
            "Jumatatu[1000] saa mbili asubuhi hadi saa kumi na moja jioni tu. a@1>",
        ),
        (
            "Jumatatu 8:00 - <mark name='a'/> <break time='1s'/> <mark name='b'/>17:00<mark name='c'/> tu.",
            "Jumatatu saa mbili asubuhi hadi saa kumi na moja jioni[1000] tu. a@10< b@10> c@10>",
        ),
        (
            "Bei ni KSh <mark name='a'/><break time='1s'/>500 tu.",
            "Bei ni shilingi mia tano[1000] tu. a@5<",
        ),
    ]);
}

#[test]
fn figures_of_an_element_do_not_join_those_before() {
    all_told(&[
        (
            "Kutoka 0722 123 456 <say-as interpret-as='date' format='dmy'>5/3/2025</say-as> saa 3:30.",
            "Kutoka sifuri saba mbili mbili, moja mbili tatu, nne tano sita tarehe tano Machi elfu mbili \
             na ishirini na tano saa tatu na nusu.",
        ),
        (
            "Kutoka 0722 123 456 <say-as interpret-as='time'>3:30</say-as>.",
            "Kutoka sifuri saba mbili mbili, moja mbili tatu, nne tano sita saa tisa na nusu usiku.",
        ),
        (
            "Kutoka 0722 123 456 <say-as interpret-as='ordinal'>3</say-as>.",
            "Kutoka sifuri saba mbili mbili, moja mbili tatu, nne tano sita tatu.",
        ),
        (
            "Kutoka 0722 123 456 <sub alias='2025'>x</sub>.",
            "Kutoka sifuri saba mbili mbili, moja mbili tatu, nne tano sita elfu mbili na ishirini na tano.",
        ),
        (
            "1/2 <say-as interpret-as='telephone'>+254722123456</say-as>",
            "nusu jumlisha mbili tano nne, saba mbili mbili, moja mbili tatu, nne tano sita.",
        ),
        ("saa <sub alias='3:30'>x</sub>", "saa tatu na nusu."),
    ]);
}
