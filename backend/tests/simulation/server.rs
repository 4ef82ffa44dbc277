//! The server around the real `Machine`s, with their alarms. It may die at any moment; then only the store remains.

use std::collections::{BTreeSet, HashMap};

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{CycleChange, Effect, Input, Machine, RequestId, Start};
use nyala_core::purchase::device::{DeviceEvent, DeviceRun, Op};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{Cycle, Purchase, PurchaseEvent};
use rand::Rng;
use uuid::Uuid;

use super::devices::Devices;
use super::several::member::Member;
use super::statements::Written;
use super::store::OrderRow;
use super::world::{Happening, MACHINES, World};

/// Maximum number of device messages that are kept, to check how exact the server could be.
const MAX_MESSAGES: usize = 64;

/// The first request of an operator. The ids below are customers' (`World::requests`).
pub const FIRST_STOP: u64 = 1 << 32;

pub struct SimulatedServer {
    pub up: bool,
    /// Number of this start, one more with each start. Results of an older process are ignored.
    pub incarnation: u32,
    pub up_since: Timestamp,
    /// How far the server's clock is ahead.
    pub skew_ms: i64,
    /// When this process last received a device's message about a command.
    pub received: HashMap<Uuid, Timestamp>,
    /// Its membership, when there are several servers.
    pub member: Option<Member>,
    pub(super) actors: Vec<Actor>,
}

pub(super) struct Actor {
    pub(super) machine: Machine,
    /// The requests that wait for an answer of this machine.
    pub(super) waiting: BTreeSet<RequestId>,
    /// The alarm's number, and when it rings.
    alarm: (u32, Option<Timestamp>),
    /// The end of the run in the machine status.
    pub(super) shown: Option<Timestamp>,
    /// Whether the watchers were sent a run, and not yet its end.
    told_runs: bool,
    /// The device's messages, and when it sent them.
    messages: Vec<(PurchaseEvent, Timestamp)>,
    /// With several servers: whether the actor is in memory.
    pub(super) present: bool,
}

impl Actor {
    fn new(machine: Machine) -> Self {
        Self {
            machine,
            waiting: BTreeSet::new(),
            alarm: (0, None),
            shown: None,
            told_runs: false,
            messages: Vec::new(),
            present: false,
        }
    }

    /// Removes the actor from memory, with its machine status. The next use creates it again.
    pub(super) fn leaves(&mut self, idmesin: MachineId) {
        *self = Self { alarm: (self.alarm.0 + 1, None), ..Self::new(Machine::new(idmesin)) };
    }
}

pub(super) fn idmesin(machine: usize) -> MachineId {
    MachineId::new(i64::try_from(machine).unwrap() + 1)
}

impl SimulatedServer {
    pub fn new(machines: usize) -> Self {
        let actors = (0..machines).map(|m| Actor::new(Machine::new(idmesin(m)))).collect();
        let (up_since, received) = Default::default();
        Self { up: false, incarnation: 0, up_since, skew_ms: 0, received, member: None, actors }
    }

    /// Whether this server decides about that machine.
    pub fn owns(&self, machine: usize) -> bool {
        self.member.as_ref().is_none_or(|member| member.owns(machine))
    }
}

impl<D: Devices> World<D> {
    pub fn boot(&mut self) {
        if self.server.up {
            return;
        }
        let incarnation = self.server.incarnation + 1;
        self.server = SimulatedServer { up: true, incarnation, up_since: self.now, ..SimulatedServer::new(MACHINES) };
        for machine in 0..MACHINES {
            // At times one is not loaded, as when another process takes it over: it then has to find its purchase by itself.
            let open = if self.chance(0.1) { None } else { self.store.load(machine) };
            D::boot(self, machine, open.as_ref());
            if let Some(p) = open {
                self.bring_back(machine, p);
            }
        }
        self.after(0, Happening::Reap { incarnation, round: 0 });
    }

    /// Creates the machine's actor with its open purchase.
    pub(super) fn bring_back(&mut self, machine: usize, p: Purchase) {
        let actor = &mut self.server.actors[machine];
        let runs = p.state == PurchaseState::Running;
        (actor.shown, actor.told_runs, actor.present) = (runs.then_some(p.ends_at), runs, true);
        actor.machine = Machine::with_purchase(idmesin(machine), p);
        self.arm(machine);
    }

