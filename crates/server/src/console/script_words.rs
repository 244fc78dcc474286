//! What the scripts say: handed to them with the page, as data.

use crate::http::language::Language;

/// Key, English, Swahili.
const WORDS: &[(&str, &str, &str)] = &[
    ("about", "about {0} s", "kama sekunde {0}"),
    ("speaking", "Speaking…", "Inasoma…"),
    ("uploading", "Sending… {0} %", "Inatuma… {0} %"),
    ("heard", "Heard {0} of {1}", "Imesikiliza {0} kati ya {1}"),
    ("add_money", "Add money", "Ongeza fedha"),
    ("sign_in", "Sign in", "Ingia"),
    ("listening", "Listening…", "Inasikiliza…"),
    ("recording", "Recording {0}", "Inarekodi {0}"),
    ("copied", "Copied", "Imenakiliwa"),
    ("play", "Play", "Cheza"),
    ("pause", "Pause", "Sitisha"),
    ("download", "Download", "Pakua"),
    ("again", "Use again", "Tumia tena"),
    (
        "english",
        "Said as English: {0}",
        "Yatatamkwa kwa Kiingereza: {0}",
    ),
    ("cost", "Cost {0}", "Bei {0}"),
    ("cached", "made before", "iliyokuwepo tayari"),
    ("balance", "Balance {0}", "Salio {0}"),
    (
        "no_speech",
        "No speech was heard in this recording.",
        "Hakuna maneno yaliyosikika kwenye rekodi hii.",
    ),
    (
        "not_playable",
        "The browser cannot play this format. Download it.",
        "Kivinjari hakiwezi kucheza umbizo hili. Lipakue.",
    ),
    (
        "no_microphone",
        "The microphone cannot be used. Allow it in the browser's settings, or choose a file.",
        "Maikrofoni haiwezi kutumika. Iruhusu kwenye mipangilio ya kivinjari, au chagua faili.",
    ),
    (
        "needs_https",
        "Recording works only over HTTPS, or on the computer that runs the service.",
        "Kurekodi kunawezekana kwa HTTPS tu, au kwenye kompyuta inayoendesha huduma hii.",
    ),
    (
        "no_preview",
        "This voice cannot be heard right now. Try again in a moment.",
        "Sauti hii haisikiki kwa sasa. Jaribu tena baada ya muda.",
    ),
    (
        "error_402",
        "The balance is not enough: this costs {0} and {1} is left.",
        "Salio halitoshi: hii ni {0}, na zimebaki {1}.",
    ),
    (
        "error_503",
        "The service is busy or still starting. Try again in {0} s.",
        "Huduma ina kazi nyingi au bado inaanza. Jaribu tena baada ya sekunde {0}.",
    ),
    (
        "error_429",
        "Too many requests at once. Try again in {0} s.",
        "Umetuma maombi mengi mno kwa mpigo. Jaribu tena baada ya sekunde {0}.",
    ),
    ("error_401", "You are signed out.", "Umetoka."),
    (
        "error_network",
        "The service cannot be reached. Check your connection and try again.",
        "Huduma haifikiki. Angalia mtandao wako, kisha ujaribu tena.",
    ),
    (
        "error_413",
        "The recording is too large or too long.",
        "Rekodi ni kubwa au ndefu mno.",
    ),
    (
        "error_415",
        "This file is no recording that can be read.",
        "Faili hii si rekodi inayosomeka.",
    ),
    (
        "error_text_unspeakable",
        "The text has nothing that can be spoken.",
        "Maandishi hayana kinachoweza kusomwa.",
    ),
    (
        "error_audio_empty",
        "The recording is empty.",
        "Rekodi ni tupu.",
    ),
    (
        "error_audio_undecodable",
        "The recording is broken and cannot be read.",
        "Rekodi imeharibika na haisomeki.",
    ),
    (
        "error_500",
        "Something went wrong on our side. Nothing was charged.",
        "Hitilafu imetokea upande wetu. Hujatozwa chochote.",
    ),
    (
        "field_url",
        "Give a full address, such as https://example.com/sauti.",
        "Andika anwani kamili, kwa mfano https://example.com/sauti.",
    ),
    (
        "field_url_private_address",
        "This address lies in a private network. Give one that can be reached from the internet.",
        "Anwani hii iko kwenye mtandao wa ndani. Andika anwani inayofikika kupitia intaneti.",
    ),
    (
        "field_said",
        "Spell the sound as Swahili would, or give IPA between slashes.",
        "Andika matamshi kwa tahajia ya Kiswahili, au IPA kati ya mikwaju.",
    ),
    ("field_word", "Give one word only.", "Andika neno moja tu."),
    (
        "field_email",
        "This is not an e-mail address.",
        "Hii si anwani ya barua pepe.",
    ),
    (
        "field_permissions",
        "Choose at least one permission.",
        "Chagua angalau ruhusa moja.",
    ),
    ("field_name", "Give a name.", "Andika jina."),
    (
        "field_expires_in_days",
        "Give the days as a number from 1 to 3650.",
        "Andika siku kwa namba, 1 hadi 3650.",
    ),
    (
        "field_spend_cap_micro",
        "Give an amount, such as 500 or 12.50.",
        "Andika kiasi, kwa mfano 500 au 12.50.",
    ),
    ("uncertain", "uncertain", "si hakika"),
];

/// As JSON that can stand in a page: no `<` in it can end the element around it.
pub fn json(language: Language) -> String {
    let words: serde_json::Map<String, serde_json::Value> = WORDS
        .iter()
        .map(|(key, english, swahili)| {
            let word = match language {
                Language::English => english,
                Language::Swahili => swahili,
            };
            ((*key).to_owned(), (*word).into())
        })
        .collect();
    serde_json::Value::Object(words)
        .to_string()
        .replace('<', "\\u003c")
}
