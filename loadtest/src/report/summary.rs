//! Summary on standard output: the settings, the results and the problems.

use std::fmt::Write as _;

use super::Report;
use super::metrics::{Better, Values, shown};

/// Figures that must be 0.
const FAULTS: [&str; 18] = [
    "missed",
    "duplicates",
    "unexpected",
    "tl_wrong",
    "tl_not_falling",
    "finals_missing",
    "finals_duplicate",
    "finals_early",
    "sessions_lost",
    "sessions_given_up",
    "failed",
    "sessions_not_back",
    "rounds_without_one_winner",
    "balances_wrong",
    "balances_unknown",
    "audit_broken",
    "errors",
    "missed_percent",
];

/// Figures of which at least one is needed: without any of them nothing was measured.
const MEASURED: [&str; 4] = ["deliveries", "finals", "done", "storm_all_s"];
pub const CLEAN: &str = "Clean: no fault was seen.";

pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let end = if report.interrupted { ", ended by Ctrl-C" } else { "" };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{} against {}{end}\n", report.scenario, report.target);
    for (metric, value) in report.metrics.in_order() {
        let mark = if is_fault(metric.name, value) { "!" } else { " " };
        let _ = writeln!(out, " {mark} {:<28} {:>16}", metric.name, shown(value, metric.unit));
    }
    if !report.errors.is_empty() {
        let _ = writeln!(out, "\nErrors");
        for (kind, n) in &report.errors {
            let _ = writeln!(out, " ! {kind:<44} {:>12}", shown(*n as f64, ""));
        }
    }
    for note in &report.notes {
        let _ = writeln!(out, "\n{note}");
    }
    let _ = writeln!(out, "\n{}", verdict(&report.metrics));
    out
}

pub fn is_fault(name: &str, value: f64) -> bool {
    value > 0.0 && FAULTS.contains(&name)
}

/// Verdict, in one line.
pub fn verdict(values: &Values) -> String {
    let faults: Vec<String> = values
        .in_order()
        .filter(|(m, v)| m.better != Better::Neither && is_fault(m.name, *v))
        .map(|(m, v)| format!("{} {}", m.name, shown(v, m.unit)))
        .collect();
    if !faults.is_empty() {
        format!("Faults were seen: {}.", faults.join(", "))
    } else if is_empty(values) {
        "Nothing was measured.".to_owned()
    } else {
        CLEAN.to_owned()
    }
}

/// Whether nothing was measured.
pub fn is_empty(values: &Values) -> bool {
    !MEASURED.iter().any(|name| values.get(name).is_some_and(|n| n > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_is_only_what_was_seen() {
        let mut values = Values::default();
        values.count("missed", 0);
        assert_eq!(verdict(&values), "Nothing was measured.");
        values.count("deliveries", 1);
        assert_eq!(verdict(&values), CLEAN);
        values.count("missed", 1);
        assert_eq!(verdict(&values), "Faults were seen: missed 1.");
    }
}
