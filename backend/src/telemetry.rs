//! Logs: to standard error, for people or as JSON lines, each line of a request with its id (`log` in config/default.toml).

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Log, LogFormat};

#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error("log.filter = \"{filter}\" is no filter; use a level such as \"info\" or \"nyala=debug,info\" ({why})")]
    Filter { filter: String, why: String },
    #[error("logging was set up twice")]
    Twice,
}

/// Sets up logging for the whole process, panics included. Called once, before anything is logged.
pub fn init(log: &Log) -> Result<(), TelemetryError> {
    let filter =
        EnvFilter::try_new(&log.filter).map_err(|e| TelemetryError::Filter { filter: log.filter.clone(), why: e.to_string() })?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    let set = match log.format {
        LogFormat::Pretty => registry.with(lines.with_ansi(std::io::stderr().is_terminal())).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_span_list(false)).try_init(),
    };
    set.map_err(|_| TelemetryError::Twice)?;
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        tracing::error!(panic = info.payload_as_str().unwrap_or("not a text"), place, "panicked");
    }));
    Ok(())
}
