//! The fields of a JSON body, taken one by one, so that every mistake is named in one answer.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use sauti_service::config::near_miss;
use serde_json::{Map, Value};

use crate::problem::{Code, FieldError, Problem, Reason};

/// Larger than any JSON request: 5,000 characters, each escaped, many times over.
pub const JSON_BYTES_MAX: usize = 1024 * 1024;

/// The body of a JSON request as it came, within bounds and of the right type.
#[derive(Debug)]
pub struct JsonBytes(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<JsonBytes, Problem> {
        JsonBytes::require(request.headers())?;
        Ok(JsonBytes(read_body(request, JSON_BYTES_MAX).await?))
    }
}

impl JsonBytes {
    /// For bodies with bounds of their own.
    pub fn require(headers: &HeaderMap) -> Result<(), Problem> {
        require_json(headers)
    }
}

/// Reads a whole body; 413 before the first byte when the length is declared.
pub async fn read_body(request: Request, bytes_max: usize) -> Result<Bytes, Problem> {
    let declared = request.headers().get(CONTENT_LENGTH);
    let declared: Option<u64> = declared.and_then(|value| value.to_str().ok()?.parse().ok());
    if declared.is_some_and(|bytes| bytes > bytes_max as u64) {
        return Err(too_large(bytes_max));
    }
    collect(request.into_body(), bytes_max).await
}

async fn collect(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    match axum::body::to_bytes(body, bytes_max).await {
        Ok(bytes) => Ok(bytes),
        Err(error) => {
            let mut source: Option<&dyn std::error::Error> = Some(&error);
            while let Some(cause) = source {
                if cause.is::<http_body_util::LengthLimitError>() {
                    return Err(too_large(bytes_max));
                }
                source = cause.source();
            }
            Err(Problem::detailed(
                Code::MalformedRequest,
                "The body broke off.",
            ))
        }
    }
}

pub fn too_large(bytes_max: usize) -> Problem {
    Problem::detailed(
        Code::BodyTooLarge,
        format!("The body may have at most {bytes_max} bytes."),
    )
    .in_swahili(format!("Mwili wa ombi uwe na baiti {bytes_max} tu."))
}

fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    match is_json {
        true => Ok(()),
        false => Err(Problem::detailed(
            Code::ContentTypeUnsupported,
            "Send the body as JSON, with Content-Type: application/json.",
        )),
    }
}

/// Some editors and Windows libraries begin every file with a byte order mark.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// A JSON object that is being taken apart.
#[derive(Debug)]
pub struct Fields {
    values: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    pub fn parse(body: &[u8]) -> Result<Fields, Problem> {
        match serde_json::from_slice(without_mark(body)) {
            Ok(Value::Object(values)) => Ok(Fields {
                values,
                errors: Vec::new(),
            }),
            Ok(_) => Err(Problem::detailed(
                Code::MalformedJson,
                "The body must be a JSON object.",
            )),
            Err(error) => {
                // The parser's own words can quote the body; the place is enough.
                let (line, column) = (error.line(), error.column());
                let english = format!("The body is not JSON: line {line}, column {column}.");
                let swahili =
                    format!("Mwili wa ombi si JSON: mstari wa {line}, herufi ya {column}.");
                Err(Problem::detailed(Code::MalformedJson, english).in_swahili(swahili))
            }
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_null())
    }

