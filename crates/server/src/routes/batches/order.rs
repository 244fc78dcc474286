//! An order, checked item by item before anything of it is accepted.

use std::collections::{HashMap, HashSet};

use sauti_service::app::App;
use sauti_service::lexicons::VersionedLexicon;
use sauti_service::speaking::{Reader, SpeechItem};
use sauti_service::{ServiceError, money, vocabularies};
use sauti_store::{Operation, WorkspaceId};
use serde_json::{Map, Value, json};

use super::read::{OrderSpool, SpooledFile};
use crate::batches::is_allowed;
use crate::routes::speech::AskedSpeech;
use crate::routes::transcription;
use sauti_web::language::Language;
use sauti_web::problem::{Code, FieldError, Problem, Reason};

const CUSTOM_ID_CHARS_MAX: usize = 128;
/// More mistakes than this in one answer help nobody.
const ERRORS_MAX: usize = 20;
/// What a spoken character takes as sound, near enough: 15 a second, 48,000 bytes a second.
const SOUND_BYTES_PER_CHAR: u64 = 3_200;
/// What holds for all items is written into each of them: the longest text, a prompt and a hundred key terms fit.
const DEFAULTS_BYTES_MAX: usize = 128 * 1024;

#[derive(Debug)]
pub struct Order {
    pub operation: Operation,
    pub items: Vec<Item>,
    /// Those that items name, each with the item's place in the list.
    pub vocabularies: Vec<(usize, String)>,
    pub spool: OrderSpool,
    /// What it takes to keep, recordings and requests exactly and sounds by estimate.
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Item {
    pub custom_id: String,
    /// JSON, as it lies in the store.
    pub request: String,
    pub file: Option<SpooledFile>,
}

impl Order {
    pub fn fingerprint(&self) -> String {
        let mut parts: Vec<Vec<u8>> = vec![self.operation.as_str().into()];
        for item in &self.items {
            parts.push(item.custom_id.clone().into());
            parts.push(item.request.clone().into());
            parts.push(
                item.file
                    .as_ref()
                    .map_or_else(Vec::new, |file| file.sha256.to_vec()),
            );
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        money::fingerprint(&parts)
    }
}

/// An item says otherwise by another name of a field too, or by what cannot stand beside it.
fn take_defaults(fields: &mut Map<String, Value>, defaults: &Map<String, Value>) {
    const ALTERNATIVES: [[&str; 2]; 5] = [
        ["text", "input"],
        ["voice_id", "voice"],
        ["output_format", "response_format"],
        ["keyterms", "keywords"],
        ["expect", "choices"],
    ];
    let said: HashSet<String> = fields.keys().cloned().collect();
    let is_said = |name: &str| said.contains(name);
    for (name, value) in defaults {
        let mut others = ALTERNATIVES
            .iter()
            .filter(|pair| pair.contains(&name.as_str()));
        if !others.any(|pair| pair.iter().any(|other| is_said(other))) && !is_said(name) {
            fields.insert(name.clone(), value.clone());
        }
    }
}

/// What cannot be listened with now would fail every item that names it.
pub async fn check_vocabularies(
    app: &App,
    workspace_id: &WorkspaceId,
    named: &[(usize, String)],
) -> Result<(), Problem> {
    let (mut ready, mut errors) = (HashSet::new(), Vec::new());
    for (index, name) in named {
        if errors.len() >= ERRORS_MAX || ready.contains(name) {
            continue;
        }
        match vocabularies::ready_us(app, workspace_id, name).await {
            Ok(_) => drop(ready.insert(name)),
            Err(ServiceError::Fields(wrong)) => errors.extend(wrong.into_iter().map(|error| {
                let field = format!("items[{index}].{}", error.field);
                FieldError::new(field, error.reason)
            })),
            Err(error) => return Err(error.into()),
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Problem::fields(errors)),
    }
}

/// Checks an order as it was read. Recordings that no item names are items themselves, if there are no others.
pub fn check(
    app: &App,
    lexicon: &VersionedLexicon,
    operation: Operation,
    mut items: Vec<Value>,
    defaults: Map<String, Value>,
    spool: OrderSpool,
) -> Result<Order, Problem> {
    if serde_json::to_vec(&defaults).map_or(0, |json| json.len()) > DEFAULTS_BYTES_MAX {
        let detail =
            format!("What holds for all items may have at most {DEFAULTS_BYTES_MAX} bytes.");
        return Err(Problem::detailed(Code::BodyTooLarge, detail));
    }
    if items.is_empty() {
        items = spool
            .files
            .iter()
            .map(|file| named_by(&file.name))
            .collect();
    }
    if items.is_empty() {
        return Err(Problem::field("items", Reason::Empty));
    }
    let max = app.config.batches.items_max;
    if items.len() > max {
        return Err(Problem::field("items", Reason::TooMany { max: max as u64 }));
    }
    let mut check = ItemCheck {
        app,
        lexicon,
        operation,
        files: Files::of(&spool)?,
        names: HashSet::new(),
        vocabularies: Vec::new(),
        characters: 0,
        errors: Vec::new(),
    };
    let mut checked = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Value::Object(mut fields) => {
                take_defaults(&mut fields, &defaults);
                checked.push(check.item(index, fields));
            }
            _ => check.no_object(index),
        }
        if check.errors.len() >= ERRORS_MAX {
            break;
        }
    }
    check.end()?;
    let sound_bytes = check.characters as u64 * SOUND_BYTES_PER_CHAR;
    let requests_bytes: usize = checked.iter().map(|item| item.request.len()).sum();
    Ok(Order {
        operation,
        items: checked,
        vocabularies: check.vocabularies,
        bytes: spool.bytes + sound_bytes + requests_bytes as u64,
        spool,
    })
}

