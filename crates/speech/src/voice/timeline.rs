//! Which frame belongs to which symbol.

pub(super) const POSITION_FEATURES: usize = 6;
/// Distances to a symbol's edges are told apart up to this many frames.
const EDGE_FRAMES_MAX: f32 = 30.0;

/// The end frame of each symbol.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    ends: Vec<usize>,
}

/// A frame's place: its symbol, and where in it.
pub(super) struct FramePosition {
    pub symbol: usize,
    pub position: [f32; POSITION_FEATURES],
}

impl Timeline {
    /// Rounds so that errors do not add up: speed halves the whole, not each symbol.
    pub(super) fn new(frames: &[f32], paces: impl IntoIterator<Item = f32>) -> Self {
        let mut exact = 0.0f64;
        let mut end = 0;
        let ends = frames
            .iter()
            .zip(paces)
            .map(|(&symbol_frames, pace)| {
                exact += f64::from(symbol_frames / pace);
                end = (exact.round() as usize).max(end + 1);
                end
            })
            .collect();
        Self { ends }
    }

    #[cfg(test)]
    pub(super) fn from_ends(ends: Vec<usize>) -> Self {
        Self { ends }
    }

    pub(super) fn frames(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(super) fn start(&self, symbol: usize) -> usize {
        if symbol == 0 {
            0
        } else {
            self.ends[symbol - 1]
        }
    }

    pub(super) fn end(&self, symbol: usize) -> usize {
        self.ends[symbol]
    }

    pub(super) fn symbol(&self, frame: usize) -> usize {
        let symbol = self.ends.partition_point(|&end| end <= frame);
        symbol.min(self.ends.len() - 1)
    }

    pub(super) fn place(&self, frame: usize) -> FramePosition {
        let symbol = self.symbol(frame);
        let (start, end) = (self.start(symbol), self.end(symbol));
        let length = (end - start).max(1) as f32;
        let before = (frame - start) as f32;
        let after = (end - 1 - frame) as f32;
        let share = before / length;
        FramePosition {
            symbol,
            position: [
                share,
                1.0 - share,
                length.ln(),
                (std::f32::consts::PI * share).sin(),
                before.min(EDGE_FRAMES_MAX) / EDGE_FRAMES_MAX,
                after.min(EDGE_FRAMES_MAX) / EDGE_FRAMES_MAX,
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat;

    use super::*;

    #[test]
    fn double_speed_halves_the_whole() {
        let frames = vec![5.4; 100];
        let at = |pace| Timeline::new(&frames, repeat(pace));
        let (slow, fast) = (at(1.0), at(2.0));
        assert_eq!(slow.frames(), 540);
        assert_eq!(fast.frames(), 270);
    }

    #[test]
    fn every_symbol_gets_a_frame() {
        let timeline = Timeline::new(&[0.1, 0.1, 0.1], repeat(2.0));
        assert_eq!(
            (0..3).map(|s| timeline.end(s)).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }

    #[test]
    fn a_frame_knows_its_symbol_and_its_edges() {
        let timeline = Timeline::from_ends(vec![2, 6]);
        assert_eq!(timeline.place(1).symbol, 0);
        let place = timeline.place(3);
        assert_eq!(place.symbol, 1);
        assert_eq!(place.position[0], 0.25);
        assert_eq!(place.position[4], 1.0 / 30.0);
        assert_eq!(place.position[5], 2.0 / 30.0);
    }
}
