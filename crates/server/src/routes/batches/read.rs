//! Reading an order: JSON, or a form whose recordings go into one file without a name, however many there are.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use multer::{Constraints, Field, SizeLimit};
use sauti_service::app::App;
use sauti_service::transcribing::{SpoolError, open_unnamed};
use sauti_store::{BLOB_PART_BYTES, Operation};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::order::{self, Order};
use crate::routes::transcription::{FormParts, upload};
use sauti_web::caller::{self, Caller};
use sauti_web::fields::{Fields, JsonBytes, read_body, too_large, without_mark};
use sauti_web::problem::{Code, Problem, Reason};

/// Items as JSON, in a body or in a part: a thousand texts of the greatest length, with room for escapes.
const ITEMS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Boundaries and part headers.
const FORM_BYTES_EXTRA: u64 = 1024 * 1024;
/// A parsed value takes up to a hundred times the room of its bytes. No item needs more of them than this, and no order
/// that fits more than that.
const VALUES_PER_ITEM_MAX: usize = 256;
const VALUES_MAX: usize = 1_000_000;
const FILE_NAME_CHARS_MAX: usize = 128;
const CONTENT_TYPE_BYTES_MAX: usize = 200;

/// Where a recording lies in the spool.
#[derive(Debug, Clone)]
pub struct SpooledFile {
    offset: u64,
    bytes: u64,
    pub sha256: [u8; 32],
    /// As the part says, for recordings without a header of their own.
    pub content_type: Option<String>,
}

#[derive(Debug)]
pub struct NamedFile {
    pub name: String,
    pub place: SpooledFile,
}

/// All recordings of an order, one after the other.
#[derive(Debug, Default)]
pub struct OrderSpool {
    file: Option<Arc<std::fs::File>>,
    pub files: Vec<NamedFile>,
    pub bytes: u64,
}

/// Reads one recording piece by piece.
pub struct Parts {
    file: Option<Arc<std::fs::File>>,
    at: u64,
    end: u64,
}

pub async fn read(app: &App, caller: &Caller, request: Request) -> Result<Order, Problem> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let is_form = kind.to_ascii_lowercase().starts_with("multipart/form-data");
    let (operation, items, defaults, spool) = match is_form {
        true => read_form(app, request).await?,
        false => read_json(app, request).await?,
    };
    caller::require_permission(caller, &[operation.permission()])?;
    let workspace_id = &caller.workspace_id;
    let lexicon = app.lexicons.of(&app.store, workspace_id).await?;
    let for_check = app.clone();
    // Every text is read, which may take a moment.
    let check = move || order::check(&for_check, &lexicon, operation, items, defaults, spool);
    let checked = tokio::task::spawn_blocking(check).await;
    let order = checked.map_err(Problem::internal)??;
    order::check_vocabularies(app, workspace_id, &order.vocabularies).await?;
    Ok(order)
}

/// The operation, the items, what holds for all of them, and the recordings.
type Unchecked = (Operation, Vec<Value>, Map<String, Value>, OrderSpool);

async fn read_json(app: &App, request: Request) -> Result<Unchecked, Problem> {
    JsonBytes::require(request.headers())?;
    let body = read_body(request, ITEMS_BYTES_MAX).await?;
    require_few_values(app, &body)?;
    let mut fields = Fields::parse(&body)?;
    let operation = fields.text("operation");
    let operation = take_operation(&mut fields, operation.as_deref());
    let items = match fields.value("items") {
        Some(Value::Array(items)) => items,
        Some(_) => {
            let expected = "a list of objects";
            fields.error("items", Reason::WrongType { expected });
            Vec::new()
        }
        None => {
            fields.error("items", Reason::Required);
            Vec::new()
        }
    };
    let defaults = match fields.value("defaults") {
        None => Map::new(),
        Some(Value::Object(defaults)) => defaults,
        Some(_) => {
            let expected = "an object";
            fields.error("defaults", Reason::WrongType { expected });
            Map::new()
        }
    };
    fields.finish(&["operation", "items", "defaults"], &[])?;
    let operation = operation.ok_or_else(|| Problem::field("operation", Reason::Required))?;
    if items.is_empty() {
        return Err(Problem::field("items", Reason::Empty));
    }
    Ok((operation, items, defaults, OrderSpool::default()))
}