    pub fn crash(&mut self) {
        if !self.troubled {
            return;
        }
        if self.several.is_some() {
            return self.something_breaks();
        }
        if !self.server.up {
            return;
        }
        self.server = SimulatedServer { incarnation: self.server.incarnation, ..SimulatedServer::new(MACHINES) };
        self.note("crash");
        self.connections_break();
        D::crash(self);
        let down_ms = match self.rng.random_range(0..10) {
            0 => self.up_to(25 * 60_000),
            1 | 2 => self.up_to(60_000),
            _ => self.up_to(3_000),
        };
        self.after(down_ms, Happening::Boot);
    }

    /// The time by the server's clock.
    pub fn clock(&self) -> Timestamp {
        self.now.plus_ms(self.server.skew_ms)
    }

    /// Passes an input to a machine's actor.
    pub fn send_input(&mut self, machine: usize, input: Input) {
        let now = self.clock();
        let Some(input) = self.unless_halted(machine, input) else { return };
        self.notify_others(machine, &input);
        self.forget_gone(machine);
        let caller = match &input {
            Input::Start(Start { buyers, .. }) => buyers.first(),
            Input::Await { buyer, .. } => Some(buyer),
            Input::Stop { operator, .. } => operator.as_ref(),
            _ => None,
        };
        let input = match caller.copied() {
            Some(caller) if self.has_gone(caller) => input.without_caller(),
            caller => {
                self.server.actors[machine].waiting.extend(caller);
                Some(input)
            }
        };
        self.server.actors[machine].present = true;
        let owned = self.server.member.as_ref().map(|member| Input::Owned(member.owns(machine)));
        for input in owned.into_iter().chain(input) {
            if let Some(input) = self.unless_halted(machine, input) {
                let effects = self.server.actors[machine].machine.on(input, now);
                self.perform_all(machine, effects);
            }
        }
        self.settles(machine);
    }

    /// Passes on which requests no longer wait.
    pub(super) fn forget_gone(&mut self, machine: usize) {
        let gone: BTreeSet<RequestId> =
            self.server.actors[machine].waiting.iter().copied().filter(|request| self.has_gone(*request)).collect();
        if !gone.is_empty() {
            let (now, actor) = (self.clock(), &mut self.server.actors[machine]);
            actor.waiting.retain(|request| !gone.contains(request));
            assert_eq!(actor.machine.on(Input::Gone(gone), now), []);
        }
    }

    fn has_gone(&self, request: RequestId) -> bool {
        self.requests.get(request.0 as usize).is_some_and(|request| request.answer.is_some())
    }

    /// Performs all effects, unless the server is stopped in between.
    pub(super) fn perform_all(&mut self, machine: usize, effects: Vec<Effect>) {
        let mut effects = effects.into_iter();
        while let Some(effect) = effects.next() {
            self.perform(machine, effect);
            if self.is_halted(machine) {
                return self.leaves_undone(effects);
            }
        }
    }

    /// All effects of an input are done.
    pub(super) fn settles(&mut self, machine: usize) {
        if self.is_halted(machine) {
            return;
        }
        let actor = &self.server.actors[machine];
        assert_eq!(actor.shown, actor.machine.running().map(|p| p.ends_at), "the board says what runs");
        self.arm(machine);
        self.has_settled(machine);
    }

    fn perform(&mut self, machine: usize, effect: Effect) {
        let incarnation = self.server.incarnation;
        match effect {
            Effect::Hold { order, at, .. } => {
                let after_ms = self.statement_ms();
                let hold = Happening::Hold { incarnation, machine, order: OrderRow::of(&order), at };
                self.sends(machine, "before_hold", after_ms, hold);
            }
            Effect::Apply { next, change, cause, at } => {
                let messages = &self.server.actors[machine].messages;
                let sent_at =
                    messages.iter().rev().find(|(message, _)| is_same_message(message, &cause)).map_or(self.now, |(_, at)| *at);
                self.check_change(machine, &next, change, &cause, sent_at);
                self.decides(machine, change, &cause);
                self.write(machine, at, Written::Change { purchase: next.id, change });
            }
            Effect::Load => {
                let after_ms = self.statement_ms();
                self.after(after_ms, Happening::Load { incarnation, machine });
            }
            Effect::Record { report, unpaid, at } => self.write(machine, at, Written::DeviceMessage { report, foreign: unpaid }),
            Effect::Command(cmd) => {
                let op = cmd.op;
                if self.reaches(machine, op) {
                    D::command(self, cmd);
                }
                if op == Op::Start {
                    self.comes_to(machine, "after_send");
                }
            }
            Effect::Answered { after_ms } => assert!(after_ms >= 0),
            Effect::Show { cycle, change } => self.show(machine, cycle.map(|cycle| cycle.ends_at), change),
            Effect::Answer { requests, outcome } => {
                for request in requests {
                    assert!(self.server.actors[machine].waiting.remove(&request), "{request:?} is answered once");
                    if request.0 < FIRST_STOP {
                        self.answer(request.0 as usize, outcome);
                    }
                }
            }
        }
    }

