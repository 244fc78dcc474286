//! Cross-checks with readers and writers that are not ours: ffmpeg, sox and Python's wave module.
//!
//! Without the tools the tests say so and pass; with SAUTI_REQUIRE_TOOLS=1 a missing tool is a failure.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{correlation, floats, voice};
use sauti_audio::{
    DecodeLimits, OutputFormat, RawFormat, Recording, StreamEncoder, decode_file, encode, resample,
};

const SECONDS: f64 = 3.1;
const VOICE_RATE_HZ: u32 = 24_000;
const TOLERANCE_S: f64 = 0.050;

fn tools_present(tools: &[&str]) -> bool {
    let missing: Vec<&&str> = tools
        .iter()
        .filter(|tool| Command::new(tool).arg("--help").output().is_err())
        .collect();
    if missing.is_empty() {
        return true;
    }
    let required = std::env::var("SAUTI_REQUIRE_TOOLS").is_ok_and(|value| value == "1");
    assert!(
        !required,
        "SAUTI_REQUIRE_TOOLS=1, but these tools are not on the PATH: {missing:?}"
    );
    eprintln!("notice: not checked, these tools are not on the PATH: {missing:?}");
    false
}

/// The sound that goes through every tool, and a folder for its files.
struct Studio {
    folder: tempfile::TempDir,
    speech: Vec<f32>,
}

impl Studio {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            speech: voice(VOICE_RATE_HZ, SECONDS),
        }
    }

    /// The sound as it should come out at this rate.
    fn at(&self, rate_hz: u32) -> Vec<f32> {
        resample(&self.speech, VOICE_RATE_HZ, rate_hz)
    }

    fn encoded(&self, format: OutputFormat) -> Vec<u8> {
        encode(&self.speech, VOICE_RATE_HZ, format).expect("encodes")
    }

    fn keep(&self, format: OutputFormat, bytes: &[u8]) -> PathBuf {
        let name = format!("{format}.{}", format.file_extension());
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }

    /// The sound as a WAV file for a tool to read.
    fn source(&self) -> PathBuf {
        self.keep(
            OutputFormat::Wav24000,
            &self.encoded(OutputFormat::Wav24000),
        )
    }
}

fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("the tool starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?} failed: {complaint}"
    );
    output
}

fn samples_of(bytes: &[u8]) -> Vec<f32> {
    let format = RawFormat::Pcm16Le { rate_hz: 16_000 };
    floats(&format.samples(bytes).into())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are plain text")
}

/// Arguments that name a headerless format to ffmpeg and to sox.
fn raw_arguments(format: OutputFormat) -> Option<([&'static str; 2], [&'static str; 2])> {
    match format {
        OutputFormat::RawUlaw8000 => Some((["-f", "mulaw"], ["-t", "ul"])),
        OutputFormat::RawAlaw8000 => Some((["-f", "alaw"], ["-t", "al"])),
        OutputFormat::Pcm24000 | OutputFormat::RawPcm16000 | OutputFormat::RawPcm8000 => {
            Some((["-f", "s16le"], ["-t", "s16"]))
        }
        _ => None,
    }
}

fn read_with_ffmpeg(path: &Path, format: OutputFormat) -> Vec<f32> {
    let rate = format.sample_rate_hz().to_string();
    let mut arguments = vec!["-v", "error"];
    if let Some((kind, _)) = raw_arguments(format) {
        arguments.extend(kind);
        arguments.extend(["-ar", &rate, "-ac", "1"]);
    }
    arguments.extend([
        "-i",
        text(path),
        "-f",
        "s16le",
        "-ac",
        "1",
        "-ar",
        &rate,
        "-",
    ]);
    let output = run("ffmpeg", &arguments);
    // ffmpeg calls the last packet of a WAV stream without a size corrupt; it is merely short.
    let complaints = String::from_utf8_lossy(&output.stderr).replace(
        &format!("{}: corrupt input packet in stream 0\n", text(path)),
        "",
    );
    assert!(complaints.is_empty(), "{format}: {complaints}");
    samples_of(&output.stdout)
}

