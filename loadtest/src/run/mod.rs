//! A measurement in progress: it takes the engine's reports, watches the server's process and its own, and becomes a report.

mod figures;

use std::time::{Duration, Instant, SystemTime};

use crate::engine::stats::{Counters, Errors, Second, Spans, Times};
use crate::engine::{EngineReport, SessionEngine};
use crate::interrupt::Interrupt;
use crate::options::Common;
use crate::process::{Used, thread_cpu_us, thread_wait_us};
use crate::report::Point;
use crate::report::metrics::{Values, shown};
use crate::timeline::Timeline;
use crate::ui::Ui;

/// Results of purchases, journeys and presses.
#[derive(Debug)]
pub struct Deeds {
    pub planned: u64,
    pub done: u64,
    pub failed: u64,
    pub scan: Times,
    pub pay: Times,
    /// Time since the planned moment.
    pub total: Times,
    /// Delay with which the tool began.
    pub behind: Times,
}

impl Deeds {
    /// # Errors
    /// As [`Times::new`].
    pub fn new() -> Result<Self, String> {
        let new = Times::new;
        Ok(Self { planned: 0, done: 0, failed: 0, scan: new()?, pay: new()?, total: new()?, behind: new()? })
    }

    /// Adds those of another part of the measurement.
    pub fn add(&mut self, o: &Self) {
        self.planned += o.planned;
        self.done += o.done;
        self.failed += o.failed;
        for (mine, other) in
            [(&mut self.scan, &o.scan), (&mut self.pay, &o.pay), (&mut self.total, &o.total), (&mut self.behind, &o.behind)]
        {
            mine.add(other);
        }
    }
}

/// Processor time and memory during the measurement.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    seconds: f64,
    frames: u64,
    engine_us: u64,
    main_us: u64,
    /// Time that both threads waited for a processor.
    engine_wait_us: u64,
    main_wait_us: u64,
    server_us: u64,
}

pub struct Measurement {
    pub ui: Ui,
    pub interrupt: Interrupt,
    pub values: Values,
    pub counters: Counters,
    pub spans: Spans,
    pub errors: Errors,
    pub deeds: Deeds,
    /// Results of the present second, for the timeline.
    pub latest: (u64, Times),
    pub live: usize,
    /// Time in which all sessions must join.
    pub join_within: Duration,
    timeline: Timeline,
    notes: Vec<String>,
    scenario: &'static str,
    server_pid: Option<u32>,
    last_server: Option<Used>,
    last_main_us: u64,
    last_main_wait_us: u64,
    rss_before_kib: u64,
    rss_max_kib: u64,
    measuring: Option<Instant>,
    cost: Cost,
    clock_error_us: Option<i64>,
    started_at: i64,
}

