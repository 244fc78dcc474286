//! What the service does, once for every door: HTTP, console, command line, batch worker, live
//! socket. A door parses what it was asked and prints what came of it; the deed itself is here,
//! with the settings, the money, the cache, the limits and the telemetry that it needs.
//!
//! Must not know: HTTP (but as a client), extractors, HTML, OpenAPI, the command line. Whoever calls says who
//! pays ([`Payer`]) and gets values and errors back, never a response.

pub mod accounts;
pub mod allocator;
pub mod app;
pub mod background;
pub mod cache;
pub mod config;
pub mod data_folder;
mod error;
mod field_error;
pub mod keys;
pub mod lexicons;
pub mod mail;
pub mod money;
pub mod nats;
pub mod outbound;
mod parts_digest;
mod payer;
pub mod ratelimit;
pub mod retention;
pub mod self_check;
pub mod speaking;
pub mod telemetry;
pub mod trail;
pub mod transcribing;
pub mod valkey;
pub mod vocabularies;
pub mod webhooks;
pub mod workspaces;

pub use error::ServiceError;
pub use field_error::{FieldError, Reason};
pub use payer::Payer;
pub use trail::audit;
