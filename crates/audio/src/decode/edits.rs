//! The edit list of an MP4 file: which part of the decoded sound is meant to be heard. AAC encoders prepend up to 130 ms of
//! their own start-up, which would shift every time in a transcript.

use std::io::{Read, Result, Seek, SeekFrom};

/// No encoder needs longer to start; an edit that begins later is a real cut, and trimming it would be work without a limit.
const START_S_MAX: f64 = 1.0;
/// Files have some dozens of boxes in the places looked at.
const BOXES_MAX: u32 = 2_000;

/// The part of the first sound track to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edit {
    pub start_s: f64,
    /// `None`: up to the end.
    pub seconds: Option<f64>,
}

#[derive(Clone, Copy)]
struct BoxPart {
    kind: [u8; 4],
    start: u64,
    end: u64,
}

/// Finds the edit of the first sound track; `None` where there is none or the boxes make no sense.
pub(super) fn find(source: &mut (impl Read + Seek), file_bytes: u64) -> Result<Option<Edit>> {
    let mut walk = Walk {
        source,
        boxes_left: BOXES_MAX,
    };
    let file = BoxPart {
        kind: *b"file",
        start: 0,
        end: file_bytes,
    };
    let found = walk.edit(file);
    walk.source.seek(SeekFrom::Start(0))?;
    Ok(found)
}

struct Walk<'a, S> {
    source: &'a mut S,
    boxes_left: u32,
}

