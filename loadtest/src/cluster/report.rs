//! What a run came to, told and kept.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::fault::{Fault, Happened};
use super::phone::Seen;
use crate::report::Report;

/// Of this report.json: raised when a field changes its meaning or goes.
const SCHEMA: u32 = 1;
/// Broken promises that are told one by one.
const TOLD: usize = 20;

/// A receipt that was decided.
#[derive(Debug, Clone, Copy)]
pub struct Decided {
    /// Since the faults began.
    pub at: Duration,
    /// Since it was first sent.
    pub after: Duration,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub seed: u64,
    pub seconds: u64,
    pub faults: Vec<Happened>,
    pub purchases: Vec<Decided>,
    /// Those that were answered 200.
    pub paid: u64,
    pub back: Vec<Duration>,
    pub ticks: u64,
    pub finals: u64,
    pub lost: u64,
    pub not_back: u64,
    pub broken: Vec<String>,
}

impl Outcome {
    /// What a phone saw.
    pub fn add(&mut self, seen: Seen) {
        self.ticks += seen.ticks;
        self.finals += seen.finals;
        self.lost += seen.lost;
        let not_back = seen.lost.saturating_sub(seen.back.len() as u64);
        if not_back > 0 {
            self.broken.push(format!("a phone is not back: {}", seen.last_error));
        }
        self.not_back += not_back;
        self.back.extend(seen.back);
        self.broken.extend(seen.broken);
    }

    fn taken(&self, wanted: impl Fn(Fault) -> bool) -> Vec<Duration> {
        self.faults.iter().filter(|f| wanted(f.fault)).filter_map(|f| f.taken_after).collect()
    }

    fn moved(&self, wanted: Fault) -> i64 {
        self.faults.iter().filter(|f| f.fault == wanted).map(|f| f.moved).sum()
    }

    /// Receipts that were decided from a fault of this kind on until the next one.
    fn decided(&self, wanted: impl Fn(Fault) -> bool) -> Vec<Duration> {
        let last = |at: Duration| self.faults.iter().rev().find(|f| f.at <= at);
        self.purchases.iter().filter(|p| last(p.at).is_some_and(|f| wanted(f.fault))).map(|p| p.after).collect()
    }

    fn times(&self) -> [(&'static str, &'static str, Vec<Duration>); 10] {
        [
            ("takeover_kill", "takeover after kill -9", self.taken(|f| matches!(f, Fault::Kill(_)))),
            ("takeover_pause", "takeover after SIGSTOP", self.taken(|f| matches!(f, Fault::Pause(_)))),
            ("takeover_stop", "handover after SIGTERM", self.taken(|f| matches!(f, Fault::Stop(_)))),
            ("phones_back", "phones back", self.back.clone()),
            ("purchase", "receipts decided", self.purchases.iter().map(|p| p.after).collect()),
            ("purchase_kill", "  around kill -9", self.decided(|f| matches!(f, Fault::Kill(_)))),
            ("purchase_pause", "  around SIGSTOP", self.decided(|f| matches!(f, Fault::Pause(_)))),
            ("purchase_stop", "  around SIGTERM", self.decided(|f| matches!(f, Fault::Stop(_)))),
            ("purchase_stall", "  around a stall", self.decided(|f| f == Fault::FreezeDatabase)),
            ("purchase_failover", "  around a failover", self.decided(|f| f == Fault::KillPrimary)),
        ]
    }

    pub fn summary(&self) -> String {
        let mut text = "\nFaults\n".to_owned();
        for fault in &self.faults {
            let _ = writeln!(text, "  {}", line(fault));
        }
        let _ = writeln!(text, "\nTimes in s {:>19} {:>7} {:>7} {:>7}", "number", "p50", "p99", "max");
        for (_, name, times) in self.times().into_iter().filter(|(.., times)| !times.is_empty()) {
            let of = Quantiles::of(times);
            let _ = writeln!(text, "  {name:<22} {:>5} {:>7.3} {:>7.3} {:>7.3}", of.count, of.p50, of.p99, of.max);
        }
        let _ = writeln!(
            text,
            "\n{} receipts paid; {} ticks, {} final; {} lines of phones lost, {} not back\n\
             shards moved by a stall of PostgreSQL: {}",
            self.paid,
            self.ticks,
            self.finals,
            self.lost,
            self.not_back,
            self.moved(Fault::FreezeDatabase)
        );
        for why in self.broken.iter().take(TOLD) {
            let _ = writeln!(text, "BROKEN: {why}");
        }
        if self.broken.len() > TOLD {
            let _ = writeln!(text, "BROKEN: and {} more", self.broken.len() - TOLD);
        }
        if self.broken.is_empty() {
            text.push_str("Nothing lost, nothing twice, nobody told what is not so.\n");
        }
        text
    }

    /// Writes `report.json`.
    ///
    /// # Errors
    /// One line when the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), String> {
        Report::make_room(dir)?;
        let mut metrics = serde_json::Map::new();
        for (name, _, times) in self.times() {
            let of = Quantiles::of(times);
            for (what, value) in [("p50_s", of.p50), ("p99_s", of.p99), ("max_s", of.max)] {
                metrics.insert(format!("{name}_{what}"), json!(value));
            }
            metrics.insert(format!("{name}_count"), json!(of.count));
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
        metrics.insert("shards_moved_by_stall".to_owned(), json!(self.moved(Fault::FreezeDatabase)));
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|f| {
                json!({
                    "at_s": f.at.as_secs_f64(), "fault": f.fault.to_string(), "whole_after_s": f.whole_after.as_secs_f64(),
                    "taken_after_s": f.taken_after.map(|t| t.as_secs_f64()), "shards_moved": f.moved,
                })
            })
            .collect();
        let all = json!({
            "schema": SCHEMA, "scenario": "cluster", "seed": self.seed, "seconds": self.seconds, "metrics": metrics,
            "faults": faults, "broken": self.broken,
        });
        let file = dir.join("report.json");
        std::fs::write(&file, format!("{all:#}\n")).map_err(|e| format!("{}: {e}", file.display()))
    }
}

/// A fault as a line of the timeline.
pub fn line(happened: &Happened) -> String {
    let Happened { at, fault, whole_after, taken_after, moved } = happened;
    let taken = taken_after.map(|t| format!(", shards taken after {:.2} s", t.as_secs_f64())).unwrap_or_default();
    format!(
        "{:>7.1} s  {:<20} whole again after {:>5.2} s{taken}, {moved} shards moved",
        at.as_secs_f64(),
        fault.to_string(),
        whole_after.as_secs_f64()
    )
}

/// Seconds.
#[derive(Debug, Default)]
struct Quantiles {
    count: usize,
    p50: f64,
    p99: f64,
    max: f64,
}

impl Quantiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let place = (times.len() as f64 * share).ceil() as usize;
            times.get(place.max(1) - 1).map_or(0.0, Duration::as_secs_f64)
        };
        Self { count: times.len(), p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_seen() {
        let of = Quantiles::of((1..=100).rev().map(Duration::from_secs).collect());
        assert_eq!((of.count, of.p50, of.p99, of.max), (100, 50.0, 99.0, 100.0));
        assert_eq!(Quantiles::of(Vec::new()).max, 0.0);
    }
}
