//! Everything the pages say, in both languages side by side.

use sauti_web::language::Language;

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
    tagline: "Swahili, spoken and heard", "Kiswahili cha kusema na kusikia";
    skip: "Skip to the content", "Nenda moja kwa moja kwenye maudhui";
    menu: "Pages", "Kurasa";
    language_label: "Language", "Lugha";
    group_tools: "Tools", "Zana";
    group_workspace: "Workspace", "Eneo la kazi";
    group_you: "You", "Wewe";
    docs: "API documentation", "Maelezo ya API";
    needs_script: "This page needs JavaScript. Please switch it on.", "Ukurasa huu unahitaji JavaScript. Tafadhali iwashe kwenye kivinjari.";

    nav_speak: "Speak", "Soma kwa sauti";
    nav_transcribe: "Transcribe", "Nukuu";
    nav_voices: "Voices", "Orodha ya sauti";
    nav_words: "Pronunciations", "Matamshi";
    nav_vocabularies: "Vocabularies", "Misamiati";
    nav_keys: "Keys", "Funguo";
    nav_usage: "Usage", "Matumizi";
    nav_money: "Money", "Fedha";
    nav_members: "Members", "Wanachama";
    nav_webhooks: "Webhooks", "Webhook";
    nav_account: "Account", "Akaunti";
    nav_operator: "Operator", "Mwendeshaji";
    workspace: "Workspace", "Eneo la kazi";
    switch_workspace: "Go", "Nenda";
    sign_out: "Sign out", "Toka";

    sign_in_title: "Sign in", "Ingia";
    sign_up_title: "Make an account", "Fungua akaunti";
    email: "E-mail address", "Barua pepe";
    password: "Password", "Nenosiri";
    password_hint: "At least 10 characters.", "Angalau herufi 10.";
    your_name: "Your name or company", "Jina lako au la kampuni";
    forgot: "Forgot your password?", "Umesahau nenosiri?";
    no_account: "New here?", "Wewe ni mgeni?";
    have_account: "Have an account already?", "Tayari una akaunti?";
    forgot_title: "Set a new password", "Weka nenosiri jipya";
    forgot_intro: "Give your address and we send you a link.", "Andika anwani yako, tutakutumia kiungo.";
    send_link: "Send the link", "Tuma kiungo";
    reset_title: "Choose a new password", "Chagua nenosiri jipya";
    new_password: "New password", "Nenosiri jipya";
    save: "Save", "Hifadhi";
    confirm_title: "Confirm your account", "Thibitisha akaunti yako";
    confirm_intro: "One click and everything is ready.", "Bofya mara moja tu, na kila kitu kitakuwa tayari.";
    confirm_button: "Confirm", "Thibitisha";
    mail_title: "Look into your mail", "Angalia barua pepe yako";
    mail_none_title: "Your link", "Kiungo chako";
    mail_none: "This service sends no mail. If there is an account with this address, its operator has the letter and can hand the link on.", "Huduma hii haitumi barua. Kama kuna akaunti yenye anwani hii, mwendeshaji ana barua na anaweza kukupa kiungo.";
    mail_shown: "This service sends no mail: here is your letter.", "Huduma hii haitumi barua: hii hapa barua yako.";
    mail_open: "Open the link", "Fungua kiungo";
    mail_sign_up: "We sent you a letter with a link. Open it in this browser and you are in.", "Tumekutumia barua yenye kiungo. Kifungue kwenye kivinjari hiki, na utakuwa tayari kuanza.";
    mail_reset: "If there is an account with this address, a link to set a new password is on its way.", "Kama kuna akaunti yenye anwani hii, kiungo cha kuweka nenosiri jipya kiko njiani.";
    invite_title: "You are invited", "Umealikwa";
    invite_intro: "Join the workspace and work together.", "Jiunge na eneo la kazi mshirikiane.";
    invite_button: "Join", "Jiunge";
    unconfirmed: "Your account is not confirmed yet. Open the link in the letter we sent you.", "Akaunti yako bado haijathibitishwa. Fungua kiungo katika barua tuliyokutumia.";
    resend: "Send it again", "Tuma tena";

    done_confirmed: "Your account is confirmed. Sign in.", "Akaunti yako imethibitishwa. Ingia.";
    done_welcome: "Welcome! Your account is ready. Press Speak and listen.", "Karibu! Akaunti yako iko tayari. Bofya Soma kwa sauti, kisha usikilize.";
    done_reset: "Your new password is set. Sign in with it.", "Nenosiri jipya limewekwa. Ingia nalo.";
    done_signed_out: "You are signed out.", "Umetoka.";
    done_saved: "Saved.", "Imehifadhiwa.";
    done_joined: "Welcome to the workspace.", "Karibu kwenye eneo la kazi.";
    done_sent: "The letter is on its way.", "Barua iko njiani.";
    done_credited: "The money is booked.", "Fedha zimeingizwa.";
    done_credited_before: "This reference was booked before; nothing moved.", "Kumbukumbu hii ilishaingizwa; hakuna kilichobadilika.";
    done_deleted: "Your account is deleted.", "Akaunti yako imefutwa.";
    done_expired: "Please sign in.", "Tafadhali ingia.";

    error_title: "That did not work", "Haikufaulu";
    error_not_found: "There is no such page.", "Hakuna ukurasa kama huo.";
    error_credentials: "The address or the password is wrong.", "Barua pepe au nenosiri si sahihi.";
    error_wait: "Too many tries. Wait a few minutes and try again.", "Umejaribu mara nyingi mno. Subiri dakika chache, kisha ujaribu tena.";
    error_password: "The password is too short or too long: 10 to 256 characters.", "Nenosiri ni fupi au refu mno: herufi 10 hadi 256.";
    error_email: "This is not an e-mail address.", "Hii si anwani ya barua pepe.";
    error_link: "This link is used, too old or incomplete. Ask for a new one.", "Kiungo hiki kimetumika, kimepitwa na muda au hakijakamilika. Omba kingine.";
    error_invite: "This invitation was used, replaced or taken back, is too old, or was sent to another address than yours. Ask for a new one.", "Mwaliko huu umetumika, umebadilishwa, umeghairiwa, umepitwa na muda, au ulitumwa kwa anwani isiyo yako. Omba mwingine.";
    error_closed: "New accounts are made by the operator here. Ask them for one.", "Hapa akaunti hufunguliwa na mwendeshaji. Muombe akufungulie.";
    error_amount: "Give an amount, such as 500 or 12.50.", "Andika kiasi, kwa mfano 500 au 12.50.";
    error_amount_high: "This is more than a workspace can hold.", "Kiasi hiki kinazidi kile ambacho eneo la kazi linaweza kuwa nacho.";
    error_name: "Give a name of 1 to 200 characters.", "Andika jina lenye herufi 1 hadi 200.";
    error_old_password: "The current password is wrong.", "Nenosiri la sasa si sahihi.";
    error_reference: "Give a reference of at most 200 characters.", "Andika kumbukumbu isiyozidi herufi 200.";
    error_delete_word: "Type your e-mail address to delete the account.", "Andika anwani yako ya barua pepe ili kufuta akaunti.";
    error_only_owner: "You are the only owner of a workspace that others use. Make someone else its owner first.", "Wewe ndiye mmiliki pekee wa eneo linalotumiwa na wengine. Mpe mwingine umiliki kwanza.";
    error_number: "Quote this number when you report it:", "Taja namba hii unaporipoti:";
    back: "Back", "Rudi";

    speak_title: "Speak a text", "Soma maandishi kwa sauti";
    speak_label: "Text to be spoken", "Maandishi ya kusomwa";
    speak_placeholder: "Write something in Swahili…", "Andika chochote kwa Kiswahili…";
    speak_example: "Habari yako! Salio lako ni KSh 1,500 hadi tarehe 3/5. Karibu tena.", "Habari yako! Salio lako ni KSh 1,500 hadi tarehe 3/5. Karibu tena.";
    speak_said: "As it will be read", "Itakavyosomwa";
    speak_said_empty: "Numbers, dates and abbreviations appear here in words.", "Namba, tarehe na vifupisho huonekana hapa kwa maneno.";
    price: "Price", "Bei";
    length: "Length", "Muda";
    characters: "Characters", "Herufi";
    voice: "Voice", "Chagua sauti";
    speed: "Speed", "Kasi";
    pitch: "Pitch", "Kimo cha sauti";
    volume: "Volume", "Nguvu ya sauti";
    speak_auto: "Sentence by sentence", "Kila sentensi na lugha yake";
    format: "Format", "Umbizo";
    speak_button: "Speak", "Soma kwa sauti";
    preview: "Listen", "Sikiliza";
    result: "Result", "Matokeo";
    result_words: "The words", "Maneno yenyewe";
    result_empty: "Your sentence plays here, word by word.", "Sentensi yako itasikika hapa, neno kwa neno.";
    play: "Play", "Cheza";
    download: "Download", "Pakua";
    curl_title: "From your own program", "Kwa programu yako";
    curl_key: "Put your key in place of YOUR_KEY.", "Weka ufunguo wako badala ya YOUR_KEY.";
    history: "Lately spoken", "Zilizosomwa karibuni";
    history_empty: "Nothing yet. What you speak is listed here until you close this window.", "Bado hakuna. Utakayosoma yatakaa hapa hadi ufunge dirisha hili.";
    waveform: "Waveform; click to play from there", "Mawimbi ya sauti; bofya usikie kuanzia hapo";
    woman: "woman", "mwanamke";
    man: "man", "mwanamume";
    format_wav: "WAV, studio quality", "WAV, ubora wa studio";
    format_mp3: "MP3, plays everywhere", "MP3, hucheza popote";
    format_opus: "Opus, small (WhatsApp)", "Opus, ndogo (WhatsApp)";
    format_flac: "FLAC, lossless", "FLAC, bila kupoteza ubora";
    format_wav8: "WAV 8 kHz, telephone", "WAV 8 kHz, simu";
    format_ulaw: "µ-law 8 kHz, telephone", "µ-law 8 kHz, simu";
    format_alaw: "A-law 8 kHz, telephone", "A-law 8 kHz, simu";

    transcribe_title: "Transcribe a recording", "Nukuu rekodi";
    drop: "Drop a recording here, or choose one", "Buruta rekodi hadi hapa, au ichague";
    drop_hint: "Voice notes, calls, WAV, MP3, M4A, Ogg, WebM, FLAC; up to 2 hours.", "Ujumbe wa sauti, simu zilizorekodiwa, WAV, MP3, M4A, Ogg, WebM, FLAC; zisizozidi saa mbili.";
    choose_file: "Choose a file", "Chagua faili";
    record: "Record", "Rekodi";
    stop: "Stop", "Simamisha";
    level: "Microphone level", "Kiwango cha maikrofoni";
    live_option: "Write while I speak", "Andika ninapoongea";
    numerals: "Numbers", "Namba";
    numerals_words: "in words", "kwa maneno";
    numerals_digits: "in digits", "kwa tarakimu";
    speakers: "Speakers of a file", "Wazungumzaji wa faili";
    speakers_together: "all together", "wote pamoja";
    speakers_diarize: "told apart by their voices", "watofautishwe kwa sauti zao";
    speakers_channels: "a call: each side by itself", "simu: kila upande peke yake";
    keyterms: "Names to listen for", "Majina yanayotarajiwa";
    keyterms_hint: "Names and terms that may come up, separated by commas.", "Majina na istilahi zinazoweza kutajwa; zitenganishe kwa koma.";
    transcript_empty: "The words appear here. Click any of them to hear it again.", "Maneno yataonekana hapa. Bofya neno lolote kulisikia tena.";
    transcript: "Transcript", "Nukuu";
    transcript_hint: "Click a word to hear it. Underlined words are uncertain.", "Bofya neno kulisikia. Yaliyopigiwa mstari hayana uhakika.";
    copy: "Copy", "Nakili";

    voices_intro: "Voices made for Swahili. Listen, then use the id of the one you like.", "Sauti za Kiswahili. Sikiliza, kisha tumia kitambulisho cha uliyoipenda.";
    voice_id: "Id", "Kitambulisho";
    version: "Version", "Toleo";
    licence: "Licence", "Leseni";
    use_voice: "Speak with it", "Tumia sauti hii";

    vocabularies_intro: "Your own names, products and sentences for transcription. Name one where a recording is transcribed; nobody outside this workspace hears with it.", "Majina, bidhaa na sentensi zako za kunukuu. Taja msamiati unaponukuu rekodi; hakuna aliye nje ya eneo hili anayeutumia.";
    vocabularies_none: "No vocabularies yet. Add names and sentences as your callers say them.", "Bado hakuna misamiati. Ongeza majina na sentensi kama wateja wako wanavyozisema.";
    vocabularies_new: "New vocabulary, or a new version", "Msamiati mpya, au toleo jipya";
    vocabulary: "Vocabulary", "Msamiati";
    vocabulary_none: "none", "hakuna";
    vocabulary_name: "Name", "Jina";
    vocabulary_name_hint: "Small letters, figures, - and _.", "Herufi ndogo, tarakimu, - na _.";
    vocabulary_text: "Words and sentences", "Maneno na sentensi";
    vocabulary_text_hint: "One a line. How words sound can be said through the API.", "Kila moja kwenye mstari wake. Matamshi ya maneno hutajwa kupitia API.";
    vocabulary_building: "being built", "unaandaliwa";
    vocabulary_ready: "ready", "tayari";
    vocabulary_failed: "failed", "umeshindwa";
    vocabulary_version: "version", "toleo";
    vocabulary_words: "words", "maneno";
    vocabulary_remove_ask: "Remove this vocabulary in every version?", "Una uhakika unataka kuondoa msamiati huu na matoleo yake yote?";
    words_intro: "Names and terms that should be said your way. They count in every text of this workspace.", "Majina na istilahi zinazotakiwa kutamkwa upendavyo. Hufuatwa katika kila maandishi ya eneo hili.";
    words_none: "No pronunciations yet. Add a name that is said wrongly, and hear it.", "Bado hakuna matamshi. Ongeza jina linalotamkwa vibaya, kisha ulisikilize.";
    words_new: "New pronunciation", "Matamshi mapya";
    word: "Word", "Neno";
    word_hint: "One word, as it is written.", "Neno moja, linavyoandikwa.";
    word_said: "Said as", "Hutamkwa kama";
    word_said_hint: "Spell it as Swahili would, such as “wotsap”, or give IPA between slashes.", "Liandike kwa tahajia ya Kiswahili, kwa mfano “wotsap”, au IPA kati ya mikwaju.";
    word_listen: "Hear it", "Sikiliza";
    word_remove_ask: "Remove this pronunciation?", "Una uhakika unataka kuondoa matamshi haya?";

    keys_intro: "A key lets a program use this workspace. Keep it on your server; never put it into a page or an app.", "Ufunguo huiwezesha programu kutumia eneo hili la kazi. Uhifadhi kwenye seva yako; usiuweke kamwe kwenye ukurasa wa wavuti au programu ya simu.";
    key_new: "New key", "Ufunguo mpya";
    name: "Name", "Jina";
    key_name_hint: "Where it will be used, such as “IVR”.", "Utatumika wapi, kwa mfano “IVR”.";
    permissions: "Permissions", "Ruhusa";
    perm_speech: "speak texts", "kusoma maandishi kwa sauti";
    perm_transcription: "transcribe recordings", "kunukuu rekodi";
    perm_voices: "list the voices", "kuona orodha ya sauti";
    perm_usage: "see usage and money", "kuona matumizi na fedha";
    perm_keys: "manage keys and webhooks", "kusimamia funguo na webhook";
    expires: "Expires", "Unaisha";
    expires_in_days: "Expires after days", "Muda wake, kwa siku";
    cap: "Most it may spend", "Kikomo cha matumizi";
    never: "never", "hauishi";
    not_yet: "not yet", "bado";
    optional: "optional", "si lazima";
    key_create: "Make the key", "Tengeneza ufunguo";
    key_shown_once: "Copy the key now: it is not shown again.", "Nakili ufunguo sasa: hautaonyeshwa tena.";
    secret_shown_once: "Copy the secret now: it is not shown again.", "Nakili siri hii sasa: haitaonyeshwa tena.";
    copied_done: "I have copied it", "Nimenakili";
    keys_none: "No keys yet. Make one to call the service from your own program.", "Bado hakuna funguo. Tengeneza mmoja ili programu yako itumie huduma.";
    keys_folded: "More keys, older or ended", "Funguo zaidi, za zamani au zilizokwisha";
    last_used: "Last used", "Ulitumika mara ya mwisho";
    spent: "Spent", "Fedha zilizotumika";
    revoke: "Revoke", "Batilisha";
    rotate: "Replace", "Badilisha";
    rotate_ask: "Make a new key like this one? The old one works for another 24 hours.", "Ungependa kutengeneza ufunguo mpya kama huu? Wa zamani utafanya kazi kwa saa 24 zaidi.";
    revoke_ask: "Revoke this key? Programs that use it stop working at once.", "Una uhakika unataka kubatilisha ufunguo huu? Programu zinazoutumia zitakoma kufanya kazi mara moja.";
    state_active: "active", "unatumika";
    state_revoked: "revoked", "umebatilishwa";
    state_expired: "expired", "muda wake umekwisha";
    admins_only: "Only admins and owners of the workspace see this. Ask one of them.", "Haya huonwa na wasimamizi na wamiliki wa eneo hili tu. Muombe mmoja wao.";

    usage_title: "Usage", "Matumizi";
    days_7: "7 days", "Siku 7";
    days_30: "30 days", "Siku 30";
    days_90: "90 days", "Siku 90";
    usage_chart: "By day", "Kwa siku";
    usage_none: "Nothing was used in this time. Speak a first sentence!", "Hakuna kilichotumika kipindi hiki. Soma sentensi ya kwanza!";
    most_a_day: "Busiest day", "Siku yenye matumizi makubwa zaidi";
    usage_operations: "By operation", "Kwa shughuli";
    usage_keys: "By key", "Kwa ufunguo";
    usage_table: "In numbers", "Kwa namba";
    operation: "Operation", "Shughuli";
    op_speech: "speech", "kusoma kwa sauti";
    op_transcription: "transcription", "kunukuu";
    key: "Key", "Ufunguo";
    requests: "Requests", "Maombi";
    from_cache: "made before", "yaliyokuwepo tayari";
    units: "Characters or seconds", "Herufi au sekunde";
    amount: "Amount", "Kiasi";
    total: "Total", "Jumla";
    csv: "Download as CSV", "Pakua kama CSV";
    console: "console", "konsoli";

    money_title: "Money", "Fedha";
    balance: "Balance", "Salio";
    reserved: "set aside for running requests", "zimetengwa kwa maombi yanayoendelea";
    money_empty: "The balance is empty: requests are refused until money comes in.", "Salio limekwisha: maombi yatakataliwa hadi fedha ziingie.";
    money_low: "The balance is below your alert. Add money in time.", "Salio liko chini ya kiwango cha onyo. Ongeza fedha mapema.";
    fund_title: "How to add money", "Jinsi ya kuongeza fedha";
    fund_text: "Pay by mobile money or bank to the operator of this service and name your workspace:", "Lipa kwa simu au benki kwa mwendeshaji wa huduma hii, ukitaja eneo lako la kazi:";
    fund_after: "The balance rises as soon as the payment is reported.", "Salio litaongezeka mara malipo yatakaporipotiwa.";
    prices: "Prices", "Bei";
    price_speech: "Speech, per 1,000 characters", "Kusoma kwa sauti, kwa herufi 1,000";
    price_transcription: "Transcription, per minute", "Kunukuu, kwa dakika";
    price_cached: "Speech that was made before", "Sauti iliyokwishatengenezwa";
    alert_title: "Low-balance alert", "Onyo la salio dogo";
    alert_text: "When the balance falls below this, owners and admins get a letter and your webhooks are told (balance.low).", "Salio likishuka chini ya kiasi hiki, wamiliki na wasimamizi hupata barua na webhook zako huarifiwa (balance.low).";
    alert_below: "Alert below", "Nionye likiwa chini ya";
    statement: "Statement", "Taarifa ya akaunti";
    statement_none: "No movements yet.", "Bado hakuna miamala.";
    statement_newest: "The newest movements; the CSV has them all.", "Miamala mipya zaidi; CSV ina yote.";
    time: "Time", "Wakati";
    what: "What", "Nini";
    kind_credit: "money in", "fedha zilizoingia";
    kind_welcome: "welcome credit", "zawadi ya kukaribisha";
    kind_charge: "charge", "matumizi";
    kind_refund: "refund", "marejesho";
    kind_correction: "correction", "masahihisho";

    members_intro: "Members speak and transcribe; admins also manage keys and people; owners may do everything.", "Wanachama husoma kwa sauti na kunukuu; wasimamizi pia husimamia funguo na watu; wamiliki hufanya yote.";
    invite_someone: "Invite someone", "Alika mtu";
    role: "Role", "Jukumu";
    role_owner: "owner", "mmiliki";
    role_admin: "admin", "msimamizi";
    role_member: "member", "mwanachama";
    send_invite: "Send the invitation", "Tuma mwaliko";
    open_invites: "Open invitations", "Mialiko inayosubiri";
    cancel: "Cancel", "Ghairi";
    remove: "Remove", "Ondoa";
    remove_ask: "Remove this member from the workspace?", "Una uhakika unataka kumwondoa mwanachama huyu kwenye eneo la kazi?";
    remove_keys: "The keys they made go on working; revoke those they know:", "Funguo alizotengeneza zitaendelea kufanya kazi; batilisha zile anazozijua:";
    leave: "Leave", "Ondoka";
    leave_ask: "Leave this workspace?", "Una uhakika unataka kuondoka kwenye eneo hili la kazi?";
    you: "you", "wewe";
    since: "Since", "Tangu";
    workspace_name: "Name of the workspace", "Jina la eneo la kazi";
    workspace_new: "New workspace", "Eneo jipya la kazi";
    workspace_new_intro: "It has its own keys, members and balance.", "Lina funguo, wanachama na salio lake.";
    workspace_none: "You are in no workspace any more. Make one of your own, or open the link of an invitation.", "Huna tena eneo la kazi. Tengeneza lako, au fungua kiungo cha mwaliko.";
    workspace_make: "Make it", "Tengeneza";

    webhooks_intro: "When something happens we call your address with a signed message.", "Jambo likitokea, tunatuma ujumbe uliotiwa sahihi kwenye anwani yako.";
    webhook_new: "New webhook", "Webhook mpya";
    webhook_url: "Address", "Anwani";
    webhook_events: "Events", "Matukio";
    event_low: "the balance is low", "salio ni dogo";
    event_batch: "a batch is finished", "kazi ya mkupuo imekamilika";
    event_payment: "a payment came in", "malipo yameingia";
    webhook_add: "Add", "Ongeza";
    webhooks_none: "No webhooks yet. Add an address of yours to hear of low balances, payments and finished batches.", "Bado hakuna webhook. Ongeza anwani yako ili uarifiwe salio likiwa dogo, malipo yakiingia au kazi ya mkupuo ikikamilika.";
    webhook_remove_ask: "Remove this webhook?", "Una uhakika unataka kuondoa webhook hii?";
    webhook_paused: "This address keeps failing or hanging, so we pause. Nothing is lost; the next attempt is at", "Anwani hii inashindwa au haijibu, kwa hiyo tumesitisha kwa muda. Hakuna kinachopotea; jaribio lijalo ni";
    all_events: "all events", "matukio yote";
    deliveries: "Newest deliveries", "Zilizotumwa karibuni";
    attempts: "Attempts", "Majaribio";
    state: "State", "Hali";

    account_title: "Account", "Akaunti";
    change_password: "Change the password", "Badilisha nenosiri";
    old_password: "Current password", "Nenosiri la sasa";
    sessions: "Signed in on", "Umeingia kwenye";
    this_session: "this one", "kifaa hiki";
    sign_out_everywhere: "Sign out everywhere", "Toka kila mahali";
    delete_title: "Delete the account", "Futa akaunti";
    delete_text: "Your name, address and sessions are forgotten. Workspaces with nobody else are closed and their keys revoked. This cannot be undone.", "Jina, anwani na vipindi vyako vitafutwa. Maeneo ya kazi yasiyo na mwanachama mwingine yatafungwa na funguo zake kubatilishwa. Hatua hii haiwezi kutenduliwa.";
    delete_type: "Type your e-mail address", "Andika anwani yako ya barua pepe";
    delete_money: "Give up money that is left in workspaces with nobody else", "Ninaziacha fedha zilizobaki kwenye maeneo ya kazi yasiyo na mwanachama mwingine";
    delete_button: "Delete for good", "Futa kabisa";

    operator_title: "Operator", "Mwendeshaji";
    health: "Health", "Hali ya huduma";
    engine: "Engine", "Mtambo";
    ready: "ready", "tayari";
    loading: "loading its models", "unapakia mifumo";
    failed: "cannot load its models", "umeshindwa kupakia mifumo";
    draining: "shutting down", "unazimwa";
    database: "Database", "Hifadhidata";
    answers: "answers", "inajibu";
    silent: "does not answer", "haijibu";
    queue: "Waiting", "Foleni";
    running: "Running", "Zinaendelea";
    done: "Done", "Tayari";
    credit_title: "Book money", "Ingiza fedha";
    reference: "Reference", "Kumbukumbu";
    reference_hint: "Such as the receipt number. The same reference is booked only once.", "Kwa mfano namba ya risiti. Kumbukumbu moja huingizwa mara moja tu.";
    credit_button: "Book", "Ingiza";
    accounts: "Accounts", "Akaunti";
    workspaces: "Workspaces", "Maeneo ya kazi";
    confirmed: "confirmed", "imethibitishwa";
    not_confirmed: "not confirmed", "haijathibitishwa";
    operator: "operator", "mwendeshaji";
    closed: "closed", "limefungwa";
    outbox: "Outbox", "Barua zilizoandikwa";
    outbox_intro: "No mail server is set, so letters lie here since the start. Hand the links on.", "Hakuna seva ya barua, hivyo barua ziko hapa tangu huduma ianze. Wapelekee wahusika viungo.";
    outbox_none: "No letters yet.", "Bado hakuna barua.";
    to: "To", "Kwa";
    subject: "Subject", "Kuhusu";
    confirm_account: "Confirm", "Thibitisha";
    created: "Since", "Tangu";
    more: "More", "Zaidi";
    workers: "Workers", "Nyuzi za kazi";
    refused: "Refused", "Zilizokataliwa";
    failures: "Failed", "Zilizoshindikana";
    queue_title: "Work", "Kazi";
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
