//! The one table of everything that can be refused: code, status, and title and words in both
//! languages. Codes are contract: they may be added to, never renamed.

use axum::http::StatusCode;

macro_rules! codes {
    ($($variant:ident, $code:literal, $status:ident, $title:literal, $title_sw:literal, $en:literal, $sw:literal;)+) => {
        /// Why a request was refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($variant,)+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)+ }
            }

            pub fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status,)+ }
            }

            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)+ }
            }

            pub fn title_swahili(self) -> &'static str {
                match self { $(Code::$variant => $title_sw,)+ }
            }

            pub fn english(self) -> &'static str {
                match self { $(Code::$variant => $en,)+ }
            }

            pub fn swahili(self) -> &'static str {
                match self { $(Code::$variant => $sw,)+ }
            }
        }
    };
}

codes! {
    MalformedRequest, "malformed_request", BAD_REQUEST, "Malformed request", "Ombi si sahihi",
        "The request could not be read.",
        "Ombi halikuweza kusomeka.";
    MalformedJson, "malformed_json", BAD_REQUEST, "Malformed JSON", "JSON si sahihi",
        "The body is not a JSON object.",
        "Mwili wa ombi si kitu cha JSON.";
    MalformedMultipart, "malformed_multipart", BAD_REQUEST, "Malformed form", "Fomu si sahihi",
        "The multipart form could not be read.",
        "Fomu ya multipart haikuweza kusomeka.";
    HostMissing, "host_missing", BAD_REQUEST, "Host missing", "Host haipo",
        "A request over HTTP/1.1 carries exactly one Host header.",
        "Ombi la HTTP/1.1 hubeba kichwa kimoja tu cha Host.";
    AuthorizationRepeated, "authorization_repeated", BAD_REQUEST, "Two keys", "Funguo mbili",
        "The request carries more than one Authorization header. Send one.",
        "Ombi lina zaidi ya kichwa kimoja cha Authorization. Tuma kimoja.";
    KeyInUrl, "key_in_url", UNAUTHORIZED, "Key in the address", "Ufunguo kwenye anwani",
        "A key is never sent in the address. Send it in the Authorization header, and replace this key: addresses are logged.",
        "Ufunguo hautumwi kamwe kwenye anwani. Utume kwenye kichwa cha Authorization, na ubadilishe ufunguo huu: anwani huandikwa kwenye kumbukumbu.";
    KeyMissing, "key_missing", UNAUTHORIZED, "Key missing", "Ufunguo haupo",
        "Send the API key in the header: Authorization: Bearer <API_KEY>.",
        "Tuma ufunguo wa API kwenye kichwa: Authorization: Bearer <API_KEY>.";
    KeyMalformed, "key_malformed", UNAUTHORIZED, "Key not accepted", "Ufunguo haukubaliki",
        "The API key is mistyped or cut short: its checksum does not fit.",
        "Ufunguo wa API umekosewa au umekatwa: tarakimu za ukaguzi hazilingani.";
    KeyUnknown, "key_unknown", UNAUTHORIZED, "Key not accepted", "Ufunguo haukubaliki",
        "The API key is not known here.",
        "Ufunguo wa API haujulikani hapa.";
    KeyRevoked, "key_revoked", UNAUTHORIZED, "Key not accepted", "Ufunguo haukubaliki",
        "The API key was revoked.",
        "Ufunguo wa API umebatilishwa.";
    KeyExpired, "key_expired", UNAUTHORIZED, "Key not accepted", "Ufunguo haukubaliki",
        "The API key has expired.",
        "Muda wa ufunguo wa API umekwisha.";
    SessionMissing, "session_missing", UNAUTHORIZED, "Not signed in", "Hujaingia",
        "Sign in first; an API key does not do here.",
        "Ingia kwanza; ufunguo wa API hautoshi hapa.";
    CredentialsWrong, "credentials_wrong", UNAUTHORIZED, "Not signed in", "Hujaingia",
        "The e-mail address or the password is wrong.",
        "Anwani ya barua pepe au nenosiri si sahihi.";
    BalanceInsufficient, "balance_insufficient", PAYMENT_REQUIRED, "Balance insufficient", "Salio halitoshi",
        "The workspace balance does not cover this request.",
        "Salio la eneo la kazi halitoshi kwa ombi hili.";
    SpendCapReached, "spend_cap_reached", PAYMENT_REQUIRED, "Spend cap reached", "Kikomo cha matumizi kimefikiwa",
        "This key has reached its spend cap.",
        "Ufunguo huu umefikia kikomo chake cha matumizi.";
    AccountUnconfirmed, "account_unconfirmed", FORBIDDEN, "Account not confirmed", "Akaunti haijathibitishwa",
        "Confirm the account first: follow the link in the mail we sent.",
        "Thibitisha akaunti kwanza: fuata kiungo katika barua tuliyotuma.";
    PermissionMissing, "permission_missing", FORBIDDEN, "Permission missing", "Ruhusa haipo",
        "The key lacks the permission for this operation.",
        "Ufunguo hauna ruhusa ya shughuli hii.";
    RoleMissing, "role_missing", FORBIDDEN, "Not allowed", "Hairuhusiwi",
        "Your role in this workspace does not allow this: ask an admin or owner of it.",
        "Jukumu lako katika eneo hili la kazi haliruhusu jambo hili: muombe msimamizi au mmiliki wake.";
    CsrfFailed, "csrf_failed", FORBIDDEN, "Not allowed", "Hairuhusiwi",
        "The page's token is missing or old. Reload the page.",
        "Tokeni ya ukurasa haipo au imepitwa. Pakia ukurasa upya.";
    SignatureInvalid, "signature_invalid", UNAUTHORIZED, "Signature not accepted", "Sahihi haikubaliki",
        "The signature is missing, wrong or too old.",
        "Sahihi haipo, si sahihi au imepitwa na muda.";
    NotFound, "not_found", NOT_FOUND, "Not found", "Haikupatikana",
        "There is nothing at this address. Those of the API begin with /v1.",
        "Hakuna kitu kwenye anwani hii. Anwani za API huanza na /v1.";
    VoiceNotFound, "voice_not_found", NOT_FOUND, "Voice not found", "Sauti haikupatikana",
        "There is no such voice. GET /v1/voices lists them.",
        "Hakuna sauti kama hiyo. GET /v1/voices inaziorodhesha.";
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed", "Mbinu hairuhusiwi",
        "This address does not take this method; the Allow header says which it takes.",
        "Anwani hii haipokei mbinu hii; kichwa cha Allow kinaonyesha zinazopokelewa.";
    RequestTimeout, "request_timeout", REQUEST_TIMEOUT, "Request timed out", "Muda wa ombi umeisha",
        "The request took too long to arrive.",
        "Ombi lilichelewa mno kufika.";
    IdempotencyInFlight, "idempotency_in_flight", CONFLICT, "Request in progress", "Ombi linashughulikiwa",
        "A request with this Idempotency-Key is still being worked on. Send it again with the same key after Retry-After seconds; where the server that had it died, this can take up to a minute.",
        "Ombi lenye Idempotency-Key hii bado linashughulikiwa. Litume tena kwa ufunguo huohuo baada ya sekunde za Retry-After; kama seva iliyokuwa nalo ilizimika, huenda ikachukua hadi dakika moja.";
    Conflict, "conflict", CONFLICT, "Conflict", "Mgongano",
        "This clashes with something that exists.",
        "Hili linagongana na kitu kilichopo.";
    MoneyLeft, "money_left", CONFLICT, "Money left", "Fedha zimebaki",
        "A workspace that only you are in still holds money. It would be lost with the account: spend it first, or say that you give it up.",
        "Eneo la kazi ambalo uko peke yako bado lina fedha. Zitapotea pamoja na akaunti: zitumie kwanza, au sema kwamba unaziacha.";
    WorkspaceClosed, "workspace_closed", CONFLICT, "Workspace closed", "Eneo la kazi limefungwa",
        "The workspace is closed: nobody could spend what comes in.",
        "Eneo la kazi limefungwa: hakuna anayeweza kutumia fedha zinazoingia.";
    BodyTooLarge, "body_too_large", PAYLOAD_TOO_LARGE, "Too large", "Ni kubwa mno",
        "The body is larger than is accepted here; GET /v1/limits shows the bounds.",
        "Mwili wa ombi ni mkubwa kuliko unaokubalika; GET /v1/limits inaonyesha mipaka.";
    RecordingTooLong, "recording_too_long", PAYLOAD_TOO_LARGE, "Recording too long", "Rekodi ni ndefu mno",
        "The recording is longer than is accepted; GET /v1/limits shows the bounds.",
        "Rekodi ni ndefu kuliko inayokubalika; GET /v1/limits inaonyesha mipaka.";
    SpeechTooLong, "speech_too_long", PAYLOAD_TOO_LARGE, "Speech too long", "Usomaji ni mrefu mno",
        "The text would take longer to say than is accepted; GET /v1/limits shows the bounds.",
        "Maandishi haya yangechukua muda mrefu kusomwa kuliko unaokubalika; GET /v1/limits inaonyesha mipaka.";
    ContentTypeUnsupported, "content_type_unsupported", UNSUPPORTED_MEDIA_TYPE, "Content type not supported", "Content-Type haikubaliki",
        "This address does not take this Content-Type.",
        "Anwani hii haipokei Content-Type hii.";
    ContainerUnknown, "container_unknown", UNSUPPORTED_MEDIA_TYPE, "Unknown audio container", "Umbizo la sauti halijulikani",
        "The file is in no audio container that is read here: WAV, AIFF, AU, CAF, MP3, MP2, FLAC, Ogg, WebM, M4A, AAC, GSM. Raw sound needs its part's content type: audio/basic (mu-law), audio/PCMA (A-law) or audio/pcm;rate=16000.",
        "Faili haiko katika umbizo la sauti linalosomeka hapa: WAV, AIFF, AU, CAF, MP3, MP2, FLAC, Ogg, WebM, M4A, AAC, GSM. Sauti ghafi inahitaji aina ya maudhui: audio/basic (mu-law), audio/PCMA (A-law) au audio/pcm;rate=16000.";
    ValidationFailed, "validation_failed", UNPROCESSABLE_ENTITY, "Wrong field", "Sehemu yenye kosa",
        "A field is missing or has a value that is not accepted; errors says which.",
        "Sehemu fulani haipo au ina thamani isiyokubalika; errors inaonyesha ipi.";
    TextUnspeakable, "text_unspeakable", UNPROCESSABLE_ENTITY, "Nothing to speak", "Hakuna cha kusoma",
        "The text has nothing that can be spoken, or characters that cannot be.",
        "Maandishi hayana kinachoweza kutamkwa, au yana herufi zisizotamkika.";
    SsmlInvalid, "ssml_invalid", UNPROCESSABLE_ENTITY, "SSML not understood", "SSML haikueleweka",
        "The SSML could not be understood.",
        "SSML haikueleweka.";
    AudioEmpty, "audio_empty", UNPROCESSABLE_ENTITY, "Recording empty", "Rekodi haina sauti",
        "The recording has no sound in it.",
        "Rekodi haina sauti yoyote.";
    AudioUndecodable, "audio_undecodable", UNPROCESSABLE_ENTITY, "Recording not decodable", "Rekodi haifunguki",
        "The recording is broken or in a form that cannot be decoded.",
        "Rekodi imeharibika au iko katika hali isiyoweza kufunguliwa.";
    RecordingUnreachable, "recording_unreachable", UNPROCESSABLE_ENTITY, "Recording not fetched", "Rekodi haikuchukuliwa",
        "The recording could not be fetched from its address.",
        "Rekodi haikuweza kuchukuliwa kutoka kwenye anwani yake.";
    IdempotencyMismatch, "idempotency_mismatch", UNPROCESSABLE_ENTITY, "Idempotency key reused", "Idempotency-Key ilishatumika",
        "This Idempotency-Key was used with another request.",
        "Idempotency-Key hii ilitumika na ombi lingine.";
    RateLimited, "rate_limited", TOO_MANY_REQUESTS, "Too many requests", "Maombi ni mengi mno",
        "Slow down: the Retry-After header says when to come back.",
        "Punguza kasi: kichwa cha Retry-After kinaonyesha lini urudi.";
    Internal, "internal", INTERNAL_SERVER_ERROR, "Internal error", "Hitilafu ya ndani",
        "Something went wrong here. Nothing was charged. Quote the request_id when you report it.",
        "Hitilafu imetokea kwetu. Hujatozwa chochote. Taja request_id unaporipoti.";
    Overloaded, "overloaded", SERVICE_UNAVAILABLE, "Overloaded", "Kazi ni nyingi mno",
        "Too much work is waiting. Come back after Retry-After seconds.",
        "Kazi nyingi zinasubiri. Rudi baada ya sekunde za Retry-After.";
    WarmingUp, "warming_up", SERVICE_UNAVAILABLE, "Warming up", "Mifumo inapakiwa",
        "The models are still loading. Come back after Retry-After seconds.",
        "Mifumo bado inapakiwa. Rudi baada ya sekunde za Retry-After.";
    StorageUnavailable, "storage_unavailable", SERVICE_UNAVAILABLE, "Data store not available", "Hifadhi ya data haipatikani",
        "The data store cannot be reached at the moment. Come back after Retry-After seconds.",
        "Hifadhi ya data haipatikani kwa sasa. Rudi baada ya sekunde za Retry-After.";
    ShuttingDown, "shutting_down", SERVICE_UNAVAILABLE, "Shutting down", "Seva inazimwa",
        "This server is shutting down. Try again.",
        "Seva hii inazimwa. Jaribu tena.";
    DeadlineExceeded, "deadline_exceeded", GATEWAY_TIMEOUT, "Time limit exceeded", "Muda uliowekwa umepita",
        "The work could not be done within the time limit. Nothing was charged.",
        "Kazi haikukamilika ndani ya muda uliowekwa. Hujatozwa chochote.";
}

