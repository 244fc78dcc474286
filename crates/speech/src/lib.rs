//! The models and the threads that run them: voices, recogniser, language model, voice activity.
//!
//! Callers hand over a job and get a handle that yields events; dropping the handle cancels the
//! job. This crate knows nothing of HTTP, of SQL or of money: a tenant is an opaque string that
//! only serves to share the machine fairly.

#![warn(unreachable_pub)]

mod direction;
pub mod engine;
mod error;
mod handles;
mod job;
mod kernels;
mod model_folder;
pub mod recogniser;
mod script_times;
pub mod voice;
mod weights;

pub use direction::{Direction, PitchShift, Speed, VolumeGain};
pub use engine::{Booking, Engine, EngineConfig, EngineStats, Readiness};
pub use error::SpeechError;
pub use handles::{SpeakHandle, Spoken, TranscribeHandle};
pub use job::{
    Expect, Job, Priority, Segment, SpeakEvent, SpeakRequest, SpeechStretch, SpokenLanguage,
    TranscribeEvent, TranscribeRequest, Transcript, Word, rounded_seconds,
};
pub use model_folder::check_model;
pub use script_times::ScriptTimes;
