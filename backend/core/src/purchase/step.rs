//! The purchase as one pure function (docs/decisions/0002-the-purchase-is-one-pure-function.md,
//! docs/decisions/0008-recovery-at-each-edge.md). No clock, no database, no device: `step` returns the next state, the change to
//! commit for it, and the command to send once that is done.

use uuid::Uuid;

use super::device::{AckResult, Command, DeviceRun, Op, Pulses, is_pulse_test};
use super::rules::Refusal;
use super::state::PurchaseState;
use super::times::{
    CMD_TTL_MS, GIVE_UP_MS, LAST_WORD_MS, LEFT_WAIT_MS, MARK_SENT_MS, PROMPT_MS, QUERY_EVERY_MS, RESEND_MS, SAVED_MS,
    STAFF_QUERY_MS,
};
use crate::domain::id::{MachineId, PurchaseId};
use crate::domain::timestamp::Timestamp;

/// An open purchase: the stored row, and what this process remembers of its talk with the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    pub id: PurchaseId,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub duration_s: i64,
    pub pulses: Option<Pulses>,
    pub created_at: Timestamp,
    pub state: PurchaseState,
    /// While running: when it ends. Zero before.
    pub ends_at: Timestamp,
    /// How often that was moved to a later time.
    pub moved: i32,
    /// How many seconds of that the machine's sensor has added.
    pub added_s: i64,
    /// Boot in which the device last reported the cycle; `None` when unknown.
    pub boot: Option<i64>,
    pub exchange: Exchange,
}

/// What was sent to the device, and when. Lost in a crash on purpose: everything in it may be sent again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchange {
    /// When the process that made the hold sent the command first. `None` after a restart.
    pub first_sent: Option<Timestamp>,
    pub last_sent: Option<Timestamp>,
    pub first_query: Option<Timestamp>,
    pub last_query: Option<Timestamp>,
    /// A late `started` arrived. The time left is being queried; until the answer the countdown is an estimate.
    pub late_start: Option<Timestamp>,
    pub stop_requested: bool,
    pub last_stop: Option<Timestamp>,
}

/// From when until when a machine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    pub started_at: Timestamp,
    pub ends_at: Timestamp,
}

impl Cycle {
    pub const fn until(ends_at: Timestamp, lasts_ms: i64) -> Self {
        Self { started_at: ends_at.plus_ms(-lasts_ms), ends_at }
    }

    pub const fn lasts_ms(self) -> i64 {
        self.started_at.ms_until(self.ends_at)
    }

    /// The end that is shown. No cycle has longer left than it lasts, also not one that started while the clock was ahead.
    pub fn shown_end(self, now: Timestamp) -> Timestamp {
        self.ends_at.min(now.plus_ms(self.lasts_ms()))
    }
}

impl Exchange {
    fn last(&self, op: Op) -> Option<Timestamp> {
        match op {
            Op::Start => self.last_sent,
            Op::Query => self.last_query,
            Op::Stop => self.last_stop,
        }
    }
}

impl Purchase {
    pub fn exp(&self) -> Timestamp {
        self.created_at.plus_ms(CMD_TTL_MS)
    }

    /// A command about it to the machine's device.
    pub fn command(&self, idmesin: MachineId, op: Op) -> Command {
        let Self { cmd_id, epoch, duration_s, pulses, .. } = *self;
        Command { idmesin, cmd_id, epoch, op, duration_s, pulses, exp: self.exp(), held_here: false }
    }

    const fn is_pulse_test(&self) -> bool {
        is_pulse_test(self.pulses, self.duration_s)
    }

    /// The cycle that ends at `ends_at`.
    pub const fn cycle(&self) -> Cycle {
        Cycle::until(self.ends_at, self.duration_ms() + self.added_s * 1000)
    }

    const fn duration_ms(&self) -> i64 {
        self.duration_s * 1000
    }

    /// When it would end if the sensor had added nothing.
    const fn unmoved_end(&self) -> Timestamp {
        self.ends_at.plus_ms(-self.added_s * 1000)
    }

