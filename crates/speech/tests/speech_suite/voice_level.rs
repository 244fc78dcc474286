//! How loud the voices are, and that nothing they say overloads a converter or a codec.

use std::ops::ControlFlow;
use std::path::Path;

use sauti_audio::loudness::{SPEECH_LUFS, TELEPHONE_LUFS, gain_from_db, lufs, true_peak};
use sauti_audio::{OutputFormat, encode_speech, resample};
use sauti_speech::voice::Synthesiser;
use sauti_speech::{SpeakEvent, SpeakRequest};
use sauti_text::{Lexicon, Script};

const RATE_HZ: u32 = 24_000;
const SENTENCES: [&str; 5] = [
    "Karibu katika huduma yetu ya simu.",
    "Bonyeza moja kwa Kiswahili, mbili kwa Kiingereza, au subiri kuzungumza na mhudumu.",
    "Je, ungependa kuendelea na malipo haya?",
    "Mvua kubwa inatarajiwa kunyesha kesho asubuhi katika maeneo ya pwani.",
    "Asante sana kwa kutupigia, kwaheri!",
];

fn spoken(synthesiser: &mut Synthesiser, voice_id: &str, text: &str) -> Vec<f32> {
    let request = SpeakRequest {
        voice_id: voice_id.to_owned(),
        script: Script::from_text(text, &Lexicon::builtin()).unwrap(),
        direction: sauti_speech::Direction::default(),
    };
    let mut all = Vec::new();
    let emit = &mut |event| {
        if let SpeakEvent::Audio { samples, .. } = event {
            all.extend(samples);
        }
        ControlFlow::Continue(())
    };
    synthesiser.speak(&request, emit).unwrap();
    all
}

fn decoded(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(2)
        .map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0)
        .collect()
}

#[test]
fn every_voice_is_as_loud_as_promised_on_both_kinds_of_line() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut synthesiser = Synthesiser::load(&models).unwrap();
    for voice in synthesiser.voices() {
        let id = &voice.voice_id;
        let mut all = Vec::new();
        for sentence in SENTENCES {
            let samples = spoken(&mut synthesiser, id, sentence);
            let alone = lufs(&samples, RATE_HZ);
            assert!(
                (alone - SPEECH_LUFS).abs() < 3.0,
                "{id}: {alone:.1} LUFS: {sentence}"
            );
            let peak = true_peak(&samples);
            assert!(
                peak < gain_from_db(-0.3),
                "{id}: a true peak of {peak}: {sentence}"
            );
            all.extend(samples);
        }
        let loudness = lufs(&all, RATE_HZ);
        assert!(
            (loudness - SPEECH_LUFS).abs() < 1.0,
            "{id}: {loudness:.1} LUFS"
        );
        let telephone = encode_speech(&all, RATE_HZ, OutputFormat::RawPcm8000).unwrap();
        let loudness = lufs(&decoded(&telephone), 8_000);
        // The phone line loses what lies above 4 kHz, a little loudness with it.
        assert!(
            (loudness - TELEPHONE_LUFS).abs() < 1.3,
            "{id}: {loudness:.1} LUFS by telephone"
        );
    }
}

#[test]
fn a_phone_line_gets_the_band_it_can_carry_and_no_alias() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut synthesiser = Synthesiser::load(&models).unwrap();
    // Full of s and sh: most of their energy lies above 4 kHz, where an alias would come from.
    let samples = spoken(
        &mut synthesiser,
        "zuri",
        "Sasa shule ishirini na sita zimeshafunguliwa.",
    );
    let telephone = decoded(&encode_speech(&samples, RATE_HZ, OutputFormat::RawPcm8000).unwrap());
    let low = |samples: &[f32]| resample(&resample(samples, RATE_HZ, 7_200), 7_200, RATE_HZ);
    // Below 3.3 kHz the telephone's sound must be the voice's own, 4 dB down.
    let gain = gain_from_db(TELEPHONE_LUFS - SPEECH_LUFS);
    let (want, got) = (low(&samples), low(&resample(&telephone, 8_000, RATE_HZ)));
    let power =
        |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v).powi(2)).sum::<f64>();
    let signal = power(&mut want.iter().map(|w| w * gain));
    let error = power(&mut want.iter().zip(&got).map(|(w, g)| w * gain - g));
    let distance_db = 10.0 * (error / signal).log10();
    assert!(
        distance_db < -40.0,
        "{distance_db:.1} dB of what is not the voice"
    );
}
