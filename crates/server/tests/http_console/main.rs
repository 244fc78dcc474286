//! The console's pages over HTTP, in one process: who gets in, what is refused, what is escaped.

#[path = "../http_api/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the API")]
mod support;

mod browser;
mod entrance;
mod pages;
mod refusals;
