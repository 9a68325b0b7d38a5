//! The log of a host: to stderr, as lines for people or as JSON, one object a line. Results stay on stdout. In a build with
//! the feature `otlp` the spans go to a collector too.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::panic;

use golem::plain;
use settings::{ConfigError, Origin, Problem, Settings};
use shell::Error;
use tracing::{error, warn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

use crate::args::LogFormat;

/// Warnings, but not what `up` prints anyway: a terminal, a journal and a container show both.
const USUAL: &str = "warn,host::said=off";

/// A log that is being kept; dropped when there is nothing more to say.
#[derive(Debug)]
pub(crate) struct Logs {
    pub(crate) level: Level,
    #[cfg(feature = "otlp")]
    _spans: Option<crate::otlp::Spans>,
}

pub(crate) fn begin(settings: &Settings, format: Option<LogFormat>) -> Result<Logs, Error> {
    let (filter, level) = reload::Layer::new(filter(settings)?);
    let lines = lines(settings, format).with_filter(filter);
    let subscriber = Registry::default().with(lines);
    #[cfg(feature = "otlp")]
    let (subscriber, spans) = {
        let (layer, spans) = wants_spans().then(crate::otlp::begin).transpose()?.unzip();
        (subscriber.with(layer), spans)
    };
    tracing::subscriber::set_global_default(subscriber).expect("a process keeps one log");
    log_panics();
    if cfg!(not(feature = "otlp")) && wants_spans() {
        warn!("a collector is named in OTEL_EXPORTER_OTLP_ENDPOINT, but this bardo was built without the feature otlp");
    }
    Ok(Logs {
        level: Level(level),
        #[cfg(feature = "otlp")]
        _spans: spans,
    })
}

/// Whether what is said of the log can be understood.
pub(crate) fn check(settings: &Settings) -> Result<(), Error> {
    filter(settings).map(drop)
}

/// How much is logged, which may change while it is.
#[derive(Clone, Debug)]
pub(crate) struct Level(reload::Handle<EnvFilter, Registry>);

impl Level {
    pub(crate) fn set(&self, settings: &Settings) -> Result<(), Error> {
        self.0.reload(filter(settings)?).map_err(|why| Error::Host(format!("cannot change what is logged: {why}")))
    }
}

/// Somebody has named a collector and not switched it off.
fn wants_spans() -> bool {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let off = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    !off && (set("OTEL_EXPORTER_OTLP_ENDPOINT") || set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
}

fn lines(settings: &Settings, format: Option<LogFormat>) -> Box<dyn Layer<Registry> + Send + Sync> {
    let json = format.map_or(settings.text("log.format") == Some("json"), |format| format == LogFormat::Json);
    let colours = !json && io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // A line that cannot be written is lost; to complain on the same stderr would panic.
    let lines = fmt::layer().with_writer(move || Plain { json, colours }).log_internal_errors(false);
    if json {
        lines.json().flatten_event(true).with_span_list(false).boxed()
    } else {
        lines.compact().with_ansi(colours).boxed()
    }
}

/// The way to stderr of whole lines: whatever anyone wrote into one, a terminal only shows it.
struct Plain {
    json: bool,
    colours: bool,
}

impl Write for Plain {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let safe = match (self.json, self.colours) {
            (true, _) => plain::json(&text),
            (_, false) => plain::text(&text),
            (_, true) => coloured(&text).into(),
        };
        io::stderr().lock().write_all(safe.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The log's own colours stay: it spells an escape in what it is told, so that there are none but its own.
fn coloured(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = plain::text(parts.next().unwrap_or_default()).into_owned();
    parts.fold(first, |shown, part| {
        let code = part.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|end| part[*end..].starts_with('m'));
        let escape = if code.is_some() { "\x1b[" } else { "\u{fffd}[" };
        shown + escape + &plain::text(part)
    })
}

/// `RUST_LOG` is meant for any program: it counts for more than a file, and for less than a variable of ours.
fn filter(settings: &Settings) -> Result<EnvFilter, Error> {
    let theirs = env::var("RUST_LOG").ok().filter(|levels| !levels.is_empty());
    let (place, levels) = match (settings.origin("log.level"), theirs) {
        (Origin::Default | Origin::File { .. }, Some(levels)) => ("environment variable RUST_LOG".to_owned(), levels),
        (origin, _) => (origin.to_string(), settings.text("log.level").unwrap_or(USUAL).replace(' ', "")),
    };
    EnvFilter::builder().parse(levels).map_err(|why| {
        let message = format!("this is not a valid filter for the log ({why}); write it like warn,server::up=debug");
        Error::Config(ConfigError { problems: vec![Problem { place, message }] })
    })
}

/// Logs a panic as a line like any other; if errors are not logged, the panic is printed as Rust prints it.
fn log_panics() {
    let ever = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !tracing::enabled!(tracing::Level::ERROR) {
            return ever(panic);
        }
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let why = panic.payload_as_str().unwrap_or_default();
        error!(place, why, "a thread panicked");
    }));
}
