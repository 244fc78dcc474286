//! The two 4-bit codings found in WAV files of dictation machines and old phone systems.

use super::header::le_u16;
use crate::AudioError;
use crate::pcm::f32_from_i16;

/// A block is decoded as a whole, so its size is our memory.
const BLOCK_BYTES_MAX: usize = 65_535;

const IMA_INDEX_STEPS: [i32; 8] = [-1, -1, -1, -1, 2, 4, 6, 8];
const IMA_STEPS: [i32; 89] = [
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66,
    73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449,
    494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272,
    2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493,
    10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
];
const MS_ADAPTATION: [i32; 16] = [
    230, 230, 230, 230, 307, 409, 512, 614, 768, 614, 512, 409, 307, 230, 230, 230,
];
const MS_COEFFICIENTS: [(i32, i32); 7] = [
    (256, 0),
    (512, -256),
    (0, 0),
    (192, 64),
    (240, 0),
    (460, -208),
    (392, -232),
];

#[derive(Debug, Clone)]
pub(crate) struct ImaLayout {
    channels: usize,
    pub block_bytes: usize,
}

impl ImaLayout {
    pub(super) fn new(channels: usize, block_bytes: usize, bits: u16) -> Result<Self, AudioError> {
        if bits != 4 || block_bytes < 4 * channels || block_bytes > BLOCK_BYTES_MAX {
            return Err(AudioError::undecodable(
                "the ADPCM block size is impossible",
            ));
        }
        Ok(Self {
            channels,
            block_bytes,
        })
    }

    pub(crate) fn frames_per_block(&self) -> usize {
        (self.block_bytes / (4 * self.channels) - 1) * 8 + 1
    }

    /// Appends the interleaved samples of one block, which may be cut off.
    pub(super) fn decode(&self, block: &[u8], out: &mut Vec<f32>) {
        let lanes = self.channels;
        let Some((heads, body)) = block.split_at_checked(4 * lanes) else {
            return;
        };
        let mut states: Vec<ImaState> =
            heads.as_chunks::<4>().0.iter().map(ImaState::new).collect();
        out.extend(states.iter().map(|s| f32_from_i16(s.value)));
        // Then, for each channel in turn, four bytes: eight samples, low nibble first.
        for group in body.chunks_exact(4 * lanes) {
            let start = out.len();
            out.resize(start + 8 * lanes, 0.0);
            for (lane, (state, bytes)) in states.iter_mut().zip(group.chunks_exact(4)).enumerate() {
                for step in 0..8 {
                    let nibble = bytes[step / 2] >> (4 * (step % 2)) & 0x0f;
                    out[start + step * lanes + lane] = f32_from_i16(state.next(nibble));
                }
            }
        }
    }
}

struct ImaState {
    value: i16,
    index: usize,
}

impl ImaState {
    fn new(head: &[u8; 4]) -> Self {
        Self {
            value: i16::from_le_bytes([head[0], head[1]]),
            index: usize::from(head[2]).min(88),
        }
    }

    fn next(&mut self, nibble: u8) -> i16 {
        let step = IMA_STEPS[self.index];
        let mut change = step >> 3;
        for (bit, part) in [(4, step), (2, step >> 1), (1, step >> 2)] {
            if nibble & bit != 0 {
                change += part;
            }
        }
        if nibble & 8 != 0 {
            change = -change;
        }
        self.value = clamp(i32::from(self.value) + change);
        let index = self.index as i32 + IMA_INDEX_STEPS[usize::from(nibble & 7)];
        self.index = index.clamp(0, 88) as usize;
        self.value
    }
}

#[derive(Debug, Clone)]
pub(crate) struct MsLayout {
    channels: usize,
    pub block_bytes: usize,
    coefficients: Vec<(i32, i32)>,
}

impl MsLayout {
    /// `extension` is the format chunk after its size field: frames per block, then the predictors.
    pub(super) fn new(
        channels: usize,
        block_bytes: usize,
        extension: &[u8],
    ) -> Result<Self, AudioError> {
        if channels > 2 || block_bytes < 7 * channels {
            return Err(AudioError::undecodable(
                "the ADPCM block size is impossible",
            ));
        }
        let pairs = extension.get(4..).unwrap_or_default().chunks_exact(4);
        let mut coefficients: Vec<(i32, i32)> = pairs
            .map(|pair| {
                (
                    i32::from(le_u16(&pair[0..2]) as i16),
                    i32::from(le_u16(&pair[2..4]) as i16),
                )
            })
            .take(256)
            .collect();
        if coefficients.len() < MS_COEFFICIENTS.len() {
            coefficients = MS_COEFFICIENTS.to_vec();
        }
        Ok(Self {
            channels,
            block_bytes,
            coefficients,
        })
    }

    pub(crate) fn frames_per_block(&self) -> usize {
        (self.block_bytes - 7 * self.channels) * 2 / self.channels + 2
    }

    /// Appends the interleaved samples of one block, which may be cut off.
    pub(super) fn decode(&self, block: &[u8], out: &mut Vec<f32>) {
        let lanes = self.channels;
        let Some((head, body)) = block.split_at_checked(7 * lanes) else {
            return;
        };
        let word = |field: usize, lane: usize| {
            let place = lanes + 2 * (field * lanes + lane);
            i32::from(le_u16(&head[place..place + 2]) as i16)
        };
        let mut states: Vec<MsState> = (0..lanes)
            .map(|lane| MsState {
                coefficients: self
                    .coefficients
                    .get(usize::from(head[lane]))
                    .copied()
                    .unwrap_or((256, 0)),
                delta: word(0, lane),
                newer: word(1, lane),
                older: word(2, lane),
            })
            .collect();
        out.extend(states.iter().map(|s| f32_from_i16(s.older as i16)));
        out.extend(states.iter().map(|s| f32_from_i16(s.newer as i16)));
        for (place, nibble) in body
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 0x0f])
            .enumerate()
        {
            out.push(f32_from_i16(states[place % lanes].next(nibble)));
        }
        out.truncate(out.len() - out.len() % lanes);
    }
}

struct MsState {
    coefficients: (i32, i32),
    delta: i32,
    newer: i32,
    older: i32,
}

impl MsState {
    fn next(&mut self, nibble: u8) -> i16 {
        // 64 bits, because a hostile file can hold any predictor and any start.
        let history = [
            (self.newer, self.coefficients.0),
            (self.older, self.coefficients.1),
        ];
        let predicted = history
            .map(|(a, b)| i64::from(a) * i64::from(b))
            .iter()
            .sum::<i64>()
            >> 8;
        let signed = i64::from(nibble) - if nibble >= 8 { 16 } else { 0 };
        let wide = predicted + signed * i64::from(self.delta);
        let value = wide.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16;
        self.older = self.newer;
        self.newer = i32::from(value);
        let delta = (i64::from(MS_ADAPTATION[usize::from(nibble)]) * i64::from(self.delta)) >> 8;
        self.delta = delta.clamp(16, i64::from(i32::MAX) / 768) as i32;
        value
    }
}

fn clamp(value: i32) -> i16 {
    value.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}
