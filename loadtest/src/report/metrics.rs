//! Table of all figures of reports: name, unit, meaning, and which direction is good. The summary, the thresholds, the comparison, the
//! page and the manual use it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Direction that is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
    /// The figure describes the load.
    Neither,
}

#[derive(Debug)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    pub better: Better,
    /// Sentence for the manual and the page.
    pub meaning: &'static str,
}

const fn less(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, better: Better::Less, meaning }
}

const fn more(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, better: Better::More, meaning }
}

const fn load(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, better: Better::Neither, meaning }
}

/// All figures, in the order in which they are shown.
pub static METRICS: &[Metric] = &[
    load("sessions", "", "Socket.IO sessions that were asked for"),
    load("machines", "", "Machines that were watched or bought"),
    load("subscriptions", "", "Topics of all sessions together"),
    load("prepared_s", "s", "Time that it took to make machines and customers in bulk"),
    load("started_s", "s", "Time that it took to buy and start all machines"),
    load("measured_s", "s", "Length of the measurement"),
    less("sessions_lost", "", "Sessions that broke after they had joined"),
    less("sessions_given_up", "", "Sessions that could not join, or not come back, in five more tries"),
    load("expected", "", "Phase ticks that had to arrive, by docs/contract.md §3 and the measured phase of each outlet"),
    load("deliveries", "", "Phase ticks that arrived, each counted once"),
    more("deliveries_per_s", "/s", "Deliveries in a second of the measurement"),
    less("missed", "", "Phase ticks that did not arrive"),
    less("missed_percent", "%", "Missed, of those expected"),
    less("duplicates", "", "Phase ticks that arrived more than once"),
    less(
        "unexpected",
        "",
        "Ticks that the contract does not allow: within 180 ms of a run's start or end, or after its final tick",
    ),
    less("tl_wrong", "", "Ticks whose tl is not ends_at - server_time"),
    less("tl_not_falling", "", "Ticks whose server_time is not after that of the tick before"),
    less("tick_p50_ms", "ms", "From the moment a phase tick was due until it arrived, half of all"),
    less("tick_p90_ms", "ms", "The same, 90 of 100"),
    less("tick_p99_ms", "ms", "The same, 99 of 100"),
    less("tick_p999_ms", "ms", "The same, 999 of 1,000"),
    less("tick_max_ms", "ms", "The same, the worst"),
    less("late_p50_ms", "ms", "The server's part of it: from the moment a phase tick was due until its server_time, half of all"),
    less("late_p99_ms", "ms", "The same, 99 of 100"),
    less("late_max_ms", "ms", "The same, the worst"),
    less("jitter_p50_ms", "ms", "By how much the time between two ticks of a subscription differs from the period, half of all"),
    less("jitter_p99_ms", "ms", "The same, 99 of 100"),
    less("jitter_p999_ms", "ms", "The same, 999 of 1,000"),
    less("jitter_max_ms", "ms", "The same, the worst"),
    less("clock_error_ms", "ms", "By how much tick_* and final_* may be wrong, because two clocks are compared"),
    load("runs_started", "", "Machine starts that watchers saw"),
    load("ends_within_s", "s", "How far apart the ends of the runs were, the first and the last"),
    load("finals_expected", "", "Final ticks that had to arrive: one a session whose machine was started"),
    load("finals", "", "Final ticks that arrived, each counted once"),
    less(
        "finals_missing",
        "",
        "Final ticks that had not arrived 3 s after the end, and those of sessions that received nothing of the run",
    ),
    less("finals_duplicate", "", "Final ticks that arrived once more"),
    less("finals_early", "", "Final ticks with a server_time before the end"),
    less("given_back", "", "Voided holds of watched machines: machines that did not start"),
    less("final_p50_ms", "ms", "From ends_at until the final tick arrived, half of all"),
    less("final_p99_ms", "ms", "The same, 99 of 100"),
    less("final_max_ms", "ms", "The same, the worst"),
    less("connect_p50_ms", "ms", "From opening a connection until the session had joined, half of all"),
    less("connect_p99_ms", "ms", "The same, 99 of 100"),
    less("connect_max_ms", "ms", "The same, the worst"),
    less("connect_all_s", "s", "From the first connection until every session had joined and subscribed"),
    less("subscribe_p50_ms", "ms", "From asking for a topic until its answer, half of all"),
    less("subscribe_p99_ms", "ms", "The same, 99 of 100"),
    less("storm_all_s", "s", "From the moment all sessions hung up until all were back with their topics; the slowest storm"),
    less("sessions_not_back", "", "Sessions that a storm lost: given up, or not back after --back-within; the worst storm"),
    less(
        "listener_overflows",
        "",
        "Connections that a listener of this machine had no room for, in all storms; not known for a server on another machine",
    ),
    load("planned", "", "Purchases, journeys or presses that the plan had"),
    more("done", "", "Those that were completed"),
    less("failed", "", "Those that did not, whatever the reason"),
    more("done_per_s", "/s", "Done in a second of the measurement"),
    less("behind_max_ms", "ms", "The longest that the tool itself began something after its planned moment"),
    less("scan_p50_ms", "ms", "From the planned moment until get_layanan was answered, half of all"),
    less("scan_p99_ms", "ms", "The same, 99 of 100"),
    less("pay_p50_ms", "ms", "Of create_snap_transaksi, the simulated device included, half of all"),
    less("pay_p99_ms", "ms", "The same, 99 of 100"),
    less("pay_max_ms", "ms", "The same, the worst"),
    less("devices_there_s", "s", "From the first key until all devices have logged in"),
    less("devices_back_p99_s", "s", "From the cut of all lines until a device is there again, 99 of 100"),
    less("devices_back_max_s", "s", "The same, the last"),
    less("devices_not_back", "", "Devices that were not there again in two minutes"),
    less("refused", "", "Calls that the overloaded server refused (503, `sedang ramai, mencoba lagi`), each time counted"),
    more("capacity_per_s", "/s", "Purchases in a second with which `overload` began: measured, or its --capacity"),
    more("twice_done_percent", "%", "Of `overload`: purchases paid at twice the capacity, of the capacity"),
    less("twice_answer_p99_ms", "ms", "Of `overload`: time of an answered scan or payment at twice the capacity, 99 of 100"),
    less("pay_503", "", "Answers 503 to pay: the server was busy; it was asked again with the same receipt"),
    less("pay_504", "", "Answers 504 to pay: no message of the device in time; the request was repeated with the same receipt"),
    less("pay_unanswered", "", "Payments whose answer was lost; it was asked again with the same receipt"),
    less(
        "total_p50_ms",
        "ms",
        "From the planned moment until the machine was paid and ran, or the top-up was answered, half of all",
    ),
    less("total_p99_ms", "ms", "The same, 99 of 100"),
    less("total_max_ms", "ms", "The same, the worst"),
    load("presses", "", "Presses of pay on contended machines"),
    load("winners", "", "Presses that were answered 200"),
    less("rounds_without_one_winner", "", "Contended machines that had not exactly one winner"),
    less("balances_wrong", "", "Customers whose balance differs from what the tool paid in less what it bought"),
    less("balances_unknown", "", "Customers whose balance the server did not return"),
    load("balances_checked", "", "Customers whose balance was looked at"),
    less("audit_unknown", "", "1 when `nyala audit verify` was to run and could not be started"),
    less("audit_broken", "", "1 when `nyala audit verify` found a broken row, 0 when it found none"),
    less("errors", "", "Errors of all kinds together"),
    less("server_cpu_percent", "%", "Processor time of the server's process, 100 is one core"),
    less("server_cpu_us_per_delivery", "us", "The same, a delivered frame"),
    less("server_rss_mib", "MiB", "Largest resident memory of the server's process"),
    less("server_rss_kib_per_session", "KiB", "The same, less what it had before the sessions joined, a session"),
    less("server_rss_slope_mib_per_h", "MiB/h", "How fast it grew over the second half of the measurement"),
    less("tool_cpu_percent", "%", "Processor time of the tool's busiest thread, 100 is the most that it can"),
    less(
        "tool_wait_percent",
        "%",
        "Time that the tool's threads were ready and had no processor, the worse one's, 100 is all the time",
    ),
    less("tool_cpu_us_per_delivery", "us", "Processor time of the tool's sessions, a delivered frame"),
];

