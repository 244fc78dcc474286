use flacenc::bitsink::ByteSink;
use flacenc::component::{BitRepr, StreamInfo};
use flacenc::config;
use flacenc::encode_fixed_size_frame;
use flacenc::error::{Verified, Verify};
use flacenc::source::{Context, Fill, FrameBuf};

use super::writer::SoundWriter;
use crate::AudioError;
use crate::pcm::i16_from_f32;

/// 85 ms at 24 kHz: a stream is heard early, at little cost in size.
const BLOCK_SAMPLES: usize = 2_048;
const BITS: usize = 16;
/// Where the stream information begins: after the marker and one block header.
const INFO_START: usize = 8;
const INFO_BYTES: usize = 34;

/// FLAC, 16 bits, one channel, frame by frame.
pub(super) struct FlacWriter {
    config: Verified<config::Encoder>,
    info: StreamInfo,
    rate_hz: u32,
    /// The block and the running checksum, filled together.
    block: (FrameBuf, Context),
    pending: Vec<i32>,
    samples: u64,
    frames: usize,
    header_written: bool,
}

impl FlacWriter {
    pub(super) fn new(rate_hz: u32) -> Result<Self, AudioError> {
        let mut config = config::Encoder::default();
        config.block_size = BLOCK_SAMPLES;
        let failed = || AudioError::AbsurdFormat(format!("FLAC at {rate_hz} Hz"));
        Ok(Self {
            config: config.into_verified().map_err(|_| failed())?,
            info: StreamInfo::new(rate_hz as usize, 1, BITS).map_err(|_| failed())?,
            rate_hz,
            block: (
                FrameBuf::with_size(1, BLOCK_SAMPLES).map_err(|_| failed())?,
                Context::new(BITS, 1),
            ),
            pending: Vec::new(),
            samples: 0,
            frames: 0,
            header_written: false,
        })
    }

    fn write_header_once(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.header_written, true) {
            out.extend_from_slice(b"fLaC\x80\x00\x00\x22");
            out.extend_from_slice(&self.stream_info());
        }
    }

    fn write_frame(&mut self, samples: &[i32], out: &mut Vec<u8>) {
        // None of this fails for 16-bit samples in a block of the configured size; a frame that did would be left out.
        if self.block.fill_interleaved(samples).is_err() {
            return;
        }
        let mut sink = ByteSink::new();
        let frame = encode_fixed_size_frame(&self.config, &self.block.0, self.frames, &self.info);
        if frame.is_ok_and(|frame| frame.write(&mut sink).is_ok()) {
            out.extend_from_slice(sink.as_slice());
            self.frames += 1;
            self.samples += samples.len() as u64;
        }
    }

    /// Sizes and checksum are zero, which means unknown, until the end.
    fn stream_info(&self) -> [u8; INFO_BYTES] {
        let mut info = [0; INFO_BYTES];
        let block = (BLOCK_SAMPLES as u16).to_be_bytes();
        info[0..2].copy_from_slice(&block);
        info[2..4].copy_from_slice(&block);
        // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, 36 of samples.
        let packed =
            u64::from(self.rate_hz) << 44 | (BITS as u64 - 1) << 36 | self.samples & 0xf_ffff_ffff;
        info[10..18].copy_from_slice(&packed.to_be_bytes());
        if self.samples > 0 {
            info[18..34].copy_from_slice(&self.block.1.md5_digest());
        }
        info
    }
}

impl SoundWriter for FlacWriter {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>) {
        self.write_header_once(out);
        self.pending.extend(
            samples
                .iter()
                .map(|&sample| i32::from(i16_from_f32(sample))),
        );
        let pending = std::mem::take(&mut self.pending);
        let mut blocks = pending.chunks_exact(BLOCK_SAMPLES);
        for block in &mut blocks {
            self.write_frame(block, out);
        }
        self.pending = blocks.remainder().to_vec();
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.write_header_once(out);
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.write_frame(&rest, out);
        }
    }

    fn complete_header(&self, file: &mut [u8]) {
        if let Some(info) = file.get_mut(INFO_START..INFO_START + INFO_BYTES) {
            info.copy_from_slice(&self.stream_info());
        }
    }
}
