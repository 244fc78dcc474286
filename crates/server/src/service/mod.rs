//! What the service does, once for every door: HTTP, console, command line, batch worker, live
//! socket. A door parses what it was asked and prints what came of it; the deed itself is here.
//!
//! Must not know: HTTP, axum, headers, extractors, HTML, the command line. Whoever calls says who
//! pays ([`Payer`]) and gets values and errors back, never a response.

mod error;
pub mod money;
mod payer;
pub mod speaking;
pub mod transcribing;

pub use error::ServiceError;
pub use payer::Payer;