fn named_by(file: &str) -> Value {
    json!({"file": file})
}

/// Uploaded recordings by name; each can be one item's only, for it is deleted when that one is done.
struct Files {
    left: HashMap<String, SpooledFile>,
    seen: HashSet<String>,
}

impl Files {
    fn of(spool: &OrderSpool) -> Result<Files, Problem> {
        let mut left = HashMap::new();
        for file in &spool.files {
            if left.insert(file.name.clone(), file.place.clone()).is_some() {
                let message = format!("has two parts with the file name {:?}", file.name);
                return Err(Problem::field("file", Reason::Other { message }));
            }
        }
        Ok(Files {
            left,
            seen: HashSet::new(),
        })
    }
}

struct ItemCheck<'a> {
    app: &'a App,
    lexicon: &'a VersionedLexicon,
    operation: Operation,
    files: Files,
    names: HashSet<String>,
    vocabularies: Vec<(usize, String)>,
    characters: usize,
    errors: Vec<FieldError>,
}

impl ItemCheck<'_> {
    fn item(&mut self, index: usize, mut fields: Map<String, Value>) -> Item {
        let custom_id = self.custom_id(index, &mut fields);
        let file = match self.operation {
            Operation::Speech => self.speech(index, &mut fields),
            Operation::Transcription => self.transcription(index, &mut fields),
        };
        Item {
            custom_id,
            request: Value::Object(fields).to_string(),
            file,
        }
    }

    fn no_object(&mut self, index: usize) {
        let expected = "an object";
        let error = FieldError::new(format!("items[{index}]"), Reason::WrongType { expected });
        self.errors.push(error);
    }

    fn wrong(&mut self, index: usize, field: &str, reason: Reason) {
        let field = format!("items[{index}].{field}");
        self.errors.push(FieldError::new(field, reason));
    }

    fn take_over(&mut self, index: usize, problem: Problem) {
        if problem.errors.is_empty() {
            let told = |language| problem.words(language).detail;
            let (english, swahili) = (told(Language::English), told(Language::Swahili));
            return self.wrong(index, "text", Reason::Refused { english, swahili });
        }
        for error in problem.errors {
            self.wrong(index, &error.field, error.reason);
        }
    }

    /// The name under which the caller finds the result again: its own, the file's, or the place in the list.
    fn custom_id(&mut self, index: usize, fields: &mut Map<String, Value>) -> String {
        let named = match fields.remove("custom_id") {
            None | Some(Value::Null) => fields
                .get("file")
                .and_then(Value::as_str)
                .map(str::to_owned),
            Some(Value::String(name)) => Some(name),
            Some(_) => {
                self.wrong(
                    index,
                    "custom_id",
                    Reason::WrongType {
                        expected: "a string",
                    },
                );
                None
            }
        };
        let name = named.unwrap_or_else(|| index.to_string());
        let length = name.chars().count();
        if length > CUSTOM_ID_CHARS_MAX {
            let (max, actual) = (CUSTOM_ID_CHARS_MAX as u64, length as u64);
            self.wrong(index, "custom_id", Reason::TooLong { max, actual });
        } else if name.chars().any(char::is_control) {
            let expected = "without control characters";
            self.wrong(index, "custom_id", Reason::Malformed { expected });
        } else if !self.names.insert(name.clone()) {
            let message = "is the name of another item too".to_owned();
            self.wrong(index, "custom_id", Reason::Other { message });
        }
        name
    }

    fn speech(&mut self, index: usize, fields: &mut Map<String, Value>) -> Option<SpooledFile> {
        let body = serde_json::to_vec(fields).unwrap_or_default();
        let voices = self.app.engine.voices();
        match AskedSpeech::parse(&body, &self.app.config, &voices) {
            Ok(asked) if asked.is_streamed() => {
                self.wrong(index, "stream", Reason::NotTogether { with: "a batch" });
            }
            Ok(asked) if asked.self_check => {
                self.wrong(index, "self_check", Reason::NotTogether { with: "a batch" });
            }
            Ok(asked) => {
                self.characters += asked.request.text.chars().count();
                // Read here as it will be read then: what cannot be said is not ordered. Nothing of it is remembered.
                let (limits, passage) = (&self.app.config.limits, asked.request.passage());
                if let Err(error) = Reader::default().read(limits, passage, self.lexicon) {
                    self.take_over(index, error.into());
                }
                // Stored under its own names, whichever of ours or OpenAI's it came with.
                let item = SpeechItem::new(&asked.request, asked.wants_times());
                if let Ok(Value::Object(named)) = serde_json::to_value(item) {
                    *fields = named;
                }
            }
            Err(problem) => self.take_over(index, problem),
        }
        None
    }

    fn transcription(
        &mut self,
        index: usize,
        fields: &mut Map<String, Value>,
    ) -> Option<SpooledFile> {
        match transcription::from_item(fields) {
            Ok(request) if request.stream => {
                self.wrong(index, "stream", Reason::NotTogether { with: "a batch" });
            }
            Ok(request) => {
                // What we never heard of is ignored, so it is not kept either.
                fields.retain(|name, _| transcription::is_item_field(name));
                let named = request.vocabulary.map(|name| (index, name));
                self.vocabularies.extend(named);
            }
            Err(problem) => self.take_over(index, problem),
        }
        let name = fields
            .get("file")
            .and_then(Value::as_str)
            .map(str::to_owned);
        match (fields.get("url").and_then(Value::as_str), name) {
            (Some(_), Some(_)) => {
                self.wrong(index, "url", Reason::NotTogether { with: "file" });
                None
            }
            (Some(url), None) => {
                if !is_allowed(url, &self.app.config.batches.url_origins) {
                    let message = "is not at an origin that recordings are fetched from".to_owned();
                    self.wrong(index, "url", Reason::Other { message });
                }
                None
            }
            (None, Some(name)) => self.file(index, &name, fields),
            (None, None) => {
                self.wrong(index, "file", Reason::Required);
                None
            }
        }
    }

    fn file(
        &mut self,
        index: usize,
        name: &str,
        fields: &mut Map<String, Value>,
    ) -> Option<SpooledFile> {
        let found = self.files.left.remove(name);
        if found.is_none() {
            let message = match self.files.seen.contains(name) {
                true => "is another item's recording already".to_owned(),
                false => "names no part of this form".to_owned(),
            };
            self.wrong(index, "file", Reason::Other { message });
        }
        self.files.seen.insert(name.to_owned());
        let content_type = found.as_ref().and_then(|file| file.content_type.clone());
        if let Some(content_type) = content_type {
            fields.insert("content_type".to_owned(), content_type.into());
        }
        found
    }

    fn end(&mut self) -> Result<(), Problem> {
        let max = self.app.config.batches.text_chars_max;
        if self.characters > max {
            let (max, actual) = (max as u64, self.characters as u64);
            self.errors
                .push(FieldError::new("items", Reason::TooLong { max, actual }));
        }
        if self.errors.is_empty() {
            let mut left: Vec<&String> = self.files.left.keys().collect();
            left.sort_unstable();
            for name in left.into_iter().take(ERRORS_MAX) {
                let message = format!("has \"{name}\", which no item names");
                self.errors
                    .push(FieldError::new("file", Reason::Other { message }));
            }
        }
        match self.errors.is_empty() {
            true => Ok(()),
            false => Err(Problem::fields(std::mem::take(&mut self.errors))),
        }
    }
}
