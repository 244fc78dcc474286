//! Arithmetic that the voices and the recogniser share: rows of floats, 8-bit matrix products,
//! attention. Integer products are exact, so every processor gives the same sums.

pub mod attention;
pub mod floats;
mod integer;
pub mod linear;
pub mod simd;
