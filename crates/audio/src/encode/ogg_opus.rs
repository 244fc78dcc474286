use ogg::writing::{PacketWriteEndInfo, PacketWriter};

use super::writer::SoundWriter;
use crate::AudioError;
use crate::opus::OpusEncoder;

/// Transparent for one voice.
const BITS_PER_SECOND: i32 = 40_000;
/// The format counts in these, whatever the encoder runs at.
const GRANULE_HZ: u32 = 48_000;
/// One stream a file, so the number need not be random, and the same request gives the same bytes.
const SERIAL: u32 = 0x5341_5554;
/// A page a second when nobody asks for the bytes sooner.
const PACKETS_PER_PAGE: u32 = 50;

/// Opus in Ogg (RFC 7845), one channel.
pub(super) struct OggOpusWriter {
    encoder: OpusEncoder,
    pages: PacketWriter<'static, Vec<u8>>,
    rate_hz: u32,
    pre_skip: u64,
    pending: Vec<f32>,
    samples_in: u64,
    granule: u64,
    packets_in_page: u32,
    /// The newest packet waits until it is known whether a page or the stream ends with it.
    held: Option<Vec<u8>>,
    header_written: bool,
}

impl OggOpusWriter {
    pub(super) fn new(rate_hz: u32) -> Result<Self, AudioError> {
        let mut encoder = OpusEncoder::new(rate_hz, BITS_PER_SECOND)?;
        let pre_skip = encoder.lookahead() as u64 * u64::from(GRANULE_HZ / rate_hz);
        Ok(Self {
            encoder,
            pages: PacketWriter::new(Vec::new()),
            rate_hz,
            pre_skip,
            pending: Vec::new(),
            samples_in: 0,
            granule: 0,
            packets_in_page: 0,
            held: None,
            header_written: false,
        })
    }

    fn encode(&mut self, samples: &[f32]) {
        self.write_header_once();
        self.pending.extend_from_slice(samples);
        let pending = std::mem::take(&mut self.pending);
        let mut frames = pending.chunks_exact(self.encoder.frame_samples());
        for frame in &mut frames {
            let full = self.packets_in_page + 1 >= PACKETS_PER_PAGE;
            self.release(if full {
                PacketWriteEndInfo::EndPage
            } else {
                PacketWriteEndInfo::NormalPacket
            });
            self.held = Some(self.encoder.encode(frame));
        }
        self.pending = frames.remainder().to_vec();
    }

    fn frame_granules(&self) -> u64 {
        self.encoder.frame_samples() as u64 * u64::from(GRANULE_HZ / self.rate_hz)
    }

    fn release(&mut self, end: PacketWriteEndInfo) {
        if let Some(packet) = self.held.take() {
            self.granule += self.frame_granules();
            let ends = matches!(end, PacketWriteEndInfo::EndPage);
            self.packets_in_page = if ends { 0 } else { self.packets_in_page + 1 };
            self.put(packet, end, self.granule);
        }
    }

    fn write_header_once(&mut self) {
        if std::mem::replace(&mut self.header_written, true) {
            return;
        }
        let mut head = b"OpusHead\x01\x01".to_vec();
        head.extend((self.pre_skip as u16).to_le_bytes());
        head.extend(self.rate_hz.to_le_bytes());
        head.extend([0, 0, 0]);
        self.put(head, PacketWriteEndInfo::EndPage, 0);
        let tags = b"OpusTags\x05\x00\x00\x00sauti\x00\x00\x00\x00".to_vec();
        self.put(tags, PacketWriteEndInfo::EndPage, 0);
    }

    fn put(&mut self, packet: Vec<u8>, end: PacketWriteEndInfo, granule: u64) {
        // Writing into memory does not fail.
        let _ = self.pages.write_packet(packet, SERIAL, end, granule);
    }

    fn take_pages(&mut self, out: &mut Vec<u8>) {
        out.append(self.pages.inner_mut());
    }
}

impl SoundWriter for OggOpusWriter {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>) {
        self.samples_in += samples.len() as u64;
        self.encode(samples);
        self.take_pages(out);
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.packets_in_page > 0 {
            self.release(PacketWriteEndInfo::EndPage);
        }
        self.take_pages(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        let frame = self.encoder.frame_samples();
        let end = self.pre_skip + self.samples_in * u64::from(GRANULE_HZ / self.rate_hz);
        // Silence pushes the last samples through the encoder's delay; the final granule position cuts it off again.
        let held = |this: &Self| u64::from(this.held.is_some()) * this.frame_granules();
        while self.samples_in > 0 && self.granule + held(self) < end {
            let missing = frame - self.pending.len();
            self.encode(&vec![0.0; missing]);
        }
        self.write_header_once();
        if let Some(packet) = self.held.take() {
            self.put(packet, PacketWriteEndInfo::EndStream, end);
        }
        self.take_pages(out);
    }
}
