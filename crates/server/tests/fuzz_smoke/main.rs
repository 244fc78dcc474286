//! Everything that reads a stranger's bytes, fed with real input that was damaged at random: a short run with fixed
//! seeds, the same every time. `./test fuzz` runs more rounds, and those of the audio decoders in `sauti-audio`.

#[path = "../../../audio/tests/audio_suite/common/mutate.rs"]
#[expect(dead_code, reason = "the audio tests use more of it")]
mod mutate;
#[path = "../http_api/support.rs"]
#[expect(dead_code, reason = "the HTTP tests use more of it")]
mod support;

mod forms;
mod keys;
mod texts;

/// Runs the check on damaged input, and on a panic or a broken promise names the input that did it.
pub fn try_each(name: &str, rounds: usize, mut check: impl FnMut(usize) -> Result<(), String>) {
    for round in 0..rounds {
        if let Err(message) = check(round) {
            panic!("{name}, round {round}: {message}");
        }
    }
}
