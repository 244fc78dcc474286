//! The command line, tested by running the program. One binary for all, since each one costs a link.

mod batches;
mod limits;
mod money;
mod serve;
mod settings;
mod speech;
mod support;