fn read_with_sox(path: &Path, format: OutputFormat) -> Vec<f32> {
    let rate = format.sample_rate_hz().to_string();
    let mut arguments = vec!["-V1"];
    if let Some((_, kind)) = raw_arguments(format) {
        arguments.extend(kind);
        arguments.extend(["-r", &rate, "-c", "1"]);
    }
    arguments.extend([text(path), "-t", "s16", "-r", &rate, "-c", "1", "-"]);
    samples_of(&run("sox", &arguments).stdout)
}

fn assert_same_sound(what: &str, got: &[f32], rate_hz: u32, wanted: &[f32]) {
    let seconds = got.len() as f64 / f64::from(rate_hz);
    assert!(
        (seconds - SECONDS).abs() <= TOLERANCE_S,
        "{what}: {seconds:.3} s"
    );
    let (similar, lag) = correlation(got, wanted, rate_hz as usize * 3 / 100);
    assert!(similar > 0.97, "{what}: correlation {similar:.4} at {lag}");
}

#[test]
fn every_output_format_is_read_by_ffmpeg_and_sox() {
    if !tools_present(&["ffmpeg", "sox"]) {
        return;
    }
    let studio = Studio::new();
    for format in OutputFormat::ALL {
        let rate_hz = format.sample_rate_hz();
        let wanted = studio.at(rate_hz);
        let path = studio.keep(format, &studio.encoded(format));
        assert_same_sound(
            &format!("{format} by ffmpeg"),
            &read_with_ffmpeg(&path, format),
            rate_hz,
            &wanted,
        );
        // Sox as Debian builds it has no Opus, and MP3 only with a further package.
        if !matches!(format, OutputFormat::Opus48000 | OutputFormat::Mp344100) {
            assert_same_sound(
                &format!("{format} by sox"),
                &read_with_sox(&path, format),
                rate_hz,
                &wanted,
            );
        }
    }
}

#[test]
fn every_streamed_output_is_read_by_ffmpeg() {
    if !tools_present(&["ffmpeg"]) {
        return;
    }
    let studio = Studio::new();
    for format in OutputFormat::ALL {
        let rate_hz = format.sample_rate_hz();
        let mut encoder = StreamEncoder::new(format, VOICE_RATE_HZ).expect("encodes");
        let mut bytes = Vec::new();
        for clause in studio.speech.chunks(17_777) {
            let part = encoder.push(clause);
            assert!(!part.is_empty(), "{format} holds a whole clause back");
            bytes.extend(part);
        }
        bytes.extend(encoder.finish());
        let path = studio.keep(format, &bytes);
        assert_same_sound(
            &format!("streamed {format}"),
            &read_with_ffmpeg(&path, format),
            rate_hz,
            &studio.at(rate_hz),
        );
    }
}

#[test]
fn python_reads_the_wav_files_sample_for_sample() {
    if !tools_present(&["python3"]) {
        return;
    }
    const SCRIPT: &str = "import sys, wave\n\
        w = wave.open(sys.argv[1])\n\
        assert (w.getnchannels(), w.getsampwidth()) == (1, 2)\n\
        assert w.getframerate() == int(sys.argv[2])\n\
        data = w.readframes(w.getnframes() + 1)\n\
        assert len(data) == 2 * w.getnframes()\n\
        sys.stdout.buffer.write(data)\n";
    let studio = Studio::new();
    for format in [
        OutputFormat::Wav24000,
        OutputFormat::Wav16000,
        OutputFormat::Wav8000,
    ] {
        let path = studio.keep(format, &studio.encoded(format));
        let rate = format.sample_rate_hz().to_string();
        let read = run("python3", &["-c", SCRIPT, text(&path), &rate]);
        let wanted = studio.at(format.sample_rate_hz());
        let got = samples_of(&read.stdout);
        assert_eq!(got.len(), wanted.len(), "{format}");
        assert!(
            got.iter()
                .zip(&wanted)
                .all(|(a, b)| (a - b).abs() < 1.0 / 32_768.0),
            "{format}"
        );
    }
}

