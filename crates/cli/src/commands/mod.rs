//! The command line: one file a command. Commands that work on recordings and texts run the same
//! engine as the server; commands that work on accounts and money open the same store.

mod account;
mod audit;
mod backup;
mod bootstrap;
mod common;
mod demo;
mod doctor;
mod eval;
mod health;
mod key;
mod ledger;
mod limits;
mod listen;
mod lm;
mod moving;
mod normalise;
mod output;
mod prompts;
mod serve;
mod settings;
mod speak;
mod state;
mod transcribe;
mod voices;
mod workspace;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub(super) use self::common::Common;
pub(crate) use self::speak::write_whole;

const EXAMPLES: &str = "\
Examples:
  sauti serve --demo                                 the service with an account, money and a key
  sauti speak --voice asha --out karibu.wav 'Karibu sana.'
  sauti transcribe karibu.wav                        no server needed
  sauti config default > sauti.toml                  every setting, explained

Every command explains itself: sauti COMMAND --help.";

/// Swahili speech: text to speech, speech to text, accounts, keys and money in one program.
#[derive(Debug, Parser)]
#[command(name = "sauti", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Bootstrap(bootstrap::Bootstrap),
    /// Make, confirm, list and delete accounts
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Make workspaces, give them credit, print their statements
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// Make, list, rotate and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Check the books
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Export the audit trail
    #[command(subcommand)]
    Audit(audit::Audit),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Move(moving::Move),
    /// Show and change the rate limits of the running service
    #[command(subcommand)]
    Limits(limits::LimitsCommand),
    Speak(speak::Speak),
    Transcribe(transcribe::Transcribe),
    Normalise(normalise::Normalise),
    Voices(voices::Voices),
    /// Build all prompts of a phone menu
    #[command(subcommand)]
    Prompts(prompts::Prompts),
    /// Measure the recogniser and the voices
    #[command(subcommand)]
    Eval(eval::Eval),
    /// Build a language model for the recogniser
    #[command(subcommand)]
    Lm(lm::LmCommand),
    /// Print and check the settings
    #[command(subcommand)]
    Config(settings::Settings),
    Doctor(doctor::Doctor),
    Health(health::HealthCommand),
    /// Print the OpenAPI 3.1 document of the HTTP interface
    Openapi,
    /// Print completions for a shell
    ///
    /// For bash: sauti completions bash > ~/.local/share/bash-completion/completions/sauti
    Completions {
        /// The shell they are for
        shell: clap_complete::Shell,
    },
}

/// Runs the command; prints what went wrong, and why, on standard error.
pub(crate) fn run(cli: Cli) -> ExitCode {
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sauti: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let common = cli.common;
    if !matches!(cli.command, Command::Serve(_)) {
        sauti_service::telemetry::start_quiet();
    }
    match cli.command {
        Command::Serve(command) => command.run(&common),
        Command::Bootstrap(command) => command.run(&common),
        Command::Account(command) => command.run(&common),
        Command::Workspace(command) => command.run(&common),
        Command::Key(command) => command.run(&common),
        Command::Ledger(command) => command.run(&common),
        Command::Audit(command) => command.run(&common),
        Command::Backup(command) => command.run(&common),
        Command::Restore(command) => command.run(&common),
        Command::Move(command) => command.run(&common),
        Command::Limits(command) => command.run(&common),
        Command::Speak(command) => command.run(&common),
        Command::Transcribe(command) => command.run(&common),
        Command::Normalise(command) => command.run(),
        Command::Voices(command) => command.run(&common),
        Command::Prompts(command) => command.run(&common),
        Command::Eval(command) => command.run(&common),
        Command::Lm(command) => command.run(),
        Command::Config(command) => command.run(&common),
        Command::Doctor(command) => command.run(&common),
        Command::Health(command) => command.run(&common),
        Command::Openapi => output::print(&sauti_server::openapi::document().to_pretty_json()?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sauti", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    }
}

/// A reader such as `head` that has seen enough is no failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn every_argument_explains_itself() {
        fn silent(command: &clap::Command) -> Vec<String> {
            let arguments = command.get_arguments();
            let silent_here = arguments
                .filter(|argument| argument.get_help().is_none())
                .map(|argument| format!("{} {}", command.get_name(), argument.get_id()));
            let below = command.get_subcommands().flat_map(silent);
            silent_here.chain(below).collect()
        }
        assert_eq!(silent(&super::Cli::command()), [""; 0]);
    }
}
