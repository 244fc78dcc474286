//! Arithmetic that the voices and the recogniser share: rows of floats, 8-bit matrix products,
//! attention. Integer products are exact, so every processor gives the same sums.

pub(crate) mod attention;
pub(crate) mod floats;
mod integer;
pub(crate) mod linear;
pub(crate) mod one_thread;
pub(crate) mod simd;
mod tiles;
pub(crate) mod transformer;
