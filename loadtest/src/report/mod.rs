//! What a measurement found: the figures, how they went over time, and how they are told.

mod compare;
mod html;
pub mod metrics;
mod summary;
pub mod threshold;

pub use html::STYLE;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::stats::{Errors, Times};
use metrics::Values;

/// Raised when a field changes its meaning or goes; new ones may come without.
pub const SCHEMA: u32 = 1;
const JSON: &str = "report.json";
const PAGE: &str = "report.html";
/// Shares of all ticks that the distribution is drawn at.
const QUANTILES: [f64; 16] =
    [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999, 1.0];

/// `report.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    pub schema: u32,
    pub tool: String,
    pub scenario: String,
    /// The command line, without the key.
    pub command: Vec<String>,
    pub target: String,
    /// Epoch milliseconds.
    pub started_at: i64,
    /// Whether Ctrl-C ended it early.
    pub interrupted: bool,
    pub machine: String,
    pub metrics: Values,
    /// How often, by kind.
    pub errors: Vec<(String, u64)>,
    /// What a reader should know, warnings first.
    pub notes: Vec<String>,
    pub timeline: Vec<Point>,
    pub distributions: Vec<Distribution>,
}

/// A second of the measurement, or several when it was long.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Point {
    /// Since the beginning, and how long it is.
    pub at_s: f64,
    pub seconds: f64,
    pub frames: u64,
    pub missed: u64,
    pub duplicates: u64,
    pub errors: u64,
    pub done: u64,
    pub live: u64,
    /// Milliseconds; 0 when there was no tick.
    pub tick_p50_ms: f64,
    pub tick_p99_ms: f64,
    pub tick_max_ms: f64,
    /// Milliseconds; 0 when nothing was bought.
    pub total_p50_ms: f64,
    pub total_p99_ms: f64,
    pub server_cpu_percent: Option<f64>,
    pub server_rss_mib: Option<f64>,
    pub tool_cpu_percent: f64,
}

/// Times at growing shares of all.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Distribution {
    pub name: String,
    pub count: u64,
    /// Share (0 to 1) and milliseconds.
    pub quantiles_ms: Vec<(f64, f64)>,
}

impl Distribution {
    /// None when nothing was measured.
    pub fn of(name: &str, times: &Times) -> Option<Self> {
        let quantiles_ms = QUANTILES.iter().map(|q| (*q, times.quantile_ms(*q))).collect();
        (!times.is_empty()).then(|| Self { name: name.to_owned(), count: times.len(), quantiles_ms })
    }
}

impl Report {
    pub fn set_errors(&mut self, errors: &Errors) {
        self.errors = errors.iter().map(|(kind, n)| (kind.to_owned(), n)).collect();
        self.metrics.count("errors", errors.total());
    }

    /// # Errors
    /// One line when it is no report of this schema.
    pub fn read(path: &Path) -> Result<Self, String> {
        let told = |e: String| format!("{}: {e}", path.display());
        let file = if path.is_dir() { path.join(JSON) } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|e| told(e.to_string()))?;
        let report: Self = serde_json::from_str(&text).map_err(|e| told(format!("no report of this tool: {e}")))?;
        if report.schema == SCHEMA {
            Ok(report)
        } else {
            Err(told(format!("schema {}, and this tool reads {SCHEMA}", report.schema)))
        }
    }

    /// Makes the folder of a report to come, and sees that it can be written: nobody wants to learn that after hours.
    ///
    /// # Errors
    /// One line when it cannot be.
    pub fn make_room(dir: &Path) -> Result<(), String> {
        let probe = dir.join(".nyala-loadtest");
        let tried =
            std::fs::create_dir_all(dir).and_then(|()| std::fs::write(&probe, "")).and_then(|()| std::fs::remove_file(&probe));
        tried.map_err(|e| format!("--report {}: {e}", dir.display()))
    }

    /// Writes `report.json` and `report.html`.
    ///
    /// # Errors
    /// One line when the folder cannot be written.
    pub fn write(&self, dir: &Path, old: Option<&Self>) -> Result<(), String> {
        let told = |e: &dyn std::fmt::Display| format!("--report {}: {e}", dir.display());
        let json = serde_json::to_string_pretty(self).map_err(|e| told(&e))?;
        std::fs::write(dir.join(JSON), json + "\n").map_err(|e| told(&e))?;
        let page = html::page(self, old).map_err(|e| told(&e))?;
        std::fs::write(dir.join(PAGE), page).map_err(|e| told(&e))
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        summary::is_empty(&self.metrics)
    }

    /// For standard output.
    pub fn summary(&self, old: Option<&Self>) -> String {
        summary::text(self) + &old.map(|old| compare::text(self, old)).unwrap_or_default()
    }
}
