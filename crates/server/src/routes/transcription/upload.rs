//! Takes a multipart form in: small recordings stay in memory, large ones go to a file that has
//! no name, and everything has a bound.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use multer::{Constraints, Field, Multipart, SizeLimit};
use sauti_audio::{GUESS_BYTES, RawFormat, guess_seconds};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use crate::problem::{Code, FieldError, Problem, Reason};

const MEMORY_BYTES_MAX: usize = 1024 * 1024;
const FIELD_BYTES_MAX: u64 = 64 * 1024;
const PARTS_MAX: usize = 256;
/// Boundaries, part headers and small fields beside the file.
const FORM_BYTES_EXTRA: u64 = 1024 * 1024;

#[derive(Debug)]
pub enum Source {
    Memory(Vec<u8>),
    File(File),
}

#[derive(Debug)]
pub struct Upload {
    pub source: Source,
    pub bytes: u64,
    pub sha256: [u8; 32],
    /// What the caller says it is, for recordings without a header of their own.
    pub declared: Option<RawFormat>,
}

impl Upload {
    /// About how long the recording is, from a glance at both its ends.
    pub fn about_seconds(&self) -> f64 {
        let ends = |bytes: &[u8]| {
            let (head, tail) = (
                bytes.len().min(GUESS_BYTES),
                bytes.len().saturating_sub(GUESS_BYTES),
            );
            guess_seconds(&bytes[..head], &bytes[tail..], self.bytes, self.declared)
        };
        match &self.source {
            Source::Memory(bytes) => ends(bytes),
            Source::File(file) => {
                let mut glance = vec![0; 2 * GUESS_BYTES];
                let (head, tail) = glance.split_at_mut(GUESS_BYTES);
                let at = self.bytes.saturating_sub(GUESS_BYTES as u64);
                let read = file
                    .read_exact_at(head, 0)
                    .and_then(|()| file.read_exact_at(tail, at));
                let (head, tail) = if read.is_ok() {
                    (&*head, &*tail)
                } else {
                    (&[][..], &[][..])
                };
                guess_seconds(head, tail, self.bytes, self.declared)
            }
        }
    }
}

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
    let stream = request.into_body().into_data_stream();
    let mut multipart = Multipart::with_constraints(stream, boundary, constraints);

    let (mut file, mut fields) = (None, Vec::new());
    for _ in 0..PARTS_MAX {
        let next = multipart
            .next_field()
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
    let mut digest = Sha256::new();
    let (mut memory, mut spool) = (Vec::new(), None);
    let (mut bytes, mut head) = (0, Vec::new());
    while let Some(chunk) = part
        .chunk()
        .await
        .map_err(|error| form_problem(error, bytes_max))?
    {
        digest.update(&chunk);
        head.extend(chunk.iter().take(12 - head.len()));
        bytes += chunk.len() as u64;
        if bytes > bytes_max {
            return Err(too_large(bytes_max));
        }
        if spool.is_none() && memory.len() + chunk.len() <= MEMORY_BYTES_MAX {
            memory.extend_from_slice(&chunk);
            continue;
        }
        if spool.is_none() {
            spool = Some(open_spool(spool_dir, std::mem::take(&mut memory)).await?);
        }
        if let Some(file) = &mut spool {
            file.write_all(&chunk).await.map_err(Problem::internal)?;
        }
    }
    let declared = declared(kind.as_deref(), &head);
    let source = match spool {
        None => Source::Memory(memory),
        Some(mut file) => {
            file.flush().await.map_err(Problem::internal)?;
            Source::File(rewound(file.into_std().await).await?)
        }
    };
    Ok(Upload {
        source,
        bytes,
        sha256: digest.finalize().into(),
        declared,
    })
}

/// The file has no name in any folder: nobody else can open it, and it goes when we do.
pub async fn open_spool(dir: &Path, start: Vec<u8>) -> Result<tokio::fs::File, Problem> {
    let dir = dir.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&dir)?;
        let mut file = tempfile::tempfile_in(&dir)?;
        file.write_all(&start)?;
        Ok::<_, std::io::Error>(file)
    });
    let file = opened
        .await
        .map_err(Problem::internal)?
        .map_err(Problem::internal)?;
    Ok(tokio::fs::File::from_std(file))
}

async fn rewound(mut file: File) -> Result<File, Problem> {
    file.rewind().map_err(Problem::internal)?;
    Ok(file)
}

/// What a recording without a header of its own is said to be.
pub fn declared(content_type: Option<&str>, head: &[u8]) -> Option<RawFormat> {
    content_type
        .and_then(raw_format)
        .filter(|_| !has_header(head))
}

/// Only recordings without a header need a declaration; for the rest the bytes decide.
fn raw_format(content_type: &str) -> Option<RawFormat> {
    let lower = content_type.to_ascii_lowercase();
    let mut pieces = lower.split(';').map(str::trim);
    let rate_hz = |pieces: std::str::Split<'_, char>| {
        let mut rates = pieces.filter_map(|piece| piece.trim().strip_prefix("rate=")?.parse().ok());
        rates.next()
    };
    match pieces.next()? {
        "audio/basic" | "audio/pcmu" | "audio/x-mulaw" | "audio/mulaw" => Some(RawFormat::Ulaw8000),
        "audio/pcma" | "audio/x-alaw" | "audio/x-alaw-basic" | "audio/alaw" => {
            Some(RawFormat::Alaw8000)
        }
        "audio/pcm" | "audio/x-pcm" => Some(RawFormat::Pcm16Le {
            rate_hz: rate_hz(lower.split(';')).unwrap_or(24_000),
        }),
        _ => None,
    }
}

fn has_header(start: &[u8]) -> bool {
    let marks: [&[u8]; 7] = [
        b"RIFF",
        b"RF64",
        b"OggS",
        b"fLaC",
        b"ID3",
        b".snd",
        &[0x1a, 0x45, 0xdf, 0xa3],
    ];
    marks.iter().any(|mark| start.starts_with(mark)) || start.get(4..8) == Some(b"ftyp")
}

pub fn form_problem(error: multer::Error, bytes_max: u64) -> Problem {
    use multer::Error;
    match error {
        Error::FieldSizeExceeded { .. } | Error::StreamSizeExceeded { .. } => too_large(bytes_max),
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
    Problem::detailed(
        Code::BodyTooLarge,
        format!("The recording may have at most {bytes_max} bytes."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_telephone_audio_is_known_by_its_declared_type() {
        assert!(matches!(
            raw_format("audio/basic"),
            Some(RawFormat::Ulaw8000)
        ));
        assert!(matches!(
            raw_format("audio/PCMA; rate=8000"),
            Some(RawFormat::Alaw8000)
        ));
        assert!(matches!(
            raw_format("audio/pcm;rate=16000"),
            Some(RawFormat::Pcm16Le { rate_hz: 16_000 })
        ));
        assert!(raw_format("audio/wav").is_none());
    }

    #[test]
    fn a_header_wins_over_the_declared_type() {
        assert!(has_header(b"RIFF....WAVE"));
        assert!(has_header(b"....ftypM4A "));
        assert!(!has_header(&[0x7f; 12]));
    }
}
