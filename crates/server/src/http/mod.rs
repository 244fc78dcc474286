//! What stands between the socket and a handler: the layers every request passes, and the
//! extractors that turn its parts into types.

pub mod caller;
mod connection;
mod connections;
pub mod context;
pub mod csrf;
pub mod deadline;
mod drain;
mod envelope;
pub mod fields;
pub mod idempotency;
pub mod language;
pub mod member;
mod metrics;
pub mod money_headers;
pub mod query;
mod refuse;
mod router;
mod serve;
pub mod socket;

pub use caller::Caller;
pub(crate) use connections::Connections;
pub use connections::raise_files_max;
pub use context::Context;
pub use envelope::envelope;
pub use router::router;
pub use serve::serve;
