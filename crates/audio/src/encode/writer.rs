//! What the writers of all formats have in common.

/// Writes samples, which are at the rate of its format.
pub(super) trait SoundWriter: Send {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>);

    /// Lets a listener hear at once what was pushed, where the format holds bytes back.
    fn flush(&mut self, _out: &mut Vec<u8>) {}

    fn finish(&mut self, out: &mut Vec<u8>);

    /// Puts into the header of a whole file what only its end can tell.
    fn complete_header(&self, _file: &mut [u8]) {}
}
