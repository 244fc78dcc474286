use std::io::{Read, Seek, SeekFrom};

use super::adpcm::{ImaLayout, MsLayout};
use crate::AudioError;
use crate::gsm::{self, GsmDecoder};

const FORMAT_BYTES_MAX: u64 = 1_024;
/// Real files have a dozen chunks; a file made of empty ones must not keep us busy.
const CHUNKS_MAX: usize = 1_000;

const CUT_OFF: &str = "the WAV header is cut off";

const TAG_PCM: u16 = 0x0001;
const TAG_MS_ADPCM: u16 = 0x0002;
const TAG_FLOAT: u16 = 0x0003;
const TAG_ALAW: u16 = 0x0006;
const TAG_ULAW: u16 = 0x0007;
const TAG_IMA_ADPCM: u16 = 0x0011;
const TAG_GSM: u16 = 0x0031;
const TAG_MPEG: u16 = 0x0050;
const TAG_MP3: u16 = 0x0055;
const TAG_EXTENSIBLE: u16 = 0xfffe;

/// How the samples of the data chunk are stored.
#[derive(Debug, Clone)]
pub(crate) enum Coding {
    /// Whole bytes, left-justified, little-endian; unsigned when one byte wide.
    Int {
        bytes: usize,
    },
    Float {
        bytes: usize,
    },
    /// As AIFF and AU have it.
    SignedByte,
    Alaw,
    Ulaw,
    ImaAdpcm(ImaLayout),
    MsAdpcm(MsLayout),
    Gsm(Box<GsmDecoder>),
    /// MP3, or the Layer II of broadcasters.
    Mpeg,
}

#[derive(Debug)]
pub(crate) struct WavFormat {
    pub coding: Coding,
    pub channels: u16,
    pub rate_hz: u32,
    pub is_big_endian: bool,
}

/// The chunks of a file, or of several that were laid end to end.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// Of the chunk that was read last.
    pub format: Option<WavFormat>,
    position: u64,
    count: usize,
    is_big_endian: bool,
    riff_end: u64,
    frames_declared: Option<u32>,
    data_bytes_64: Option<u64>,
}

/// A chunk of samples; there is more than one where streams were cut and joined.
#[derive(Debug)]
pub(crate) struct DataChunk {
    pub start: u64,
    pub bytes: u64,
    /// Frames by the fact chunk; only ADPCM needs it, to drop the padding of its last block.
    pub frames_declared: Option<u64>,
}

impl Chunks {
    pub(crate) fn next_data(
        &mut self,
        source: &mut (impl Read + Seek),
        file_bytes: u64,
    ) -> Result<Option<DataChunk>, AudioError> {
        while self.count < CHUNKS_MAX && self.position + 8 <= file_bytes {
            self.count += 1;
            source.seek(SeekFrom::Start(self.position))?;
            let mut head = [0; 8];
            read_or(source, &mut head, CUT_OFF)?;
            self.position += 8;
            if matches!(&head[..4], b"RIFF" | b"RIFX" | b"RF64" | b"BW64" | b"FORM") {
                self.is_big_endian = matches!(&head[..4], b"RIFX" | b"FORM");
            }
            let size = u64::from(self.u32(&head[4..8]));
            match &head[..4] {
                b"RIFF" | b"RIFX" | b"RF64" | b"BW64" | b"FORM" => {
                    self.riff_end = self.position + size;
                    // The form that follows is WAVE, or AIFF; its chunks are next.
                    self.position += 4;
                    continue;
                }
                b"fmt " => self.format = Some(read_format(source, size, self.is_big_endian)?),
                b"fact" if size >= 4 => self.frames_declared = Some(self.read_u32(source)?),
                b"ds64" if size >= 16 => self.data_bytes_64 = Some(read_ds64(source)?),
                b"data" => return Ok(Some(self.data(size, file_bytes))),
                b"COMM" => self.format = Some(read_common(source, size)?),
                b"SSND" if size >= 8 => {
                    self.position += 8;
                    return Ok(Some(self.data(size - 8, file_bytes)));
                }
                _ => {}
            }
            self.skip(size);
        }
        Ok(None)
    }

