use std::process::ExitCode;

use clap::Parser;
use sauti_server::cli::{self, Cli};

fn main() -> ExitCode {
    cli::run(Cli::parse())
}