/// One way of making an input file with ffmpeg: a name, the arguments, and what we should find.
struct Made {
    file: &'static str,
    arguments: &'static str,
    container: &'static str,
    codec: &'static str,
}

const fn made(
    file: &'static str,
    arguments: &'static str,
    container: &'static str,
    codec: &'static str,
) -> Made {
    Made {
        file,
        arguments,
        container,
        codec,
    }
}

const MADE: &[Made] = &[
    made("u8.wav", "-c:a pcm_u8 -ar 11025", "wav", "pcm_u8"),
    made("s16.wav", "-c:a pcm_s16le -ar 16000", "wav", "pcm_s16"),
    made(
        "stereo.wav",
        "-c:a pcm_s16le -ar 44100 -ac 2",
        "wav",
        "pcm_s16",
    ),
    made("s24.wav", "-c:a pcm_s24le -ar 48000", "wav", "pcm_s24"),
    made("s32.wav", "-c:a pcm_s32le -ar 22050", "wav", "pcm_s32"),
    made("f32.wav", "-c:a pcm_f32le -ar 44100", "wav", "pcm_f32"),
    made("f64.wav", "-c:a pcm_f64le -ar 96000", "wav", "pcm_f64"),
    made("alaw.wav", "-c:a pcm_alaw -ar 8000", "wav", "alaw"),
    made("ulaw.wav", "-c:a pcm_mulaw -ar 8000 -ac 2", "wav", "ulaw"),
    made(
        "ima.wav",
        "-c:a adpcm_ima_wav -ar 16000 -block_size 256",
        "wav",
        "adpcm_ima",
    ),
    made(
        "ima2.wav",
        "-c:a adpcm_ima_wav -ar 22050 -ac 2",
        "wav",
        "adpcm_ima",
    ),
    made(
        "ms.wav",
        "-c:a adpcm_ms -ar 16000 -block_size 256",
        "wav",
        "adpcm_ms",
    ),
    made(
        "ms2.wav",
        "-c:a adpcm_ms -ar 44100 -ac 2",
        "wav",
        "adpcm_ms",
    ),
    made(
        "surround.wav",
        "-c:a pcm_s16le -ar 48000 -af pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0",
        "wav",
        "pcm_s16",
    ),
    made(
        "rf64.wav",
        "-c:a pcm_s16le -ar 32000 -rf64 always",
        "wav",
        "pcm_s16",
    ),
    made("odd_rate.wav", "-c:a pcm_s16le -ar 37123", "wav", "pcm_s16"),
    made("fast.wav", "-c:a pcm_s16le -ar 192000", "wav", "pcm_s16"),
    made(
        "inside.wav",
        "-c:a libmp3lame -b:a 96k -ar 44100",
        "wav",
        "mp3",
    ),
    made(
        "cbr.mp3",
        "-c:a libmp3lame -b:a 64k -ar 44100 -ac 2",
        "mp3",
        "mp3",
    ),
    made(
        "vbr.mp3",
        "-c:a libmp3lame -q:a 4 -ar 24000 -metadata title=sauti -id3v2_version 3",
        "mp3",
        "mp3",
    ),
    made(
        "phone.mp3",
        "-c:a libmp3lame -b:a 24k -ar 8000",
        "mp3",
        "mp3",
    ),
    made(
        "bare.mp3",
        "-c:a libmp3lame -b:a 64k -ar 48000 -write_xing 0 -id3v2_version 0",
        "mp3",
        "mp3",
    ),
    made("a.flac", "-c:a flac -ar 44100 -ac 2", "flac", "flac"),
    made(
        "b.flac",
        "-c:a flac -sample_fmt s32 -ar 48000",
        "flac",
        "flac",
    ),
    made(
        "vorbis.ogg",
        "-c:a libvorbis -ar 44100 -ac 2",
        "ogg",
        "vorbis",
    ),
    made("flac.ogg", "-c:a flac -ar 16000", "ogg", "flac"),
    made(
        "whatsapp.ogg",
        "-c:a libopus -application voip -b:a 16k -frame_duration 60 -ar 16000 -f ogg",
        "ogg",
        "opus",
    ),
    made(
        "music.opus",
        "-c:a libopus -b:a 96k -ar 48000 -ac 2",
        "ogg",
        "opus",
    ),
    made(
        "short_frames.opus",
        "-c:a libopus -b:a 64k -frame_duration 2.5 -ar 48000",
        "ogg",
        "opus",
    ),
    made(
        "surround.opus",
        "-c:a libopus -b:a 256k -mapping_family 1 -af pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0",
        "ogg",
        "opus",
    ),
    made(
        "file.webm",
        "-c:a libopus -b:a 32k -ar 48000",
        "webm",
        "opus",
    ),
    made("vorbis.webm", "-c:a libvorbis -ar 48000", "webm", "vorbis"),
    made("pcm.mka", "-c:a pcm_s16le -ar 16000", "webm", "pcm_s16le"),
    made("aac.m4a", "-c:a aac -b:a 64k -ar 44100 -ac 2", "mp4", "aac"),
    made("phone.m4a", "-c:a aac -b:a 32k -ar 16000", "mp4", "aac"),
    made(
        "start.m4a",
        "-c:a aac -b:a 64k -ar 48000 -movflags +faststart",
        "mp4",
        "aac",
    ),
    made(
        "safari.mp4",
        "-c:a aac -b:a 64k -ar 48000 -movflags frag_keyframe+empty_moov+default_base_moof",
        "mp4",
        "aac",
    ),
    made(
        "opus.mp4",
        "-c:a libopus -b:a 32k -ar 48000 -strict -2",
        "mp4",
        "opus",
    ),
    made("video.mov", "-c:a aac -b:a 64k -ar 44100", "mp4", "aac"),
    made("alac.m4a", "-c:a alac -ar 44100", "mp4", "alac"),
    made(
        "bare.aac",
        "-c:a aac -b:a 64k -ar 44100 -f adts",
        "adts",
        "aac",
    ),
    made("plain.aiff", "-c:a pcm_s16be -ar 44100", "aiff", "pcm_s16"),
    made("deep.aiff", "-c:a pcm_s24be -ac 2", "aiff", "pcm_s24"),
    made("little.aiff", "-c:a pcm_s16le -ar 16000", "aiff", "pcm_s16"),
    made("float.aiff", "-c:a pcm_f32be -ar 22050", "aiff", "pcm_f32"),
    made("double.aiff", "-c:a pcm_f64be", "aiff", "pcm_f64"),
    made("bytes.aiff", "-c:a pcm_s8 -ar 8000", "aiff", "pcm_s8"),
    made("ulaw.aiff", "-c:a pcm_mulaw -ar 8000", "aiff", "ulaw"),
    made("plain.au", "-c:a pcm_s16be -ac 2", "au", "pcm_s16"),
    made("bytes.au", "-c:a pcm_s8 -ar 8000", "au", "pcm_s8"),
    made("alaw.au", "-c:a pcm_alaw -ar 8000", "au", "alaw"),
    made("double.au", "-c:a pcm_f64be", "au", "pcm_f64"),
    made("plain.caf", "-c:a pcm_s16le -ar 44100", "caf", "pcm_s16le"),
    made("alac.caf", "-c:a alac -ar 44100", "caf", "alac"),
    made("opus.caf", "-c:a libopus -b:a 32k -ar 48000", "caf", "opus"),
];

