//! Messages to the device: commands, queries and the time.

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::Command;
use nyala_core::purchase::step::{AckResult, Op};
use uuid::Uuid;

use super::open::Open;
use super::{Conversation, EXCHANGE_MS, Effect, Grounds, Probe};
use crate::device::mqtt::word::Cmd;

/// How long a start waits for a connection's first state report. Without its `echo`, the device may have no clock and cannot accept the
/// start.
const FIRST_STATE_MS: i64 = 2_000;
/// How long a device is known to keep its clock, somewhat less than it does. It has the clock from an exchange that took at most 2 s.
const CLOCK_KEPT_MS: i64 = 55 * 60_000;
/// Shortest time between two queries for a state report that only serves to send the time.
const ASK_AGAIN_MS: i64 = 10_000;
/// A message this recent needs no new query when a customer scans the machine.
const FRESH_MS: i64 = 3_000;
/// How long a scan waits for the device's answer.
pub const PROBE_MS: i64 = 1_500;

impl Conversation {
    /// Sends a command of the machine. `begins`: it is a start that is sent for the first time; a process that found the purchase in the
    /// store never sets it.
    pub fn say(&mut self, cmd: &Command, begins: bool, now: Timestamp) -> Vec<Effect> {
        self.learn(cmd, begins, now);
        match cmd.op {
            Op::Start => self.start_if_due(now),
            Op::Query => self.query(cmd, now),
            Op::Stop => {
                self.wanted = true;
                self.write(Cmd::new(cmd, now, None), now);
            }
        }
        self.done()
    }

    fn learn(&mut self, cmd: &Command, begins: bool, now: Timestamp) {
        if cmd.cmd_id.is_nil() {
            return;
        }
        match &mut self.open {
            // A command for a run without an open purchase has no epoch.
            Some(open) if open.is(cmd.cmd_id) && cmd.epoch < open.cmd.epoch => {}
            None if cmd.epoch == 0 => return,
            Some(open) if open.is(cmd.cmd_id) => open.cmd = cmd.clone(),
            Some(open) if cmd.epoch <= open.cmd.epoch => return,
            _ => self.open = Some(Open::begin(cmd, begins)),
        }
        if let Some(open) = self.open.as_mut().filter(|_| cmd.op == Op::Stop) {
            open.stop_at.get_or_insert(now);
        }
    }

    /// Sends the start of the open purchase, unless the connection's first state report is still expected.
    pub(super) fn start_if_due(&mut self, now: Timestamp) {
        let ready = !self.is_state_awaited(now);
        let Some(cmd) = self.open.as_ref().filter(|open| open.is_to_start(now)).map(|open| Cmd::new(&open.cmd, now, None)) else {
            return;
        };
        if ready
            && self.write(cmd, now)
            && let Some(open) = &mut self.open
        {
            open.written = true;
        }
    }

    fn query(&mut self, cmd: &Command, now: Timestamp) {
        self.wanted = true;
        let Some(open) = &mut self.open else {
            self.write(Cmd::new(cmd, now, None), now);
            return;
        };
        if open.is(cmd.cmd_id) && open.is_void(now) {
            open.answered = true;
            self.out.push(Effect::Tell(open.ack(AckResult::Expired), Grounds::NotWritten));
            return;
        }
        // A query without a purchase asks whether the machine stays free. Only the fence can ensure that, so its query is sent instead.
        let fence = Some(open.query()).filter(|fence| cmd.cmd_id.is_nil() && now >= fence.exp && self.is_below_fence());
        self.write(Cmd::new(fence.as_ref().unwrap_or(cmd), now, None), now);
    }

    /// Asks for a state report when a customer scans the machine: money is held only for a device that answered just now.
    pub fn probe(&mut self, now: Timestamp) -> Probe {
        match self.link().filter(|_| self.present == Some(true)) {
            None => Probe::Away,
            Some(_) if self.is_fresh(now) && self.has_clock(now) => Probe::Here,
            Some(_) if self.is_asked(now) => Probe::Asked,
            Some(_) if self.is_state_awaited(now) => {
                // A second query would make the device take the answer to its first state report for a late one.
                self.asked_at = Some(now);
                Probe::Asked
            }
            Some(link) => {
                self.asked_at = Some(now);
                Probe::Ask(link, Cmd { echo: self.echo, ..nil_query(now) })
            }
        }
    }

    /// Whether a query of a scan waits for its answer.
    pub fn is_asked(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| at.ms_until(now) < PROBE_MS)
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.word_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS)
    }

    /// Whether the device is reachable although a query was not answered in time: it was queried only to send the time.
    pub fn was_fresh(&self, now: Timestamp) -> bool {
        self.present == Some(true) && self.word_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS + PROBE_MS)
    }

    /// Whether the device can accept a start without receiving the time first, as far as this server knows.
    pub(super) fn has_clock(&self, now: Timestamp) -> bool {
        !self.way.is_known() || self.clock_at.is_some_and(|at| at.ms_until(now) < CLOCK_KEPT_MS)
    }

    /// Whether the first state report of a connection is still expected.
    fn is_state_awaited(&self, now: Timestamp) -> bool {
        self.answered_at.is_none() && self.linked_at.ms_until(now) < FIRST_STATE_MS
    }

    /// Asks for a state report, which is answered with the time, when the last exchange is long ago. It also asks when the first state
    /// report of the connection never counted: a later message on another connection of the device may have overtaken it.
    pub(super) fn ask_for_the_time(&mut self, now: Timestamp) {
        let due = match self.answered_at {
            Some(at) => self.echo.is_some() && at.ms_until(now) >= EXCHANGE_MS,
            None => self.way.is_known() && !self.is_state_awaited(now),
        };
        if due && self.asked_at.is_none_or(|at| at.ms_until(now) >= ASK_AGAIN_MS) {
            self.ask(now);
        }
    }

    fn ask(&mut self, now: Timestamp) {
        if self.write(nil_query(now), now) {
            self.asked_at = Some(now);
        }
    }

    /// Writes to the newest connection; `false` when there is no connection.
    pub(super) fn write(&mut self, cmd: Cmd, now: Timestamp) -> bool {
        let Some(link) = self.link() else { return false };
        self.out.push(Effect::Write(link, Cmd { now_ms: now.ms(), echo: self.echo, ..cmd }));
        true
    }
}

/// Query that belongs to no command: the device answers it with a state report only.
pub(super) fn nil_query(now: Timestamp) -> Cmd {
    let exp = now.ms().div_euclid(1000);
    Cmd { cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, durasi_s: 0, exp, now_ms: now.ms(), echo: None }
}
