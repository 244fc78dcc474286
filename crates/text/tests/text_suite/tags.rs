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
