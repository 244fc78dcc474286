use std::process::ExitCode;

use clap::Parser;
use sauti_server::cli::{self, Cli};
use sauti_server::memory;

fn main() -> ExitCode {
    memory::have_few_heaps();
    cli::run(Cli::parse())
}
