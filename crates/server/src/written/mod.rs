//! What comes of speaking and transcribing, in the shapes of the API: one for an answer, an event of a stream and the item
//! of a batch.

mod speech;
mod subtitles;
mod transcript;

pub use speech::{TimedMark, TimedWord, WrittenCheck};
pub use transcript::{
    DiarizedSegment, ExpectedAnswer, Transcription, WrittenAlternative, WrittenTranscript,
    alternatives, words, write,
};
