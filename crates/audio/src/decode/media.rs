//! Everything but WAV: Symphonia takes the container apart and decodes, except Opus, which is libopus.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known::{CODEC_ID_AAC, CODEC_ID_OPUS};
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackType};
use symphonia::core::io::{MediaSourceStream, ReadOnlySource};
use symphonia::core::packet::Packet;
use symphonia::core::units::Duration;
use symphonia::default::formats::{
    AdtsReader, CafReader, FlacReader, IsoMp4Reader, MkvReader, MpaReader, OggReader,
};
use symphonia::default::get_codecs;

use super::aac;
use super::edits::{self, Edit};
use super::sniff::Container;
use super::{AudioSource, DecodeSession, Decoded, LimitedHeader};
use crate::AudioError;
use crate::opus::{OpusDecoder, OpusHead};

/// Damaged packets in a row after which the rest is given up.
const ERRORS_IN_A_ROW_MAX: u32 = 200;
const OPUS_RATE_HZ: u32 = 48_000;
/// Packets that an MP3 encoder may add at the end to get its last samples out. What comes after more of them is another
/// file, joined to the first.
const PADDING_PACKETS_MAX: usize = 3;
/// Times that MP3 frames may turn into frames of another rate or other channels, as where files were joined.
const MP3_CHANGES_MAX: usize = 64;
/// A CAF file of two hours has a table of some 700 kB; each byte of it may become 32 in memory.
const CAF_HEADER_BYTES_MAX: u64 = 1 << 20;

/// A panic inside a reader is a recording that cannot be read: the readers check much, but a file whose
/// numbers contradict each other can still trip their arithmetic where overflow is checked.
pub(super) fn decode(
    container: Container,
    source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    catch_unwind(AssertUnwindSafe(|| read(container, source, session)))
        .unwrap_or_else(|_| Err(AudioError::undecodable("its parts contradict each other")))
}

fn read(
    container: Container,
    source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    let header_bytes_left = Arc::new(AtomicU64::new(CAF_HEADER_BYTES_MAX));
    let (name, mut source) = match container {
        Container::Wav | Container::Aiff | Container::Au | Container::Gsm => ("wav", source),
        Container::Caf => {
            let bytes_left = Arc::clone(&header_bytes_left);
            let inner = source;
            ("caf", Box::new(LimitedHeader { inner, bytes_left }) as _)
        }
        Container::Ogg => ("ogg", source),
        // Read as a stream, or one that ends before the place it declares would be refused whole.
        Container::Matroska => ("webm", Box::new(ReadOnlySource::new(source)) as AudioSource),
        Container::Mp4 => ("mp4", source),
        Container::Flac => ("flac", source),
        Container::Mp3 => ("mp3", source),
        Container::Adts => ("adts", source),
    };
    let edit = match (container, source.byte_len()) {
        (Container::Mp4, Some(bytes)) => edits::find(&mut source, bytes)?,
        _ => None,
    };
    let stream = MediaSourceStream::new(source, Default::default());
    let options = FormatOptions::default();
    let reader: Result<Box<dyn FormatReader>, Error> = match container {
        Container::Ogg => OggReader::try_new(stream, options).map(boxed),
        Container::Matroska => MkvReader::try_new(stream, options).map(boxed),
        Container::Mp4 => IsoMp4Reader::try_new(stream, options).map(boxed),
        Container::Caf => CafReader::try_new(stream, options).map(boxed),
        Container::Flac => FlacReader::try_new(stream, options).map(boxed),
        Container::Adts => AdtsReader::try_new(stream, options).map(boxed),
        Container::Wav | Container::Aiff | Container::Au | Container::Gsm | Container::Mp3 => {
            MpaReader::try_new(stream, options).map(boxed)
        }
    };
    header_bytes_left.store(u64::MAX, Ordering::Relaxed);
    Demuxing::new(name, reader.map_err(undecodable)?, edit, session.rate_hz())?.run(session)
}

/// The MP3 or Layer II stream inside a WAV file.
pub(crate) fn decode_mpeg(
    source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    let decoded = decode(Container::Mp3, source, session)?;
    Ok(Decoded {
        container: "wav",
        ..decoded
    })
}

fn boxed<'s>(reader: impl FormatReader + 's) -> Box<dyn FormatReader + 's> {
    Box::new(reader)
}

fn undecodable(error: Error) -> AudioError {
    match error {
        Error::IoError(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
            AudioError::undecodable(
                "it ends in the middle of its header, or its codec is not read here",
            )
        }
        Error::Unsupported("isomp4: missing moov atom" | "mkv: missing segment element") => {
            AudioError::undecodable("it is cut off")
        }
        other => AudioError::undecodable(other.to_string()),
    }
}

enum Codec {
    Symphonia(Box<dyn AudioDecoder>),
    Opus(Box<OpusStream>),
}

struct OpusStream {
    decoder: OpusDecoder,
    /// Samples at our rate still to drop at the start.
    skip: usize,
}

