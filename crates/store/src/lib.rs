//! Everything Sauti remembers: accounts, workspaces, keys, money, usage, idempotent answers, audit, webhooks and
//! pronunciations, in SQLite or PostgreSQL by URL. It knows SQL and nothing of HTTP, audio or speech.
//!
//! All of it hangs off [`Store`], a cheap clone:
//!
//! - opening: [`Store::open`], [`Store::open_with`], [`Store::ping`], [`Store::sweep`], [`Store::close`];
//!   [`migration_state`] without opening; copies: [`backup`], [`restore`], [`move_to_postgres`]; what is kept no longer: `forget_before`;
//! - accounts: `create_account`, `confirm_account`, `issue_token`, `reset_password`, `account_by_email`, `account`,
//!   `list_accounts`, `set_password`, `rename_account`, `set_operator`, `delete_account`;
//!   passwords in [`password`]; guesses and letters counted: `take_attempt`, `give_back_attempt`, `forget_attempts`;
//! - sessions: `create_session`, `session_by_token`, `list_sessions`, `revoke_session`, `revoke_session_by_token`,
//!   `revoke_all_sessions`;
//! - workspaces: `create_workspace`, `workspace`, `list_workspaces`, `workspaces_of`, `change_workspace`,
//!   `role_of`, `members`, `set_role`, `add_member`, `remove_member`, `invite`, `invites`,
//!   `cancel_invite`, `accept_invite`;
//! - keys: `create_key`, `list_keys`, `key`, `revoke_key`, `rotate_key`, `authenticate`;
//! - money: `reserve`, `settle`, `settle_and_store`, `release`, `release_later`, `charge`, `charge_and_store`, `credit`, `correct`,
//!   `refund`, `balance`, `statement`, `check`, `open_reservations`, `release_abandoned`;
//! - idempotency: `begin`, `finish`, `abandon`, `abandon_later`, `trim_answers`;
//! - batches: `receive_batch`, `add_batch_items`, `add_blob_part`, `start_batch`, `discard_batch`, `batch`, `batches`,
//!   `batch_items`, `batch_item`, `blob_part`, `cancel_batch`; for those who work on them `claim_batch_items`,
//!   `claim_batch_item`, `holds_item`, `item_is_open`, `held_items`,
//!   `put_unknown_item_back`, `waiting_items`, `settle_item`, `fail_item`, `put_item_back`, `ended_batches`, `finish_batch`;
//! - limits while running: `live_limits`, `set_live_limit`;
//! - records: `usage`, `audit`, `audit_list`, `record_payment`, `payments`, `add_webhook`, `webhooks`,
//!   `remove_webhook`, `enqueue_event`, `claim_deliveries`, `delivery_succeeded`, `delivery_failed`, `deliveries`, `webhook_backlog`,
//!   `set_pronunciation`, `remove_pronunciation`, `pronunciations`.
//!
//! Times are microseconds since 1970 (`_us`), money is micro-units of the workspace's currency (`_micro`).

mod accounts;
mod attempts;
mod audit;
mod auth;
mod backup;
mod batches;
mod checkpoint;
mod database;
mod error;
mod folder;
mod id_types;
mod idempotency;
pub mod ids;
mod instances;
mod invites;
pub mod keys;
pub mod ledger;
mod lexicon;
mod limits;
mod maintenance;
mod micro;
mod moving;
mod open;
mod operation;
pub mod password;
mod payments;
mod rows;
mod schema;
mod sessions;
mod sql;
mod text_columns;
mod timeouts;
mod tokens;
mod usage;
mod vocabularies;
mod webhooks;
mod workspaces;

pub use accounts::{Account, check_new_account, folded_email};
pub use attempts::AttemptLimit;
pub use audit::{AuditAction, AuditEntry, AuditQuery};
pub use auth::KeyHolder;
pub use backup::{backup, restore};
pub use batches::{
    BLOB_PART_BYTES, Batch, BatchItem, BatchState, ClaimedItem, ItemCounts, NewBatch, NewItem,
    Received,
};
pub use database::{Backend, StoreOptions};
pub use error::{AuthError, LedgerError, StoreError};
pub use id_types::{
    AccountId, BatchId, BlobId, DeliveryId, InstanceId, InviteId, ItemId, KeyId, ReservationId,
    SessionId, TransferId, WebhookId, WorkspaceId,
};
pub use idempotency::{Begin, StoredAnswer};
pub use invites::{Invite, IssuedInvite};
pub use keys::{ApiKey, Environment, IssuedKey, KeyInfo, NewKey, Permission, Permissions};
pub use ledger::{
    Balance, Charge, ChargeRequest, CheckReport, Credit, FinishedItem, Guard, PaymentEvent,
    Reservation, ReservationState, ReserveRequest, StatementQuery, StatementRow, Usage,
};
pub use lexicon::{Alphabet, Pronunciation};
pub use maintenance::SweepReport;
pub use micro::Micro;
pub use moving::{Moved, move_to_postgres};
pub use open::Store;
pub use operation::Operation;
pub use schema::{MigrationState, migration_state};
pub use sessions::{IssuedSession, Session};
pub use tokens::TokenPurpose;
pub use usage::{UsageQuery, UsageRow};
pub use vocabularies::{BuildState, NewVocabulary, StoredVocabulary, VocabularyInfo};
pub use webhooks::{
    ClaimQuota, ClaimedDelivery, Delivery, DeliveryFailure, DeliveryState, Standing,
    WebhookBacklog, WebhookEndpoint, event_payload,
};
pub use workspaces::{Member, Role, Workspace, WorkspaceChange};
