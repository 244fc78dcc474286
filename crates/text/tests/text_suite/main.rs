//! The tests of text in one program: each program of its own would be compiled and linked with all that lies below.

mod cases;
mod directed;
mod english;
mod golden;
mod script;
mod sounds;
mod tags;
