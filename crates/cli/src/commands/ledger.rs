use std::process::ExitCode;

use clap::Subcommand;
use sauti_service::audit;
use sauti_store::{AuditAction, CheckReport};

use super::state::{ACTOR, with_store, with_store_as_it_is};
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
    /// Date bookings by the clock again, after it ran ahead for a while
    ///
    /// Times in a workspace's statement rise, so what follows a booking of next year is dated next year too. Do this once the
    /// clock is right; what was booked meanwhile keeps its date, and stands behind later bookings in statements. Safe beside a running server.
    TrustClock,
}

impl Ledger {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let json = match self {
            Self::Check { json } => json,
            Self::TrustClock => return trust_clock(common),
        };
        with_store_as_it_is(common, async |store, _| {
            let report = store.check().await?;
            output::print_report(&report, json, words)?;
            Ok(output::exit_code(report.is_clean()))
        })
    }
}

fn trust_clock(common: &Common) -> anyhow::Result<ExitCode> {
    with_store(common, async |store, _| {
        let workspaces = store.trust_clock().await?;
        audit(store, None, ACTOR)
            .did(AuditAction::StoreClockTrusted, "")
            .await;
        output::print(&format!(
            "bookings of {workspaces} workspaces are dated by the clock again"
        ))
    })
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
