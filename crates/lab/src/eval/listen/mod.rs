//! Listening tests: a page of pairs of clips that people can be sent, and what their answers say.

mod key;
pub mod make;
pub mod results;
#[cfg(test)]
mod tests;