impl Measurement {
    /// # Errors
    /// One line when the server's process does not exist.
    pub fn new(scenario: &'static str, common: &Common, interrupt: Interrupt) -> Result<Self, String> {
        let last_server =
            common.server_pid.map(|pid| Used::of(pid).map_err(|e| format!("--server-pid {pid}: {e}"))).transpose()?;
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
            join_within: Duration::from_secs(common.join_within),
            timeline: Timeline::default(),
            notes: Vec::new(),
            scenario,
            server_pid: common.server_pid,
            last_server,
            last_main_us: thread_cpu_us(),
            last_main_wait_us: thread_wait_us(),
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

    /// Memory is compared with its present size, so call this before sessions join.
    pub fn before_sessions(&mut self) {
        self.rss_before_kib = self.server_used().map_or(0, |u| u.rss_kib);
    }

    /// Records cost and timeline from now on.
    pub fn begin(&mut self) {
        self.last_server = self.server_used();
        (self.last_main_us, self.last_main_wait_us) = (thread_cpu_us(), thread_wait_us());
        self.measuring = Some(Instant::now());
    }

    pub fn end(&mut self) {
        if let Some(began) = self.measuring.take() {
            self.values.set("measured_s", began.elapsed().as_secs_f64());
        }
    }

    /// Time since the measurement began.
    pub fn elapsed(&self) -> Duration {
        self.measuring.map_or(Duration::ZERO, |began| began.elapsed())
    }

    fn server_used(&self) -> Option<Used> {
        self.server_pid.and_then(|pid| Used::of(pid).ok())
    }

    /// Runs `work`, which prepares the measurement. Ctrl-C ends it without a report.
    ///
    /// # Errors
    /// Errors of `work`, and Ctrl-C.
    pub async fn prepare<T>(&self, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let interrupted = || Err("ended by Ctrl-C before anything was measured".to_owned());
        if self.interrupt.came() {
            return interrupted();
        }
        tokio::select! {
            done = work => done,
            () = self.interrupt.wait() => interrupted(),
        }
    }

    /// Takes the engine's reports until `deadline`, Ctrl-C, or until `done` returns `true` for a report. Returns `false` after Ctrl-C.
    ///
    /// # Errors
    /// When the engine has ended without a command.
    pub async fn take(
        &mut self,
        engine: &mut SessionEngine,
        deadline: Instant,
        mut done: impl FnMut(&mut Self, &EngineReport) -> bool,
    ) -> Result<bool, String> {
        let interrupt = self.interrupt.clone();
        loop {
            let report = tokio::select! {
                report = engine.next() => report.ok_or("the engine of the sessions ended by itself")?,
                () = tokio::time::sleep_until(deadline.into()) => return Ok(true),
                () = interrupt.wait() => return Ok(false),
            };
            if let EngineReport::Second(second) = &report {
                self.second(second);
            }
            if done(self, &report) {
                return Ok(true);
            }
        }
    }

    /// Second for scenarios without sessions.
    ///
    /// # Errors
    /// As [`Second::new`].
    pub fn sample(&mut self) -> Result<(), String> {
        let mut second = Second::new()?;
        second.seconds = (self.elapsed().as_secs_f64() - self.cost.seconds).max(0.001);
        self.second(&second);
        Ok(())
    }

    /// Takes the figures of a second.
    pub fn second(&mut self, second: &Second) {
        self.counters += second.counters;
        self.spans.add(&second.spans);
        self.errors.merge(&second.errors);
        self.live = second.live;
        self.clock_error_us = second.clock_error_us.or(self.clock_error_us);
        let server = self.server_used();
        self.rss_max_kib = self.rss_max_kib.max(server.map_or(0, |u| u.rss_kib));
        let (main_us, main_wait_us) = (thread_cpu_us(), thread_wait_us());
        if let Some(began) = self.measuring {
            let server_us = server.zip(self.last_server).map(|(now, before)| now.cpu_us.saturating_sub(before.cpu_us));
            let main = main_us.saturating_sub(self.last_main_us);
            self.cost.seconds += second.seconds;
            self.cost.frames += second.counters.frames;
            self.cost.engine_us += second.cpu_us;
            self.cost.main_us += main;
            self.cost.engine_wait_us += second.wait_us;
            self.cost.main_wait_us += main_wait_us.saturating_sub(self.last_main_wait_us);
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
        (self.last_main_us, self.last_main_wait_us) = (main_us, main_wait_us);
    }

    /// Progress line of a second: faults first, because a narrow terminal cuts off the end, then `doing`.
    pub fn line(&self, doing: &str, second: &Second) -> String {
        let (all, counters) = (&self.counters, &second.counters);
        let mut line = String::new();
        for (n, what) in [
            (all.missed, "missed"),
            (all.finals_missing, "finals missing"),
            (all.duplicates, "doubled"),
            (self.deeds.failed, "failed"),
            (self.errors.total(), "errors"),
        ] {
            if n > 0 {
                line += &format!("{} {what}, ", shown(n as f64, ""));
            }
        }
        line += &format!(
            "{doing}{} ticks/s, late p50 {} p99 {} max {}",
            shown((counters.frames as f64 / second.seconds.max(0.001)).round(), ""),
            shown(second.spans.tick.quantile_ms(0.5), ""),
            shown(second.spans.tick.quantile_ms(0.99), ""),
            shown(second.spans.tick.max_ms(), "ms"),
        );
        line
    }
}
