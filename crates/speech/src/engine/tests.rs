//! The promises of the queue and the workers, with puppets in place of the models.

mod lifecycle;
mod long;
mod puppet;
mod sharing;
mod waiting;
