//! Measures the recogniser and the voices on files of the caller's, and writes pages to look at.

pub mod calibration;
pub mod degrade;
pub mod judge;
pub mod listen;
pub mod manifest;
mod page;
mod processor;
pub mod readable;
pub mod score;
pub mod search;
pub mod speakers;
pub mod speech;
mod tar;
pub mod transcription;
