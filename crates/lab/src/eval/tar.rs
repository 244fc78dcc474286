//! Members of a tar archive by name, read where they lie. Only what test sets need: plain files,
//! names of the old and the ustar kind, long names of GNU tar and of pax.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};

const BLOCK: u64 = 512;
/// A name or a member longer than this is not a recording of a test set.
const NAME_BYTES_MAX: u64 = 64 * 1024;
const MEMBER_BYTES_MAX: u64 = 1 << 30;

#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    members: HashMap<String, TarMember>,
}

#[derive(Debug, Clone, Copy)]
struct TarMember {
    offset: u64,
    bytes: u64,
}

impl Archive {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path)?;
        let members = index(&file).with_context(|| format!("{} is damaged", path.display()))?;
        Ok(Self { file, members })
    }

    /// `None` where the archive has no such member.
    pub(super) fn read(&self, name: &str) -> Option<io::Result<Vec<u8>>> {
        let member = self.members.get(name)?;
        let mut bytes = vec![0; member.bytes as usize];
        Some(
            self.file
                .read_exact_at(&mut bytes, member.offset)
                .map(|()| bytes),
        )
    }
}

fn index(file: &File) -> anyhow::Result<HashMap<String, TarMember>> {
    let length = file.metadata()?.len();
    let mut members = HashMap::new();
    let mut long_name = None;
    let mut at = 0;
    while at + BLOCK <= length {
        let mut header = [0; BLOCK as usize];
        file.read_exact_at(&mut header, at)?;
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let bytes = octal(&header[124..136])?;
        let offset = at + BLOCK;
        ensure!(
            bytes <= MEMBER_BYTES_MAX && offset + bytes <= length,
            "a member reaches past the end"
        );
        match header[156] {
            b'L' | b'x' => {
                long_name = read_long_name(file, offset, bytes, header[156])?.or(long_name)
            }
            b'0' | 0 => {
                let name = long_name.take().unwrap_or_else(|| short_name(&header));
                let name = name.trim_start_matches("./").to_owned();
                members.insert(name, TarMember { offset, bytes });
            }
            _ => long_name = None,
        }
        at = offset + bytes.div_ceil(BLOCK) * BLOCK;
    }
    Ok(members)
}

fn short_name(header: &[u8; BLOCK as usize]) -> String {
    let text = |field: &[u8]| {
        let end = field
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    let is_ustar = &header[257..262] == b"ustar" && header[263] == b'0';
    if is_ustar && !prefix.is_empty() {
        format!("{prefix}/{name}")
    } else {
        name
    }
}

fn read_long_name(
    file: &File,
    offset: u64,
    bytes: u64,
    kind: u8,
) -> anyhow::Result<Option<String>> {
    ensure!(bytes <= NAME_BYTES_MAX, "a name is too long");
    let mut content = vec![0; bytes as usize];
    file.read_exact_at(&mut content, offset)?;
    let text = String::from_utf8_lossy(&content);
    if kind == b'L' {
        return Ok(Some(text.trim_end_matches('\0').to_owned()));
    }
    // A pax record is "LENGTH path=VALUE" and a line end.
    let path = text
        .lines()
        .find_map(|line| line.split_once(" path=").map(|(_, path)| path));
    Ok(path.map(str::to_owned))
}

fn octal(field: &[u8]) -> anyhow::Result<u64> {
    let text = String::from_utf8_lossy(field);
    let digits = text.trim_matches(|c: char| c == '\0' || c == ' ');
    match u64::from_str_radix(digits, 8) {
        Ok(number) => Ok(number),
        Err(_) => bail!("it is not a tar archive"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, bytes: usize, kind: u8) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{bytes:011o}").as_bytes());
        block[156] = kind;
        block
    }

    fn member(name: &str, content: &[u8], kind: u8) -> Vec<u8> {
        let mut blocks = header(name, content.len(), kind);
        blocks.extend_from_slice(content);
        blocks.resize(blocks.len().div_ceil(512) * 512, 0);
        blocks
    }

    fn archive(bytes: &[u8]) -> anyhow::Result<Archive> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Archive::open(file.path())
    }

    #[test]
    fn members_are_found_by_name_also_by_long_ones() {
        let long = "x/".repeat(80) + "sauti.wav";
        let mut bytes = member("./a/one.wav", b"moja", b'0');
        bytes.extend(member("a", b"", b'5'));
        bytes.extend(member("././@LongLink", long.as_bytes(), b'L'));
        bytes.extend(member("cut", b"mbili", b'0'));
        bytes.extend([0; 1024]);
        let archive = archive(&bytes).unwrap();
        assert_eq!(archive.read("a/one.wav").unwrap().unwrap(), b"moja");
        assert_eq!(archive.read(&long).unwrap().unwrap(), b"mbili");
        assert!(archive.read("a").is_none());
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        assert!(archive(&header("big", 7_000, b'0')).is_err());
        assert!(archive(&[b'?'; 2048]).is_err());
    }
}
