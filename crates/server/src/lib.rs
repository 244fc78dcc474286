//! The service itself: settings, HTTP, accounts, money around each request and the console. It is
//! the only crate that knows HTTP; models, audio, texts and SQL are behind four others. The command
//! line (`sauti`) starts it.

pub mod allocator;
pub mod app;
pub mod background;
pub mod batches;
pub mod cache;
pub mod config;
pub mod console;
pub mod data_folder;
pub mod http;
pub mod lexicons;
pub mod mail;
pub mod openapi;
mod outbound;
mod parts_digest;
pub mod problem;
pub mod ratelimit;
pub mod retention;
pub mod routes;
pub mod self_check;
pub mod service;
pub mod telemetry;
pub mod trail;
pub mod valkey;
pub mod webhooks;
