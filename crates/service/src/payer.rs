//! Who pays for a piece of work.

use sauti_store::{ClaimedItem, KeyId, WorkspaceId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer {
    pub workspace_id: WorkspaceId,
    pub currency: String,
    /// None for a member at the console.
    pub key_id: Option<KeyId>,
    /// Named on the statement, so that a charge can be found again.
    pub request_id: String,
}

impl Payer {
    /// An item of a batch is paid for in its own name.
    pub fn of_item(item: &ClaimedItem) -> Payer {
        Payer {
            workspace_id: item.workspace_id.clone(),
            currency: item.currency.clone(),
            key_id: item.key_id.clone(),
            request_id: item.id.to_string(),
        }
    }
}
