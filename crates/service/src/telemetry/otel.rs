//! Traces to an OpenTelemetry collector, OTLP over HTTP, in batches from a thread of its own.

use anyhow::Context;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;

use super::BoxedLayer;

/// Sends what waits when dropped.
pub(super) struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            eprintln!("sauti: the last traces were not sent: {error}");
        }
    }
}

pub(super) fn layer(endpoint: &str) -> anyhow::Result<(BoxedLayer, Traces)> {
    let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(url)
        .build()
        .context("telemetry.otlp_endpoint")?;
    let provider = SdkTracerProvider::builder()
        .with_resource(Resource::builder().with_service_name("sauti").build())
        .with_batch_exporter(exporter)
        .build();
    let tracer = provider.tracer("sauti");
    // Our own spans only: the exporter's HTTP client would trace itself without end.
    // Every crate of ours begins with this word.
    let filter = Targets::new().with_target("sauti", LevelFilter::INFO);
    let layer = tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_filter(filter)
        .boxed();
    Ok((layer, Traces(provider)))
}
