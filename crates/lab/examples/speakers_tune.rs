//! Compares settings of the diarisation on conversations of people nobody is tested on: MODELS PEOPLE.tsv PREFIX [PEOPLE].

use std::path::Path;

use anyhow::Context;
use sauti_lab::eval::speakers::{Options, hear, score};
use sauti_speech::recogniser::{Recogniser, SpeakerConfig};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [models, list, prefix, rest @ ..] = arguments.as_slice() else {
        anyhow::bail!("MODELS PEOPLE.tsv PREFIX [PEOPLE]");
    };
    let people = rest.first().map_or(Ok(2), |count| count.parse());
    let options = Options {
        manifests: vec![list.into()],
        prefix: prefix.clone(),
        people: people.context("PEOPLE is a number")?,
        conversations: 40,
        turns: 12,
        mulaw: true,
        seed: 1_000,
        rttm: None,
    };
    let mut recogniser = Recogniser::load(Path::new(models))?;
    let (heard, _) = hear(&mut recogniser, &options)?;
    for alike_min in [0.2, 0.24, 0.28, 0.32, 0.36] {
        for share_min in [0.02, 0.04, 0.06, 0.08] {
            for change_cost in [0.3, 0.6, 1.0, 1.5] {
                let config = SpeakerConfig {
                    alike_min,
                    share_min,
                    change_cost,
                    ..SpeakerConfig::default()
                };
                let report = score(&heard, &options, &config)?;
                println!(
                    "alike {alike_min} share {share_min} change {change_cost}: DER {:.2} %, counted rightly {} of {}; {:?}",
                    report.der_percent, report.counted_rightly, report.conversations, report.errors
                );
            }
        }
    }
    Ok(())
}
