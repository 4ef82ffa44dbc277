//! Figures that are counted, and invariants of devices over MQTT in addition to those of all devices.

use std::collections::BTreeMap;
use std::fmt;

use nyala_core::domain::id::PurchaseId;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Change;
use uuid::Uuid;

use super::super::store::{COIN_MACHINE, PurchaseRow};
use super::super::world::{MACHINES, World};
use super::connection::LATENCY_MS;
use super::talk::SHOWN_MS;
use super::{Mqtt, MqttHappens, SAMPLE_MS};

/// How late a countdown may be. A device reports whole seconds, rounded up, in a message with its own transit time. The conversation
/// ignores changes too small to forward, and the machine ignores less than a second.
const LATE_MS: i64 = ROUNDED_MS + LATENCY_MS + WORTH_MS + COUNTDOWN_MS;
const ROUNDED_MS: i64 = 1_000;
const WORTH_MS: i64 = 100;
const COUNTDOWN_MS: i64 = 1_000;
/// A hold that lasts longer than this counts as long.
const LONG_MS: i64 = 60_000;
/// At most one in this many purchases may have a long hold.
const LONG_ONE_IN: usize = 1_000;
/// With fewer purchases the share of long holds means nothing.
const ENOUGH: usize = 20_000;
/// Length of the longest run. The effect of a message dropped in a full queue may last this long, until the next state report repeats it.
const LOST_MS: i64 = 30 * 60_000;
/// Number of idle samples after which a history ends because nothing can happen any more.
const AT_REST: u32 = 4;

/// Figures of one history, or of many.
#[derive(Debug, Default)]
pub struct Figures {
    histories: u64,
    /// Milliseconds from hold to decision, without histories that have long silences.
    decided_ms: Vec<u32>,
    /// How often a countdown was wrong after a quick message because an earlier one was dropped in a full queue, and in which histories.
    wrong: u64,
    wrong_seeds: Vec<u64>,
    /// Starts that arrived in time but were taken as late by a device without a clock.
    pub clockless: u64,
    samples: u64,
    shown_offline: u64,
    shown_online: u64,
    seen: BTreeMap<&'static str, u32>,
}

/// Events that each run of the histories must have met at least once.
pub const WORTH: [&str; 45] = [
    "later over than thought",
    "runs again",
    "crash",
    "long silence",
    "given up",
    "freed of staff",
    "power cut in a run",
    "power is back in a run",
    "amnesia",
    "lost memory found",
    "clone",
    "clone found",
    "early end found",
    "wifi gone",
    "half-open",
    "line cut",
    "line stalls",
    "bad weather",
    "take-over",
    "stale message",
    "message finds no room",
    "command finds no room",
    "probe answered",
    "probe not answered",
    "decided by an ack",
    "decided by a run",
    "decided by the last command",
    "decided by the epoch",
    "decided as never written",
    "power lost in the pulses",
    "closed by the server",
    "machine runs by itself",
    "sensor sticks",
    "sensor bounces",
    "end seen by its sensor",
    "power lost at a save",
    "old board",
    "new board",
    "never ran",
    "end moved by its sensor",
    "did not run three times",
    "flash broken",
    "end of the pulses not on flash",
    "command not saved",
    "closed for its silence",
];

impl Figures {
    /// Adds the results of the history of `seed`.
    pub fn add(&mut self, seed: u64, one: Self, seen: BTreeMap<&'static str, u32>) {
        self.histories += 1;
        self.decided_ms.extend(one.decided_ms);
        self.wrong += one.wrong;
        self.wrong_seeds.extend((one.wrong > 0).then_some(seed));
        self.clockless += one.clockless;
        self.samples += one.samples;
        self.shown_offline += one.shown_offline;
        self.shown_online += one.shown_online;
        seen.into_iter().for_each(|(what, n)| *self.seen.entry(what).or_default() += n);
    }

    /// Invariants of all histories together.
    pub fn check(&mut self, expected: &[&str]) {
        self.decided_ms.sort_unstable();
        self.wrong_seeds.sort_unstable();
        println!("{self}");
        for what in expected {
            assert!(self.seen.contains_key(*what), "no history met `{what}`");
        }
        let (long, all) = (self.held_long(), self.decided_ms.len());
        assert!(all < ENOUGH || long * LONG_ONE_IN < all, "{long} of {all} were held for long");
    }

    fn held_long(&self) -> usize {
        self.decided_ms.iter().filter(|ms| i64::from(**ms) > LONG_MS).count()
    }