struct Demuxing {
    container: &'static str,
    reader: Box<dyn FormatReader>,
    track_id: u32,
    codec: Codec,
    codec_name: String,
    samples: Vec<f32>,
    edit: Option<Edit>,
    /// Decoded so far, whether kept or not.
    frames: u64,
    beyond: Beyond,
    mp3_changes: usize,
}

/// What an MP3 file holds after the end that its first header declares.
#[derive(Default)]
struct Beyond {
    packets: usize,
    /// Not kept yet, for it may be padding.
    samples: Vec<f32>,
    shape: (u32, u16),
}

/// How the work on one packet went.
enum DecodeStep {
    Decoded,
    Damaged,
    End,
}

impl Demuxing {
    fn new(
        container: &'static str,
        reader: Box<dyn FormatReader>,
        edit: Option<Edit>,
        rate_hz: u32,
    ) -> Result<Self, AudioError> {
        let (track_id, codec, codec_name) = open_track(reader.as_ref(), rate_hz)?;
        Ok(Self {
            container,
            reader,
            track_id,
            codec,
            codec_name,
            samples: Vec::new(),
            edit,
            frames: 0,
            beyond: Beyond::default(),
            mp3_changes: 0,
        })
    }

    fn run(mut self, session: &mut DecodeSession) -> Result<Decoded, AudioError> {
        self.refuse_declared_length(session)?;
        let (mut good, mut damaged, mut in_a_row) = (0u64, 0u64, 0u32);
        loop {
            session.check_cancelled()?;
            match self.step(session)? {
                DecodeStep::Decoded => (good, in_a_row) = (good + 1, 0),
                DecodeStep::Damaged => (damaged, in_a_row) = (damaged + 1, in_a_row + 1),
                DecodeStep::End => break,
            }
            if in_a_row > ERRORS_IN_A_ROW_MAX {
                break;
            }
        }
        if damaged > good {
            return Err(AudioError::undecodable("most of it is damaged"));
        }
        Ok(Decoded {
            container: self.container,
            codec: self.codec_name,
        })
    }

    fn refuse_declared_length(&self, session: &mut DecodeSession) -> Result<(), AudioError> {
        let track = self
            .reader
            .tracks()
            .iter()
            .find(|track| track.id == self.track_id);
        let params = track.and_then(audio_params);
        let rate_hz = params.and_then(|params| params.sample_rate);
        if let (Some(frames), Some(rate_hz)) = (track.and_then(|track| track.num_frames), rate_hz) {
            session.expect_frames(frames, rate_hz)?;
        }
        Ok(())
    }

    fn step(&mut self, session: &mut DecodeSession) -> Result<DecodeStep, AudioError> {
        let mut packet = match self.reader.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => return Ok(DecodeStep::End),
            // A chained stream: the next recording begins here.
            Err(Error::ResetRequired) => {
                let Ok((track_id, codec, _)) = open_track(self.reader.as_ref(), session.rate_hz())
                else {
                    return Ok(DecodeStep::End);
                };
                (self.track_id, self.codec) = (track_id, codec);
                return Ok(DecodeStep::Decoded);
            }
            Err(Error::DecodeError(_)) => return Ok(DecodeStep::Damaged),
            // Truncated: what was decoded so far stands.
            Err(Error::IoError(e)) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Ok(DecodeStep::End);
            }
            Err(_) if session.has_samples() => return Ok(DecodeStep::End),
            Err(error) => return Err(undecodable(error)),
        };
        if packet.track_id != self.track_id {
            return Ok(DecodeStep::Decoded);
        }
        // The reader would cut all of it off.
        let is_beyond = self.container == "mp3" && packet.trim_end >= packet.dur;
        if is_beyond {
            packet.trim_end = Duration::ZERO;
        }
        match &mut self.codec {
            Codec::Symphonia(decoder) => match decoder.decode(&packet) {
                Ok(buffer) => {
                    let spec = buffer.spec();
                    let channels = u16::try_from(spec.channels().count()).unwrap_or(u16::MAX);
                    let (rate_hz, frames) = (spec.rate(), buffer.frames());
                    session.begin(rate_hz, channels)?;
                    buffer.copy_to_vec_interleaved(&mut self.samples);
                    let kept = kept(self.edit, rate_hz, self.frames, frames);
                    self.frames += frames as u64;
                    let lanes = usize::from(channels);
                    let kept_samples = &self.samples[kept.start * lanes..kept.end * lanes];
                    if is_beyond {
                        self.beyond
                            .add(kept_samples, (rate_hz, channels), session)?;
                        return Ok(DecodeStep::Decoded);
                    }
                    session.push(kept_samples)?;
                    let past_end = kept.is_empty() && session.has_samples();
                    Ok(if past_end && frames > 0 {
                        DecodeStep::End
                    } else {
                        DecodeStep::Decoded
                    })
                }
                Err(Error::DecodeError(_) | Error::IoError(_)) => {
                    // The decoder takes only frames like its first; a new one takes what comes now.
                    if self.container == "mp3" && self.mp3_changes < MP3_CHANGES_MAX {
                        self.mp3_changes += 1;
                        (self.track_id, self.codec, _) =
                            open_track(self.reader.as_ref(), session.rate_hz())?;
                    }
                    Ok(DecodeStep::Damaged)
                }
                Err(error) => Err(undecodable(error)),
            },
            Codec::Opus(stream) => stream.decode(&packet, &mut self.samples, session),
        }
    }
}

