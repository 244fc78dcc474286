//! Events for a workspace's own servers: queued in the store with what they tell of, signed, tried again
//! with growing pauses, and never sent to an address inside our own network.

mod deliver;
mod endpoints;
mod send;

pub use deliver::deliver_forever;
pub use endpoints::add;
pub use send::signature;

/// What a workspace can be told of.
pub const EVENTS: &[&str] = &["balance.low", "batch.finished", "payment.received"];
