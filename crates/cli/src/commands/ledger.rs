use std::process::ExitCode;

use clap::Subcommand;
use sauti_store::CheckReport;

use super::state::with_store_as_it_is;
use super::{Common, output};

#[derive(Debug, Subcommand)]
pub(super) enum Ledger {
    /// Check that the books add up; exit status 1 where they do not
    ///
    /// Every transfer sums to zero, no workspace is below zero, every balance is the sum of its
    /// entries. Safe beside a running server; a database that an older program made is left as it is, unchecked.
    Check {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

impl Ledger {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let Self::Check { json } = self;
        with_store_as_it_is(common, async |store, _| {
            let report = store.check().await?;
            output::print_report(&report, json, words)?;
            Ok(output::exit_code(report.is_clean()))
        })
    }
}

fn words(report: &CheckReport) -> String {
    let mut text = format!(
        "{} workspaces, {} transfers, {} entries, {} open reservations\n",
        report.workspaces, report.transfers, report.entries, report.open_reservations
    );
    for problem in &report.problems {
        text += &format!("  {problem}\n");
    }
    text + if report.is_clean() {
        "the books add up"
    } else {
        "THE BOOKS DO NOT ADD UP"
    }
}