    /// The stored row read again by a process that knew it as `known`: what was sent to the device stays known.
    #[must_use]
    pub fn reread(mut self, known: &Self) -> Self {
        if known.id == self.id {
            let stop_requested = self.exchange.stop_requested || known.exchange.stop_requested;
            self.exchange = Exchange { stop_requested, ..known.exchange };
            self.boot = known.boot.or(self.boot);
        }
        self
    }

    /// When the money is returned although the outcome is unknown: after fifteen minutes. This process must have queried the device and waited
    /// before, and must not be querying the time left of a cycle.
    fn give_up_at(&self) -> Option<Timestamp> {
        let asked = self.exchange.first_query.filter(|_| self.exchange.late_start.is_none())?;
        Some(self.created_at.plus_ms(GIVE_UP_MS).max(asked.plus_ms(LAST_WORD_MS)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurchaseEvent {
    /// `wake_at` has come, or the purchase was just made or reloaded.
    Wake,
    Ack {
        cmd_id: Uuid,
        result: AckResult,
    },
    /// The device reports what it runs and how long still.
    Runs(DeviceRun),
    /// An operator wants it to stop.
    StopRequested,
}

impl PurchaseEvent {
    /// The same event, received `ms` milliseconds earlier: less of its cycle is left.
    #[must_use]
    pub fn aged_by(self, ms: i64) -> Self {
        match self {
            Self::Runs(run) => Self::Runs(DeviceRun { left_ms: run.left_ms - ms, ..run }),
            same => same,
        }
    }
}

/// A compare-and-set on the stored state, with the movement of money that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    MarkSent,
    MarkUnsure,
    /// Post the hold.
    Run {
        started_at: Timestamp,
        ends_at: Timestamp,
        added_s: i64,
    },
    /// Post the hold of a run that is already over.
    RunAndFinish {
        started_at: Timestamp,
        ends_at: Timestamp,
    },
    /// A run ends sooner than was thought: the device reported it.
    Sooner {
        started_at: Timestamp,
        ends_at: Timestamp,
        added_s: i64,
    },
    /// A cycle ends later than expected, because the device had no power or its sensor has added time.
    Later {
        ends_at: Timestamp,
        added_s: i64,
    },
    Finish,
    Stop {
        ends_at: Timestamp,
    },
    /// Void the hold.
    Refuse,
    /// Void the hold: power was lost in the pulses.
    Cut,
    Expire,
    /// Void the hold and keep the machine for staff.
    GiveUp,
}

/// What became of trying to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Won {
        purchase_id: PurchaseId,
        cmd_id: Uuid,
        epoch: i64,
    },
    /// A constraint refused it: another purchase has the machine, or the wallet has less than expected.
    Lost(Refusal),
    /// The facts changed under it (receipt claimed, machine went offline, account expired): read them again.
    Changed,
}

/// One step: `next` is valid once `change` is committed (at once without a change), then `op` is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub next: Purchase,
    pub change: Option<Change>,
    pub op: Option<Op>,
}

/// When `PurchaseEvent::Wake` is due next; `None` when the purchase has ended.
pub fn wake_at(p: &Purchase) -> Option<Timestamp> {
    let o = &p.exchange;
    match p.state {
        PurchaseState::Held | PurchaseState::Sent => {
            let Some(last) = o.last_query.filter(|_| p.is_pulse_test()).or(o.last_sent) else { return Some(p.created_at) };
            let mark = (p.state == PurchaseState::Held).then(|| last.plus_ms(MARK_SENT_MS));
            let left = o.late_start.map(|t| t.plus_ms(LEFT_WAIT_MS));
            [mark, left, Some(last.plus_ms(RESEND_MS)), Some(p.exp())].into_iter().flatten().min()
        }
        PurchaseState::Unsure => {
            let query = o.last_query.map_or(p.created_at, |t| t.plus_ms(QUERY_EVERY_MS));
            let left = o.late_start.map(|t| t.plus_ms(LEFT_WAIT_MS));
            [Some(query), left, p.give_up_at()].into_iter().flatten().min()
        }
        PurchaseState::Running => {
            let stop = o.stop_requested.then(|| o.last_stop.map_or(p.created_at, |t| t.plus_ms(RESEND_MS)));
            let left = o.late_start.and(o.last_query).map(|t| t.plus_ms(QUERY_EVERY_MS));
            [stop, left, Some(p.ends_at)].into_iter().flatten().min()
        }
        _ => None,
    }
}

