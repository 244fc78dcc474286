//! Real input, damaged at random, the same way in every run.

/// Deterministic noise in [-1, 1].
pub struct Noise(pub u64);

impl Noise {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    pub fn sample(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// How many damaged inputs of each kind are tried: SAUTI_FUZZ_ROUNDS, or what an ordinary test run has time for.
pub fn rounds(ordinary: usize) -> usize {
    let asked = std::env::var("SAUTI_FUZZ_ROUNDS").ok();
    asked
        .and_then(|number| number.parse().ok())
        .unwrap_or(ordinary)
}

/// Flips, overwrites, repeats and removes a few bytes.
pub fn damage(bytes: &mut Vec<u8>, noise: &mut Noise) {
    for _ in 0..=noise.below(6) {
        // Headers matter most, so half of the damage goes there.
        let reach = if noise.below(2) == 0 {
            bytes.len()
        } else {
            bytes.len().min(600)
        };
        let place = noise.below(reach);
        match noise.below(6) {
            0 => bytes[place] ^= 1 << noise.below(8),
            1 => bytes[place] = noise.bits() as u8,
            2 => bytes[place] = [0x00, 0x7f, 0x80, 0xff][noise.below(4)],
            3 => {
                let end = (place + 1 + noise.below(8)).min(bytes.len());
                bytes[place..end].fill([0x00, 0xff][noise.below(2)]);
            }
            4 => {
                let end = (place + noise.below(64)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                bytes.splice(place..place, piece);
            }
            _ if bytes.len() > 32 => {
                let end = (place + noise.below(64)).min(bytes.len());
                bytes.drain(place..end);
            }
            _ => bytes.push(noise.bits() as u8),
        }
        if bytes.is_empty() {
            return;
        }
    }
}
