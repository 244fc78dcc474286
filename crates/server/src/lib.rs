//! The doors that stay open while the service runs: the routes of the API, the live socket and the batch worker, with the
//! console's pages beside them. What is asked for is done by `sauti-service`. The command line (`sauti`) starts it.

pub mod background;
mod batches;
pub mod http;
pub mod openapi;
pub mod routes;
mod written;