    /// Sends a change to the watchers, but never a run that is over.
    fn show(&mut self, machine: usize, ends_at: Option<Timestamp>, change: Option<CycleChange>) {
        let now = self.clock();
        let actor = &mut self.server.actors[machine];
        actor.shown = ends_at;
        match change {
            Some(CycleChange::Runs(Cycle { ends_at, .. })) => {
                assert!(ends_at > now, "told of a run that is over");
                actor.told_runs = true;
            }
            Some(CycleChange::Over { .. }) => actor.told_runs = false,
            Some(CycleChange::Voided) => assert!(!actor.told_runs, "a run is not given back"),
            // This run was found by reading. It is in the machine status, and the ticks show it.
            None => actor.told_runs = ends_at.is_some(),
        }
        self.watchers_receive(machine, ends_at, change);
    }

    fn arm(&mut self, machine: usize) {
        let (incarnation, now) = (self.server.incarnation, self.clock());
        let Actor { machine: core, alarm, .. } = &mut self.server.actors[machine];
        if alarm.1 == core.wake_at() {
            return;
        }
        *alarm = (alarm.0 + 1, core.wake_at());
        if let (number, Some(at)) = *alarm {
            self.after(now.ms_until(at), Happening::Alarm { incarnation, machine, number });
        }
    }

    pub fn alarm(&mut self, machine: usize, number: u32) {
        let alarm = &mut self.server.actors[machine].alarm;
        if alarm.0 == number {
            alarm.1 = None;
            self.send_input(machine, Input::Alarm);
        }
    }

    pub fn server_receives(&mut self, machine: usize, event: DeviceEvent, sent_at: Timestamp) {
        if self.several.is_some() {
            self.linked_server_receives(machine, event, sent_at);
        } else if self.server.up {
            self.decider_receives(machine, event, sent_at);
        }
    }

    /// A device's message reaches the server that decides.
    pub(super) fn decider_receives(&mut self, machine: usize, event: DeviceEvent, sent_at: Timestamp) {
        let message = match &event {
            DeviceEvent::Ack { cmd_id, result } => Some(PurchaseEvent::Ack { cmd_id: *cmd_id, result: *result }),
            DeviceEvent::State { run, .. } => run.map(PurchaseEvent::Runs),
        };
        if let Some(message) = message {
            if let PurchaseEvent::Ack { cmd_id, .. } | PurchaseEvent::Runs(DeviceRun { cmd_id, .. }) = message {
                let now = self.clock();
                if self.server.owns(machine) {
                    self.server.received.insert(cmd_id, now);
                }
            }
            let messages = &mut self.server.actors[machine].messages;
            if messages.len() == MAX_MESSAGES {
                messages.remove(0);
            }
            messages.push((message, sent_at));
        }
        self.send_input(machine, Input::Device(event));
    }

    /// Whether anything can still happen because of earlier events.
    pub fn is_busy(&self) -> bool {
        self.troubled
            || self.several.as_ref().is_some_and(|several| !several.has_ended)
            || self.store.open().next().is_some()
            || self.requests.iter().any(|r| r.answer.is_none())
            || self.store.machines.iter().any(|m| m.needs_staff || m.senses || m.unpaid.is_some())
            || self.is_a_run_report_in_flight()
    }

    /// The end of the run as the machine's watchers see it.
    pub fn shown(&self, machine: usize) -> Option<Timestamp> {
        self.server.actors[machine].shown
    }
}

/// Whether `cause` is that message. Its remaining time is counted down while it waits for the decision.
fn is_same_message(message: &PurchaseEvent, cause: &PurchaseEvent) -> bool {
    match (message, cause) {
        (PurchaseEvent::Runs(known), PurchaseEvent::Runs(run)) => {
            (known.cmd_id, known.added_s) == (run.cmd_id, run.added_s) && run.left_ms <= known.left_ms
        }
        _ => message == cause,
    }
}
