//! The engine without a server, as the settings want it.

use std::future::Future;

use anyhow::Context;
pub(crate) use sauti_lab::offline::{
    Progress, choose_voice, in_order, speak, transcribe, vocabulary, wait_ready,
};
use sauti_service::config::Config;
use sauti_service::speaking::looks_like_ssml;
use sauti_speech::{Engine, EngineConfig};
use sauti_text::{Lexicon, Script, SpeechLanguage, TextError};

pub(crate) fn block_on<F: Future>(future: F) -> anyhow::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    Ok(runtime.block_on(future))
}

/// What is to be said; a text that starts with `<speak>` is SSML, as in the HTTP interface.
pub(crate) fn script_of(
    text: &str,
    lexicon: &Lexicon,
    language: SpeechLanguage,
) -> Result<Script, TextError> {
    match looks_like_ssml(text) {
        true => Script::from_ssml_in(text, lexicon, language),
        false => Script::from_text_in(text, lexicon, language),
    }
}

pub(crate) fn start_engine(config: &Config) -> anyhow::Result<Engine> {
    let models_dir = config.models_dir();
    let engine = Engine::start(EngineConfig {
        models_dir: models_dir.clone(),
        workers: config.engine.workers,
        queue_max: config.engine.queue_max,
        tenant_queue_max: config.engine.queue_max,
        wait_s_max: sauti_lab::offline::DEADLINE.as_secs_f64(),
        ..EngineConfig::default()
    });
    engine.with_context(|| {
        format!(
            "cannot use the models in {} (choose another folder with --models or SAUTI_MODELS)",
            models_dir.display()
        )
    })
}

pub(crate) async fn ready_engine(config: &Config) -> anyhow::Result<Engine> {
    let engine = start_engine(config)?;
    wait_ready(&engine).await?;
    Ok(engine)
}