impl Beyond {
    fn add(
        &mut self,
        samples: &[f32],
        shape: (u32, u16),
        session: &mut DecodeSession,
    ) -> Result<(), AudioError> {
        self.packets += 1;
        if shape != self.shape {
            self.samples.clear();
            self.shape = shape;
        }
        self.samples.extend_from_slice(samples);
        if self.packets > PADDING_PACKETS_MAX {
            session.push(&self.samples)?;
            self.samples.clear();
        }
        Ok(())
    }
}

impl OpusStream {
    fn new(params: &AudioCodecParameters, rate_hz: u32) -> Result<Self, AudioError> {
        let head = match params.extra_data.as_deref() {
            Some(bytes) => OpusHead::parse(bytes)?,
            None => OpusHead::simple(params.channels.as_ref().map_or(1, |c| c.count())),
        };
        Ok(Self {
            skip: usize::from(head.pre_skip) * rate_hz as usize / OPUS_RATE_HZ as usize,
            decoder: OpusDecoder::new(&head, rate_hz)?,
        })
    }

    fn decode(
        &mut self,
        packet: &Packet,
        samples: &mut Vec<f32>,
        session: &mut DecodeSession,
    ) -> Result<DecodeStep, AudioError> {
        let channels = self.decoder.channels();
        session.begin_at_our_rate(OPUS_RATE_HZ, channels)?;
        samples.clear();
        if self.decoder.decode(&packet.data, samples).is_err() {
            return Ok(DecodeStep::Damaged);
        }
        let lanes = usize::from(channels);
        let frames = samples.len() / lanes;
        // The container counts in 48 kHz samples; only Ogg tells what to cut at the end.
        let cut = (packet.trim_end.get() / u64::from(OPUS_RATE_HZ / session.rate_hz()))
            .min(frames as u64) as usize;
        let skip = self.skip.min(frames - cut);
        self.skip -= skip;
        session.push(&samples[skip * lanes..(frames - cut) * lanes])?;
        Ok(DecodeStep::Decoded)
    }
}

/// Which frames of a packet that begins at `first` the edit keeps.
fn kept(edit: Option<Edit>, rate_hz: u32, first: u64, frames: usize) -> std::ops::Range<usize> {
    let Some(edit) = edit else {
        return 0..frames;
    };
    // `as` saturates, whatever the file claims.
    let place =
        |seconds: f64| ((seconds * f64::from(rate_hz)).round() as u64).saturating_sub(first);
    let start = place(edit.start_s).min(frames as u64) as usize;
    let end = edit
        .seconds
        .map_or(u64::MAX, |seconds| place(edit.start_s + seconds));
    start..(end.min(frames as u64) as usize).max(start)
}

fn audio_params(track: &Track) -> Option<&AudioCodecParameters> {
    match track.codec_params.as_ref()? {
        CodecParameters::Audio(params) => Some(params),
        _ => None,
    }
}

/// The first sound track that can be decoded.
fn open_track(reader: &dyn FormatReader, rate_hz: u32) -> Result<(u32, Codec, String), AudioError> {
    let mut failure = AudioError::undecodable("it holds no sound in a codec that is read here");
    let audio_tracks = reader
        .tracks()
        .iter()
        .filter(|track| track.track_type() == Some(TrackType::Audio));
    for (track, params) in audio_tracks.filter_map(|track| Some((track, audio_params(track)?))) {
        match open_codec(params, rate_hz) {
            Ok((codec, name)) => return Ok((track.id, codec, name)),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn open_codec(params: &AudioCodecParameters, rate_hz: u32) -> Result<(Codec, String), AudioError> {
    if params.codec == CODEC_ID_OPUS {
        return Ok((
            Codec::Opus(Box::new(OpusStream::new(params, rate_hz)?)),
            "opus".into(),
        ));
    }
    let mut params = params.clone();
    let config = params.extra_data.as_deref();
    if let Some(core) = config
        .filter(|_| params.codec == CODEC_ID_AAC)
        .and_then(aac::core_config)
    {
        params.with_extra_data(Box::from(core));
    }
    let decoder = get_codecs()
        .make_audio_decoder(&params, &AudioDecoderOptions::default())
        .map_err(|_| AudioError::undecodable("its codec is not supported"))?;
    let name = decoder.codec_info().short_name.to_owned();
    Ok((Codec::Symphonia(decoder), name))
}
