//! Cuts a long recording into pieces of about a minute, each where it is quietest.
//!
//! Pieces let an idle machine read one recording on several workers, and a busy one put other
//! callers' work in between.

use std::io;
use std::ops::Range;

use sauti_audio::Samples;

const RATE_HZ: usize = 16_000;
const PIECE_SECONDS: usize = 60;
/// How far from the minute a cut may move to find a pause.
const REACH_SECONDS: usize = 10;
/// Energy is summed over frames of 10 ms; a pause is worth looking for over 300 ms.
const FRAME: usize = RATE_HZ / 100;
const PAUSE_FRAMES: usize = 30;

pub(super) fn cut(samples: &Samples) -> io::Result<Vec<Range<usize>>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while samples.len() - start > (PIECE_SECONDS + 2 * REACH_SECONDS) * RATE_HZ {
        let from = start + (PIECE_SECONDS - REACH_SECONDS) * RATE_HZ;
        let reach = samples.part(from..from + 2 * REACH_SECONDS * RATE_HZ)?;
        let end = from + quietest(&reach);
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..samples.len());
    Ok(pieces)
}

/// The middle of the quietest stretch.
fn quietest(samples: &[i16]) -> usize {
    let energies: Vec<u64> = samples
        .chunks_exact(FRAME)
        .map(|frame| {
            frame
                .iter()
                .map(|s| u64::from(s.unsigned_abs()).pow(2))
                .sum()
        })
        .collect();
    let quiet = energies
        .windows(PAUSE_FRAMES)
        .enumerate()
        .min_by_key(|(_, window)| window.iter().sum::<u64>())
        .map_or(0, |(at, _)| at);
    (quiet + PAUSE_FRAMES / 2) * FRAME
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_memory(samples: Vec<i16>) -> Vec<Range<usize>> {
        cut(&samples.into()).unwrap()
    }

    #[test]
    fn a_short_recording_stays_whole() {
        assert_eq!(cut_memory(vec![]).len(), 1);
        assert_eq!(cut_memory(vec![1; 70 * RATE_HZ]).len(), 1);
    }

    #[test]
    fn the_cut_falls_into_the_pause() {
        let mut samples = vec![8000i16; 100 * RATE_HZ];
        let pause = 63 * RATE_HZ..63 * RATE_HZ + RATE_HZ / 2;
        samples[pause.clone()].fill(3);
        let pieces = cut_memory(samples);
        assert_eq!(pieces.len(), 2);
        assert!(pause.contains(&pieces[0].end), "{pieces:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn pieces_follow_each_other_without_a_gap(seconds in 0..600usize, seed in any::<u32>()) {
            let mut noise = seed | 1;
            let samples: Vec<i16> = (0..seconds * RATE_HZ)
                .map(|_| {
                    noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (noise >> 16) as i16
                })
                .collect();
            let pieces = cut_memory(samples);
            prop_assert_eq!(pieces[0].start, 0);
            prop_assert_eq!(pieces[pieces.len() - 1].end, seconds * RATE_HZ);
            for pair in pieces.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
            }
            let longest = pieces.iter().map(Range::len).max().unwrap_or(0);
            prop_assert!(longest <= (PIECE_SECONDS + 2 * REACH_SECONDS) * RATE_HZ);
        }
    }
}
