//! What the parts of diarisation agree on.

pub const SPEAKERS_MAX: usize = 6;
pub(super) const RATE_HZ: f64 = 16_000.0;

/// What decides how many people there are and where one stops and the next begins. Fitted on people whom nobody is tested on.
#[derive(Debug, Clone)]
pub struct SpeakerConfig {
    /// Groups of vectors less alike than this, as a cosine, are different people.
    pub alike_min: f32,
    /// Fewer windows than this, and a smaller share of all, are nobody's.
    pub windows_min: usize,
    pub share_min: f32,
    /// What a change of speaker costs, in tenths of a second of perfect likeness.
    pub change_cost: f32,
}

impl Default for SpeakerConfig {
    fn default() -> Self {
        Self {
            alike_min: 0.32,
            windows_min: 3,
            share_min: 0.06,
            change_cost: 0.6,
        }
    }
}
