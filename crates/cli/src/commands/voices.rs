use std::process::ExitCode;

use clap::Args;
use sauti_speech::voice::VoiceInfo;
use serde_json::json;

use super::{Common, output};

/// List the voices
#[derive(Debug, Args)]
pub(super) struct Voices {
    /// Print everything known of each voice, as GET /v1/voices does
    #[arg(long)]
    json: bool,
}

impl Voices {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let voices = sauti_speech::voice::catalogue(&common.load()?.models_dir())?;
        if self.json {
            return output::print_json(&json!({ "voices": voices }));
        }
        let row = |voice: VoiceInfo| {
            vec![
                voice.voice_id,
                voice.name,
                voice.gender,
                voice.locale,
                voice.description,
            ]
        };
        let rows: Vec<_> = voices.into_iter().map(row).collect();
        let header = ["VOICE", "NAME", "GENDER", "LOCALE", "DESCRIPTION"];
        output::print_table(&header, &rows)
    }
}
