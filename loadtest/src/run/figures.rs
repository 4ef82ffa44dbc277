//! Computes the figures of a measurement.

use super::Measurement;
use crate::engine::stats::Times;
use crate::options::shown_command;
use crate::report::metrics::{Values, shown};
use crate::report::{Distribution, Report, SCHEMA};
use crate::target::Target;

/// Load of the tool, in percent of a core, above which the tool and not the server is the limit.
const TOOL_BUSY_PERCENT: f64 = 85.0;
/// Share of the time in percent: a thread that waited longer for a processor has read many ticks late.
const TOOL_WAITED_PERCENT: f64 = 5.0;
/// Delay in milliseconds: a purchase that the tool began later than this measures the tool, not the server.
const TOOL_BEHIND_MS: f64 = 100.0;
const US_PER_MS: f64 = 1000.0;
/// Calls with a rate limit, and the settings of that limit.
const LIMITS: [(&str, &str); 2] = [
    (
        "request_otp",
        "NYALA__AUTH__OTP_PER_IP_HOUR (codes to one address, 60 by default) or NYALA__AUTH__OTP_PER_HOUR (to all, 2000)",
    ),
    ("pay", "NYALA__PURCHASE__PER_CUSTOMER_MINUTE (60 by default)"),
];

impl Measurement {
    /// Computes all figures.
    pub fn report(mut self, target: &Target) -> Report {
        self.end();
        self.ui.end_part();
        self.set_sessions();
        self.set_deeds();
        self.set_cost();
        self.note_limits();
        let names = [("tick", &self.spans.tick), ("jitter", &self.spans.jitter), ("final", &self.spans.last)];
        let mut distributions: Vec<Distribution> =
            names.iter().filter_map(|(name, times)| Distribution::of(name, times)).collect();
        distributions.extend(Distribution::of("total", &self.deeds.total));
        let mut report = Report {
            schema: SCHEMA,
            tool: format!("nyala-loadtest {}", env!("CARGO_PKG_VERSION")),
            scenario: self.scenario.to_owned(),
            command: shown_command(),
            target: target.url.clone(),
            started_at: self.started_at,
            interrupted: self.interrupt.came(),
            machine: machine(),
            metrics: self.values,
            errors: Vec::new(),
            notes: self.notes,
            timeline: self.timeline.points(),
            distributions,
        };
        report.set_errors(&self.errors);
        report
    }

    fn set_sessions(&mut self) {
        let (v, c, s) = (&mut self.values, &self.counters, &self.spans);
        if v.get("sessions").is_some() {
            v.count("sessions_lost", c.lost);
            v.count("sessions_given_up", c.given_up);
        }
        if c.expected > 0 || !s.tick.is_empty() {
            v.count("expected", c.expected);
            v.count("deliveries", c.deliveries);
            v.count("missed", c.missed);
            v.set("missed_percent", c.missed as f64 / c.expected.max(1) as f64 * 100.0);
            for (name, n) in [
                ("duplicates", c.duplicates),
                ("unexpected", c.unexpected),
                ("tl_wrong", c.tl_wrong),
                ("tl_not_falling", c.tl_not_falling),
            ] {
                v.count(name, n);
            }
        }
        if c.finals + c.finals_missing > 0 || v.get("finals_expected").is_some() {
            v.count("runs_started", c.starts);
            v.count("finals", c.finals);
            v.count("finals_missing", c.finals_missing);
            v.count("finals_duplicate", c.finals_duplicate);
            v.count("finals_early", c.finals_early);
            v.count("given_back", c.given_back);
        }
        quantiles(
            v,
            &s.tick,
            &[("tick_p50_ms", 0.5), ("tick_p90_ms", 0.9), ("tick_p99_ms", 0.99), ("tick_p999_ms", 0.999), ("tick_max_ms", 1.0)],
        );
        quantiles(v, &s.late, &[("late_p50_ms", 0.5), ("late_p99_ms", 0.99), ("late_max_ms", 1.0)]);
        quantiles(
            v,
            &s.jitter,
            &[("jitter_p50_ms", 0.5), ("jitter_p99_ms", 0.99), ("jitter_p999_ms", 0.999), ("jitter_max_ms", 1.0)],
        );
        quantiles(v, &s.last, &[("final_p50_ms", 0.5), ("final_p99_ms", 0.99), ("final_max_ms", 1.0)]);
        quantiles(v, &s.connect, &[("connect_p50_ms", 0.5), ("connect_p99_ms", 0.99), ("connect_max_ms", 1.0)]);
        quantiles(v, &s.subscribe, &[("subscribe_p50_ms", 0.5), ("subscribe_p99_ms", 0.99)]);
        if let Some(us) = self.clock_error_us.filter(|_| !s.tick.is_empty() || !s.last.is_empty()) {
            v.set("clock_error_ms", us as f64 / US_PER_MS);
        }
    }

