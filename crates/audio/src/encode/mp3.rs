use rusty_mp3::{Mp3Encoder, Mp3EncoderConfig};

use super::writer::SoundWriter;

/// Variable rate, because the encoder's constant rate holds every frame back to the end.
const AVERAGE_KBPS: f32 = 96.0;

/// MPEG-1 Layer III, one channel.
pub(super) struct Mp3Writer {
    encoder: Mp3Encoder,
    rate_hz: u32,
    /// A whole file gets the tag frame that tells players its length; a stream cannot know it.
    whole: bool,
    packets: u64,
}

impl Mp3Writer {
    pub(super) fn new(rate_hz: u32, whole: bool) -> Self {
        let config = Mp3EncoderConfig {
            bitrate_kbps: 0,
            vbr_quality: Some(AVERAGE_KBPS),
        };
        Self {
            encoder: Mp3Encoder::new(config),
            rate_hz,
            whole,
            packets: 0,
        }
    }

    fn drain(&mut self, out: &mut Vec<u8>) {
        while let Ok(packet) = self.encoder.next_packet() {
            let is_tag = self.packets == 0;
            self.packets += 1;
            if self.whole || !is_tag {
                out.extend_from_slice(&packet);
            }
        }
    }
}

impl SoundWriter for Mp3Writer {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>) {
        // The only error is a rate the format does not have, and ours is fixed.
        if self.encoder.push_pcm_f32(samples, 1, self.rate_hz).is_ok() && !self.whole {
            self.drain(out);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.encoder.finish();
        self.drain(out);
    }
}
