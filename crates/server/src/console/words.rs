//! Everything the pages say, in both languages side by side.

use crate::http::language::Language;

macro_rules! words {
    ($($name:ident: $english:literal, $swahili:literal;)+) => {
        /// One language's words, by what they are for.
        #[derive(Debug)]
        pub struct Words { $(pub $name: &'static str,)+ }

        static ENGLISH: Words = Words { $($name: $english,)+ };
        static SWAHILI: Words = Words { $($name: $swahili,)+ };

        #[cfg(test)]
        const PAIRS: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $swahili),)+];
    };
}

pub fn of(language: Language) -> &'static Words {
    match language {
        Language::English => &ENGLISH,
        Language::Swahili => &SWAHILI,
    }
}

words! {
    tagline: "Swahili speech, spoken and heard", "Kiswahili kinachosemwa na kusikika";
    skip: "Skip to the content", "Ruka hadi yaliyomo";
    menu: "Pages", "Kurasa";
    language_label: "Language", "Lugha";
    docs: "API documentation", "Maelezo ya API";
    needs_script: "This page needs JavaScript. Please switch it on.", "Ukurasa huu unahitaji JavaScript. Tafadhali iwashe.";

    nav_speak: "Speak", "Sema";
    nav_transcribe: "Transcribe", "Nukuu";
    nav_voices: "Voices", "Sauti";
    nav_keys: "Keys", "Funguo";
    nav_usage: "Usage", "Matumizi";
    nav_money: "Money", "Fedha";
    nav_members: "Members", "Wanachama";
    nav_webhooks: "Webhooks", "Webhook";
    nav_account: "Account", "Akaunti";
    nav_operator: "Operator", "Msimamizi";
    workspace: "Workspace", "Nafasi ya kazi";
    switch_workspace: "Go", "Nenda";
    sign_out: "Sign out", "Toka";

    sign_in_title: "Sign in", "Ingia";
    sign_up_title: "Make an account", "Fungua akaunti";
    email: "E-mail address", "Barua pepe";
    password: "Password", "Nywila";
    password_hint: "At least 10 characters.", "Angalau herufi 10.";
    your_name: "Your name or company", "Jina lako au la kampuni";
    forgot: "Forgot your password?", "Umesahau nywila?";
    no_account: "New here?", "Mgeni hapa?";
    have_account: "Have an account already?", "Una akaunti tayari?";
    forgot_title: "Set a new password", "Weka nywila mpya";
    forgot_intro: "Give your address and we send you a link.", "Andika anwani yako, tutakutumia kiungo.";
    send_link: "Send the link", "Tuma kiungo";
    reset_title: "Choose a new password", "Chagua nywila mpya";
    new_password: "New password", "Nywila mpya";
    save: "Save", "Hifadhi";
    confirm_title: "Confirm your account", "Thibitisha akaunti yako";
    confirm_intro: "One click and everything is ready.", "Bofya mara moja tu, kila kitu kitakuwa tayari.";
    confirm_button: "Confirm", "Thibitisha";
    mail_title: "Look into your mail", "Angalia barua pepe yako";
    mail_sign_up: "We sent you a letter with a link. Open it to confirm your account, then sign in.", "Tumekutumia barua yenye kiungo. Ifungue uthibitishe akaunti, kisha uingie.";
    mail_reset: "If there is an account with this address, a link to set a new password is on its way.", "Kama kuna akaunti yenye anwani hii, kiungo cha kuweka nywila mpya kiko njiani.";
    invite_title: "You are invited", "Umealikwa";
    invite_intro: "Join the workspace to work together with its members.", "Jiunge na nafasi ya kazi ili mfanye kazi pamoja.";
    invite_button: "Join", "Jiunge";
    unconfirmed: "Your account is not confirmed yet. Open the link in the letter we sent you.", "Akaunti yako bado haijathibitishwa. Fungua kiungo katika barua tuliyokutumia.";
    resend: "Send it again", "Tuma tena";

    done_confirmed: "Your account is confirmed. Sign in.", "Akaunti yako imethibitishwa. Ingia.";
    done_reset: "Your new password is set. Sign in with it.", "Nywila mpya imewekwa. Ingia kwa kuitumia.";
    done_signed_out: "You are signed out.", "Umetoka.";
    done_saved: "Saved.", "Imehifadhiwa.";
    done_joined: "Welcome to the workspace.", "Karibu kwenye nafasi ya kazi.";
    done_sent: "The letter is on its way.", "Barua iko njiani.";
    done_credited: "The money is booked.", "Fedha zimeingizwa.";
    done_credited_before: "This reference was booked before; nothing moved.", "Kumbukumbu hii ilishaingizwa; hakuna kilichobadilika.";
    done_deleted: "Your account is deleted.", "Akaunti yako imefutwa.";
    done_expired: "Please sign in.", "Tafadhali ingia.";

    error_title: "That did not work", "Haikufaulu";
    error_not_found: "There is no such page.", "Hakuna ukurasa kama huo.";
    error_credentials: "The address or the password is wrong.", "Barua pepe au nywila si sahihi.";
    error_wait: "Too many tries. Wait a few minutes and try again.", "Umejaribu mara nyingi mno. Subiri dakika chache, kisha ujaribu tena.";
    error_password: "The password is too short or too long: 10 to 256 characters.", "Nywila ni fupi au ndefu mno: herufi 10 hadi 256.";
    error_email: "This is not an e-mail address.", "Hii si anwani ya barua pepe.";
    error_link: "This link is used, too old or incomplete. Ask for a new one.", "Kiungo hiki kimetumika, kimepitwa na muda au hakijakamilika. Omba kingine.";
    error_closed: "New accounts are made by the operator here. Ask them for one.", "Hapa akaunti hufunguliwa na msimamizi. Muombe akufungulie.";
    error_amount: "Give an amount, such as 500 or 12.50.", "Andika kiasi, kwa mfano 500 au 12.50.";
    error_delete_word: "Type your e-mail address to delete the account.", "Andika barua pepe yako ili kufuta akaunti.";
    error_only_owner: "You are the only owner of a workspace that others use. Make someone else its owner first.", "Wewe ndiye mmiliki pekee wa nafasi inayotumiwa na wengine. Mpe mwingine umiliki kwanza.";
    error_number: "Quote this number when you report it:", "Taja namba hii unaporipoti:";
    back: "Back to the console", "Rudi kwenye konsoli";

    speak_title: "Speak a text", "Sema maandishi";
    speak_label: "Text to be spoken", "Maandishi ya kusemwa";
    speak_placeholder: "Write something in Swahili…", "Andika chochote kwa Kiswahili…";
    speak_example: "Habari yako! Salio lako ni KSh 1,500 hadi tarehe 3/5. Karibu tena.", "Habari yako! Salio lako ni KSh 1,500 hadi tarehe 3/5. Karibu tena.";
    speak_said: "What will be said", "Kitakachosemwa";
    speak_said_empty: "Numbers, dates and abbreviations appear here in words, as they will be read.", "Namba, tarehe na vifupisho vitaonekana hapa kwa maneno, jinsi vitakavyosomwa.";
    price: "Price", "Bei";
    length: "Length", "Urefu";
    characters: "Characters", "Herufi";
    voice: "Voice", "Sauti";
    speed: "Speed", "Kasi";
    format: "Format", "Umbizo";
    speak_button: "Speak", "Sema";
    preview: "Listen", "Sikiliza";
    result: "Result", "Matokeo";
    play: "Play", "Cheza";
    download: "Download", "Pakua";
    curl_title: "The same from a program", "Vivyo hivyo kutoka kwenye programu";
    curl_key: "Put a key from the Keys page in place of YOUR_KEY.", "Weka ufunguo kutoka ukurasa wa Funguo badala ya YOUR_KEY.";
    history: "Spoken in this window", "Yaliyosemwa kwenye dirisha hili";
    history_empty: "Nothing yet. What you speak stays listed here until you close the window.", "Bado hakuna. Utakayosema yataorodheshwa hapa hadi ufunge dirisha.";
    waveform: "Waveform; click to jump", "Mawimbi ya sauti; bofya kuruka";
    woman: "woman", "mwanamke";
    man: "man", "mwanamume";
    voice_asha: "A warm woman's voice, even and clear: announcements, menus, reading aloud.", "Sauti ya mwanamke yenye joto, tulivu na wazi: matangazo, menyu, kusoma.";
    voice_zuri: "A bright woman's voice with a lively melody: assistants and short answers.", "Sauti changamfu ya mwanamke: wasaidizi na majibu mafupi.";
    voice_juma: "A calm man's voice, low and steady: instructions, banking, news.", "Sauti tulivu ya mwanamume, nzito na thabiti: maelekezo, benki, habari.";
    voice_baraka: "A friendly man's voice, a little quicker: customer service and stories.", "Sauti ya kirafiki ya mwanamume, ya kasi kidogo: huduma kwa wateja na hadithi.";
    format_wav: "WAV, studio quality", "WAV, ubora wa studio";
    format_mp3: "MP3, plays everywhere", "MP3, hucheza popote";
    format_opus: "Opus, small (WhatsApp)", "Opus, ndogo (WhatsApp)";
    format_flac: "FLAC, lossless", "FLAC, bila kupoteza ubora";
    format_wav8: "WAV 8 kHz, telephone", "WAV 8 kHz, simu";
    format_ulaw: "µ-law 8 kHz, telephone", "µ-law 8 kHz, simu";
    format_alaw: "A-law 8 kHz, telephone", "A-law 8 kHz, simu";

    transcribe_title: "Transcribe a recording", "Nukuu rekodi";
    drop: "Drop a recording here, or choose one", "Dondosha rekodi hapa, au chagua";
    drop_hint: "Voice notes, calls, WAV, MP3, M4A, Ogg, WebM, FLAC; up to 2 hours.", "Ujumbe wa sauti, simu, WAV, MP3, M4A, Ogg, WebM, FLAC; hadi saa 2.";
    choose_file: "Choose a file", "Chagua faili";
    record: "Record", "Rekodi";
    stop: "Stop", "Simamisha";
    level: "Microphone level", "Kiwango cha maikrofoni";
    live_option: "Show the words while I speak", "Onyesha maneno ninapoongea";
    numerals: "Numbers", "Namba";
    numerals_words: "in words", "kwa maneno";
    numerals_digits: "in digits", "kwa tarakimu";
    keyterms: "Names to listen for", "Majina ya kusikiliza";
    keyterms_hint: "Names and terms that may come up, separated by commas.", "Majina na istilahi zinazoweza kutajwa, tenganisha kwa koma.";
    transcript_empty: "The words will appear here, each one clickable to hear it again.", "Maneno yataonekana hapa; bofya lolote kulisikia tena.";
    transcript: "Transcript", "Nukuu";
    transcript_hint: "Click a word to hear it. Underlined words are uncertain.", "Bofya neno kulisikia. Maneno yaliyopigiwa mstari hayana uhakika.";
    copy: "Copy", "Nakili";

    voices_intro: "Four voices, made for Swahili. Listen, then use the id in your requests.", "Sauti nne za Kiswahili. Sikiliza, kisha tumia kitambulisho chake kwenye maombi yako.";
    voice_id: "Id", "Kitambulisho";
    version: "Version", "Toleo";
    licence: "Licence", "Leseni";
    use_voice: "Speak with it", "Sema kwa sauti hii";

    keys_intro: "A key lets a program use this workspace. Keep it on your server; never put it into a page or an app.", "Ufunguo huiwezesha programu kutumia nafasi hii. Uhifadhi kwenye seva yako; usiuweke kamwe kwenye ukurasa au app.";
    key_new: "New key", "Ufunguo mpya";
    name: "Name", "Jina";
    key_name_hint: "Where it will be used, such as “IVR”.", "Utatumika wapi, kwa mfano “IVR”.";
    permissions: "Permissions", "Ruhusa";
    perm_speech: "speak texts", "kusema maandishi";
    perm_transcription: "transcribe recordings", "kunukuu rekodi";
    perm_voices: "list the voices", "kuona sauti";
    perm_usage: "see usage and money", "kuona matumizi na fedha";
    perm_keys: "manage keys and webhooks", "kusimamia funguo na webhook";
    expires: "Expires", "Mwisho";
    expires_in_days: "Expires after days", "Muda wake, kwa siku";
    cap: "Most it may spend", "Kikomo cha matumizi";
    never: "never", "haina mwisho";
    not_yet: "not yet", "bado";
    optional: "optional", "si lazima";
    key_create: "Make the key", "Tengeneza ufunguo";
    key_shown_once: "Copy the key now. It is not shown again.", "Nakili ufunguo sasa. Hautaonyeshwa tena.";
    secret_shown_once: "Copy the secret now. It is not shown again.", "Nakili siri hii sasa. Haitaonyeshwa tena.";
    copied_done: "I have copied it", "Nimenakili";
    keys_none: "No keys yet. Make one to call the service from your own program.", "Bado hakuna funguo. Tengeneza mmoja ili programu yako itumie huduma.";
    last_used: "Last used", "Ulitumika mwisho";
    spent: "Spent", "Umetumia";
    revoke: "Revoke", "Batilisha";
    revoke_ask: "Revoke this key? Programs that use it stop working at once.", "Ubatilishe ufunguo huu? Programu zinazoutumia zitakoma mara moja.";
    state_active: "active", "unatumika";
    state_revoked: "revoked", "umebatilishwa";
    state_expired: "expired", "umekwisha muda";
    admins_only: "Only admins and owners of the workspace see this. Ask one of them.", "Ni wasimamizi na wamiliki wa nafasi hii tu wanaoona haya. Muombe mmoja wao.";

    usage_title: "Usage", "Matumizi";
    days_7: "7 days", "Siku 7";
    days_30: "30 days", "Siku 30";
    days_90: "90 days", "Siku 90";
    usage_chart: "Spent by day", "Matumizi kwa siku";
    usage_none: "Nothing was used in this time. Speak your first sentence!", "Hakuna kilichotumika kipindi hiki. Sema sentensi yako ya kwanza!";
    most_a_day: "Most in a day", "Siku ya juu zaidi";
    operation: "Operation", "Shughuli";
    op_speech: "speech", "usemi";
    op_transcription: "transcription", "unukuzi";
    key: "Key", "Ufunguo";
    requests: "Requests", "Maombi";
    from_cache: "from the cache", "kutoka akiba";
    units: "Characters or seconds", "Herufi au sekunde";
    amount: "Amount", "Kiasi";
    total: "Total", "Jumla";
    csv: "Download as CSV", "Pakua kama CSV";
    console: "console", "konsoli";

    money_title: "Money", "Fedha";
    balance: "Balance", "Salio";
    reserved: "set aside for running requests", "zimetengwa kwa maombi yanayoendelea";
    money_empty: "The balance is empty: requests are refused until money comes in.", "Salio limekwisha: maombi yatakataliwa hadi fedha ziingie.";
    fund_title: "How to add money", "Jinsi ya kuongeza fedha";
    fund_text: "Pay by mobile money or bank to the operator of this service and name your workspace:", "Lipa kwa simu au benki kwa msimamizi wa huduma hii na utaje nafasi yako ya kazi:";
    fund_after: "The balance rises as soon as the payment is reported.", "Salio litaongezeka mara malipo yatakaporipotiwa.";
    prices: "Prices", "Bei";
    price_speech: "Speech, per 1,000 characters", "Usemi, kwa herufi 1,000";
    price_transcription: "Transcription, per minute", "Unukuzi, kwa dakika";
    price_cached: "Speech that was made before", "Usemi uliotengenezwa awali";
    alert_title: "Low-balance alert", "Tahadhari ya salio dogo";
    alert_text: "When the balance falls below this, your webhooks hear of it (balance.low).", "Salio likishuka chini ya hapa, webhook zako zitaarifiwa (balance.low).";
    alert_below: "Alert below", "Tahadharisha chini ya";
    statement: "Statement", "Taarifa ya akaunti";
    statement_none: "No movements in the last 30 days.", "Hakuna miamala katika siku 30 zilizopita.";
    statement_newest: "The newest movements; the CSV has them all.", "Miamala mipya zaidi; CSV ina yote.";
    time: "Time", "Wakati";
    what: "What", "Nini";
    kind_credit: "money in", "fedha zilizoingia";
    kind_charge: "charge", "malipo";
    kind_refund: "refund", "marejesho";

    members_intro: "Members speak and transcribe; admins also manage keys and people; owners may do everything.", "Wanachama husema na kunukuu; wasimamizi pia husimamia funguo na watu; wamiliki huweza yote.";
    invite_someone: "Invite someone", "Alika mtu";
    role: "Role", "Wajibu";
    role_owner: "owner", "mmiliki";
    role_admin: "admin", "msimamizi";
    role_member: "member", "mwanachama";
    send_invite: "Send the invitation", "Tuma mwaliko";
    open_invites: "Open invitations", "Mialiko inayosubiri";
    cancel: "Cancel", "Ghairi";
    remove: "Remove", "Ondoa";
    remove_ask: "Remove this member from the workspace?", "Umwondoe mwanachama huyu kwenye nafasi ya kazi?";
    you: "you", "wewe";
    since: "Since", "Tangu";
    workspace_name: "Name of the workspace", "Jina la nafasi ya kazi";

    webhooks_intro: "We call your address when something happens, signed with a secret.", "Tunaita anwani yako jambo linapotokea, kwa sahihi ya siri.";
    webhook_new: "New webhook", "Webhook mpya";
    webhook_url: "Address", "Anwani";
    webhook_events: "Events", "Matukio";
    event_low: "the balance is low", "salio ni dogo";
    event_payment: "a payment came in", "malipo yameingia";
    webhook_add: "Add", "Ongeza";
    webhooks_none: "No webhooks yet. Add an address of yours to be told of low balances and payments.", "Bado hakuna webhook. Ongeza anwani yako ili uarifiwe kuhusu salio dogo na malipo.";
    webhook_remove_ask: "Remove this webhook?", "Uondoe webhook hii?";
    all_events: "all events", "matukio yote";
    deliveries: "Newest deliveries", "Zilizotumwa karibuni";
    attempts: "Attempts", "Majaribio";
    state: "State", "Hali";

    account_title: "Account", "Akaunti";
    change_password: "Change the password", "Badilisha nywila";
    old_password: "Current password", "Nywila ya sasa";
    sessions: "Signed in on", "Umeingia kwenye";
    this_session: "this one", "hiki hapa";
    sign_out_everywhere: "Sign out everywhere", "Toka kila mahali";
    delete_title: "Delete the account", "Futa akaunti";
    delete_text: "Your name, address and sessions are forgotten. Workspaces with nobody else are closed and their keys revoked. This cannot be undone.", "Jina, anwani na vipindi vyako vitafutwa. Nafasi za kazi zisizo na mwingine zitafungwa na funguo zake kubatilishwa. Haiwezi kurudishwa.";
    delete_type: "Type your e-mail address", "Andika barua pepe yako";
    delete_button: "Delete for good", "Futa kabisa";

    operator_title: "Operator", "Msimamizi";
    health: "Health", "Afya ya huduma";
    engine: "Engine", "Mtambo";
    ready: "ready", "tayari";
    loading: "loading its models", "unapakia mifumo";
    failed: "cannot load its models", "umeshindwa kupakia mifumo";
    draining: "shutting down", "unazimwa";
    database: "Database", "Hifadhidata";
    answers: "answers", "inajibu";
    silent: "does not answer", "haijibu";
    queue: "Waiting", "Zinazosubiri";
    running: "Running", "Zinazoendelea";
    done: "Done", "Zilizokamilika";
    credit_title: "Book money", "Ingiza fedha";
    reference: "Reference", "Kumbukumbu";
    reference_hint: "Such as the receipt number. The same reference is booked only once.", "Kwa mfano namba ya risiti. Kumbukumbu moja huingizwa mara moja tu.";
    credit_button: "Book", "Ingiza";
    accounts: "Accounts", "Akaunti";
    workspaces: "Workspaces", "Nafasi za kazi";
    confirmed: "confirmed", "imethibitishwa";
    not_confirmed: "not confirmed", "haijathibitishwa";
    operator: "operator", "msimamizi";
    closed: "closed", "imefungwa";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said_in_both_languages() {
        // Words that are the same in both, on purpose.
        let same = ["speak_example"];
        for (name, english, swahili) in PAIRS {
            assert!(!english.is_empty() && !swahili.is_empty(), "{name}");
            assert!(
                english != swahili || same.contains(name),
                "{name} is not translated"
            );
        }
    }
}
