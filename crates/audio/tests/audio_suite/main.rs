//! The tests of audio in one program: each program of its own would be compiled and linked with all that lies below.

mod common;

mod channels;
mod hostile;
mod independent_readers;
mod joined;
mod rates;
