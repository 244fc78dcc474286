//! The service: settings, accounts over HTTP, routes, console, telemetry and the command line.
//! The only crate that knows HTTP; models live in `sauti_speech`, state in `sauti_store`.

pub mod config;
