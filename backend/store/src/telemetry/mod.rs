//! Logs: to standard error, for people or as JSON lines, each line of a request with its id (`log` in config/default.toml).

mod repeats;

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use actix_socketio::host::vital;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

pub use repeats::{log_remaining_repeats, log_repeats_loop};

use crate::config::{ConfigError, LogFormat, LogSettings};

/// Histogram bounds in seconds, from a cached read to the longest answer.
pub const WAIT_BUCKETS_S: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error(transparent)]
    Filter(#[from] ConfigError),
    #[error("logging was set up twice")]
    Twice,
}

/// Lines that wait for standard error to take them; further ones are dropped and counted. A pipe without a reader stops no request.
const LINES: usize = 8_192;

/// How long the end of the process may take for lines that wait.
const FINISH_WITHIN: Duration = Duration::from_millis(1_500);

/// The thread that writes lines. Dropping it writes what waits, for a second at most.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);
static DROPPED: Mutex<Option<ErrorCounter>> = Mutex::new(None);

/// Lines dropped because standard error did not take them.
pub fn lines_dropped() -> u64 {
    let dropped = DROPPED.lock().unwrap_or_else(PoisonError::into_inner);
    dropped.as_ref().map_or(0, |dropped| dropped.dropped_lines() as u64)
}

/// Before the process ends: writes what waits, for a second at most. What is logged afterwards is dropped.
pub fn finish() {
    let guard = WRITER.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (written, is_written) = mpsc::channel();
    // The guard is dropped in a separate thread, for which the end of the process does not wait: without a reader it reports on standard
    // output, which may have no reader either.
    std::thread::spawn(move || {
        drop(guard);
        let _ = written.send(());
    });
    let _ = is_written.recv_timeout(FINISH_WITHIN);
}

/// Sets up logging for the whole process, panics included. Called once, before anything is logged.
pub fn init(log: &LogSettings) -> Result<(), TelemetryError> {
    let (writer, guard) = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).finish(std::io::stderr());
    *DROPPED.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer.error_counter());
    subscriber(log, writer, std::io::stderr().is_terminal())?.try_init().map_err(|_| TelemetryError::Twice)?;
    *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    vital::before_exit(finish);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        tracing::error!(panic = info.payload_as_str().unwrap_or("not a text"), place, "panicked");
    }));
    Ok(())
}

/// For a command, which says by itself what it did: only warnings about the folder that it works in go to standard error.
pub fn init_for_command() {
    let filter = EnvFilter::new("off,nyala_store::secrets=warn,embedded_postgres::place=warn");
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).without_time().with_target(false).with_ansi(false);
    // A log that is already set up stays.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
}

type BoxedSubscriber = Box<dyn Subscriber + Send + Sync>;

pub fn subscriber<W>(log: &LogSettings, writer: W, colours: bool) -> Result<BoxedSubscriber, TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let (registry, lines) = (
        tracing_subscriber::registry().with(log.filter()?).with(NoStrangers),
        tracing_subscriber::fmt::layer().with_writer(writer),
    );
    Ok(match log.format {
        LogFormat::Pretty => Box::new(registry.with(lines.with_ansi(colours)).with(repeats::OnceAMinute)),
        LogFormat::Json => {
            Box::new(registry.with(lines.json().flatten_event(true).with_span_list(false)).with(repeats::OnceAMinute))
        }
    })
}

/// Drops errors of the HTTP library that are a client's fault: an invalid request, or an endless head. They were answered with 400, 408 or
/// 431, and a client that sends many must neither alarm an operator nor fill a disk.
struct NoStrangers;

impl<S: Subscriber> Layer<S> for NoStrangers {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        const THEIRS: [(&str, &str); 2] =
            [("actix_http::h1::dispatcher", "stream error: "), ("actix_http::h1::decoder", "MAX_BUFFER_SIZE unprocessed data")];
        let Some((_, begin)) = THEIRS.iter().find(|(target, _)| *target == event.metadata().target()) else { return true };
        let mut message = Begins { begin, found: false };
        event.record(&mut message);
        !message.found
    }
}

/// Whether an event's message begins so.
struct Begins<'a> {
    begin: &'a str,
    found: bool,
}

impl Visit for Begins<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.found |= field.name() == "message" && format!("{value:?}").starts_with(self.begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_filter_is_named() {
        let log = LogSettings { format: LogFormat::Json, filter: "nyala=loudly".to_owned() };
        let why = subscriber(&log, std::io::sink, false).err().unwrap().to_string();
        assert!(why.contains("nyala=loudly"), "{why}");
    }
}
