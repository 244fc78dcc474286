//! The tests with real models in one program: each program of its own would be compiled and linked with all that lies below.

mod engine_models;
mod recogniser_silence;
mod recogniser_speech;
mod voice_files;
mod voice_level;
mod voice_speaks;
