//! A measurement under way: it takes what the engine tells, watches the server's process and its own, and becomes a report.

use std::time::{Duration, Instant, SystemTime};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::engine::stats::{Counters, Errors, Second, Spans, Times};
use crate::engine::{Engine, Report as Told};
use crate::interrupt::Interrupt;
use crate::options::{Common, shown_command};
use crate::process::Used;
use crate::report::metrics::{Values, shown};
use crate::report::{Distribution, Point, Report, SCHEMA};
use crate::target::Target;
use crate::timeline::Timeline;
use crate::ui::Ui;

/// From here on the tool is the limit and not the server, in percent of a core.
const TOOL_BUSY_PERCENT: f64 = 85.0;
const MS: f64 = 1000.0;

/// Purchases, journeys and presses: what they came to.
#[derive(Debug)]
pub struct Deeds {
    pub planned: u64,
    pub done: u64,
    pub failed: u64,
    pub scan: Times,
    pub pay: Times,
    /// From the planned moment.
    pub total: Times,
    /// By how much the tool began late.
    pub behind: Times,
}

impl Deeds {
    /// # Errors
    /// As [`Times::new`].
    pub fn new() -> Result<Self, String> {
        let new = Times::new;
        Ok(Self { planned: 0, done: 0, failed: 0, scan: new()?, pay: new()?, total: new()?, behind: new()? })
    }
}

/// What was used while it was measured.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    seconds: f64,
    frames: u64,
    engine_us: u64,
    main_us: u64,
    server_us: u64,
}

pub struct Run {
    pub ui: Ui,
    pub interrupt: Interrupt,
    pub values: Values,
    pub counters: Counters,
    pub spans: Spans,
    pub errors: Errors,
    pub deeds: Deeds,
    /// What this second brought of the deeds, for the timeline.
    pub latest: (u64, Times),
    pub live: usize,
    timeline: Timeline,
    notes: Vec<String>,
    scenario: &'static str,
    server_pid: Option<u32>,
    last_server: Option<Used>,
    last_main_us: u64,
    rss_before_kib: u64,
    rss_max_kib: u64,
    measuring: Option<Instant>,
    cost: Cost,
    clock_error_us: Option<i64>,
    started_at: i64,
}

