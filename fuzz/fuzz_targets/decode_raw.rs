#![no_main]
use libfuzzer_sys::fuzz_target;
use sauti_audio::RawFormat;

// The first byte chooses what the sender declares.
fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let declared = match choice % 5 {
        0 => RawFormat::Ulaw8000,
        1 => RawFormat::Alaw8000,
        2 => RawFormat::Pcm16Le { rate_hz: 8_000 },
        3 => RawFormat::Pcm16Le { rate_hz: 48_000 },
        _ => RawFormat::Pcm16Le { rate_hz: u32::from(*choice) * 997 },
    };
    sauti_fuzz::decode_as(rest, Some(declared));
});
