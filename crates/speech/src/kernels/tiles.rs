//! Products of 8-bit codes with 8-bit weights by tiles (Intel AMX), where processor and kernel have them. The sums are
//! exact, the same as everybody's.
#![cfg_attr(
    all(target_arch = "x86_64", target_os = "linux"),
    expect(unsafe_code, reason = "no safe interface to tiles exists")
)]

/// Outputs, and rows, that are computed together: two tiles each.
const TOGETHER: usize = 32;
/// Inputs in a row of a tile.
const STEP: usize = 64;
const TILE_SIDE: usize = 16;

/// Weights in the order in which tiles want them.
pub(super) struct TiledWeights {
    inputs: usize,
    outputs: usize,
    weights: Vec<i8>,
}

impl TiledWeights {
    /// `weights`: a row of outputs for each input. `None` where there are no tiles, or the sizes do not fit them.
    pub(super) fn new(weights: &[i8], inputs: usize, outputs: usize) -> Option<Self> {
        let fits = inputs.is_multiple_of(STEP) && outputs.is_multiple_of(TOGETHER);
        if !fits || weights.is_empty() || !machine::has_tiles() {
            return None;
        }
        let mut tiled = Vec::with_capacity(weights.len());
        for output in (0..outputs).step_by(TOGETHER) {
            for input in (0..inputs).step_by(STEP) {
                for tile in [0, TILE_SIDE] {
                    // Four inputs of one output stand side by side.
                    for four in (input..input + STEP).step_by(4) {
                        for column in output + tile..output + tile + TILE_SIDE {
                            let own = |k: usize| weights[(four + k) * outputs + column];
                            tiled.extend([own(0), own(1), own(2), own(3)]);
                        }
                    }
                }
            }
        }
        Some(Self {
            inputs,
            outputs,
            weights: tiled,
        })
    }

    /// `sums` = codes times weights, row by row.
    pub(super) fn multiply(&self, codes: &[u8], sums: &mut [i32]) {
        let rows = codes.len() / self.inputs;
        assert_eq!(sums.len(), rows * self.outputs);
        if rows >= TOGETHER {
            machine::multiply(self, codes, sums);
        } else {
            let mut all_codes = vec![0; TOGETHER * self.inputs];
            let mut all_sums = vec![0; TOGETHER * self.outputs];
            all_codes[..codes.len()].copy_from_slice(codes);
            machine::multiply(self, &all_codes, &mut all_sums);
            sums.copy_from_slice(&all_sums[..sums.len()]);
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;
    use std::sync::LazyLock;

    use super::{STEP, TILE_SIDE, TOGETHER, TiledWeights};

    /// Eight tiles of 16 rows of 64 bytes.
    #[repr(C, align(64))]
    struct TileConfig([u8; 64]);

    static CONFIG: TileConfig = TileConfig({
        let mut config = [0; 64];
        config[0] = 1;
        let mut tile = 0;
        while tile < 8 {
            config[16 + 2 * tile] = STEP as u8;
            config[48 + tile] = TILE_SIDE as u8;
            tile += 1;
        }
        config
    });

    /// Asks the kernel once, which keeps the tiles of threads that are waiting only for processes that asked.
    pub(super) fn has_tiles() -> bool {
        static HAS_TILES: LazyLock<bool> = LazyLock::new(|| {
            const TILES_AND_INTEGERS: u32 = 0b11 << 24;
            const SYS_ARCH_PRCTL: i64 = 158;
            const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
            const XFEATURE_XTILEDATA: u64 = 18;
            if __cpuid_count(7, 0).edx & TILES_AND_INTEGERS != TILES_AND_INTEGERS {
                return false;
            }
            let refused: i64;
            // SAFETY: the call takes two numbers and touches no memory of ours.
            unsafe {
                asm!("syscall", inout("rax") SYS_ARCH_PRCTL => refused, in("rdi") ARCH_REQ_XCOMP_PERM,
                    in("rsi") XFEATURE_XTILEDATA, out("rcx") _, out("r11") _, options(nostack));
            }
            refused == 0
        });
        *HAS_TILES
    }

    /// At least [`TOGETHER`] rows. The last ones are taken together with some before them, which get the same sums again.
    pub(super) fn multiply(by: &TiledWeights, codes: &[u8], sums: &mut [i32]) {
        let (inputs, outputs) = (by.inputs, by.outputs);
        let rows = codes.len() / inputs;
        assert!(rows >= TOGETHER && sums.len() == rows * outputs);
        // SAFETY: whoever has tiled weights has tiles, and the configuration is a valid one.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const CONFIG, options(nostack, readonly)) };
        let panels = by.weights.chunks_exact(TOGETHER * inputs);
        for (panel, output) in panels.zip((0..outputs).step_by(TOGETHER)) {
            for row in (0..rows).step_by(TOGETHER) {
                let row = row.min(rows - TOGETHER);
                let codes = &codes[row * inputs..][..TOGETHER * inputs];
                let sums = &mut sums[row * outputs..][..TOGETHER * outputs];
                // SAFETY: 32 rows of codes, a panel of 32 outputs, and 32 rows of sums from this output on, by the slices above.
                unsafe { block(codes, inputs, panel, &mut sums[output..], outputs) };
            }
        }
        // SAFETY: the configuration from above is not used any more.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }

    /// The sums of 32 rows and 32 outputs, in four tiles.
    unsafe fn block(codes: &[u8], inputs: usize, panel: &[i8], sums: &mut [i32], outputs: usize) {
        let (upper, lower) = (codes.as_ptr(), codes[TILE_SIDE * inputs..].as_ptr());
        let (upper_sums, rest) = sums.split_at_mut(TILE_SIDE * outputs);
        // SAFETY: the caller's slices are as large as their names say; each step reads 64 bytes of 32 rows and 2048 of the panel.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "tileloadd tmm4, [{upper} + {inputs}]",
                "tileloadd tmm5, [{panel} + {line}]",
                "tileloadd tmm6, [{panel} + {line} + 1024]",
                "tileloadd tmm7, [{lower} + {inputs}]",
                "tdpbusd tmm0, tmm4, tmm5",
                "tdpbusd tmm1, tmm4, tmm6",
                "tdpbusd tmm2, tmm7, tmm5",
                "tdpbusd tmm3, tmm7, tmm6",
                "add {upper}, 64",
                "add {lower}, 64",
                "add {panel}, 2048",
                "dec {steps}",
                "jnz 2b",
                "tilestored [{upper_sums} + {outputs}], tmm0",
                "tilestored [{upper_sums} + {outputs} + 64], tmm1",
                "tilestored [{lower_sums} + {outputs}], tmm2",
                "tilestored [{lower_sums} + {outputs} + 64], tmm3",
                upper = inout(reg) upper => _,
                lower = inout(reg) lower => _,
                inputs = in(reg) inputs,
                panel = inout(reg) panel.as_ptr() => _,
                line = in(reg) STEP,
                steps = inout(reg) inputs / STEP => _,
                upper_sums = in(reg) upper_sums.as_mut_ptr(),
                lower_sums = in(reg) rest.as_mut_ptr(),
                outputs = in(reg) outputs * size_of::<i32>(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack)
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod machine {
    use super::TiledWeights;

    pub(super) fn has_tiles() -> bool {
        false
    }

    pub(super) fn multiply(by: &TiledWeights, _: &[u8], _: &mut [i32]) {
        unreachable!(
            "{} weights lie in tiles that are not there",
            by.weights.len()
        )
    }
}
