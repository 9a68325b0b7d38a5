//! Spans to a collector of OpenTelemetry, where the usual `OTEL_*` variables name one. They wait in a queue of bounded
//! length and leave on a thread of their own: a collector that hangs or is gone costs spans, and no golem notices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, Key};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData};
use settings::{ConfigError, Problem};
use shell::Error;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Subscriber, info, warn};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// How long coming down waits for the last spans to be taken.
const FAREWELL: Duration = Duration::from_secs(2);

/// The parts of the program whose spans are sent.
const OURS: [&str; 4] = ["host", "server", "gateway", "shell"];

/// Spans on their way; dropped, it sends what is left.
#[derive(Debug)]
pub(crate) struct Spans(SdkTracerProvider);

impl Drop for Spans {
    fn drop(&mut self) {
        // Who has not taken them by now has been complained about.
        let _ = self.0.shutdown_with_timeout(FAREWELL);
    }
}

/// To the collector that the variables name.
pub(crate) fn begin<S>() -> Result<(impl Layer<S>, Spans), Error>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    mind::http::choose_tls();
    let exporter = SpanExporter::builder().with_http().build().map_err(|why| {
        let (place, message) = ("environment variables OTEL_EXPORTER_OTLP_*".to_owned(), why.to_string());
        Error::Config(ConfigError { problems: vec![Problem { place, message }] })
    })?;
    let exporter = Frank { exporter, failing: AtomicBool::new(false) };
    let provider = SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build();
    let scope = InstrumentationScope::builder("bardo").with_version(env!("CARGO_PKG_VERSION")).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer_with_scope(scope))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false);
    // Whatever the log has: all spans of ours, and of what happens within them what is news.
    let ours = filter_fn(|about| {
        let most = if about.is_span() { Level::DEBUG } else { Level::INFO };
        let part = about.target().split("::").next().unwrap_or_default();
        OURS.contains(&part) && *about.level() <= most
    });
    Ok((layer.with_filter(ours.with_max_level_hint(LevelFilter::DEBUG)), Spans(provider)))
}

/// As the variables say, and `bardo` where they name no service.
fn resource() -> Resource {
    let said = Resource::builder().build();
    let name = said.get(&Key::new("service.name"));
    if name.is_some_and(|name| !name.as_str().starts_with("unknown_service")) {
        return said;
    }
    Resource::builder().with_service_name("bardo").build()
}

/// An exporter that says once when spans are no longer taken, and once when they are again.
#[derive(Debug)]
struct Frank {
    exporter: SpanExporter,
    failing: AtomicBool,
}

impl opentelemetry_sdk::trace::SpanExporter for Frank {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let taken = self.exporter.export(batch).await;
        match (&taken, self.failing.swap(taken.is_err(), Ordering::Relaxed)) {
            (Err(why), false) => warn!(why = why.to_string(), "the collector does not take spans; they are lost"),
            (Ok(()), true) => info!("the collector takes spans again"),
            _ => {}
        }
        taken
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
