//! The program `sauti`: the command line in front of the service, the engine and the laboratory.

mod commands;
mod offline;
mod prompts;

use std::process::ExitCode;

use clap::Parser;
use sauti_service::allocator;

fn main() -> ExitCode {
    allocator::limit_arenas();
    commands::run(commands::Cli::parse())
}
