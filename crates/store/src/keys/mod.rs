//! API keys: their text form, what is kept of them, and their life.

mod format;
mod manage;
mod permissions;

pub use format::{ApiKey, Environment};
pub use manage::{IssuedKey, KeyInfo, NewKey};
pub use permissions::{Permission, Permissions};