fn take_operation(fields: &mut Fields, given: Option<&str>) -> Option<Operation> {
    let operation = given?.parse().ok();
    if operation.is_none() {
        fields.error("operation", unknown_operation());
    }
    operation
}

fn unknown_operation() -> Reason {
    let allowed = "speech, transcription".to_owned();
    Reason::UnknownValue { allowed }
}

async fn read_form(app: &App, request: Request) -> Result<Unchecked, Problem> {
    let boundary = upload::boundary(request.headers())?;
    let bytes_max = app.config.batches.upload_bytes_max;
    let total_max = bytes_max + FORM_BYTES_EXTRA + ITEMS_BYTES_MAX as u64;
    let constraints = Constraints::new().size_limit(SizeLimit::new().whole_stream(total_max));
    let mut form = FormParts::new(request.into_body(), boundary, constraints);

    let mut operation = Operation::Transcription;
    let (mut items, mut defaults, mut spool) = (Vec::new(), Map::new(), OrderSpool::default());
    // A few parts beside the recordings.
    let parts_max = app.config.batches.items_max + 64;
    for _ in 0..=parts_max {
        let next = form.next().await;
        let Some(part) = next.map_err(|error| upload::form_problem(error, bytes_max))? else {
            let is_empty = items.is_empty() && spool.files.is_empty();
            if is_empty && operation == Operation::Transcription {
                return Err(Problem::field("file", Reason::Required));
            }
            return Ok((operation, items, defaults, spool));
        };
        match part.name() {
            Some("file") => spool.take(app, part).await?,
            Some("items") => items = read_lines(app, part, bytes_max).await?,
            Some("operation") => {
                let named = upload::read_text(part, bytes_max).await?;
                operation = named
                    .trim()
                    .parse()
                    .map_err(|_| Problem::field("operation", unknown_operation()))?;
            }
            Some(name) => {
                let name: String = name.chars().take(64).collect();
                let value = upload::read_text(part, bytes_max).await?;
                add_default(&mut defaults, name, value);
            }
            None => {
                let detail = "A part of the form has no name.";
                return Err(Problem::detailed(Code::MalformedMultipart, detail));
            }
        }
    }
    let max = app.config.batches.items_max as u64;
    Err(Problem::field("file", Reason::TooMany { max }))
}

/// Before anything is parsed, for the parsed values are what fills the memory.
fn require_few_values(app: &App, json: &[u8]) -> Result<(), Problem> {
    let items_max = app.config.batches.items_max;
    let max = items_max
        .saturating_mul(VALUES_PER_ITEM_MAX)
        .min(VALUES_MAX);
    match values_at_most(json) > max {
        true => {
            let detail = format!("An order may have at most {max} values in all its items.");
            Err(Problem::detailed(Code::BodyTooLarge, detail))
        }
        false => Ok(()),
    }
}

/// How many values JSON can have: each but the first begins a list or an object, or follows a comma.
fn values_at_most(json: &[u8]) -> usize {
    let (mut values, mut in_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' | b',' if !in_text => values += 1,
            _ => {}
        }
    }
    values
}

/// A field that comes again makes a list.
fn add_default(defaults: &mut Map<String, Value>, name: String, value: String) {
    match defaults.get_mut(&name) {
        None => drop(defaults.insert(name, value.into())),
        Some(Value::Array(values)) => values.push(value.into()),
        Some(first) => *first = Value::Array(vec![first.take(), value.into()]),
    }
}

