//! Speaks a text into a WAV file: `voice_say MODELS VOICE OUT.wav TEXT`.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use sauti_speech::voice::Synthesiser;
use sauti_speech::{SpeakEvent, SpeakRequest};
use sauti_text::{Lexicon, Script};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, models, voice_id, out, text] = &args[..] else {
        return Err("usage: voice_say MODELS VOICE OUT.wav TEXT".into());
    };
    let mut synthesiser = Synthesiser::load(Path::new(models))?;
    let request = SpeakRequest {
        voice_id: voice_id.clone(),
        script: Script::from_text(text, &Lexicon::builtin())?,
        speed: sauti_speech::Speed::default(),
    };
    let mut samples = Vec::new();
    synthesiser.speak(&request, &mut |event| {
        match event {
            SpeakEvent::Audio {
                samples: part,
                words,
            } => {
                for word in words {
                    println!("{:7.3} {:7.3} {}", word.start, word.end, word.word);
                }
                samples.extend(part);
            }
            SpeakEvent::Done { seconds } => println!("{seconds:.3} s"),
        }
        ControlFlow::Continue(())
    })?;
    std::fs::write(out, wav(&samples))?;
    Ok(())
}

/// 16-bit mono at 24 kHz.
fn wav(samples: &[f32]) -> Vec<u8> {
    let data = (samples.len() * 2) as u32;
    let mut bytes = Vec::with_capacity(44 + samples.len() * 2);
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&(36 + data).to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend_from_slice(&24_000u32.to_le_bytes());
    bytes.extend_from_slice(&48_000u32.to_le_bytes());
    bytes.extend_from_slice(b"\x02\0\x10\0data");
    bytes.extend_from_slice(&data.to_le_bytes());
    for sample in samples {
        let value = (sample * 32_767.0).round() as i16;
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}
