//! Matrix products in floats, for what is too small or too delicate for integers.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

thread_local! {
    // One for each thread, as with the integers.
    static FLOATS: GemmExecutor<f32> = GemmExecutor::new();
}

/// `out` = a b.
pub(crate) fn product(
    out: &mut [f32],
    a: NdTensorView<f32, 2>,
    b: GemmInputB<f32>,
    options: GemmOptions<f32, f32, f32>,
) {
    FLOATS
        .with(|executor| executor.gemm(out, GemmInputA::Unpacked(a), b, options))
        .expect("shapes were checked when the weights were loaded");
}

/// Lays a matrix out for the processor, for use in more than one product.
pub(crate) fn pack(matrix: Matrix<f32>) -> PackedBMatrix<f32> {
    FLOATS.with(|executor| executor.prepack_b(matrix))
}