impl Run {
    /// # Errors
    /// One line when the server's process is not there.
    pub fn new(scenario: &'static str, common: &Common, interrupt: Interrupt) -> Result<Self, String> {
        let last_server = common.server_pid.map(Used::of).transpose()?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            ui: Ui::new(common.quiet),
            interrupt,
            values: Values::default(),
            counters: Counters::default(),
            spans: Spans::new()?,
            errors: Errors::default(),
            deeds: Deeds::new()?,
            latest: (0, Times::new()?),
            live: 0,
            timeline: Timeline::default(),
            notes: Vec::new(),
            scenario,
            server_pid: common.server_pid,
            last_server,
            last_main_us: main_cpu_us(),
            rss_before_kib: last_server.map_or(0, |u| u.rss_kib),
            rss_max_kib: 0,
            measuring: None,
            cost: Cost::default(),
            clock_error_us: None,
            started_at: i64::try_from(since_1970.as_millis()).unwrap_or(0),
        })
    }

    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Memory is compared with that of now: call it before sessions join.
    pub fn before_sessions(&mut self) {
        self.rss_before_kib = self.server_used().map_or(0, |u| u.rss_kib);
    }

    /// From now on cost and timeline are kept.
    pub fn begin(&mut self) {
        self.last_server = self.server_used();
        self.last_main_us = main_cpu_us();
        self.measuring = Some(Instant::now());
    }

    pub fn end(&mut self) {
        if let Some(began) = self.measuring.take() {
            self.values.set("measured_s", began.elapsed().as_secs_f64());
        }
    }

    /// Since the measurement began.
    pub fn elapsed(&self) -> Duration {
        self.measuring.map_or(Duration::ZERO, |began| began.elapsed())
    }

    fn server_used(&self) -> Option<Used> {
        self.server_pid.and_then(|pid| Used::of(pid).ok())
    }

    /// Takes what the engine tells until `deadline`, Ctrl-C, or until `done` says so of a report. `false` after Ctrl-C.
    ///
    /// # Errors
    /// When the engine has ended by itself.
    pub async fn take(
        &mut self,
        engine: &mut Engine,
        deadline: Instant,
        mut done: impl FnMut(&mut Self, &Told) -> bool,
    ) -> Result<bool, String> {
        let interrupt = self.interrupt.clone();
        loop {
            let told = tokio::select! {
                told = engine.next() => told.ok_or("the engine of the sessions ended by itself")?,
                () = tokio::time::sleep_until(deadline.into()) => return Ok(true),
                () = interrupt.wait() => return Ok(false),
            };
            if let Told::Second(second) = &told {
                self.second(second);
            }
            if done(self, &told) {
                return Ok(true);
            }
        }
    }

    /// For scenarios without sessions: what the last while brought.
    ///
    /// # Errors
    /// As [`Second::new`].
    pub fn sample(&mut self) -> Result<(), String> {
        let mut second = Second::new()?;
        second.seconds = (self.elapsed().as_secs_f64() - self.cost.seconds).max(0.001);
        self.second(&second);
        Ok(())
    }

    /// Takes what a second brought.
    pub fn second(&mut self, second: &Second) {
        self.counters += second.counters;
        self.spans.add(&second.spans);
        self.errors.merge(&second.errors);
        self.live = second.live;
        self.clock_error_us = second.clock_error_us.or(self.clock_error_us);
        let server = self.server_used();
        self.rss_max_kib = self.rss_max_kib.max(server.map_or(0, |u| u.rss_kib));
        let main_us = main_cpu_us();
        if let Some(began) = self.measuring {
            let server_us = server.zip(self.last_server).map(|(now, before)| now.cpu_us.saturating_sub(before.cpu_us));
            let main = main_us.saturating_sub(self.last_main_us);
            self.cost.seconds += second.seconds;
            self.cost.frames += second.counters.frames;
            self.cost.engine_us += second.cpu_us;
            self.cost.main_us += main;
            self.cost.server_us += server_us.unwrap_or(0);
            let percent = |us: u64| us as f64 / second.seconds / 10_000.0;
            let (done, total) = &self.latest;
            self.timeline.add(Point {
                at_s: began.elapsed().as_secs_f64(),
                seconds: second.seconds,
                frames: second.counters.frames,
                missed: second.counters.missed,
                duplicates: second.counters.duplicates,
                errors: second.errors.total(),
                done: *done,
                live: second.live as u64,
                tick_p50_ms: second.spans.tick.quantile_ms(0.5),
                tick_p99_ms: second.spans.tick.quantile_ms(0.99),
                tick_max_ms: second.spans.tick.max_ms(),
                total_p50_ms: total.quantile_ms(0.5),
                total_p99_ms: total.quantile_ms(0.99),
                server_cpu_percent: server_us.map(percent),
                server_rss_mib: server.map(|u| u.rss_kib as f64 / 1024.0),
                tool_cpu_percent: percent(second.cpu_us.max(main)),
            });
        }
        self.latest.0 = 0;
        self.latest.1.clear();
        self.last_server = server;
        self.last_main_us = main_us;
    }

    /// The live line about a second.
    pub fn line(&self, second: &Second) -> String {
        let counters = &second.counters;
        let mut line = format!(
            "{} ticks/s, late p50 {} p99 {} max {}",
            shown((counters.frames as f64 / second.seconds.max(0.001)).round(), ""),
            shown(second.spans.tick.quantile_ms(0.5), ""),
            shown(second.spans.tick.quantile_ms(0.99), ""),
            shown(second.spans.tick.max_ms(), "ms"),
        );
        let all = &self.counters;
        for (n, what) in [(all.missed, "missed"), (all.duplicates, "doubled"), (self.errors.total(), "errors")] {
            if n > 0 {
                line += &format!(", {} {what}", shown(n as f64, ""));
            }
        }
        line
    }

    /// Everything together.
    pub fn report(mut self, target: &Target) -> Report {
        self.end();
        self.ui.end_part();
        self.set_sessions();
        self.set_deeds();
        self.set_cost();
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
        if c.finals + c.finals_missing > 0 {
            v.count("runs_started", c.starts);
            v.count("finals", c.finals);
            v.count("finals_missing", c.finals_missing);
            v.count("finals_duplicate", c.finals_duplicate);
            v.count("finals_early", c.finals_early);
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
            v.set("clock_error_ms", us as f64 / MS);
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
        if busiest >= TOOL_BUSY_PERCENT {
            let warning = format!(
                "The tool was the limit, not the server: its busiest thread took {busiest:.0} % of a core. Lateness and jitter are \
                 partly its own; use fewer sessions, or a second process or machine for some of them."
            );
            self.notes.insert(0, warning);
        }
        let Some(pid) = self.server_pid else { return };
        self.values.set("server_cpu_percent", percent(c.server_us));
        if c.frames > 0 {
            self.values.set("server_cpu_us_per_delivery", c.server_us as f64 / c.frames as f64);
        }
        if self.rss_max_kib == 0 {
            self.note(&format!("The server's process {pid} was gone before the end."));
        }
        self.values.set("server_rss_mib", self.rss_max_kib as f64 / 1024.0);
        if let Some(sessions) = self.values.get("sessions").filter(|n| *n > 0.0) {
            let grown = self.rss_max_kib.saturating_sub(self.rss_before_kib);
            self.values.set("server_rss_kib_per_session", grown as f64 / sessions);
        }
        if let Some(slope) = self.timeline.rss_slope_mib_per_h() {
            self.values.set("server_rss_slope_mib_per_h", slope);
        }
    }
}

fn quantiles(values: &mut Values, times: &Times, wanted: &[(&'static str, f64)]) {
    if times.is_empty() {
        return;
    }
    for (name, quantile) in wanted {
        values.set(name, if *quantile >= 1.0 { times.max_ms() } else { times.quantile_ms(*quantile) });
    }
}

/// Processor time of this thread, which runs the scenario, in microseconds.
fn main_cpu_us() -> u64 {
    let used = getrusage(UsageWho::RUSAGE_THREAD).map(|u| u.user_time().num_microseconds() + u.system_time().num_microseconds());
    used.map_or(0, |us| u64::try_from(us).unwrap_or(0))
}

/// On what it was measured.
fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")).map_or("?", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores of {model}, Linux {}", release.trim())
}
