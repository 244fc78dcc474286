//! What became of a reservation.

use crate::text_columns::text_enum;

text_enum! {
    pub enum ReservationState ("state") {
        Open = "open",
        Settled = "settled",
        /// Given back by its owner.
        Released = "released",
        /// Given back by a sweep, because its process was dead or declared so.
        Abandoned = "abandoned",
    }
}