    /// The name that the caller used for a field with two, before it is taken: errors name what was sent.
    pub fn sent_as(&self, name: &'static str, alias: &'static str) -> &'static str {
        match self.has(alias) && !self.has(name) {
            true => alias,
            false => name,
        }
    }

    /// An absent field and an explicit null are the same.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.values.remove(name).filter(|value| !value.is_null())
    }

    pub fn text(&mut self, name: &'static str) -> Option<String> {
        match self.value(name)? {
            Value::String(text) => Some(text),
            _ => self.wrong_type(name, "a string"),
        }
    }

    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        match self.value(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.wrong_type(name, "true or false"),
        }
    }

    pub fn number(&mut self, name: &'static str) -> Option<f64> {
        match self.value(name)?.as_f64() {
            Some(number) => Some(number),
            None => self.wrong_type(name, "a number"),
        }
    }

    pub fn integer(&mut self, name: &'static str) -> Option<i64> {
        match self.value(name)?.as_i64() {
            Some(number) => Some(number),
            None => self.wrong_type(name, "a whole number"),
        }
    }

    pub fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let Value::Array(values) = self.value(name)? else {
            return self.wrong_type(name, "a list of strings");
        };
        let texts: Option<Vec<String>> = values
            .into_iter()
            .map(|value| value.as_str().map(str::to_owned))
            .collect();
        match texts {
            Some(texts) => Some(texts),
            None => self.wrong_type(name, "a list of strings"),
        }
    }

    /// A field that has to be there: `fields.required("url", Fields::text)`.
    pub fn required<T: Default>(
        &mut self,
        name: &'static str,
        take: impl FnOnce(&mut Fields, &'static str) -> Option<T>,
    ) -> T {
        let value = take(self, name);
        if value.is_none() && !self.is_wrong(name) {
            self.error(name, Reason::Required);
        }
        value.unwrap_or_default()
    }

    /// A field with two names, ours and OpenAI's. Sending both is a mistake unless they agree.
    pub fn text_by(&mut self, name: &'static str, alias: &'static str) -> Option<String> {
        let (ours, theirs) = (self.text(name), self.text(alias));
        if ours.is_some() && theirs.is_some() && ours != theirs {
            self.error(name, Reason::Twice { other: alias });
        }
        ours.or(theirs)
    }

    pub fn error(&mut self, field: impl Into<Cow<'static, str>>, reason: Reason) {
        self.errors.push(FieldError::new(field, reason));
    }

    /// Whether this field was already complained of.
    pub fn is_wrong(&self, field: &str) -> bool {
        self.errors.iter().any(|error| error.field == field)
    }

    /// What is left over is ignored, unless it looks like a slip for a field that exists.
    pub fn finish(
        mut self,
        known: &[&'static str],
        ignored: &[&'static str],
    ) -> Result<(), Problem> {
        for name in self.values.keys().take(64) {
            if let Some(meant) = meant_field(name, known, ignored) {
                self.errors
                    .push(FieldError::new(name.clone(), Reason::NearMiss { meant }));
            }
        }
        self.none_wrong()
    }

    /// For changes and for keys: a field that is not known would be told as done, so it is refused.
    pub fn finish_strictly(mut self, known: &[&'static str]) -> Result<(), Problem> {
        for name in self.values.keys().take(64) {
            let reason = match meant_field(name, known, &[]) {
                Some(meant) => Reason::NearMiss { meant },
                None => Reason::UnknownField {
                    known: known.join(", "),
                },
            };
            self.errors.push(FieldError::new(name.clone(), reason));
        }
        self.none_wrong()
    }

    fn none_wrong(self) -> Result<(), Problem> {
        match self.errors.is_empty() {
            true => Ok(()),
            false => Err(Problem::fields(self.errors)),
        }
    }

    fn wrong_type<T>(&mut self, name: &'static str, expected: &'static str) -> Option<T> {
        self.error(name, Reason::WrongType { expected });
        None
    }
}

/// The field a leftover name was probably meant to be.
pub fn meant_field(
    name: &str,
    known: &[&'static str],
    ignored: &[&'static str],
) -> Option<&'static str> {
    if ignored.contains(&name) || known.contains(&name) || name.len() > 64 {
        return None;
    }
    let plain = |text: &str| {
        text.to_ascii_lowercase()
            .replace(['_', '-', '[', ']', ' '], "")
    };
    let same = known
        .iter()
        .find(|candidate| plain(candidate) == plain(name));
    // "format" for "output_format".
    let end = format!("_{name}");
    let longer = |candidate: &&&str| name.len() >= 4 && candidate.ends_with(&end);
    same.or_else(|| known.iter().find(longer))
        .copied()
        .or_else(|| near_miss(name, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["text", "voice_id", "speed"];

    #[test]
    fn every_mistake_is_named_at_once() {
        let mut fields =
            Fields::parse(br#"{"text": 5, "speed": "fast", "voiceId": "asha"}"#).unwrap();
        assert_eq!(fields.text("text"), None);
        assert_eq!(fields.number("speed"), None);
        let problem = fields.finish(KNOWN, &[]).unwrap_err();
        let named: Vec<_> = problem
            .errors
            .iter()
            .map(|error| error.field.as_ref())
            .collect();
        assert_eq!(named, ["text", "speed", "voiceId"]);
        assert_eq!(
            problem.errors[2].reason,
            Reason::NearMiss { meant: "voice_id" }
        );
    }

    #[test]
    fn the_end_of_a_name_is_a_slip() {
        let known = &["text", "output_format", "voice_id"];
        for (name, meant) in [("format", Some("output_format")), ("id", None)] {
            assert_eq!(meant_field(name, known, &[]), meant, "{name}");
        }
        assert_eq!(meant_field("format", known, &["format"]), None);
    }

    #[test]
    fn a_field_we_never_heard_of_is_ignored() {
        let fields = Fields::parse(br#"{"temperature": 1, "x": null}"#).unwrap();
        fields.finish(KNOWN, &[]).unwrap();
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let mut fields = Fields::parse(b"\xef\xbb\xbf{\"text\": \"Habari\"}").unwrap();
        assert_eq!(fields.text("text").as_deref(), Some("Habari"));
    }

    #[test]
    fn what_is_not_an_object_is_malformed() {
        for body in [
            &b"[1]"[..],
            b"",
            b"{",
            b"\xff\xfe",
            b"nul",
            &b"[".repeat(100_000),
        ] {
            assert_eq!(Fields::parse(body).unwrap_err().code, Code::MalformedJson);
        }
    }
}