/// Command that is due to the purchase's device: one that has no answer is sent again. `last`: when the sender last sent that command.
pub fn due_command(p: &Purchase, last: impl Fn(Op) -> Option<Timestamp>, now: Timestamp) -> Option<Op> {
    let due = |op, every_ms| last(op).is_none_or(|at| at.ms_until(now) >= every_ms).then_some(op);
    match p.state {
        PurchaseState::Held | PurchaseState::Sent if now < p.exp() && p.is_pulse_test() => {
            match last(Op::Query).or_else(|| last(Op::Start)) {
                None => Some(Op::Start),
                Some(at) => (at.ms_until(now) >= RESEND_MS).then_some(Op::Query),
            }
        }
        PurchaseState::Held | PurchaseState::Sent if now < p.exp() => due(Op::Start, RESEND_MS),
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => due(Op::Query, QUERY_EVERY_MS),
        PurchaseState::Running => {
            let stop = p.exchange.stop_requested.then(|| due(Op::Stop, RESEND_MS)).flatten();
            stop.or_else(|| p.exchange.late_start.and_then(|_| due(Op::Query, QUERY_EVERY_MS)))
        }
        // The machine waits for staff.
        PurchaseState::Expired => due(Op::Query, STAFF_QUERY_MS / 2),
        PurchaseState::Finished | PurchaseState::Stopped | PurchaseState::Refused => None,
    }
}

pub fn step(p: &Purchase, event: &PurchaseEvent, now: Timestamp) -> Step {
    if !p.state.open() {
        return stay(p);
    }
    match event {
        PurchaseEvent::Wake if p.state == PurchaseState::Running => wake_running(p, now),
        PurchaseEvent::Wake => wake_undecided(p, now),
        PurchaseEvent::Ack { cmd_id, result } if *cmd_id == p.cmd_id => on_ack(p, *result, now),
        PurchaseEvent::Runs(reported) if reported.cmd_id == p.cmd_id => {
            let added_s = reported.added_s;
            let ends_at = now.plus_ms(reported.left_ms.clamp(1, p.duration_ms() + added_s * 1000));
            let mut s = match p.state.undecided() {
                true => run(p, ends_at, added_s),
                false if is_new_boot(p, reported) => booted(p, ends_at, reported, now),
                false => same_boot(p, ends_at, added_s),
            };
            s.next.boot = reported.boot.or(p.boot);
            s
        }
        PurchaseEvent::StopRequested if p.state == PurchaseState::Running => {
            let mut s = stay(p);
            s.next.exchange.stop_requested = true;
            s.next.exchange.last_stop = Some(now);
            s.op = Some(Op::Stop);
            s
        }
        _ => stay(p),
    }
}

fn stay(p: &Purchase) -> Step {
    Step { next: p.clone(), change: None, op: None }
}

fn commit(p: &Purchase, state: PurchaseState, change: Change) -> Step {
    let mut next = p.clone();
    next.state = state;
    Step { next, change: Some(change), op: None }
}

/// Sends the command that is due.
fn send_due(mut s: Step, p: &Purchase, now: Timestamp) -> Step {
    s.op = due_command(p, |op| p.exchange.last(op), now);
    match s.op {
        Some(Op::Start) => s.next.exchange.last_sent = Some(now),
        Some(Op::Stop) => s.next.exchange.last_stop = Some(now),
        Some(Op::Query) => return ask(s, now),
        None => {}
    }
    s
}

