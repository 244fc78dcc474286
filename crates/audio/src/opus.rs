//! Opus, by libopus translated to Rust. The only unsafe code of this crate stands here, behind two safe types.
#![expect(unsafe_code, reason = "the translated library has the C interface")]

use std::ptr::NonNull;

use unsafe_libopus::{
    OPUS_APPLICATION_AUDIO, OPUS_GET_LOOKAHEAD_REQUEST, OPUS_OK, OPUS_SET_BITRATE_REQUEST,
    OPUS_SET_COMPLEXITY_REQUEST, OPUS_SET_SIGNAL_REQUEST, OPUS_SIGNAL_VOICE,
    OpusEncoder as RawEncoder, OpusMSDecoder, opus_encode_float, opus_encoder_create,
    opus_encoder_ctl_impl, opus_encoder_destroy, opus_multistream_decode_float,
    opus_multistream_decoder_create, opus_multistream_decoder_destroy, varargs,
};

use crate::AudioError;

const PACKET_MS_MAX: u32 = 120;
const HEAD_BYTES_MIN: usize = 19;
/// Of 0 to 10. At this bit rate more costs time that nobody hears.
const COMPLEXITY: i32 = 4;

/// The identification header of an Opus stream (RFC 7845).
pub(crate) struct OpusHead {
    pub channels: u8,
    pub pre_skip: u16,
    gain_q8_db: i16,
    streams: u8,
    coupled: u8,
    mapping: Vec<u8>,
}

impl OpusHead {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, AudioError> {
        let bad = || AudioError::undecodable("the Opus header is damaged");
        let head = bytes
            .get(..HEAD_BYTES_MIN)
            .filter(|head| head.starts_with(b"OpusHead"))
            .ok_or_else(bad)?;
        let channels = head[9];
        // The header of an MP4 file has version 0, and its numbers the other way round.
        let number = |place: usize| {
            let bytes = [head[place], head[place + 1]];
            if head[8] == 0 {
                u16::from_be_bytes(bytes)
            } else {
                u16::from_le_bytes(bytes)
            }
        };
        let (streams, coupled, mapping) = if head[18] == 0 {
            (1, channels.saturating_sub(1), vec![0, 1])
        } else {
            let table = bytes.get(19..21 + usize::from(channels)).ok_or_else(bad)?;
            (table[0], table[1], table[2..].to_vec())
        };
        let this = Self {
            channels,
            pre_skip: number(10),
            gain_q8_db: number(16) as i16,
            streams,
            coupled,
            mapping,
        };
        if this.is_sound() {
            Ok(this)
        } else {
            Err(bad())
        }
    }

    /// For a container that carries no header.
    pub(crate) fn simple(channels: usize) -> Self {
        let channels = channels.clamp(1, 2) as u8;
        Self {
            channels,
            pre_skip: 312,
            gain_q8_db: 0,
            streams: 1,
            coupled: channels - 1,
            mapping: vec![0, 1],
        }
    }

    fn is_sound(&self) -> bool {
        let decoded = u16::from(self.streams) + u16::from(self.coupled);
        let mapped = self
            .mapping
            .get(..usize::from(self.channels))
            .unwrap_or_default();
        self.channels > 0
            && self.streams > 0
            && self.coupled <= self.streams
            && decoded <= 255
            && mapped.len() == usize::from(self.channels)
            // 255 is a silent channel.
            && mapped.iter().all(|&index| index == 255 || u16::from(index) < decoded)
    }
}

/// Decodes packets to interleaved samples at one of Opus's own rates.
pub(crate) struct OpusDecoder {
    raw: NonNull<OpusMSDecoder>,
    channels: u16,
    frames_max: usize,
    gain: f32,
}

// SAFETY: the state is one allocation that nothing else points to, and every use takes `&mut self`.
unsafe impl Send for OpusDecoder {}

impl OpusDecoder {
    pub(crate) fn new(head: &OpusHead, rate_hz: u32) -> Result<Self, AudioError> {
        let mut status = OPUS_OK;
        // SAFETY: `mapping` has at least `channels` entries and lives through the call, which copies it.
        let raw = unsafe {
            opus_multistream_decoder_create(
                rate_hz as i32,
                i32::from(head.channels),
                i32::from(head.streams),
                i32::from(head.coupled),
                head.mapping.as_ptr(),
                &mut status,
            )
        };
        let raw = NonNull::new(raw).filter(|_| status == OPUS_OK);
        Ok(Self {
            raw: raw.ok_or_else(|| AudioError::undecodable("the Opus header is damaged"))?,
            channels: u16::from(head.channels),
            frames_max: (rate_hz * PACKET_MS_MAX / 1_000) as usize,
            gain: 10f32.powf(f32::from(head.gain_q8_db) / (20.0 * 256.0)),
        })
    }

