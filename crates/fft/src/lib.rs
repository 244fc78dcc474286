//! Fourier transforms of real numbers. A crate of its own, so that the planner's many kernels are compiled once, and not
//! with every change of `crates/speech` and again for its tests.

use std::sync::Arc;

use realfft::RealFftPlanner;
pub use realfft::num_complex::Complex32;
pub use realfft::{ComplexToReal, RealToComplex};

pub fn forward(length: usize) -> Arc<dyn RealToComplex<f32>> {
    RealFftPlanner::new().plan_fft_forward(length)
}

pub fn inverse(length: usize) -> Arc<dyn ComplexToReal<f32>> {
    RealFftPlanner::new().plan_fft_inverse(length)
}