    fn set_deeds(&mut self) {
        let (v, d) = (&mut self.values, &self.deeds);
        if d.planned > 0 {
            v.count("planned", d.planned);
            v.count("done", d.done);
            v.count("failed", d.failed);
        }
        quantiles(v, &d.behind, &[("behind_max_ms", 1.0)]);
        quantiles(v, &d.scan, &[("scan_p50_ms", 0.5), ("scan_p99_ms", 0.99)]);
        quantiles(v, &d.pay, &[("pay_p50_ms", 0.5), ("pay_p99_ms", 0.99), ("pay_max_ms", 1.0)]);
        quantiles(v, &d.total, &[("total_p50_ms", 0.5), ("total_p99_ms", 0.99), ("total_max_ms", 1.0)]);
    }

    /// Settings of the server with which the requests refused with 429 would be allowed.
    fn note_limits(&mut self) {
        for (call, settings) in LIMITS {
            let kind = format!("{call} answered 429");
            let refused: u64 = self.errors.iter().filter(|(of, _)| *of == kind).map(|(_, n)| n).sum();
            if refused > 0 {
                self.note(&format!(
                    "{} of {call} were refused by a limit of the server (429): start it with a higher {settings}.",
                    shown(refused as f64, "")
                ));
            }
        }
    }

    fn set_cost(&mut self) {
        let c = self.cost;
        if c.seconds <= 0.0 {
            return;
        }
        let percent = |us: u64| us as f64 / c.seconds / 10_000.0;
        if c.frames > 0 {
            self.values.set("tool_cpu_us_per_delivery", c.engine_us as f64 / c.frames as f64);
        }
        let busiest = percent(c.engine_us.max(c.main_us));
        self.values.set("tool_cpu_percent", busiest);
        let waited = percent(c.engine_wait_us.max(c.main_wait_us));
        self.values.set("tool_wait_percent", waited);
        if let Some(warning) = tool_was_the_limit(busiest, waited, self.deeds.behind.max_ms()) {
            self.notes.insert(0, warning);
        }
        let Some(pid) = self.server_pid else { return };
        self.values.set("server_cpu_percent", percent(c.server_us));
        if c.frames > 0 {
            self.values.set("server_cpu_us_per_delivery", c.server_us as f64 / c.frames as f64);
        }
        if self.last_server.is_none() {
            self.note(&format!("The server's process {pid} was gone before the end."));
        }
        self.values.set("server_rss_mib", self.rss_max_kib as f64 / 1024.0);
        if let Some(sessions) = self.values.get("sessions").filter(|n| *n > 0.0) {
            // A use of 0 means that the measurement was too short.
            if let Some(grown) = self.rss_max_kib.checked_sub(self.rss_before_kib).filter(|kib| *kib > 0) {
                self.values.set("server_rss_kib_per_session", grown as f64 / sessions);
            } else {
                self.note(
                    "Memory of a session: not measured, the server's did not grow while they joined. Give more --sessions.",
                );
            }
        }
        if let Some(slope) = self.timeline.rss_slope_mib_per_h() {
            self.values.set("server_rss_slope_mib_per_h", slope);
        }
    }
}

/// Warnings when the tool cannot have measured the server correctly.
fn tool_was_the_limit(busiest: f64, waited: f64, behind_ms: f64) -> Option<String> {
    let (why, instead) = if busiest >= TOOL_BUSY_PERCENT {
        (
            format!("its busiest thread took {busiest:.0} % of a core"),
            "use fewer sessions, or a second process or machine for some of them",
        )
    } else if waited >= TOOL_WAITED_PERCENT {
        (
            format!("a thread of it was ready {waited:.0} % of the time and had no core"),
            "give it cores of its own (taskset), or let nothing else run",
        )
    } else if behind_ms >= TOOL_BEHIND_MS {
        (
            format!("it began something {behind_ms:.0} ms after its planned moment"),
            "let it do less, or give it cores of its own (taskset)",
        )
    } else {
        return None;
    };
    Some(format!("The tool was the limit, not the server: {why}. Times are partly its own; {instead}."))
}

fn quantiles(values: &mut Values, times: &Times, wanted: &[(&'static str, f64)]) {
    if times.is_empty() {
        return;
    }
    for (name, quantile) in wanted {
        values.set(name, if *quantile >= 1.0 { times.max_ms() } else { times.quantile_ms(*quantile) });
    }
}

/// Description of the machine.
fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")).map_or("?", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores of {model}, Linux {}", release.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_works_or_waits_too_much_says_so() {
        assert_eq!(tool_was_the_limit(84.0, 4.0, 99.0), None);
        assert!(tool_was_the_limit(85.0, 0.0, 0.0).unwrap().contains("its busiest thread took 85 % of a core"));
        assert!(tool_was_the_limit(10.0, 12.0, 0.0).unwrap().contains("ready 12 % of the time"));
        assert!(tool_was_the_limit(10.0, 0.0, 100.0).unwrap().contains("100 ms after its planned moment"));
    }
}
