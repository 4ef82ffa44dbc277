//! Output of the results: on the terminal, and as report.json and report.html.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::fault::InjectedFault;
use super::outcome::Outcome;
use super::page;
use crate::report::Report;

/// Version of report.json: raised when a field is removed or changes its meaning.
const SCHEMA: u32 = 2;
/// Greatest number of broken guarantees that are printed one by one.
const MAX_REPORTED: usize = 20;
pub const FINE: &str = "Nothing lost, nothing twice, nobody told what is not so.";

impl Outcome {
    pub fn summary(&self) -> String {
        let mut text = format!("\nNews: {}\n\nFaults\n", self.notifications);
        for fault in &self.faults {
            let _ = writeln!(text, "  {}", line(fault));
        }
        let _ = writeln!(text, "\nTimes in s {:>31} {:>7} {:>7} {:>7}", "number", "p50", "p99", "max");
        for times in self.times().iter().filter(|times| times.of.count > 0) {
            let of = &times.of;
            let _ = writeln!(text, "  {:<34} {:>5} {:>7.3} {:>7.3} {:>7.3}", times.shown, of.count, of.p50, of.p99, of.max);
        }
        let slowest = self.slowest();
        if !slowest.is_empty() {
            let _ = writeln!(text, "\nSlowest purchases");
        }
        for (kind, purchase) in slowest {
            let (at, after) = (purchase.at.as_secs_f64(), purchase.after.as_secs_f64());
            let _ = writeln!(text, "  {after:>6.3} s around {kind}, until {at:.1} s; {}", purchase.answers);
        }
        let _ = writeln!(text, "\n{}", self.counted());
        for why in self.broken.iter().take(MAX_REPORTED) {
            let _ = writeln!(text, "BROKEN: {why}");
        }
        if self.broken.len() > MAX_REPORTED {
            let _ = writeln!(text, "BROKEN: and {} more", self.broken.len() - MAX_REPORTED);
        }
        if self.broken.is_empty() {
            let _ = writeln!(text, "{FINE}");
        }
        text
    }

    /// Counters.
    pub fn counted(&self) -> String {
        format!(
            "{} receipts paid; {} ticks, {} final; {} lines of phones lost, {} not back; shards moved by stalls of PostgreSQL: {}",
            self.paid,
            self.ticks,
            self.finals,
            self.lost,
            self.not_back,
            self.moved_by_stalls()
        )
    }

    /// Writes `report.json` and `report.html`.
    ///
    /// # Errors
    /// One line when the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), String> {
        Report::make_room(dir)?;
        for (name, text) in [("report.json", format!("{:#}\n", self.json())), ("report.html", page::page(self))] {
            let file = dir.join(name);
            std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let mut metrics = serde_json::Map::new();
        for times in self.times() {
            for (what, value) in [("p50_s", times.of.p50), ("p99_s", times.of.p99), ("max_s", times.of.max)] {
                metrics.insert(format!("{}_{what}", times.name), json!(value));
            }
            metrics.insert(format!("{}_count", times.name), json!(times.of.count));
        }
        for (name, value) in [
            ("paid", self.paid),
            ("ticks", self.ticks),
            ("finals", self.finals),
            ("phones_lost", self.lost),
            ("phones_not_back", self.not_back),
        ] {
            metrics.insert(name.to_owned(), json!(value));
        }
        metrics.insert("shards_moved_by_stall".to_owned(), json!(self.moved_by_stalls()));
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|f| {
                json!({
                    "at_s": f.at.as_secs_f64(), "fault": f.fault.to_string(), "kind": f.fault.kind().name(),
                    "whole_after_s": f.whole_after.as_secs_f64(), "taken_after_s": f.taken_after.map(|t| t.as_secs_f64()),
                    "shards_moved": f.moved,
                })
            })
            .collect();
        let slowest = self.slowest().into_iter().map(
            |(kind, p)| json!({ "around": kind, "at_s": p.at.as_secs_f64(), "after_s": p.after.as_secs_f64(), "story": p.answers }),
        );
        let slowest: Vec<Value> = slowest.collect();
        json!({
            "schema": SCHEMA, "scenario": "cluster", "seed": self.seed, "seconds": self.seconds, "news": self.notifications,
            "metrics": metrics, "slowest": slowest, "faults": faults, "broken": self.broken,
        })
    }
}

/// A fault as an entry of the timeline.
pub fn line(injected: &InjectedFault) -> String {
    let InjectedFault { at, fault, whole_after, taken_after, moved } = injected;
    let taken = taken_after.map(|t| format!(", shards taken after {:.2} s", t.as_secs_f64())).unwrap_or_default();
    let moved = moved.map(|n| format!(", {n} shards moved")).unwrap_or_default();
    format!(
        "{:>7.1} s  {:<23} whole again after {:>5.2} s{taken}{moved}",
        at.as_secs_f64(),
        fault.to_string(),
        whole_after.as_secs_f64()
    )
}
