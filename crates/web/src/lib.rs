//! What every answer over HTTP needs, be it of a route or a page: extractors that turn the parts of a request into types, and
//! every refusal with its status and its words.

pub mod caller;
pub mod context;
pub mod csrf;
pub mod deadline;
pub mod fields;
pub mod idempotency;
mod key_in_address;
pub mod language;
pub mod member;
pub mod money_headers;
pub mod problem;
pub mod query;
pub mod refuse;
