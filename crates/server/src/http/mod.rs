//! What stands between the socket and a handler: the layers every request passes, and the
//! extractors that turn its parts into types.

pub(crate) mod caller;
mod connection;
mod connections;
pub(crate) mod context;
pub mod csrf;
pub(crate) mod deadline;
mod drain;
mod envelope;
pub(crate) mod fields;
pub(crate) mod idempotency;
pub(crate) mod language;
pub(crate) mod member;
mod metrics;
pub(crate) mod money_headers;
pub(crate) mod query;
mod refuse;
mod router;
mod serve;
pub mod socket;

pub use connections::{Connections, raise_files_max};
pub use router::router;
pub use serve::serve;
