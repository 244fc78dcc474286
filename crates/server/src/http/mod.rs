//! What stands between the socket and a handler: the layers every request passes, and the
//! extractors that turn its parts into types.

mod connection;
mod connections;
mod drain;
mod envelope;
mod metrics;
mod router;
mod serve;
pub mod socket;

pub use connections::{Connections, raise_files_max};
pub use router::router;
pub use serve::serve;
