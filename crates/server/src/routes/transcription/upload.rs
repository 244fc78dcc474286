//! Takes a multipart form in; everything has a bound.

use std::path::Path;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use multer::{Constraints, Field, SizeLimit};
use sauti_service::transcribing::{Spool, SpoolError, Upload};

use super::form_parts::{FormParts, HeadTooLong};
use super::request::is_field;
use sauti_web::problem::{Code, FieldError, Problem, Reason};

const FIELD_BYTES_MAX: u64 = 64 * 1024;
const PARTS_MAX: usize = 256;
/// Boundaries, part headers and small fields beside the file.
const FORM_BYTES_EXTRA: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct Form {
    pub file: Upload,
    /// In the order they came.
    pub fields: Vec<(String, String)>,
}

pub async fn read_form(
    request: Request,
    bytes_max: u64,
    spool_dir: &Path,
) -> Result<Form, Problem> {
    let boundary = boundary(request.headers())?;
    let total_max = bytes_max.saturating_add(FORM_BYTES_EXTRA);
    let declared = request.headers().get(CONTENT_LENGTH);
    let declared: Option<u64> = declared.and_then(|value| value.to_str().ok()?.parse().ok());
    if declared.is_some_and(|bytes| bytes > total_max) {
        return Err(too_large(bytes_max));
    }
    let size = SizeLimit::new()
        .whole_stream(total_max)
        .for_field("file", bytes_max);
    let constraints = Constraints::new().size_limit(size.per_field(bytes_max));
    let mut parts = FormParts::new(request.into_body(), boundary, constraints);

    let (mut file, mut fields) = (None, Vec::new());
    for _ in 0..PARTS_MAX {
        let next = parts
            .next()
            .await
            .map_err(|error| form_problem(error, bytes_max))?;
        let Some(part) = next else {
            let missing = || Problem::field("file", Reason::Required);
            return Ok(Form {
                file: file.ok_or_else(missing)?,
                fields,
            });
        };
        match part.name() {
            Some("file") if file.is_some() => {
                return Err(Problem::field("file", Reason::TooMany { max: 1 }));
            }
            Some("file") => file = Some(read_file(part, bytes_max, spool_dir).await?),
            Some(name) if part.file_name().is_some() && !is_field(name) => {
                let reason = Reason::NearMiss { meant: "file" };
                return Err(Problem::fields(vec![FieldError::new(
                    name.to_owned(),
                    reason,
                )]));
            }
            Some(name) => {
                let name = name.chars().take(64).collect();
                fields.push((name, read_text(part, bytes_max).await?));
            }
            None => {
                return Err(Problem::detailed(
                    Code::MalformedMultipart,
                    "A part of the form has no name.",
                ));
            }
        }
    }
    Err(Problem::detailed(
        Code::MalformedMultipart,
        "The form has too many parts.",
    ))
}

pub fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let given = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if !given
        .to_ascii_lowercase()
        .starts_with("multipart/form-data")
    {
        return Err(Problem::detailed(
            Code::ContentTypeUnsupported,
            "Send the recording as multipart/form-data, in a part named file.",
        ));
    }
    multer::parse_boundary(given).map_err(|_| {
        Problem::detailed(
            Code::MalformedMultipart,
            "The Content-Type has no boundary.",
        )
    })
}

pub async fn read_text(mut part: Field<'_>, bytes_max: u64) -> Result<String, Problem> {
    let name = part.name().unwrap_or_default().to_owned();
    let mut text = Vec::new();
    while let Some(chunk) = part
        .chunk()
        .await
        .map_err(|error| form_problem(error, bytes_max))?
    {
        text.extend_from_slice(&chunk);
        if text.len() as u64 > FIELD_BYTES_MAX {
            let reason = Reason::TooLong {
                max: FIELD_BYTES_MAX,
                actual: text.len() as u64,
            };
            return Err(Problem::fields(vec![FieldError::new(name, reason)]));
        }
    }
    String::from_utf8(text).map_err(|_| {
        let reason = Reason::WrongType {
            expected: "text in UTF-8",
        };
        Problem::fields(vec![FieldError::new(name, reason)])
    })
}

async fn read_file(
    mut part: Field<'_>,
    bytes_max: u64,
    spool_dir: &Path,
) -> Result<Upload, Problem> {
    let kind = part.content_type().map(ToString::to_string);
    let mut spool = Spool::new(spool_dir, bytes_max);
    while let Some(chunk) = part
        .chunk()
        .await
        .map_err(|error| form_problem(error, bytes_max))?
    {
        spool.add(&chunk).await?;
    }
    Ok(spool.finish(kind.as_deref()).await?)
}

pub fn form_problem(error: multer::Error, bytes_max: u64) -> Problem {
    use multer::Error;
    match error {
        Error::FieldSizeExceeded { .. } | Error::StreamSizeExceeded { .. } => too_large(bytes_max),
        Error::StreamReadFailed(cause) if cause.is::<HeadTooLong>() => {
            Problem::detailed(Code::MalformedMultipart, "The head of a part is too long.")
        }
        Error::StreamReadFailed(_) => {
            Problem::detailed(Code::MalformedRequest, "The body broke off.")
        }
        Error::IncompleteFieldData { .. } | Error::IncompleteHeaders | Error::IncompleteStream => {
            Problem::detailed(
                Code::MalformedMultipart,
                "The form ends in the middle of a part.",
            )
        }
        _ => Problem::new(Code::MalformedMultipart),
    }
}

fn too_large(bytes_max: u64) -> Problem {
    SpoolError::TooLarge { bytes_max }.into()
}
