use std::io::{Read, Seek, SeekFrom};

use super::AudioSource;
use crate::AudioError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Wav,
    Ogg,
    Matroska,
    Mp4,
    Flac { start: u64 },
    Mp3 { start: u64 },
    Adts { start: u64 },
}

impl Container {
    /// False where only the shape of the frames gives it away.
    pub(super) fn has_signature(self) -> bool {
        !matches!(self, Self::Mp3 { start: 0 } | Self::Adts { start: 0 })
    }
}

/// Enough for a frame header after some padding.
const HEAD_BYTES: u64 = 16 * 1024;
const ID3_TAGS_MAX: usize = 8;

/// Looks at the first bytes; leaves the source at its beginning.
pub(super) fn container(source: &mut AudioSource) -> Result<Option<Container>, AudioError> {
    let mut start = 0;
    let mut head = read_head(source, start)?;
    if head.is_empty() {
        return Err(AudioError::Empty);
    }
    if let Some(found) = by_signature(&head) {
        source.rewind()?;
        return Ok(Some(found));
    }
    // Tags stand before MP3, AAC and sometimes FLAC streams.
    for _ in 0..ID3_TAGS_MAX {
        let Some(tag_bytes) = id3_bytes(&head) else {
            break;
        };
        start += tag_bytes;
        head = read_head(source, start)?;
    }
    source.rewind()?;
    if head.starts_with(b"fLaC") {
        return Ok(Some(Container::Flac { start }));
    }
    let zeros = head.iter().take_while(|&&byte| byte == 0).count();
    let (place, body) = (start + zeros as u64, &head[zeros..]);
    if is_adts(body) {
        return Ok(Some(Container::Adts { start: place }));
    }
    if let Some(offset) = mp3_offset(body, start > 0) {
        return Ok(Some(Container::Mp3 {
            start: place + offset as u64,
        }));
    }
    Ok(None)
}

fn read_head(source: &mut AudioSource, start: u64) -> Result<Vec<u8>, AudioError> {
    let mut head = Vec::new();
    source.seek(SeekFrom::Start(start))?;
    source.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

fn by_signature(head: &[u8]) -> Option<Container> {
    let magic = head.get(..4)?;
    let kind = head.get(4..8).unwrap_or_default();
    match magic {
        b"RIFF" | b"RF64" | b"BW64" if head.get(8..12) == Some(b"WAVE") => Some(Container::Wav),
        b"OggS" => Some(Container::Ogg),
        b"fLaC" => Some(Container::Flac { start: 0 }),
        [0x1a, 0x45, 0xdf, 0xa3] => Some(Container::Matroska),
        _ if matches!(kind, b"ftyp" | b"moov" | b"moof" | b"styp") => Some(Container::Mp4),
        // QuickTime files may begin with padding or with the media itself.
        _ if matches!(kind, b"mdat" | b"free" | b"skip" | b"wide") && magic[0] == 0 => {
            Some(Container::Mp4)
        }
        _ => None,
    }
}

fn id3_bytes(head: &[u8]) -> Option<u64> {
    let tag = head.get(..10).filter(|tag| tag.starts_with(b"ID3"))?;
    let size = tag[6..10]
        .iter()
        .fold(0u64, |size, &byte| size << 7 | u64::from(byte & 0x7f));
    let footer = if tag[5] & 0x10 != 0 { 10 } else { 0 };
    Some(10 + size + footer)
}

fn is_adts(head: &[u8]) -> bool {
    let frame_bytes = |bytes: &[u8]| -> Option<usize> {
        let head = bytes.get(..7)?;
        // Layer 0 tells AAC from MP3.
        let sync = head[0] == 0xff && head[1] & 0xf6 == 0xf0 && (head[2] >> 2) & 0x0f < 13;
        let size =
            usize::from(head[3] & 3) << 11 | usize::from(head[4]) << 3 | usize::from(head[5] >> 5);
        (sync && size >= 7).then_some(size)
    };
    frame_bytes(head).is_some_and(|size| {
        let next = head.get(size..).unwrap_or_default();
        next.len() < 7 || frame_bytes(next).is_some()
    })
}

/// Where a run of MPEG Layer III frames begins. After a tag some junk is common; without one the file must start at once.
fn mp3_offset(head: &[u8], search: bool) -> Option<usize> {
    let places = if search {
        head.len()
    } else {
        head.len().min(1)
    };
    (0..places).find(|&place| {
        let body = &head[place..];
        mp3_frame_bytes(body).is_some_and(|size| {
            let next = body.get(size..).unwrap_or_default();
            // A lone frame counts only where the file ends with it.
            mp3_frame_bytes(next).is_some() || (next.len() < 4 && place == 0)
        })
    })
}

fn mp3_frame_bytes(head: &[u8]) -> Option<usize> {
    const KBPS_1: [usize; 14] = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
    ];
    const KBPS_2: [usize; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let head = head.get(..4)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    if head[0] != 0xff || head[1] & 0xe0 != 0xe0 || version == 1 || layer != 1 {
        return None;
    }
    let rate_index = usize::from(head[2] >> 2 & 3);
    let divisor = [4, 1, 2, 1][usize::from(version)];
    let rate_hz = [44_100, 48_000, 32_000].get(rate_index)? / divisor;
    let bitrate_index = usize::from(head[2] >> 4).checked_sub(1)?;
    let (table, factor) = if version == 3 {
        (KBPS_1, 144_000)
    } else {
        (KBPS_2, 72_000)
    };
    let padding = usize::from(head[2] >> 1 & 1);
    Some(factor * table.get(bitrate_index)? / rate_hz + padding)
}
