use std::io::{Read, Seek, SeekFrom};

use super::AudioSource;
use crate::AudioError;
use crate::gsm;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Wav,
    Au,
    Aiff,
    Caf,
    Ogg,
    Matroska,
    Mp4,
    Flac,
    /// Or Layer II, as broadcasters keep it.
    Mp3,
    Adts,
    Gsm,
}

/// What a file is, and where it begins behind tags and junk.
pub(super) struct Found {
    pub container: Container,
    pub start: u64,
}

impl Found {
    /// False where only the shape of the frames gives it away.
    pub(super) fn has_signature(&self) -> bool {
        match self.container {
            Container::Mp3 | Container::Adts => self.start > 0,
            Container::Gsm => false,
            _ => true,
        }
    }
}

/// Enough for a frame header after some padding.
const HEAD_BYTES: u64 = 16 * 1024;
const TAGS_MAX: usize = 8;
/// What programs that take sound for text put before it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// So many frames of one kind in a row are no chance, wherever they begin.
const FRAMES_IN_A_ROW: usize = 4;

/// Looks at the first bytes; leaves the source at its beginning. `is_declared`: it may be raw sound.
pub(super) fn container(
    source: &mut AudioSource,
    is_declared: bool,
) -> Result<Option<Found>, AudioError> {
    let mut start = 0;
    let mut head = read_head(source, start)?;
    if head.is_empty() {
        return Err(AudioError::Empty);
    }
    // Tags stand before MP3, AAC and sometimes other streams.
    for _ in 0..TAGS_MAX {
        let Some(tag_bytes) = tag_bytes(&head) else {
            break;
        };
        start += tag_bytes;
        head = read_head(source, start)?;
    }
    source.rewind()?;
    let found = |container, start| Ok(Some(Found { container, start }));
    if let Some(container) = by_signature(&head) {
        return found(container, start);
    }
    let zeros = head.iter().take_while(|&&byte| byte == 0).count();
    let (place, body) = (start + zeros as u64, &head[zeros..]);
    if is_adts(body) {
        return found(Container::Adts, place);
    }
    if let Some(offset) = mp3_offset(body, start > 0) {
        return found(Container::Mp3, place + offset as u64);
    }
    if gsm::is_frames(&head) {
        return found(Container::Gsm, 0);
    }
    match is_declared {
        true => Ok(None),
        false => Ok(within_stream(&head, start)),
    }
}

/// A broadcast that somebody began to record begins in the middle of a frame.
fn within_stream(head: &[u8], start: u64) -> Option<Found> {
    let in_a_row = |place: usize, frame: fn(&[u8]) -> Option<Frame>| {
        let (mut place, mut kind) = (place, None);
        (0..FRAMES_IN_A_ROW).all(|_| {
            let next = head.get(place..).and_then(frame);
            let next = next.filter(|next| kind.is_none_or(|kind| kind == next.kind));
            next.inspect(|next| (place, kind) = (place + next.bytes, Some(next.kind)))
                .is_some()
        })
    };
    let places = (0..head.len()).filter(|&place| head[place] == 0xff);
    let found = places.filter_map(|place| {
        let container = match (in_a_row(place, mp3_frame), in_a_row(place, adts_frame)) {
            (true, _) => Container::Mp3,
            (_, true) => Container::Adts,
            _ => return None,
        };
        let start = start + place as u64;
        Some(Found { container, start })
    });
    found.into_iter().next()
}

fn read_head(source: &mut AudioSource, start: u64) -> Result<Vec<u8>, AudioError> {
    let mut head = Vec::new();
    source.seek(SeekFrom::Start(start))?;
    source.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// The name of the container that these bytes begin, where it is one that nobody takes for samples.
pub fn container_name(head: &[u8]) -> Option<&'static str> {
    let name = match by_signature(head) {
        Some(Container::Au) => "AU",
        Some(Container::Aiff) => "AIFF",
        Some(Container::Caf) => "CAF",
        Some(Container::Ogg) => "Ogg",
        Some(Container::Matroska) => "WebM",
        Some(Container::Mp4) => "MP4",
        Some(Container::Flac) => "FLAC",
        _ if head.starts_with(b"ID3") => "MP3",
        _ => return None,
    };
    Some(name)
}