/// # Errors
/// One line with similar names.
pub fn find(name: &str) -> Result<&'static Metric, String> {
    METRICS.iter().find(|m| m.name == name).ok_or_else(|| {
        let first = name.split('_').next().unwrap_or(name);
        let like: Vec<&str> = METRICS.iter().map(|m| m.name).filter(|known| known.contains(first)).collect();
        let like = if first.is_empty() || like.is_empty() { String::new() } else { format!("there are {}; ", like.join(", ")) };
        format!("there is no metric `{name}`; {like}docs/loadtest.md lists all")
    })
}

/// Values of figures, by the names of the table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<String, f64>);

impl Values {
    /// Rounds to three decimal places: no figure is more precise.
    pub fn set(&mut self, name: &'static str, value: f64) {
        debug_assert!(find(name).is_ok(), "{name}");
        if value.is_finite() {
            self.0.insert(name.to_owned(), (value * 1000.0).round() / 1000.0);
        }
    }

    pub fn count(&mut self, name: &'static str, value: u64) {
        self.set(name, value as f64);
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Figures that have a value, in the table's order.
    pub fn in_order(&self) -> impl Iterator<Item = (&'static Metric, f64)> {
        METRICS.iter().filter_map(|m| self.get(m.name).map(|v| (m, v)))
    }
}

/// Formats a number for people: with separators of thousands, and decimal places only for small numbers.
pub fn shown(value: f64, unit: &str) -> String {
    let places = match value.abs() {
        v if v.fract() == 0.0 || v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), String::new()), |(w, r)| (w, format!(".{r}")));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |d| ("-", d));
    let mut grouped = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let space = if unit.is_empty() || unit.starts_with('/') { "" } else { " " };
    format!("{sign}{grouped}{rest}{space}{unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_once() {
        let mut names: Vec<&str> = METRICS.iter().map(|m| m.name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
        let error = find("tick_p98_ms").unwrap_err();
        assert!(error.contains("tick_p98_ms") && error.contains("tick_p99_ms"), "{error}");
    }

    #[test]
    fn the_manual_has_every_figure() {
        let manual = include_str!("../../../docs/loadtest.md");
        for m in METRICS {
            let row = format!("| `{}` | {} | {} |", m.name, m.unit, m.meaning);
            assert!(manual.contains(&row), "docs/loadtest.md needs the row: {row}");
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(shown(1_234_567.0, ""), "1,234,567");
        assert_eq!(shown(12.3456, "ms"), "12.35 ms");
        assert_eq!(shown(0.25, "%"), "0.250 %");
        assert_eq!(shown(-1500.0, "/s"), "-1,500/s");
    }
}
