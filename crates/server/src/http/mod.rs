//! What stands between the socket and a handler: the layers every request passes, and the
//! extractors that turn its parts into types.

pub mod caller;
pub mod context;
pub mod deadline;
mod drain;
mod envelope;
pub mod fields;
pub mod idempotency;
pub mod language;
pub mod member;
pub mod money_headers;
pub mod query;
mod serve;
pub mod socket;

pub use caller::Caller;
pub use context::Context;
pub use envelope::envelope;
pub use serve::serve;