impl Code {
    /// The code for a refusal that the framework made without us.
    pub fn for_status(status: StatusCode) -> Code {
        match status.as_u16() {
            401 => Code::KeyMissing,
            402 => Code::BalanceInsufficient,
            403 => Code::PermissionMissing,
            404 => Code::NotFound,
            405 => Code::MethodNotAllowed,
            408 => Code::RequestTimeout,
            409 => Code::Conflict,
            413 => Code::BodyTooLarge,
            415 => Code::ContentTypeUnsupported,
            422 => Code::ValidationFailed,
            429 => Code::RateLimited,
            503 => Code::Overloaded,
            504 => Code::DeadlineExceeded,
            400..=499 => Code::MalformedRequest,
            _ => Code::Internal,
        }
    }

    /// The word OpenAI's clients sort errors by.
    pub fn openai_type(self) -> &'static str {
        match self.status().as_u16() {
            401 => "authentication_error",
            402 => "insufficient_quota",
            403 => "permission_error",
            404 => "not_found_error",
            409 => "conflict_error",
            429 => "rate_limit_error",
            500..=599 => "server_error",
            _ => "invalid_request_error",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_unique_and_speaks_both_languages() {
        let codes: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(!code.english().is_empty() && !code.swahili().is_empty());
            assert_ne!(code.english(), code.swahili());
            assert_ne!(code.title(), code.title_swahili());
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }
}
