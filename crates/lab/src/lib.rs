//! The laboratory: measures the recogniser and the voices, and builds language models.
//!
//! The service runs without this crate; only the command line uses it. It knows nothing of HTTP,
//! of SQL or of settings.

pub mod eval;
pub mod lm;
pub mod offline;