/// The device is asked what it does.
fn ask(mut s: Step, now: Timestamp) -> Step {
    s.next.exchange.first_query.get_or_insert(now);
    s.next.exchange.last_query = Some(now);
    s.op = Some(Op::Query);
    s
}

fn run(p: &Purchase, ends_at: Timestamp, added_s: i64) -> Step {
    let started_at = ends_at.plus_ms(-p.duration_ms() - added_s * 1000);
    let mut s = commit(p, PurchaseState::Running, Change::Run { started_at, ends_at, added_s });
    (s.next.ends_at, s.next.added_s) = (ends_at, added_s);
    s.next.exchange.late_start = None;
    s
}

/// A report of a known cycle, in the boot in which it is known. Delays on the way make its end look later, never sooner, so the soonest end is the
/// most accurate; and the most that the sensor has added comes on top, whatever order the reports come in.
fn same_boot(p: &Purchase, ends_at: Timestamp, added_s: i64) -> Step {
    let unmoved_end = p.unmoved_end().min(ends_at.plus_ms(-added_s * 1000));
    let added_s = added_s.max(p.added_s);
    move_end(p, unmoved_end.plus_ms(added_s * 1000), added_s)
}

/// The cycle ends at `ends_at`, of which the sensor has added `added_s`.
fn move_end(p: &Purchase, ends_at: Timestamp, added_s: i64) -> Step {
    let later_ms = p.ends_at.ms_until(ends_at);
    // What the sensor has added is stored, however little the end moves: the next report is compared with it.
    let is_exact = added_s > p.added_s;
    let change = if later_ms > PROMPT_MS || is_exact && later_ms >= 0 {
        Some(Change::Later { ends_at, added_s })
    } else if later_ms < -PROMPT_MS || is_exact {
        let started_at = ends_at.plus_ms(-p.duration_ms() - added_s * 1000);
        Some(Change::Sooner { started_at, ends_at, added_s })
    } else {
        None
    };
    let mut s = stay(p);
    if let Some(change) = change {
        s = commit(p, PurchaseState::Running, change);
        (s.next.ends_at, s.next.added_s) = (ends_at, added_s);
        s.next.moved += i32::from(matches!(change, Change::Later { .. }));
    }
    s.next.exchange.late_start = None;
    s
}

/// Whether the cycle began in an earlier boot than the one that reports it. The boot in which it began may be unknown: an ack does not name it,
/// and the state report after the ack can be lost. Then it was an earlier boot if one sent a message after the start, and it may have been one
/// if this process did not send the start.
fn is_new_boot(p: &Purchase, reported: &DeviceRun) -> bool {
    match (reported.boot, p.boot) {
        (Some(now), Some(before)) => now != before,
        (Some(_), None) => match reported.before_boot {
            Some(last) => last.plus_ms(PROMPT_MS) >= p.cycle().started_at,
            None => p.exchange.first_sent.is_none(),
        },
        (None, _) => false,
    }
}

/// The first report of a cycle in a new boot. Without power it did not run, and the time left is what the device had saved.
fn booted(p: &Purchase, ends_at: Timestamp, reported: &DeviceRun, now: Timestamp) -> Step {
    let left_ms = reported.before_boot.unwrap_or_else(|| p.cycle().started_at).ms_until(p.ends_at).max(0);
    // The sensor may have added time before the power was lost, in a report that was lost with it.
    let untold_ms = (reported.added_s - p.added_s).max(0) * 1000;
    move_end(p, ends_at.min(now.plus_ms(left_ms + untold_ms + SAVED_MS)), reported.added_s)
}

fn wake_running(p: &Purchase, now: Timestamp) -> Step {
    if now >= p.ends_at {
        return commit(p, PurchaseState::Finished, Change::Finish);
    }
    send_due(stay(p), p, now)
}