fn by_signature(head: &[u8]) -> Option<Container> {
    let magic = head.get(..4)?;
    let kind = head.get(4..8).unwrap_or_default();
    match magic {
        b"RIFF" | b"RIFX" | b"RF64" | b"BW64" if head.get(8..12) == Some(b"WAVE") => {
            Some(Container::Wav)
        }
        b"FORM" if matches!(head.get(8..12), Some(b"AIFF" | b"AIFC")) => Some(Container::Aiff),
        b".snd" => Some(Container::Au),
        b"caff" => Some(Container::Caf),
        b"OggS" => Some(Container::Ogg),
        b"fLaC" => Some(Container::Flac),
        [0x1a, 0x45, 0xdf, 0xa3] => Some(Container::Matroska),
        _ if matches!(kind, b"ftyp" | b"moov" | b"moof" | b"styp") => Some(Container::Mp4),
        // QuickTime files may begin with padding or with the media itself.
        _ if matches!(kind, b"mdat" | b"free" | b"skip" | b"wide") && magic[0] == 0 => {
            Some(Container::Mp4)
        }
        _ => None,
    }
}

fn tag_bytes(head: &[u8]) -> Option<u64> {
    if head.starts_with(BYTE_ORDER_MARK) {
        return Some(BYTE_ORDER_MARK.len() as u64);
    }
    let tag = head.get(..10).filter(|tag| tag.starts_with(b"ID3"))?;
    let size = tag[6..10]
        .iter()
        .fold(0u64, |size, &byte| size << 7 | u64::from(byte & 0x7f));
    let footer = if tag[5] & 0x10 != 0 { 10 } else { 0 };
    Some(10 + size + footer)
}

/// What a frame's header says: how long it is, and what no frame of the same stream says otherwise.
struct Frame {
    bytes: usize,
    kind: [u8; 2],
}

fn adts_frame(bytes: &[u8]) -> Option<Frame> {
    let head = bytes.get(..7)?;
    // Layer 0 tells AAC from MP3.
    let sync = head[0] == 0xff && head[1] & 0xf6 == 0xf0 && (head[2] >> 2) & 0x0f < 13;
    let size =
        usize::from(head[3] & 3) << 11 | usize::from(head[4]) << 3 | usize::from(head[5] >> 5);
    (sync && size >= 7).then_some(Frame {
        bytes: size,
        kind: [head[1], head[2]],
    })
}

fn is_adts(head: &[u8]) -> bool {
    adts_frame(head).is_some_and(|frame| {
        let next = head.get(frame.bytes..).unwrap_or_default();
        next.len() < 7 || adts_frame(next).is_some()
    })
}

/// Where a run of MPEG frames begins. After a tag some junk is common; without one the file must start at once.
fn mp3_offset(head: &[u8], search: bool) -> Option<usize> {
    let places = if search {
        head.len()
    } else {
        head.len().min(1)
    };
    (0..places).find(|&place| {
        let body = &head[place..];
        mp3_frame(body).is_some_and(|frame| {
            let next = body.get(frame.bytes..).unwrap_or_default();
            // A lone frame counts only where the file ends with it.
            mp3_frame(next).is_some() || (next.len() < 4 && place == 0)
        })
    })
}

/// Of Layer III or II.
fn mp3_frame(head: &[u8]) -> Option<Frame> {
    const KBPS_1_III: [usize; 14] = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
    ];
    const KBPS_1_II: [usize; 14] = [
        32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384,
    ];
    const KBPS_2: [usize; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    const III: u8 = 1;
    const II: u8 = 2;
    let head = head.get(..4)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    if head[0] != 0xff || head[1] & 0xe0 != 0xe0 || version == 1 {
        return None;
    }
    let (table, factor) = match (version, layer) {
        (3, III) => (KBPS_1_III, 144_000),
        (3, II) => (KBPS_1_II, 144_000),
        (_, III) => (KBPS_2, 72_000),
        (_, II) => (KBPS_2, 144_000),
        _ => return None,
    };
    let rate_index = head[2] >> 2 & 3;
    let divisor = [4, 1, 2, 1][usize::from(version)];
    let rate_hz = [44_100, 48_000, 32_000].get(usize::from(rate_index))? / divisor;
    let bitrate_index = usize::from(head[2] >> 4).checked_sub(1)?;
    let padding = usize::from(head[2] >> 1 & 1);
    Some(Frame {
        bytes: factor * table.get(bitrate_index)? / rate_hz + padding,
        kind: [head[1], rate_index],
    })
}