    /// A quantile, in seconds.
    fn quantile(&self, of: f64) -> f64 {
        let at = ((self.decided_ms.len().max(1) - 1) as f64 * of) as usize;
        self.decided_ms.get(at).map_or(0.0, |ms| f64::from(*ms) / 1_000.0)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.decided_ms.len();
        writeln!(f, "{:#?}", self.seen)?;
        writeln!(f, "histories                                   {}", self.histories)?;
        writeln!(f, "purchases                                   {all}")?;
        let (long, one_in) = (self.held_long(), 100.0 * self.held_long() as f64 / all.max(1) as f64);
        writeln!(f, "money held > 60 s                           {long} ({one_in:.3} %)")?;
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|of| self.quantile(of));
        writeln!(f, "hold to decision p50, p99, p99.9            {p50:.2} s, {p99:.2} s, {p999:.1} s")?;
        writeln!(f, "wrong countdowns, by words without room     {}, in the histories {:?}", self.wrong, self.wrong_seeds)?;
        writeln!(f, "starts refused for want of a clock          {}", self.clockless)?;
        writeln!(f, "5 s samples shown offline though connected  {} of {}", self.shown_offline, self.samples)?;
        writeln!(f, "5 s samples shown online though away        {}", self.shown_online)?;
        write!(f, "ran unpaid, paid unrun, ran twice, left undecided  0, 0, 0, 0")
    }
}

impl World<Mqtt> {
    pub(super) fn count_decision(&mut self, purchase: PurchaseId, change: Change) {
        let decides = matches!(
            change,
            Change::Run { .. } | Change::RunAndFinish { .. } | Change::Refuse | Change::Cut | Change::Expire | Change::GiveUp
        );
        // Power that is lost in the pulses or at a save may be away for long, and so may a board that is replaced, and a flash.
        let p = self.store.purchase(purchase);
        let gone_at = self.devices.washer.gone_at.filter(|_| p.order.machine == COIN_MACHINE);
        let flash = self.devices.machines[p.order.machine].bodies[0].flash;
        let was_cut = self.devices.washer.cut.contains(&p.cmd_id) || gone_at >= Some(p.created_at) || flash.is_broken();
        // Histories in which devices are silent for very long have long holds by design.
        if decides && !was_cut && !self.devices.silences {
            let held_ms = self.store.purchase(purchase).created_at.ms_until(self.now);
            self.devices.figures.decided_ms.push(u32::try_from(held_ms).unwrap());
        }
    }

    /// Checks the shown countdown some time after a quick message from a device that is known to run that command.
    pub(super) fn check_shown(&mut self, machine: usize, cmd_id: Uuid) {
        let off_ms = self.off_ms(machine, cmd_id).unwrap_or(0);
        if !(-COUNTDOWN_MS..=LATE_MS).contains(&off_ms) {
            let lost = self.devices.talks[machine].lost_at.is_some_and(|at| at.ms_until(self.now) < LOST_MS);
            assert!(lost, "the countdown is {off_ms} ms off, and nothing was missed");
            self.devices.figures.wrong += 1;
        }
    }

    /// How late the shown end is, in milliseconds.
    fn off_ms(&self, machine: usize, cmd_id: Uuid) -> Option<i64> {
        let shown = self.shown(machine)?;
        self.store.open().find(|(_, p)| p.cmd_id == cmd_id && p.state == PurchaseState::Running)?;
        let run = self.run_of(machine, cmd_id).filter(|run| !run.cut && !run.forgotten)?;
        if self.devices.machines[machine].bodies[0].flash.is_behind() {
            return None;
        }
        // A word about the move may still be on its way.
        let is_told = run.moved_at.is_none_or(|at| at.plus_ms(SHOWN_MS) < self.now);
        let run = Some(run).filter(|_| is_told)?;
        Some(run.ends_at.ms_until(shown))
    }

    /// Checks a machine that is for sale again: it runs no refunded purchase, and never will.
    pub(super) fn check_freed(&mut self, machine: usize) {
        self.note("freed of staff");
        let now = self.now;
        let of = &self.devices.machines[machine];
        if now <= of.doubtful_until {
            return;
        }
        let back =
            |p: &&PurchaseRow| p.order.machine == machine && matches!(p.state, PurchaseState::Expired | PurchaseState::Refused);
        let given_back: Vec<_> = self.store.purchases.iter().filter(back).collect();
        let runs = |p: &&PurchaseRow| self.run_of(machine, p.cmd_id).is_some_and(|run| !run.forgotten && run.ends_at > now);
        assert!(!given_back.iter().any(runs), "it is free, and runs what was given back");
        let fence = given_back.iter().filter(|p| p.gave_up).map(|p| p.epoch).max();
        let passed = fence.is_none_or(|fence| of.has_forgotten || of.bodies[0].epoch() >= fence);
        assert!(passed, "it is free, and its device may still start what was given back");
    }

    /// Samples every few seconds what customers see.
    pub(super) fn sample(&mut self) {
        for machine in 0..MACHINES {
            let (shown, connected) = (self.store.machines[machine].online, self.is_connected(machine));
            let figures = &mut self.devices.figures;
            if self.server.up {
                figures.samples += 1;
                figures.shown_offline += u64::from(!shown && connected);
                figures.shown_online += u64::from(shown && !connected);
            }
        }
        self.devices.at_rest = if self.is_busy() { 0 } else { self.devices.at_rest + 1 };
        if self.devices.at_rest > AT_REST {
            return self.rest();
        }
        self.later(SAMPLE_MS, MqttHappens::Sample);
    }
}
