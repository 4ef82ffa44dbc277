//! What the criterion benches measured, beside the last figures that were kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{BenchError, results};

/// A change of less is noise, in per cent.
const NOISE: f64 = 5.0;

#[derive(Debug, Args)]
pub struct Table {
    /// Where criterion puts what it measures
    #[arg(long, default_value = "target/criterion")]
    criterion: PathBuf,
    /// The figures that are kept
    #[arg(long, default_value = "bench/criterion.json")]
    kept: PathBuf,
    /// Keep these in their place
    #[arg(long)]
    keep: bool,
}

/// What was measured by the bench's name, and the circumstances of the newest measurement.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    circumstances: String,
    medians: BTreeMap<String, Median>,
}

/// Figures are compared only when they are of one machine and one compiler: others differ by more than any change of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Median {
    ns: f64,
    machine: String,
}

/// The parts that are read of criterion's `new/benchmark.json` and `new/estimates.json`.
#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

impl Table {
    /// Prints the table, and keeps the figures when asked to: those that were not measured stay.
    ///
    /// # Errors
    /// When nothing was measured, or a file is not what it should be.
    pub fn run(&self) -> Result<(), BenchError> {
        let mut now = BTreeMap::new();
        collect(&self.criterion, &mut now)?;
        if now.is_empty() {
            return Err(format!("nothing was measured in {}: make bench", self.criterion.display()).into());
        }
        let mut kept: Kept = match fs::read(&self.kept) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Kept::default(),
            read => serde_json::from_slice(&read?)?,
        };
        let machine = results::machine();
        let now = now.into_iter().map(|(name, ns)| (name, Median { ns, machine: machine.clone() })).collect();
        print!("{}", table(&now, &kept.medians));
        if !kept.circumstances.is_empty() {
            println!("last: {}", kept.circumstances);
        }
        if self.keep {
            kept.circumstances = results::circumstances()?;
            kept.medians.extend(now);
            fs::write(&self.kept, serde_json::to_string_pretty(&kept)? + "\n")?;
        }
        Ok(())
    }
}

/// Every measured median below `dir`, by its name.
fn collect(dir: &Path, found: &mut BTreeMap<String, f64>) -> Result<(), BenchError> {
    for entry in fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        if path.file_name().is_some_and(|name| name == "new") {
            let benchmark: Benchmark = serde_json::from_slice(&fs::read(path.join("benchmark.json"))?)?;
            let estimates: Estimates = serde_json::from_slice(&fs::read(path.join("estimates.json"))?)?;
            found.insert(benchmark.full_id, estimates.median.point_estimate);
        } else {
            collect(&path, found)?;
        }
    }
    Ok(())
}

fn table(now: &BTreeMap<String, Median>, last: &BTreeMap<String, Median>) -> String {
    let mut text = format!("{:<44} {:>12} {:>12} {:>13}\n", "", "now", "last", "change");
    for (name, now) in now {
        let (before, change) = match last.get(name) {
            Some(before) if before.machine == now.machine => (duration(before.ns), change(now.ns, before.ns)),
            Some(before) => (duration(before.ns), "other machine".to_owned()),
            None => ("-".to_owned(), "new".to_owned()),
        };
        text += &format!("{name:<44} {:>12} {before:>12} {change:>13}\n", duration(now.ns));
    }
    text
}

/// In per cent; what is more than noise and slower is marked.
fn change(now: f64, before: f64) -> String {
    let percent = 100.0 * (now - before) / before;
    format!("{percent:+.1} %{}", if percent > NOISE { " !" } else { "" })
}

fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_step_is_marked_and_one_of_another_machine_is_not_compared() {
        let on = |machine: &str, ns| Median { ns, machine: machine.to_owned() };
        let one = |name: &str, median| (name.to_owned(), median);
        let now = BTreeMap::from([
            one("codec/a", on("one", 120.0)),
            one("codec/b", on("one", 2.5e6)),
            one("codec/c", on("one", 99.0)),
            one("codec/d", on("one", 40.0)),
        ]);
        let last = BTreeMap::from([
            one("codec/a", on("one", 100.0)),
            one("codec/c", on("one", 100.0)),
            one("codec/d", on("two", 100.0)),
        ]);
        let table = table(&now, &last);
        let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["codec/a", "120.0", "ns", "100.0", "ns", "+20.0", "%", "!"]);
        assert_eq!(rows[1], ["codec/b", "2.50", "ms", "-", "new"]);
        assert_eq!(rows[2], ["codec/c", "99.0", "ns", "100.0", "ns", "-1.0", "%"]);
        assert_eq!(rows[3], ["codec/d", "40.0", "ns", "100.0", "ns", "other", "machine"]);
    }
}