/// JSON Lines.
async fn read_lines(app: &App, mut part: Field<'_>, bytes_max: u64) -> Result<Vec<Value>, Problem> {
    let mut text = Vec::new();
    while let Some(chunk) = part
        .chunk()
        .await
        .map_err(|error| upload::form_problem(error, bytes_max))?
    {
        text.extend_from_slice(&chunk);
        if text.len() > ITEMS_BYTES_MAX {
            return Err(too_large(ITEMS_BYTES_MAX));
        }
    }
    require_few_values(app, &text)?;
    let lines = without_mark(&text).split(|byte| *byte == b'\n');
    let lines = lines.enumerate();
    let filled = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    filled
        .map(|(number, line)| {
            serde_json::from_slice(line)
                .map(Value::Object)
                .map_err(|_| {
                    let detail = format!("Line {} of items is not a JSON object.", number + 1);
                    Problem::detailed(Code::MalformedJson, detail)
                })
        })
        .collect()
}

impl OrderSpool {
    async fn take(&mut self, app: &App, mut part: Field<'_>) -> Result<(), Problem> {
        let limits = &app.config.limits;
        let bytes_max = app.config.batches.upload_bytes_max;
        let name = match part.file_name() {
            Some(name) => name.chars().take(FILE_NAME_CHARS_MAX).collect(),
            None => (self.files.len() + 1).to_string(),
        };
        let content_type = part.content_type().map(ToString::to_string);
        let content_type = content_type.filter(|kind| kind.len() <= CONTENT_TYPE_BYTES_MAX);
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(open(&app.spool_dir()).await?))),
        };
        let (offset, mut digest) = (self.bytes, Sha256::new());
        while let Some(chunk) = part
            .chunk()
            .await
            .map_err(|error| upload::form_problem(error, bytes_max))?
        {
            digest.update(&chunk);
            self.bytes += chunk.len() as u64;
            if self.bytes > bytes_max {
                let detail = format!("The recordings may have at most {bytes_max} bytes in all.");
                return Err(Problem::detailed(Code::BodyTooLarge, detail));
            }
            if self.bytes - offset > limits.upload_bytes_max {
                let max = limits.upload_bytes_max;
                let detail = format!("A recording may have at most {max} bytes.");
                return Err(Problem::detailed(Code::BodyTooLarge, detail));
            }
            let file = Arc::clone(&file);
            let written = tokio::task::spawn_blocking(move || (&*file).write_all(&chunk)).await;
            written
                .map_err(Problem::internal)?
                .map_err(SpoolError::Disk)?;
        }
        let place = SpooledFile {
            offset,
            bytes: self.bytes - offset,
            sha256: digest.finalize().into(),
            content_type,
        };
        self.files.push(NamedFile { name, place });
        Ok(())
    }

    pub fn parts(&self, place: &SpooledFile) -> Parts {
        Parts {
            file: self.file.clone(),
            at: place.offset,
            end: place.offset + place.bytes,
        }
    }
}

impl Parts {
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let Some(file) = self.file.clone().filter(|_| self.at < self.end) else {
            return Ok(None);
        };
        let (at, bytes) = (self.at, (self.end - self.at).min(BLOB_PART_BYTES as u64));
        self.at += bytes;
        let read = tokio::task::spawn_blocking(move || {
            let mut part = vec![0; bytes as usize];
            file.read_exact_at(&mut part, at).map(|()| part)
        });
        let part = read
            .await
            .map_err(Problem::internal)?
            .map_err(Problem::internal)?;
        Ok(Some(part))
    }
}

async fn open(dir: &Path) -> Result<std::fs::File, Problem> {
    let opened = open_unnamed(dir).await.map_err(SpoolError::Disk)?;
    Ok(opened.into_std().await)
}

#[cfg(test)]
mod tests {
    use super::values_at_most;

    #[test]
    fn values_are_counted_and_what_stands_in_a_text_is_not() {
        for (json, values) in [
            (&br#"{"a": 1}"#[..], 2),
            (br#"[[], {}, {"a": [1, 2]}]"#, 9),
            (br#""a, [b], {c} \", d", 5"#, 2),
            (br#"["\\", 2]"#, 3),
        ] {
            let shown = String::from_utf8_lossy(json);
            assert_eq!(values_at_most(json), values, "{shown}");
        }
    }
}