    fn data(&mut self, size: u64, file_bytes: u64) -> DataChunk {
        let left = file_bytes.saturating_sub(self.position);
        // A size of zero in a file whose other sizes are true: really empty.
        let is_empty = size == 0 && self.riff_end == file_bytes;
        let bytes = match (is_empty, real_size(size, self.data_bytes_64)) {
            (true, _) => 0,
            // Up to the end of the file, as streamed headers mean it.
            (_, None) => left,
            (_, Some(size)) => size.min(left),
        };
        let frames_declared = self.frames_declared.take();
        let frames_declared = frames_declared.filter(|&n| n != 0 && n != u32::MAX);
        let start = self.position;
        self.skip(bytes);
        DataChunk {
            start,
            bytes,
            frames_declared: frames_declared.map(u64::from),
        }
    }

    /// Chunks start on even places.
    fn skip(&mut self, bytes: u64) {
        self.position += bytes + (bytes & 1);
    }

    fn read_u32(&self, source: &mut impl Read) -> Result<u32, AudioError> {
        let mut bytes = [0; 4];
        read_or(source, &mut bytes, CUT_OFF)?;
        Ok(self.u32(&bytes))
    }

    fn u32(&self, bytes: &[u8]) -> u32 {
        match self.is_big_endian {
            true => le_u32(bytes).swap_bytes(),
            false => le_u32(bytes),
        }
    }
}

/// The common chunk of an AIFF file.
fn read_common(source: &mut impl Read, size: u64) -> Result<WavFormat, AudioError> {
    let mut chunk = [0; 22];
    let used = size.clamp(18, 22) as usize;
    read_or(source, &mut chunk[..used], "the AIFF header is cut off")?;
    let [channels, bits] = [0, 6].map(|at| u16::from_be_bytes([chunk[at], chunk[at + 1]]));
    // An 80-bit float; of its mantissa the first half holds any rate.
    let exponent = i32::from(u16::from_be_bytes([chunk[8], chunk[9]])) - 16_383 - 31;
    let mantissa = u32::from_be_bytes([chunk[10], chunk[11], chunk[12], chunk[13]]);
    let coding = match (&chunk[18..22], bits.div_ceil(8)) {
        (b"ulaw" | b"ULAW", _) => Coding::Ulaw,
        (b"alaw" | b"ALAW", _) => Coding::Alaw,
        (b"fl32" | b"FL32", _) => Coding::Float { bytes: 4 },
        (b"fl64" | b"FL64", _) => Coding::Float { bytes: 8 },
        (b"raw ", 1) => Coding::Int { bytes: 1 },
        (_, 1) => Coding::SignedByte,
        (b"\0\0\0\0" | b"NONE" | b"twos" | b"sowt" | b"in24" | b"in32", bytes @ 2..=4) => {
            Coding::Int {
                bytes: usize::from(bytes),
            }
        }
        (name, _) => {
            let name = String::from_utf8_lossy(name);
            let why = format!("{bits}-bit AIFF coding \"{name}\" is not supported");
            return Err(AudioError::undecodable(why));
        }
    };
    Ok(WavFormat {
        coding,
        channels,
        rate_hz: (f64::from(mantissa) * f64::from(exponent).exp2()) as u32,
        is_big_endian: &chunk[18..22] != b"sowt",
    })
}

/// The 24 bytes before the samples of an AU file, and where they begin.
pub(super) fn read_au(source: &mut impl Read) -> Result<(WavFormat, u64), AudioError> {
    let mut head = [0; 24];
    read_or(source, &mut head, "the AU header is cut off")?;
    let (fields, _) = head.as_chunks::<4>();
    let [_, data_start, _, coding, rate_hz, channels] =
        [0, 1, 2, 3, 4, 5].map(|i| u32::from_be_bytes(fields[i]));
    let coding = match coding {
        1 => Coding::Ulaw,
        27 => Coding::Alaw,
        2 => Coding::SignedByte,
        3 => Coding::Int { bytes: 2 },
        4 => Coding::Int { bytes: 3 },
        5 => Coding::Int { bytes: 4 },
        6 => Coding::Float { bytes: 4 },
        7 => Coding::Float { bytes: 8 },
        _ => {
            let why = format!("AU coding {coding} is not supported");
            return Err(AudioError::undecodable(why));
        }
    };
    let format = WavFormat {
        coding,
        channels: u16::try_from(channels).unwrap_or(u16::MAX),
        rate_hz,
        is_big_endian: true,
    };
    Ok((format, u64::from(data_start).max(head.len() as u64)))
}

