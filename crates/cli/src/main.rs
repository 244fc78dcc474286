//! The program `sauti`: the command line in front of the service, the engine and the laboratory.

mod commands;
mod offline;
mod prompts;

use std::process::ExitCode;

use clap::Parser;
use sauti_server::memory;

fn main() -> ExitCode {
    memory::have_few_heaps();
    commands::run(commands::Cli::parse())
}