fn assert_recording(what: &str, recording: &Recording, wanted: &[f32]) {
    let error_s = recording.seconds - SECONDS;
    assert!(
        error_s.abs() <= TOLERANCE_S,
        "{what}: {:.3} s",
        recording.seconds
    );
    let (similar, lag) = correlation(&floats(&recording.samples), wanted, 1_600);
    assert!(similar > 0.9, "{what}: correlation {similar:.4} at {lag}");
    assert!(lag.abs() <= 800, "{what}: shifted by {lag} samples");
    eprintln!("{what}: {error_s:+.3} s, correlation {similar:.4}, shift {lag}");
}

#[test]
fn every_container_that_ffmpeg_writes_is_decoded() {
    if !tools_present(&["ffmpeg"]) {
        return;
    }
    let studio = Studio::new();
    let (source, wanted) = (studio.source(), studio.at(16_000));
    let mut failures = Vec::new();
    for made in MADE {
        // The name must not help: every file ends in .bin when we open it.
        let path = studio.folder.path().join(made.file);
        let mut arguments = vec!["-v", "error", "-y", "-i", text(&source)];
        arguments.extend(made.arguments.split(' '));
        arguments.push(text(&path));
        run("ffmpeg", &arguments);
        let file = File::open(&path).expect("made");
        match decode_file(file, None, &DecodeLimits::default(), &|| false) {
            Ok(recording) => {
                let checked = std::panic::catch_unwind(|| {
                    assert_recording(made.file, &recording, &wanted);
                    assert_eq!(
                        (recording.container, recording.codec.as_str()),
                        (made.container, made.codec)
                    );
                });
                if checked.is_err() {
                    failures.push(made.file.to_owned());
                }
            }
            Err(error) => failures.push(format!("{}: {error}", made.file)),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn streams_written_to_a_pipe_are_decoded() {
    if !tools_present(&["ffmpeg"]) {
        return;
    }
    let studio = Studio::new();
    let (source, wanted) = (studio.source(), studio.at(16_000));
    // Nothing can be seeked back to, so sizes are placeholders: what browsers and recorders send.
    for arguments in [
        "-c:a pcm_s16le -ar 16000 -f wav",
        "-c:a pcm_mulaw -ar 8000 -f wav",
        "-c:a adpcm_ima_wav -ar 16000 -block_size 256 -f wav",
        "-c:a libopus -b:a 32k -ar 48000 -f webm -cluster_time_limit 500",
        "-c:a libopus -b:a 32k -ar 48000 -f webm -live 1",
        "-c:a libopus -b:a 32k -ar 48000 -f matroska",
        "-c:a flac -ar 44100 -f flac",
        "-c:a libopus -b:a 24k -f ogg -page_duration 100000",
        "-c:a aac -ar 44100 -f mp4 -movflags frag_keyframe+empty_moov",
    ] {
        let mut all = vec!["-v", "error", "-i", text(&source)];
        all.extend(arguments.split(' '));
        all.push("pipe:1");
        let bytes = run("ffmpeg", &all).stdout;
        let recording =
            crate::common::decode(bytes).unwrap_or_else(|error| panic!("{arguments}: {error}"));
        assert_recording(arguments, &recording, &wanted);
    }
}

#[test]
fn files_of_sox_and_declared_raw_sound_are_decoded() {
    if !tools_present(&["sox"]) {
        return;
    }
    let studio = Studio::new();
    let (source, wanted) = (studio.source(), studio.at(16_000));
    let raw_ulaw = Some(RawFormat::Ulaw8000);
    let raw_pcm = Some(RawFormat::Pcm16Le { rate_hz: 12_000 });
    for (arguments, declared) in [
        ("-t wav -e ms-adpcm", None),
        ("-t wav -e ima-adpcm -r 8000", None),
        ("-t wav -e a-law -r 8000", None),
        ("-t wav -e gsm -r 8000", None),
        ("-t gsm -r 8000", None),
        ("-t wav -b 32 -e float -r 44100 -c 2", None),
        ("-t wavpcm -b 24 -c 8", None),
        ("-t flac -b 24", None),
        ("-t ogg", None),
        ("-t ul -r 8000", raw_ulaw),
        ("-t al -r 8000", Some(RawFormat::Alaw8000)),
        ("-t s16 -r 12000", raw_pcm),
        // A declaration yields to a real file.
        ("-t wav -r 8000", raw_ulaw),
    ] {
        let mut all = vec!["-V1", text(&source)];
        all.extend(arguments.split(' '));
        all.push("-");
        let bytes = run("sox", &all).stdout;
        let recording =
            sauti_audio::decode_bytes(bytes, declared, &DecodeLimits::default(), &|| false)
                .unwrap_or_else(|error| panic!("sox {arguments}: {error}"));
        assert_recording(arguments, &recording, &wanted);
    }
}