fn real_size(size: u64, size_64: Option<u64>) -> Option<u64> {
    match (size, size_64) {
        (0xffff_ffff, Some(size_64)) if size_64 != 0 && size_64 != u64::MAX => Some(size_64),
        // Streaming writers leave 0, -1 or the largest positive number where they cannot seek back.
        (0 | 0x7fff_ffff.., _) => None,
        (size, _) => Some(size),
    }
}

fn read_format(
    source: &mut impl Read,
    size: u64,
    is_big_endian: bool,
) -> Result<WavFormat, AudioError> {
    let mut bytes = Vec::new();
    source
        .take(size.min(FORMAT_BYTES_MAX))
        .read_to_end(&mut bytes)?;
    if bytes.len() < 16 {
        return Err(AudioError::undecodable("the WAV format is cut off"));
    }
    if is_big_endian {
        for field in [0..2, 2..4, 4..8, 12..14, 14..16] {
            bytes[field].reverse();
        }
    }
    let mut tag = le_u16(&bytes[0..2]);
    let channels = le_u16(&bytes[2..4]);
    let rate_hz = le_u32(&bytes[4..8]);
    let block_bytes = usize::from(le_u16(&bytes[12..14]));
    let bits = le_u16(&bytes[14..16]);
    let extension = bytes.get(18..).unwrap_or_default();
    if tag == TAG_EXTENSIBLE {
        let sub_format = extension.get(6..8);
        tag =
            le_u16(sub_format.ok_or_else(|| AudioError::undecodable("the WAV format is cut off"))?);
    }
    if channels == 0 {
        return Err(AudioError::AbsurdFormat("no channels".into()));
    }
    let lanes = usize::from(channels);
    let coding = match tag {
        TAG_PCM => Coding::Int {
            bytes: sample_bytes(block_bytes, lanes, bits, 1..=4)?,
        },
        TAG_FLOAT => match sample_bytes(block_bytes, lanes, bits, 4..=8)? {
            bytes @ (4 | 8) => Coding::Float { bytes },
            _ => {
                return Err(AudioError::AbsurdFormat(format!(
                    "{bits}-bit float samples"
                )));
            }
        },
        TAG_ALAW => Coding::Alaw,
        TAG_ULAW => Coding::Ulaw,
        TAG_IMA_ADPCM => Coding::ImaAdpcm(ImaLayout::new(lanes, block_bytes, bits)?),
        TAG_MS_ADPCM => Coding::MsAdpcm(MsLayout::new(lanes, block_bytes, extension)?),
        TAG_GSM if channels == 1 && block_bytes == gsm::BLOCK_BYTES => {
            Coding::Gsm(Box::new(GsmDecoder::new()))
        }
        TAG_MPEG | TAG_MP3 => Coding::Mpeg,
        _ => {
            return Err(AudioError::undecodable(format!(
                "WAV coding {tag:#06x} is not supported"
            )));
        }
    };
    Ok(WavFormat {
        coding,
        channels,
        rate_hz,
        is_big_endian,
    })
}

/// The frame size tells the container of a sample (24 bits may stand in 4 bytes); where it lies, the bit depth decides.
fn sample_bytes(
    block_bytes: usize,
    lanes: usize,
    bits: u16,
    allowed: std::ops::RangeInclusive<usize>,
) -> Result<usize, AudioError> {
    let needed = usize::from(bits).div_ceil(8);
    let by_block = block_bytes / lanes;
    let bytes =
        if block_bytes.is_multiple_of(lanes) && by_block >= needed && allowed.contains(&by_block) {
            by_block
        } else {
            needed
        };
    if bits == 0 || !allowed.contains(&bytes) {
        return Err(AudioError::AbsurdFormat(format!("{bits}-bit samples")));
    }
    Ok(bytes)
}

fn read_or(source: &mut impl Read, bytes: &mut [u8], why: &str) -> Result<(), AudioError> {
    source.read_exact(bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => AudioError::undecodable(why),
        _ => AudioError::Io(e),
    })
}

/// The 64-bit data size of an RF64 file.
fn read_ds64(source: &mut impl Read) -> Result<u64, AudioError> {
    let mut bytes = [0; 16];
    read_or(source, &mut bytes, CUT_OFF)?;
    let [.., a, b, c, d, e, f, g, h] = bytes;
    Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

pub(super) fn le_u16(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

fn le_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
