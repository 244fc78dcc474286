//! How fast the voices are on one core: `voice_bench MODELS [ROUNDS]`.
//!
//! Prints, for each voice, the real-time factor from script to samples and the time to the first
//! sound of a 200-character text. The best and the median of the rounds are given: the best is
//! what the machine can do, the median what it did.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use sauti_speech::voice::Synthesiser;
use sauti_speech::{SpeakEvent, SpeakRequest};
use sauti_text::{Lexicon, Script};

const SENTENCES: [&str; 6] = [
    "Karibu katika huduma yetu ya simu.",
    "Bonyeza moja kwa Kiswahili, mbili kwa Kiingereza, au subiri kuzungumza na mhudumu.",
    "Salio lako ni shilingi elfu tatu mia mbili na hamsini.",
    "Je, ungependa kuendelea na malipo haya?",
    "Mvua kubwa inatarajiwa kunyesha kesho asubuhi katika maeneo ya pwani, hivyo wakulima wanashauriwa kuchukua tahadhari.",
    "Asante kwa kutupigia.",
];

/// 200 characters, the first pause after 63 of them.
const LONG: &str = "Habari za asubuhi, mpendwa mteja wetu wa siku nyingi na rafiki, \
    tunakushukuru kwa kutumia huduma zetu za kifedha kupitia simu yako ya mkononi. \
    Leo tunakuletea taarifa muhimu kuhusu akaunti yako.";

struct Timing {
    first_ms: f64,
    total_s: f64,
    audio_s: f64,
}

fn speak(
    synthesiser: &mut Synthesiser,
    voice_id: &str,
    script: &Script,
) -> Result<Timing, Box<dyn Error>> {
    let request = SpeakRequest {
        voice_id: voice_id.to_owned(),
        script: script.clone(),
        speed: sauti_speech::Speed::default(),
    };
    let start = Instant::now();
    let (mut first_ms, mut audio_s) = (None, 0.0);
    synthesiser.speak(&request, &mut |event| {
        match event {
            SpeakEvent::Audio { samples, .. } if !samples.is_empty() => {
                first_ms.get_or_insert_with(|| start.elapsed().as_secs_f64() * 1e3);
            }
            SpeakEvent::Audio { .. } => {}
            SpeakEvent::Done { seconds } => audio_s = seconds,
        }
        ControlFlow::Continue(())
    })?;
    Ok(Timing {
        first_ms: first_ms.unwrap_or(f64::NAN),
        total_s: start.elapsed().as_secs_f64(),
        audio_s,
    })
}

fn best_and_median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2])
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let models = args.get(1).ok_or("usage: voice_bench MODELS [ROUNDS]")?;
    let rounds: usize = args.get(2).map_or(Ok(10), |n| n.parse())?;

    let start = Instant::now();
    let mut synthesiser = Synthesiser::load(Path::new(models))?;
    println!("loaded in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let lexicon = Lexicon::builtin();
    let scripts = SENTENCES
        .iter()
        .map(|text| Script::from_text(text, &lexicon))
        .collect::<Result<Vec<_>, _>>()?;
    let long = Script::from_text(LONG, &lexicon)?;

    for voice in synthesiser.voices() {
        let id = &voice.voice_id;
        speak(&mut synthesiser, id, &long)?;
        let (mut factors, mut long_factors, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds.max(1) {
            let (mut total_s, mut audio_s) = (0.0, 0.0);
            for script in &scripts {
                let timing = speak(&mut synthesiser, id, script)?;
                total_s += timing.total_s;
                audio_s += timing.audio_s;
            }
            factors.push(total_s / audio_s);
            let timing = speak(&mut synthesiser, id, &long)?;
            long_factors.push(timing.total_s / timing.audio_s);
            firsts.push(timing.first_ms);
        }
        let (factor, median_factor) = best_and_median(factors);
        let (long_factor, _) = best_and_median(long_factors);
        let (first_ms, median_first_ms) = best_and_median(firsts);
        println!(
            "{id:<8} real-time factor {factor:.4} (median {median_factor:.4}; long text \
             {long_factor:.4}), first sound {first_ms:.1} ms (median {median_first_ms:.1})"
        );
    }
    Ok(())
}
