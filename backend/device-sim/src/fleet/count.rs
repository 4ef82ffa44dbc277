//! Counters of what happened to all devices.

use nyala_core::purchase::device::{AckResult, Op};
use serde_json::{Value, json};

use crate::model::{Act, Outgoing};
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::message::Topic;

#[derive(Debug, Default)]
pub(super) struct Count {
    pub connected: usize,
    reconnects: u64,
    lost: u64,
    pub last_loss: Option<String>,
    pub logins_refused: u64,
    acks: u64,
    states: u64,
    heartbeats: u64,
    starts_received: u64,
    queries: u64,
    probes: u64,
    stops: u64,
    /// Commands that were malformed or retained.
    pub ignored: u64,
    run: u64,
    refused: u64,
    expired: u64,
    /// Runs that continued after a power cut.
    pub went_on: u64,
    outage: Option<Outage>,
}

/// Outage: from the first lost connections until all are back.
#[derive(Debug)]
struct Outage {
    began: i64,
    /// How long after the outage's beginning each connection was back.
    backs: Vec<i64>,
    over: bool,
}

impl Count {
    pub fn message_sent(&mut self, topic: Topic) {
        match topic {
            Topic::Ack => self.acks += 1,
            Topic::State => self.states += 1,
            Topic::Hb => self.heartbeats += 1,
        }
    }

    pub fn command_received(&mut self, cmd: &Cmd) {
        match cmd.op {
            _ if cmd.cmd_id.is_nil() => self.probes += 1,
            Op::Start => self.starts_received += 1,
            Op::Query => self.queries += 1,
            Op::Stop => self.stops += 1,
        }
    }

    /// Counts the outcome of a new start.
    pub fn decided(&mut self, acts: &[Act]) {
        for act in acts {
            match act {
                Act::Send(Outgoing::Ack { result: AckResult::Started, .. }) => self.run += 1,
                Act::Send(Outgoing::Ack { result: AckResult::Refused, .. }) => self.refused += 1,
                Act::Send(Outgoing::Ack { result: AckResult::Expired, .. }) => self.expired += 1,
                _ => {}
            }
        }
    }

    pub fn connection_lost(&mut self, why: String, starts_outage: bool, now: i64) {
        self.lost += 1;
        self.last_loss = Some(why);
        if starts_outage && self.outage.as_ref().is_none_or(|outage| outage.over) {
            self.begin_outage(now);
        }
    }

    /// Begins an outage: every connection that is lost from now on belongs to it.
    pub fn begin_outage(&mut self, now: i64) {
        self.outage = Some(Outage { began: now, backs: Vec::new(), over: false });
    }

    pub fn device_connected(&mut self, again: bool, now: i64) {
        self.reconnects += u64::from(again);
        if let Some(outage) = self.outage.as_mut().filter(|outage| !outage.over) {
            outage.backs.push(now - outage.began);
        }
    }

    /// Ends the outage when all devices are back, and returns its figures, if there was one.
    pub fn outage_over(&mut self) -> Option<Value> {
        let outage = self.outage.as_mut().filter(|outage| !outage.over)?;
        outage.over = true;
        outage.backs.sort_unstable();
        Some(outage.to_json())
    }

    /// Counters as JSON, for programs.
    pub fn to_json(&self, devices: usize, now: i64) -> Value {
        json!({
            "devices": devices,
            "connected": self.connected,
            "reconnects": self.reconnects,
            "lost": self.lost,
            "last_loss": self.last_loss,
            "logins_refused": self.logins_refused,
            "words": {"ack": self.acks, "state": self.states, "hb": self.heartbeats},
            "cmds": {"start": self.starts_received, "query": self.queries, "probe": self.probes, "stop": self.stops, "ignored": self.ignored},
            "starts": {"run": self.run, "refused": self.refused, "expired": self.expired, "went_on": self.went_on},
            "outage": self.outage.as_ref().map(Outage::to_json),
            "rss_kib": rss_kib(),
            "cpu_ms": cpu_ms(),
            "up_ms": now,
        })
    }

    /// Counters as text, for people.
    pub fn summary(&self, devices: usize, now: i64) -> String {
        let mut lines = vec![
            format!("devices  {} of {devices} connected after {} s", self.connected, now / 1000),
            format!("lines    {} lost, {} back, {} logins refused", self.lost, self.reconnects, self.logins_refused),
            format!("words    {} acks, {} states, {} hb", self.acks, self.states, self.heartbeats),
            format!(
                "cmds     {} starts, {} queries, {} probes, {} stops, {} ignored",
                self.starts_received, self.queries, self.probes, self.stops, self.ignored
            ),
            format!(
                "starts   {} run, {} refused, {} expired, {} went on after a power cut",
                self.run, self.refused, self.expired, self.went_on
            ),
        ];
        if let Some(outage) = &self.outage {
            let seconds = |ms: Option<i64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{}.{:03} s", ms / 1000, ms % 1000));
            let (all, p99) =
                if outage.over { (seconds(outage.max()), seconds(outage.p99())) } else { ("not yet".into(), "-".into()) };
            lines.push(format!("outage   {} back; all: {all}, 99 of 100: {p99}", outage.backs.len()));
        }
        lines.push(format!("process  {} MiB resident, {} ms of processor time", rss_kib() / 1024, cpu_ms()));
        lines.join("\n")
    }
}

impl Outage {
    fn max(&self) -> Option<i64> {
        self.backs.last().copied()
    }

    /// The 99th percentile.
    fn p99(&self) -> Option<i64> {
        self.backs.get((self.backs.len() * 99).div_ceil(100).saturating_sub(1)).copied()
    }

    fn to_json(&self) -> Value {
        let (max, p99) = if self.over { (self.max(), self.p99()) } else { (None, None) };
        json!({"back": self.backs.len(), "over": self.over, "max_ms": max, "p99_ms": p99})
    }
}

/// Memory of this process; 0 where the system does not report it.
fn rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    rss.and_then(|rss| rss.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Processor time of this process.
fn cpu_ms() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |used| (used.user_time() + used.system_time()).num_milliseconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_over_when_all_are_back() {
        let mut count = Count::default();
        count.device_connected(false, 5);
        assert_eq!(count.outage_over(), None);
        count.connection_lost("cut".to_owned(), true, 1_000);
        count.connection_lost("cut".to_owned(), true, 1_500);
        (1..=200).for_each(|n| count.device_connected(true, 1_000 + n));
        assert_eq!(count.to_json(200, 2_000)["outage"], json!({"back": 200, "over": false, "max_ms": null, "p99_ms": null}));
        let figures = json!({"back": 200, "over": true, "max_ms": 200, "p99_ms": 198});
        assert_eq!((count.outage_over(), count.outage_over()), (Some(figures.clone()), None));
        count.device_connected(true, 9_000);
        assert_eq!(count.to_json(200, 9_000)["outage"], figures);
        count.connection_lost("cut".to_owned(), false, 10_000);
        assert_eq!(count.to_json(200, 9_000)["outage"], figures, "of its own doing");
    }
}
