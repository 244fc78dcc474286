//! The doors that stay open while the service runs: HTTP with its console and live socket, and the batch worker. It is
//! the only crate that knows HTTP; what is asked for is done by `sauti-service`. The command line (`sauti`) starts it.

pub mod background;
mod batches;
mod console;
pub mod http;
pub mod openapi;
pub mod problem;
pub mod routes;
mod written;