impl<S: Read + Seek> Walk<'_, S> {
    fn edit(&mut self, file: BoxPart) -> Option<Edit> {
        let movie = self.child(file, b"moov")?;
        let movie_head = self.child(movie, b"mvhd")?;
        let movie_scale = self.time_scale(movie_head)?;
        let mut place = movie.start;
        while let Some(track) = self.next(&mut place, movie.end) {
            if track.kind == *b"trak" && self.is_sound(track) == Some(true) {
                return self.track_edit(track, movie_scale);
            }
        }
        None
    }

    fn is_sound(&mut self, track: BoxPart) -> Option<bool> {
        let media = self.child(track, b"mdia")?;
        let handler = self.child(media, b"hdlr")?;
        Some(self.read::<4>(handler, 8)? == *b"soun")
    }

    fn track_edit(&mut self, track: BoxPart, movie_scale: f64) -> Option<Edit> {
        let media = self.child(track, b"mdia")?;
        let media_head = self.child(media, b"mdhd")?;
        let media_scale = self.time_scale(media_head)?;
        let edits = self.child(track, b"edts")?;
        let list = self.child(edits, b"elst")?;
        let [version, _, _, _] = self.read(list, 0)?;
        let count = u32::from_be_bytes(self.read(list, 4)?);
        // One entry is the encoder's start-up; a longer list is a real cut, which callers expect to hear whole.
        if count != 1 {
            return None;
        }
        let (duration, start) = if version == 1 {
            (
                u64::from_be_bytes(self.read(list, 8)?),
                i64::from_be_bytes(self.read(list, 16)?),
            )
        } else {
            let duration = u32::from_be_bytes(self.read(list, 8)?);
            (
                u64::from(duration),
                i64::from(i32::from_be_bytes(self.read(list, 12)?)),
            )
        };
        // Fragmented files do not know their duration and write zero.
        let seconds = (duration > 0).then(|| duration as f64 / movie_scale);
        let start_s = start as f64 / media_scale;
        (0.0..=START_S_MAX)
            .contains(&start_s)
            .then_some(Edit { start_s, seconds })
    }

    /// Ticks a second, from a movie or media header.
    fn time_scale(&mut self, header: BoxPart) -> Option<f64> {
        let [version, _, _, _] = self.read(header, 0)?;
        let scale = u32::from_be_bytes(self.read(header, if version == 1 { 20 } else { 12 })?);
        (scale > 0).then_some(f64::from(scale))
    }

    fn child(&mut self, parent: BoxPart, kind: &[u8; 4]) -> Option<BoxPart> {
        let mut place = parent.start;
        while let Some(part) = self.next(&mut place, parent.end) {
            if part.kind == *kind {
                return Some(part);
            }
        }
        None
    }

    /// The box at `place`, which moves behind it.
    fn next(&mut self, place: &mut u64, end: u64) -> Option<BoxPart> {
        self.boxes_left = self.boxes_left.checked_sub(1)?;
        let all = BoxPart {
            kind: *b"file",
            start: *place,
            end,
        };
        let size = u64::from(u32::from_be_bytes(self.read(all, 0)?));
        let kind = self.read(all, 4)?;
        let (head, size) = match size {
            0 => (8, end - *place),
            1 => (16, u64::from_be_bytes(self.read(all, 8)?)),
            size => (8, size),
        };
        let stop = place.checked_add(size).filter(|_| size >= head)?.min(end);
        let part = BoxPart {
            kind,
            start: *place + head,
            end: stop,
        };
        *place = stop;
        Some(part)
    }

    fn read<const N: usize>(&mut self, part: BoxPart, offset: u64) -> Option<[u8; N]> {
        let place = part.start.checked_add(offset)?;
        if place.checked_add(N as u64)? > part.end {
            return None;
        }
        let mut bytes = [0; N];
        self.source.seek(SeekFrom::Start(place)).ok()?;
        self.source.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn part(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let mut bytes = (body.len() as u32 + 8).to_be_bytes().to_vec();
        bytes.extend(kind);
        bytes.extend(body);
        bytes
    }

    fn header(kind: &[u8; 4], scale: u32) -> Vec<u8> {
        let mut body = vec![0; 12];
        body.extend(scale.to_be_bytes());
        body.extend([0; 8]);
        part(kind, &body)
    }

    fn track(handler: &[u8; 4], duration: u32, start: i32) -> Vec<u8> {
        let mut list = vec![0, 0, 0, 0, 0, 0, 0, 1];
        list.extend(duration.to_be_bytes());
        list.extend(start.to_be_bytes());
        list.extend([0, 1, 0, 0]);
        let kind = [&[0; 8][..], handler, &[0; 12]].concat();
        let media = part(
            b"mdia",
            &[header(b"mdhd", 16_000), part(b"hdlr", &kind)].concat(),
        );
        part(
            b"trak",
            &[part(b"edts", &part(b"elst", &list)), media].concat(),
        )
    }

    fn found(bytes: Vec<u8>) -> Option<Edit> {
        let length = bytes.len() as u64;
        find(&mut Cursor::new(bytes), length).expect("memory can be read")
    }

    #[test]
    fn the_edit_of_the_sound_track_is_found_behind_a_video_track() {
        let tracks = [track(b"vide", 9, 9), track(b"soun", 3_100, 1_024)].concat();
        let movie = part(b"moov", &[header(b"mvhd", 1_000), tracks].concat());
        let file = [part(b"ftyp", b"M4A "), part(b"mdat", &[7; 99]), movie].concat();
        assert_eq!(
            found(file),
            Some(Edit {
                start_s: 0.064,
                seconds: Some(3.1)
            })
        );
    }

    #[test]
    fn damaged_boxes_give_no_edit() {
        let movie = part(
            b"moov",
            &[header(b"mvhd", 1_000), track(b"soun", 1, 1)].concat(),
        );
        for end in 0..movie.len() {
            assert_eq!(found(movie[..end].to_vec()).filter(|_| end < 100), None);
        }
        assert_eq!(found(vec![0; 4_000]), None);
        assert_eq!(
            found(part(
                b"moov",
                &[header(b"mvhd", 0), track(b"soun", 1, 1)].concat()
            )),
            None
        );
        assert_eq!(
            found(part(
                b"moov",
                &[header(b"mvhd", 9), track(b"soun", 1, -1)].concat()
            )),
            None
        );
    }
}
