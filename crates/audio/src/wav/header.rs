use std::io::{Read, Seek, SeekFrom};

use super::adpcm::{ImaLayout, MsLayout};
use crate::AudioError;
use crate::gsm::{self, GsmDecoder};

const FORMAT_BYTES_MAX: u64 = 1_024;
/// Real files have a dozen chunks; a file made of empty ones must not keep us busy.
const CHUNKS_MAX: usize = 1_000;

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
    Alaw,
    Ulaw,
    ImaAdpcm(ImaLayout),
    MsAdpcm(MsLayout),
    Gsm(Box<GsmDecoder>),
    /// MP3, or the Layer II of broadcasters.
    Mpeg,
}

#[derive(Debug)]
pub(crate) struct WavHeader {
    pub format: WavFormat,
    pub data_start: u64,
    /// `None`: up to the end of the file, as streamed headers mean it.
    pub data_bytes: Option<u64>,
    /// Frames by the fact chunk; only ADPCM needs it, to drop the padding of its last block.
    pub frames_declared: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct WavFormat {
    pub coding: Coding,
    pub channels: u16,
    pub rate_hz: u32,
}

impl WavHeader {
    pub(crate) fn read(
        source: &mut (impl Read + Seek),
        file_bytes: u64,
    ) -> Result<Self, AudioError> {
        let mut riff = [0; 12];
        read_or(source, &mut riff, "the WAV header is cut off")?;
        let riff_size = le_u32(&riff[4..8]);
        let mut position = 12u64;
        let mut format = None;
        let mut frames_declared = None;
        let mut data_bytes_64 = None;

        for _ in 0..CHUNKS_MAX {
            let mut head = [0; 8];
            source.seek(SeekFrom::Start(position))?;
            read_or(source, &mut head, "the WAV file has no sound in it")?;
            position += 8;
            let size = u64::from(le_u32(&head[4..8]));
            match &head[..4] {
                b"fmt " => format = Some(read_format(source, size)?),
                b"fact" if size >= 4 => frames_declared = Some(read_u32(source)?),
                b"ds64" if size >= 16 => data_bytes_64 = Some(read_ds64(source)?),
                b"data" => {
                    // A size of zero in a file whose other sizes are true: really empty.
                    if size == 0 && u64::from(riff_size) + 8 == file_bytes {
                        return Err(AudioError::Empty);
                    }
                    let unknown =
                        || AudioError::undecodable("the WAV file does not say its format");
                    let frames_declared = frames_declared.filter(|&n| n != 0 && n != u32::MAX);
                    return Ok(Self {
                        format: format.ok_or_else(unknown)?,
                        data_start: position,
                        data_bytes: real_size(size, data_bytes_64),
                        frames_declared: frames_declared.map(u64::from),
                    });
                }
                _ => {}
            }
            // Chunks start on even places.
            position += size + (size & 1);
        }
        Err(AudioError::undecodable("the WAV file has too many chunks"))
    }
}

fn real_size(size: u64, size_64: Option<u64>) -> Option<u64> {
    match (size, size_64) {
        (0xffff_ffff, Some(size_64)) if size_64 != 0 && size_64 != u64::MAX => Some(size_64),
        // Streaming writers leave 0, -1 or the largest positive number where they cannot seek back.
        (0 | 0x7fff_ffff.., _) => None,
        (size, _) => Some(size),
    }
}

fn read_format(source: &mut impl Read, size: u64) -> Result<WavFormat, AudioError> {
    let mut bytes = Vec::new();
    source
        .take(size.min(FORMAT_BYTES_MAX))
        .read_to_end(&mut bytes)?;
    if bytes.len() < 16 {
        return Err(AudioError::undecodable("the WAV format is cut off"));
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

fn read_u32(source: &mut impl Read) -> Result<u32, AudioError> {
    let mut bytes = [0; 4];
    read_or(source, &mut bytes, "the WAV header is cut off")?;
    Ok(u32::from_le_bytes(bytes))
}

/// The 64-bit data size of an RF64 file.
fn read_ds64(source: &mut impl Read) -> Result<u64, AudioError> {
    let mut bytes = [0; 16];
    read_or(source, &mut bytes, "the WAV header is cut off")?;
    let [.., a, b, c, d, e, f, g, h] = bytes;
    Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

pub(super) fn le_u16(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

fn le_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
