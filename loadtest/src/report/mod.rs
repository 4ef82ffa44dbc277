//! Result of a measurement: its figures, their course over time, and their formats.

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

/// Version of the schema. It grows when a field changes its meaning or is removed, not when one is added.
pub const SCHEMA: u32 = 1;
const JSON: &str = "report.json";
const PAGE: &str = "report.html";
/// Quantiles of the ticks' distribution.
const QUANTILES: [f64; 16] =
    [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999, 1.0];

/// `report.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    pub schema: u32,
    pub tool: String,
    pub scenario: String,
    /// Command line, without the key.
    pub command: Vec<String>,
    pub target: String,
    /// Epoch milliseconds.
    pub started_at: i64,
    /// Whether Ctrl-C ended the measurement early.
    pub interrupted: bool,
    pub machine: String,
    pub metrics: Values,
    /// Number of errors, by kind.
    pub errors: Vec<(String, u64)>,
    /// Notes for the reader, warnings first.
    pub notes: Vec<String>,
    pub timeline: Vec<Point>,
    pub distributions: Vec<Distribution>,
}

/// Point of the timeline: one second, or several in a long measurement.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Point {
    /// Time since the beginning, and length of the point.
    pub at_s: f64,
    pub seconds: f64,
    pub frames: u64,
    pub missed: u64,
    pub duplicates: u64,
    pub errors: u64,
    pub done: u64,
    pub live: u64,
    /// Milliseconds; 0 without a tick.
    pub tick_p50_ms: f64,
    pub tick_p99_ms: f64,
    pub tick_max_ms: f64,
    /// Milliseconds; 0 without a purchase.
    pub total_p50_ms: f64,
    pub total_p99_ms: f64,
    pub server_cpu_percent: Option<f64>,
    pub server_rss_mib: Option<f64>,
    pub tool_cpu_percent: f64,
}

/// Distribution: times at increasing quantiles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Distribution {
    pub name: String,
    pub count: u64,
    /// Quantile (0 to 1) and milliseconds.
    pub quantiles_ms: Vec<(f64, f64)>,
}

impl Distribution {
    /// `None` when nothing was measured.
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
    /// One line when the file is no report of this schema.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |e: String| format!("{}: {e}", path.display());
        let file = if path.is_dir() { path.join(JSON) } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|e| failed(e.to_string()))?;
        let report: Self = serde_json::from_str(&text).map_err(|e| failed(format!("no report of this tool: {e}")))?;
        if report.schema == SCHEMA {
            Ok(report)
        } else {
            Err(failed(format!("schema {}, and this tool reads {SCHEMA}", report.schema)))
        }
    }

    /// Creates the folder of the report and checks that it can be written, before a measurement of hours begins.
    ///
    /// # Errors
    /// One line when it cannot be written.
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
        let failed = |e: &dyn std::fmt::Display| format!("--report {}: {e}", dir.display());
        let json = serde_json::to_string_pretty(self).map_err(|e| failed(&e))?;
        std::fs::write(dir.join(JSON), json + "\n").map_err(|e| failed(&e))?;
        let page = html::page(self, old).map_err(|e| failed(&e))?;
        std::fs::write(dir.join(PAGE), page).map_err(|e| failed(&e))
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        summary::is_empty(&self.metrics)
    }

    /// Summary for standard output.
    pub fn summary(&self, old: Option<&Self>) -> String {
        summary::text(self) + &old.map(|old| compare::text(self, old)).unwrap_or_default()
    }
}
