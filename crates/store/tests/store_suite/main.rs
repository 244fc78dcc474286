//! The store's tests in one program: each program of its own would compile and link the whole store again.

#[macro_use]
mod common;

mod batches;
mod keys;
mod killed;
mod ledger;
mod liveness;
mod moving;
mod payments;
mod properties;
mod records;
mod upgrade;
mod webhooks;
