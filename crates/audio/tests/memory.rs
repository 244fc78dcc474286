//! Memory stays with the seconds decoded, whatever a file claims or unpacks to. One test, because the counter is global.
#![expect(
    unsafe_code,
    reason = "counting allocations needs the allocator interface"
)]

#[expect(dead_code, reason = "this program uses a part of it")]
#[path = "audio_suite/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::mutate::Noise;
use common::voice;
use sauti_audio::{AudioError, DecodeLimits, OutputFormat, Recording, decode_bytes, encode};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const MIB: usize = 1 << 20;

/// The answer, and the bytes that decoding needed on top of the input.
fn measured(bytes: Vec<u8>, seconds_max: f64) -> (Result<Recording, AudioError>, usize) {
    measured_in(None, bytes, seconds_max)
}

fn measured_in(
    spool_dir: Option<PathBuf>,
    bytes: Vec<u8>,
    seconds_max: f64,
) -> (Result<Recording, AudioError>, usize) {
    let limits = DecodeLimits {
        seconds_max,
        spool_dir,
        ..DecodeLimits::default()
    };
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = decode_bytes(bytes, None, &limits, &|| false);
    (answer, PEAK.load(Relaxed).saturating_sub(before))
}

/// Ogg Opus whose packets are two bytes and 120 ms each: an hour of nothing in 65 kB.
fn opus_bomb(packets: usize) -> Vec<u8> {
    use ogg::writing::{PacketWriteEndInfo as End, PacketWriter};
    let mut writer = PacketWriter::new(Vec::new());
    let head = b"OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0".to_vec();
    writer
        .write_packet(head, 1, End::EndPage, 0)
        .expect("memory");
    writer
        .write_packet(b"OpusTags\0\0\0\0\0\0\0\0".to_vec(), 1, End::EndPage, 0)
        .expect("memory");
    for n in 1..=packets as u64 {
        let end = if n == packets as u64 {
            End::EndStream
        } else {
            End::NormalPacket
        };
        // Full-band CELT, 2.5 ms, 48 frames of no bytes.
        writer
            .write_packet(vec![0xe3, 48], 1, end, n * 5_760)
            .expect("memory");
    }
    writer.into_inner()
}

#[test]
fn memory_follows_the_decoded_seconds_only() {
    // Readers that trip over a damaged file are caught; a backtrace would take memory of its own.
    std::panic::set_hook(Box::new(|info| eprintln!("{info}")));
    // Bombs: small files that unpack to hours.
    let bomb = opus_bomb(60_000);
    assert!(bomb.len() < 300_000);
    let (answer, used) = measured(bomb.clone(), 60.0);
    assert!(
        matches!(answer, Err(AudioError::TooLong { .. })),
        "{answer:?}"
    );
    assert!(used < 8 * MIB, "{used} bytes for a refused bomb");
    let dir = tempfile::tempdir().expect("a folder");
    let (answer, used) = measured_in(Some(dir.path().into()), bomb.clone(), 7_200.5);
    let recording = answer.expect("two hours of silence are allowed");
    assert!(recording.seconds > 7_190.0);
    assert!(used < 16 * MIB, "{used} bytes where samples go to a file");
    let (answer, used) = measured(bomb, 7_200.5);
    let seconds = answer.expect("two hours of silence are allowed").seconds;
    assert!((7_190.0..=7_200.5).contains(&seconds), "{seconds}");
    // A growing vector may hold half as much again as it needs.
    assert!(
        used < seconds as usize * 16_000 * 2 * 3 + 8 * MIB,
        "{used} bytes for {seconds} s"
    );

    // A table of packets, each of one byte and 32 in memory.
    let mut table = b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20\x40\xe7\x70\0\0\0\0\0opus".to_vec();
    for field in [0, 0, 960, 1, 0] {
        table.extend(u32::to_be_bytes(field));
    }
    table.extend(b"pakt\0\0\0\0\0\0\0\x18\0\0\0\0\0\x80\0\0");
    table.resize(9 << 20, 0);
    let (answer, used) = measured(table, 60.0);
    assert!(answer.is_err(), "{answer:?}");
    assert!(used < 64 * MIB, "{used} bytes for a table of packets");

    let silence =
        encode(&vec![0.0; 24_000 * 120], 24_000, OutputFormat::Flac24000).expect("encodes");
    let (answer, used) = measured(silence, 60.0);
    assert!(
        matches!(answer, Err(AudioError::TooLong { .. })),
        "{answer:?}"
    );
    assert!(used < 8 * MIB, "{used} bytes for refused silence");

    // Damaged headers that claim large things.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut files: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| std::fs::read(entry.expect("readable").path()).expect("readable"))
        .collect();
    let speech = voice(24_000, 0.6);
    for format in [
        OutputFormat::Flac24000,
        OutputFormat::Mp344100,
        OutputFormat::Opus48000,
        OutputFormat::Wav8000,
    ] {
        files.push(encode(&speech, 24_000, format).expect("encodes"));
    }
    let mut noise = Noise(0xfeed_beef_1234_5678);
    for file in &files {
        for _ in 0..100 {
            let mut bytes = file.clone();
            for _ in 0..4 {
                let place = noise.below(bytes.len().min(700));
                let end = (place + 1 + noise.below(8)).min(bytes.len());
                bytes[place..end].fill([0x00, 0x7f, 0xff][noise.below(3)]);
            }
            let (_, used) = measured(bytes, 20.0);
            assert!(
                used < 24 * MIB,
                "{used} bytes for a damaged file of {} bytes",
                file.len()
            );
        }
    }
}