    pub(crate) fn channels(&self) -> u16 {
        self.channels
    }

    /// Appends the samples of one packet.
    pub(crate) fn decode(&mut self, packet: &[u8], out: &mut Vec<f32>) -> Result<(), AudioError> {
        let bad = || AudioError::undecodable("an Opus packet is damaged");
        // An empty packet would mean a lost one to the library.
        let bytes = i32::try_from(packet.len())
            .ok()
            .filter(|&bytes| bytes > 0)
            .ok_or_else(bad)?;
        let start = out.len();
        let lanes = usize::from(self.channels);
        out.resize(start + self.frames_max * lanes, 0.0);
        // SAFETY: the state is valid until drop; the packet has `bytes` readable bytes; the output has room for `frames_max`
        // frames of `channels` samples, which is what the call is told.
        let frames = unsafe {
            opus_multistream_decode_float(
                self.raw.as_mut(),
                packet.as_ptr(),
                bytes,
                out[start..].as_mut_ptr(),
                self.frames_max as i32,
                0,
            )
        };
        let frames = usize::try_from(frames).unwrap_or(0);
        out.truncate(start + frames * lanes);
        out[start..]
            .iter_mut()
            .for_each(|sample| *sample *= self.gain);
        if frames == 0 { Err(bad()) } else { Ok(()) }
    }
}

impl Drop for OpusDecoder {
    fn drop(&mut self) {
        // SAFETY: created by the matching function, destroyed once.
        unsafe { opus_multistream_decoder_destroy(self.raw.as_mut()) }
    }
}

/// Encodes mono frames of 20 ms.
pub(crate) struct OpusEncoder {
    raw: NonNull<RawEncoder>,
    frame_samples: usize,
}

// SAFETY: as for the decoder.
unsafe impl Send for OpusEncoder {}

impl OpusEncoder {
    /// The longest packet the format allows for one frame.
    const PACKET_BYTES_MAX: usize = 1_275;

    /// `rate_hz` is one of Opus's own rates.
    pub(crate) fn new(rate_hz: u32, bits_per_second: i32) -> Result<Self, AudioError> {
        let mut status = OPUS_OK;
        // SAFETY: plain values, and a status that lives through the call.
        let raw =
            unsafe { opus_encoder_create(rate_hz as i32, 1, OPUS_APPLICATION_AUDIO, &mut status) };
        let raw = NonNull::new(raw).filter(|_| status == OPUS_OK);
        let raw = raw.ok_or_else(|| AudioError::AbsurdFormat(format!("Opus at {rate_hz} Hz")))?;
        let mut this = Self {
            raw,
            frame_samples: rate_hz as usize / 50,
        };
        for (request, value) in [
            (OPUS_SET_BITRATE_REQUEST, bits_per_second),
            (OPUS_SET_SIGNAL_REQUEST, OPUS_SIGNAL_VOICE),
            (OPUS_SET_COMPLEXITY_REQUEST, COMPLEXITY),
        ] {
            // SAFETY: the state is valid, and each request takes one integer.
            unsafe { opus_encoder_ctl_impl(this.raw.as_mut(), request, varargs!(value)) };
        }
        Ok(this)
    }

    pub(crate) fn frame_samples(&self) -> usize {
        self.frame_samples
    }

    /// Samples at the encoder's rate by which the decoded sound comes late.
    pub(crate) fn lookahead(&mut self) -> usize {
        let mut samples = 0i32;
        // SAFETY: the state is valid, and the request writes one integer.
        unsafe {
            opus_encoder_ctl_impl(
                self.raw.as_mut(),
                OPUS_GET_LOOKAHEAD_REQUEST,
                varargs!(&mut samples),
            )
        };
        usize::try_from(samples).unwrap_or(0)
    }

    /// `frame` has exactly `frame_samples` samples.
    pub(crate) fn encode(&mut self, frame: &[f32]) -> Vec<u8> {
        let mut packet = vec![0; Self::PACKET_BYTES_MAX];
        debug_assert_eq!(frame.len(), self.frame_samples);
        if frame.len() < self.frame_samples {
            return Vec::new();
        }
        // SAFETY: the state is valid, the frame has the samples the call is told, and so has the packet its bytes.
        let bytes = unsafe {
            opus_encode_float(
                self.raw.as_mut(),
                frame.as_ptr(),
                self.frame_samples as i32,
                packet.as_mut_ptr(),
                packet.len() as i32,
            )
        };
        packet.truncate(usize::try_from(bytes).unwrap_or(0));
        packet
    }
}

impl Drop for OpusEncoder {
    fn drop(&mut self) {
        // SAFETY: created by the matching function, destroyed once.
        unsafe { opus_encoder_destroy(self.raw.as_mut()) }
    }
}
