//! What an operation on the books is: what it needs to be read, what it changes, and what it answers.

use std::fmt::Debug;

use super::answers::AbandonAnswer;
use super::commit_group::CommitGroup;
use super::needs::RowsNeeded;
use super::reservations::Release;
use crate::LedgerError;

/// Ids are made before an operation is queued, so that running it again after a rolled-back group books the same thing.
pub(crate) trait LedgerOperation: Debug + Send + 'static {
    type Reply: Send + 'static;

    fn needs(&self) -> RowsNeeded<'_>;

    /// Changes the books in memory. Everything is checked before anything is changed, so an operation that fails leaves
    /// no trace.
    fn apply(&self, group: &mut CommitGroup) -> Result<Self::Reply, LedgerError>;

    /// What gives back what the reply would claim for a caller who has gone.
    fn undo(&self) -> Option<Undo> {
        None
    }

    /// Whether the reply claims anything.
    fn claims(_: &Self::Reply) -> bool {
        false
    }
}

/// The operations that undo others.
#[derive(Debug)]
pub(crate) enum Undo {
    Release(Release),
    Abandon(AbandonAnswer),
}