fn wake_undecided(p: &Purchase, now: Timestamp) -> Step {
    let o = &p.exchange;
    // The device started but does not report the time left. The whole duration from its message on is safe: the machine is never sold while it
    // still runs. The query is repeated.
    if let Some(reported_at) = o.late_start
        && now >= reported_at.plus_ms(LEFT_WAIT_MS)
    {
        let mut s = run(p, reported_at.plus_ms(p.duration_ms()), 0);
        s.next.exchange.late_start = Some(reported_at);
        return s;
    }
    if p.state == PurchaseState::Unsure {
        return wake_unsure(p, now);
    }
    if now >= p.exp() {
        return ask(commit(p, PurchaseState::Unsure, Change::MarkUnsure), now);
    }
    let mut s = send_due(stay(p), p, now);
    if p.state == PurchaseState::Held && o.last_sent.is_some_and(|t| now >= t.plus_ms(MARK_SENT_MS)) {
        s.next.state = PurchaseState::Sent;
        s.change = Some(Change::MarkSent);
    }
    s
}

fn wake_unsure(p: &Purchase, now: Timestamp) -> Step {
    if p.give_up_at().is_some_and(|at| now >= at) {
        return commit(p, PurchaseState::Expired, Change::GiveUp);
    }
    send_due(stay(p), p, now)
}

fn on_ack(p: &Purchase, result: AckResult, now: Timestamp) -> Step {
    match (p.state, result) {
        (PurchaseState::Running, AckResult::Done) if p.exchange.stop_requested && now < p.ends_at => {
            let mut s = commit(p, PurchaseState::Stopped, Change::Stop { ends_at: now });
            s.next.ends_at = now;
            s
        }
        (PurchaseState::Running, AckResult::Done) => ended(p, now),
        (PurchaseState::Running, _) => stay(p),
        (_, AckResult::Started) => on_started(p, now),
        (_, AckResult::Refused) => commit(p, PurchaseState::Refused, Change::Refuse),
        (_, AckResult::Cut) => commit(p, PurchaseState::Refused, Change::Cut),
        (_, AckResult::Expired) => commit(p, PurchaseState::Expired, Change::Expire),
        (_, AckResult::Done) => {
            let started_at = p.created_at;
            let ends_at = now.max(started_at.plus_ms(1));
            let mut s = commit(p, PurchaseState::Finished, Change::RunAndFinish { started_at, ends_at });
            s.next.ends_at = ends_at;
            s
        }
    }
}

/// The device says that the run is over.
fn ended(p: &Purchase, now: Timestamp) -> Step {
    let mut s = move_end(p, now.min(p.ends_at), p.added_s);
    // A machine with its own cycle is over sooner, and has not begun sooner.
    if let (Some(Change::Sooner { started_at, ends_at, .. }), Some(_)) = (&mut s.change, p.pulses) {
        *started_at = p.cycle().started_at.min(ends_at.plus_ms(-1));
    }
    s
}

fn on_started(p: &Purchase, now: Timestamp) -> Step {
    let prompt = p.exchange.first_sent.is_some_and(|sent| sent.ms_until(now) <= PROMPT_MS);
    if prompt {
        return run(p, now.plus_ms(p.duration_ms()), 0);
    }
    if p.exchange.late_start.is_some() {
        return stay(p);
    }
    let mut s = ask(stay(p), now);
    s.next.exchange.late_start = Some(now);
    s
}

/// Content of the `start` command of a purchase.
#[derive(Debug, Clone, Copy)]
pub struct StartCommand {
    pub cmd_id: Uuid,
    /// The machine's epoch since this purchase.
    pub epoch: i64,
    pub duration_s: i64,
    pub pulses: Option<Pulses>,
}

/// The state right after this process committed the hold, about to send the command for the first time.
pub fn first(id: PurchaseId, command: StartCommand, created_at: Timestamp, now: Timestamp) -> Purchase {
    let StartCommand { cmd_id, epoch, duration_s, pulses } = command;
    let exchange = Exchange { first_sent: Some(now), ..Exchange::default() };
    let (state, ends_at) = (PurchaseState::Held, Timestamp::default());
    Purchase { id, cmd_id, epoch, duration_s, pulses, created_at, state, ends_at, moved: 0, added_s: 0, boot: None, exchange }
}
