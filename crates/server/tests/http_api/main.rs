//! The whole service in-process, against a real SQLite store: requests go through the same router
//! that the server runs.

mod accounts;
mod batches;
mod connections;
mod contract;
mod document;
mod guesses;
mod idempotency;
mod isolation;
mod keys;
mod live;
mod money;
mod order;
mod payments;
mod queue;
mod quotes;
mod real_port;
mod records;
mod refusals;
mod support;
mod transcription;
mod vocabularies;
mod webhooks;
mod with_models;
