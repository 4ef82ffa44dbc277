//! A server is stopped exactly at an edge of a purchase that it decides about, until another server owns the machine. There are three
//! ways: it is paused for longer than its lease, so that it resumes with outdated state; it is killed; or SIGTERM asks it to leave while
//! work is pending. The cases cover every edge, each path that leads to it, and runs with and without change notifications.

use std::vec;

use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Effect, Input};
use nyala_core::purchase::edge::POINTS;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{Change, PurchaseEvent};
use nyala_core::purchase::times::CMD_TTL_MS;
use nyala_machines::device::memory::Mode;
use rand::Rng;

use super::super::check::name;
use super::super::devices::Devices;
use super::super::plain::{self, FallsSilent, Plain};
use super::super::store::{COIN_MACHINE, OrderRow};
use super::super::world::{Happening, MACHINES, World};
use super::faults::AFTERWARDS_MS;
use super::notifications::Notifications;
use super::{ClusterHappens, SILENT_MS, Without, outlet};

/// By then all servers are up, and each has its share.
const BUYS_MS: i64 = 15_000;
const DEVICES_WITHIN_MS: i64 = 6_000;
const STOPS_MS: i64 = 10_000;
/// By then all is over, unless a device is silent for a quarter of an hour.
const PEACE_MS: i64 = BUYS_MS + 60_000;
/// By then a stopped server has lost what it owned. It stays stopped for at most one of the times below in addition.
const TAKEN_OVER_MS: i64 = 1_700;
const LONGER_MS: [i64; 3] = [50, 400, 6_000];
/// The buyer's second press, and another customer's press at the same machine, come within this time.
const AGAIN_WITHIN_MS: i64 = 3_000;

/// A device that connects this long before a start expires may receive it too late.
const NEAR_EXPIRY_MS: i64 = 1_000;

/// Services: 5 s, and a minute.
const SHORT: usize = 0;
const LONG: usize = 1;

/// The server at which the purchase begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Owner,
    Another,
    Any,
}

/// A path that leads to edges of a purchase.
#[derive(Debug)]
struct EdgePath {
    /// The name of the decision around these edges; empty without a decision.
    to: &'static str,
    edges: &'static [&'static str],
    at: At,
    service: usize,
    /// What is wrong with the device, and until when, in milliseconds after the payment.
    device: (Mode, Option<FallsSilent>),
    mended_ms: i64,
    /// How the purchase must end, on any server.
    end: PurchaseState,
}

const STARTS: EdgePath = EdgePath {
    to: "",
    edges: &["before_hold", "after_hold"],
    at: At::Owner,
    service: LONG,
    device: (Mode::Ok, None),
    mended_ms: 0,
    end: PurchaseState::Finished,
};

const BY_ANSWER: (Mode, Option<FallsSilent>) = (Mode::Ok, Some(FallsSilent::AfterItsAnswer));
const POST: &[&str] = &["before_post", "after_post"];
const VOID: &[&str] = &["before_void", "after_void"];
const FINISH: &[&str] = &["before_finish", "after_finish"];

/// Every edge, and every decision around it. The decision differs where a device's messages are late, few or missing.
static PATHS: [EdgePath; 15] = [
    STARTS,
    // The server that a device is connected to may send a start before the owner does, when another server holds the money.
    EdgePath { edges: &["after_send"], ..STARTS },
    // The server that holds the money receives the age of the ack; every other server queries for the remaining time.
    EdgePath { to: "started", edges: POST, device: BY_ANSWER, mended_ms: 25_000, ..STARTS },
    EdgePath { to: "started, time left reported", edges: POST, at: At::Another, ..STARTS },
    EdgePath {
        to: "started, time left never reported",
        edges: POST,
        at: At::Another,
        device: BY_ANSWER,
        mended_ms: 25_000,
        ..STARTS
    },
    EdgePath {
        to: "already over",
        edges: POST,
        at: At::Any,
        service: SHORT,
        device: (Mode::Ok, Some(FallsSilent::Before)),
        mended_ms: 8_000,
        ..STARTS
    },
    // The device answers after 9 s: a full minute from then on is more than what is left.
    EdgePath {
        to: "sooner over than thought",
        edges: FINISH,
        at: At::Any,
        device: (Mode::Late, Some(FallsSilent::AfterItsAnswer)),
        mended_ms: 25_000,
        ..STARTS
    },
    EdgePath { to: "finished", edges: FINISH, at: At::Any, service: SHORT, ..STARTS },
    EdgePath { to: "", edges: &["after_stop_request"], at: At::Any, end: PurchaseState::Stopped, ..STARTS },
    EdgePath { to: "stopped", edges: &["before_stop", "after_stop"], at: At::Any, end: PurchaseState::Stopped, ..STARTS },
    EdgePath { to: "marked as sent", edges: &["before_sent", "after_sent"], ..SILENT },
    EdgePath { to: "marked as unsure", edges: &["before_unsure", "after_unsure"], ..SILENT },
    SILENT,
    EdgePath { to: "refused", device: (Mode::Refuse, None), mended_ms: 60_000, end: PurchaseState::Refused, ..SILENT },
    EdgePath { to: GIVEN_UP, mended_ms: SILENT_MS, ..SILENT },
];

const SILENT: EdgePath = EdgePath {
    to: "expired",
    edges: VOID,
    at: At::Any,
    device: (Mode::Silent, None),
    mended_ms: 13_000,
    end: PurchaseState::Expired,
    ..STARTS
};
const GIVEN_UP: &str = "given up";

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Paused,
    Killed,
    Leaves,
}

const FAULTS: [Fault; 3] = [Fault::Paused, Fault::Killed, Fault::Leaves];
const SERVERS: [usize; 2] = [2, 3];
/// Share of the change notifications that are lost; `None`: no server sends any.
const LOST_NOTIFICATIONS: [Option<f64>; 3] = [Some(0.0), Some(0.3), None];

/// Which server is stopped, where, and how.
#[derive(Debug, Clone, Copy)]
pub struct EdgeCase {
    path: &'static EdgePath,
    edge: &'static str,
    fault: Fault,
    servers: usize,
    loses: Option<f64>,
}

impl EdgeCase {
    /// Each edge on each path.
    fn edges() -> Vec<(&'static EdgePath, &'static str)> {
        PATHS.iter().flat_map(|path| path.edges.iter().map(move |edge| (path, *edge))).collect()
    }

    /// Number of cases; this many consecutive seeds cover each case once.
    pub fn count() -> u64 {
        u64::try_from(Self::edges().len() * FAULTS.len() * SERVERS.len() * LOST_NOTIFICATIONS.len()).unwrap()
    }

    /// Edges that no path leads to.
    pub fn missing() -> Vec<&'static str> {
        let edges = Self::edges();
        POINTS.iter().copied().filter(|point| edges.iter().all(|(_, edge)| edge != point)).collect()
    }

    /// The case of a seed: consecutive seeds differ in the edge first.
    fn of(seed: u64) -> Self {
        let mut rest = usize::try_from(seed).unwrap();
        let mut one_of = |n: usize| {
            let one = rest % n;
            rest /= n;
            one
        };
        let edges = Self::edges();
        let (path, edge) = edges[one_of(edges.len())];
        let (fault, servers) = (FAULTS[one_of(FAULTS.len())], SERVERS[one_of(SERVERS.len())]);
        Self { path, edge, fault, servers, loses: LOST_NOTIFICATIONS[one_of(LOST_NOTIFICATIONS.len())] }
    }

    /// Edges before a change that only an owner may commit, each with the histories in which a stopped server resumes there.
    pub fn fenced() -> impl Iterator<Item = (String, impl Iterator<Item = u64>)> {
        let edges = Self::edges();
        let every = edges.len();
        let fenced = (0..).zip(edges).filter(|(_, (path, edge))| edge.starts_with("before_") && !is_anybodys(path, edge));
        fenced.map(move |(first, (path, edge))| {
            let seeds = (first..).step_by(every).filter(|seed| Self::of(*seed).fault != Fault::Killed);
            (format!("{edge} ({})", path.to), seeds)
        })
    }
}

/// Whether the change has no fence: any server may hold money, and may finish a run that is over.
fn is_anybodys(path: &EdgePath, edge: &str) -> bool {
    edge == "before_hold" || path.to == "finished"
}

/// A server is to be stopped at an edge of a purchase at a machine.
pub struct Halt<D> {
    case: EdgeCase,
    machine: usize,
    order: OrderRow,
    /// The decision that is being committed is the one that the case needs.
    decided: bool,
    met: Option<Met>,
    /// Another server has owned the machine since, while this one was stopped there.
    taken_over: bool,
    standing: Option<Standing<D>>,
    /// When the machine's device first connected after the edge.
    linked_at: Option<Timestamp>,
}

/// The state when the edge was reached.
struct Met {
    incarnation: u32,
    node: NodeId,
    /// The stored state of the purchase.
    state: Option<PurchaseState>,
}

/// The pending work of a process that is stopped but not dead: everything after the edge.
struct Standing<D> {
    incarnation: u32,
    statement: Option<Happening<D>>,
    undone: Vec<Effect>,
    mailbox: Vec<Input>,
}

impl World<Plain> {
    /// The history of `seed` in which a server is stopped at an edge, not begun.
    pub fn at_an_edge(seed: u64, verbose: bool, without: Without) -> Self {
        let mut world = Self::unplanned(seed, verbose);
        let case = EdgeCase::of(seed);
        if verbose {
            println!("{case:?}");
        }
        // Nothing else fails, so that the edge is reached.
        world.troubled = false;
        let notifications = Notifications::that_loses(case.loses, world.now);
        world.among_servers(case.servers, notifications, without);
        // Nobody stops a machine with its own cycle.
        let machines = if case.path.end == PurchaseState::Stopped { COIN_MACHINE } else { MACHINES };
        let machine = world.rng.random_range(0..machines);
        world.plan_edge(case, machine);
        world
    }

    fn plan_edge(&mut self, case: EdgeCase, machine: usize) {
        let EdgePath { service, device: (mode, falls_silent), mended_ms, to, .. } = *case.path;
        let order = OrderRow { customer: 0, receipt: 1, machine, service };
        self.halt =
            Some(Halt { case, machine, order, decided: false, met: None, taken_over: false, standing: None, linked_at: None });
        self.devices.ail(machine, mode, falls_silent);
        let mended_ms = BUYS_MS + mended_ms;
        if to == GIVEN_UP {
            self.silence(machine, mended_ms);
        } else if case.path.device != STARTS.device {
            self.after(mended_ms, Happening::Device(plain::PlainHappens::Mend { machine, number: 0 }));
        }
        for machine in 0..MACHINES {
            let after_ms = self.up_to(DEVICES_WITHIN_MS);
            self.among(after_ms, ClusterHappens::Link { machine });
        }
        for watcher in 0..self.several.as_ref().unwrap().watchers.len() {
            let after_ms = self.up_to(BUYS_MS);
            self.among(after_ms, ClusterHappens::Watch { watcher });
        }
        self.among(BUYS_MS, ClusterHappens::Buys);
        if case.path.end == PurchaseState::Stopped {
            self.among(BUYS_MS + STOPS_MS, ClusterHappens::Stops);
        }
        self.after(PEACE_MS, Happening::Peace);
    }
}

impl<D: Devices> World<D> {
    fn owner(&self, machine: usize) -> usize {
        (0..self.servers()).find(|server| self.of(*server).owns(machine)).expect("an owner")
    }

    pub(super) fn one_buys(&mut self) {
        assert!(self.all_is_shared(), "all is shared by now");
        let Halt { machine, order, case, .. } = *self.halt.as_ref().unwrap();
        let owner = self.owner(machine);
        let others: Vec<usize> = (0..self.servers()).filter(|server| *server != owner).collect();
        let another = others[self.rng.random_range(0..others.len())];
        let at_owner = case.path.at == At::Owner || case.path.at == At::Any && self.chance(0.5);
        if case.path.to == "started" {
            // The device's answer reaches the owner at once.
            self.several.as_mut().unwrap().links[machine] = Some(self.of(owner).incarnation);
        }
        self.order(order, 0, 5);
        self.requests.last_mut().unwrap().at = Some((if at_owner { owner } else { another }, 0));
    }

    pub(super) fn is_stopped_by_staff(&mut self) {
        let Halt { machine, case, .. } = *self.halt.as_ref().unwrap();
        let (owner, any) = (self.owner(machine), self.rng.random_range(0..self.servers()));
        let at = if case.path.to.is_empty() { owner } else { any };
        self.enter(at);
        self.operator_stops(machine);
    }

    /// A decision was made, and is about to be committed.
    pub fn decides(&mut self, machine: usize, change: Change, cause: &PurchaseEvent) {
        if let Some(halt) = self.halt.as_mut().filter(|halt| halt.machine == machine) {
            halt.decided = halt.case.path.to == name(change, cause);
        }
    }

    /// A statement is sent, unless its server is stopped before that.
    pub fn sends(&mut self, machine: usize, edge: &'static str, after_ms: i64, statement: Happening<D::Happening>) {
        if !self.comes_to(machine, edge) {
            return self.after(after_ms, statement);
        }
        if let Some(standing) = self.standing() {
            standing.statement = Some(statement);
        }
    }

    /// This server reaches an edge of the purchase at the machine. Returns whether it is stopped there.
    pub fn comes_to(&mut self, machine: usize, edge: &'static str) -> bool {
        debug_assert!(POINTS.contains(&edge));
        let (Some(member), Some(several)) = (&self.server.member, &mut self.several) else { return false };
        let (node, owner) = (member.node, several.shards.fence(Shard::of(outlet(machine))));
        // A server that was paused is at no edge of a purchase that others decide about by now.
        if !member.owns(machine) || owner.is_some_and(|owner| owner.node != node) {
            return false;
        }
        several.edges[machine] = Some((node, edge));
        let met = !several.has_ended && self.halt.as_ref().is_some_and(|halt| halt.is_at(machine, edge));
        if met {
            self.halts(node);
        }
        met
    }

    /// Stops the server there, while other customers come.
    fn halts(&mut self, node: NodeId) {
        let (incarnation, halt) = (self.server.incarnation, self.halt.as_mut().unwrap());
        let (order, fault) = (halt.order, halt.case.fault);
        halt.met = Some(Met { incarnation, node, state: self.store.state_of(order) });
        let (again_ms, other_ms) = (self.up_to(AGAIN_WITHIN_MS), self.up_to(AGAIN_WITHIN_MS));
        self.order(order, again_ms, 3);
        self.order(OrderRow { customer: 1, receipt: 2, service: SHORT, ..order }, other_ms, 3);
        if fault == Fault::Killed {
            return self.kill();
        }
        self.halt.as_mut().unwrap().standing =
            Some(Standing { incarnation, statement: None, undone: Vec::new(), mailbox: Vec::new() });
        if fault == Fault::Paused {
            let ms = TAKEN_OVER_MS + self.longer_ms();
            self.pause_for(ms);
            self.among(ms, ClusterHappens::GoesOn { incarnation });
        } else {
            self.leave();
            self.disturb(PEACE_MS);
        }
    }

    fn longer_ms(&mut self) -> i64 {
        let longest_ms = LONGER_MS[self.rng.random_range(0..LONGER_MS.len())];
        self.up_to(longest_ms)
    }

    /// The pending work of this process, if it is stopped.
    fn standing(&mut self) -> Option<&mut Standing<D::Happening>> {
        let incarnation = self.server.incarnation;
        self.halt.as_mut()?.standing.as_mut().filter(|standing| standing.incarnation == incarnation)
    }

    pub(super) fn stands_still(&self) -> bool {
        self.halt.iter().flat_map(|halt| &halt.standing).any(|standing| standing.incarnation == self.server.incarnation)
    }

    /// Whether nothing happens with the machine here: its server is stopped at an edge, or was killed there.
    pub fn is_halted(&self, machine: usize) -> bool {
        self.halt.as_ref().is_some_and(|halt| !self.server.up || halt.machine == machine && self.stands_still())
    }

    /// Passes an input on to a machine, unless it is stopped: then the input waits in its mailbox.
    pub fn unless_halted(&mut self, machine: usize, input: Input) -> Option<Input> {
        if !self.is_halted(machine) {
            return Some(input);
        }
        if let Some(standing) = self.standing() {
            standing.mailbox.push(input);
        }
        None
    }

    /// Keeps the effects after the edge.
    pub fn leaves_undone(&mut self, effects: vec::IntoIter<Effect>) {
        if let Some(standing) = self.standing() {
            standing.undone.extend(effects);
        }
    }

    pub(super) fn goes_on(&mut self) {
        let halt = self.halt.as_mut().unwrap();
        let (machine, standing) = (halt.machine, halt.standing.take());
        let Some(Standing { statement, undone, mailbox, .. }) = standing else { return };
        self.disturb(AFTERWARDS_MS);
        if let Some(statement) = statement {
            let after_ms = self.up_to(20);
            self.after(after_ms, statement);
        }
        self.perform_all(machine, undone);
        self.settles(machine);
        mailbox.into_iter().for_each(|input| self.send_input(machine, input));
    }

    /// The machine has done all its work. When it is idle, no purchase is open there.
    pub fn has_settled(&mut self, machine: usize) {
        let is_over = self.server.owns(machine) && self.server.actors[machine].machine.is_idle();
        if let Some(several) = self.several.as_mut().filter(|_| is_over) {
            several.edges[machine] = None;
        }
    }

    /// Shards belong to that node from now on. Counts the edges that the previous owners of their machines had reached.
    pub(super) fn are_taken_over(&mut self, idshards: &[Shard], node: NodeId) {
        for machine in (0..MACHINES).filter(|machine| idshards.contains(&Shard::of(outlet(*machine)))) {
            let edge = self.several.as_ref().unwrap().edges[machine];
            if let Some((_, edge)) = edge.filter(|(before, _)| *before != node) {
                self.note(edge);
                self.is_taken_over_at_an_edge(machine, node);
            }
        }
    }

    fn is_taken_over_at_an_edge(&mut self, machine: usize, node: NodeId) {
        let Some(halt) = self.halt.as_ref().filter(|halt| halt.machine == machine && !halt.taken_over) else { return };
        let Some(met) = halt.met.as_ref().filter(|met| met.node != node) else { return };
        let (case, order) = (halt.case, halt.order);
        let is_there = match (case.fault, self.of_incarnation(met.incarnation)) {
            (Fault::Killed, server) => server.is_none(),
            (_, None) => false,
            (_, Some(server)) => {
                let paused_until = self.of(server).member.as_ref().unwrap().paused_until;
                halt.standing.is_some() && (case.fault == Fault::Leaves || paused_until > self.now)
            }
        };
        assert!(is_there, "taken over, but not at {}: {case:?}", case.edge);
        let state = self.store.state_of(order);
        let is_same = state == met.state || is_anybodys(case.path, case.edge);
        assert!(is_same, "{:?}, and {state:?} when it was taken over: {case:?}", met.state);
        let incarnation = met.incarnation;
        self.halt.as_mut().unwrap().taken_over = true;
        if case.fault == Fault::Leaves {
            let after_ms = self.longer_ms();
            self.among(after_ms, ClusterHappens::GoesOn { incarnation });
        }
    }

    /// Checks that the edge was reached, that another server has owned the machine since, and that the purchase has ended as required.
    pub(super) fn check_edge(&self) {
        let Some(Halt { case, order, met, taken_over, standing, linked_at, .. }) = &self.halt else { return };
        assert!(met.is_some(), "{} was never met: {case:?}", case.edge);
        assert!(*taken_over && standing.is_none(), "nobody took over at {}: {case:?}", case.edge);
        let state = self.store.state_of(*order);
        // A customer who came in between may have had the machine first.
        let lost = case.edge == "before_hold" && state.is_none();
        // The device lost its connection with the server that left, and found the other one when the start was about to expire.
        let bought = self.store.purchases.iter().find(|p| p.order == *order);
        let near = bought.zip(*linked_at).is_some_and(|(p, at)| at.ms_until(p.created_at.plus_ms(CMD_TTL_MS)) < NEAR_EXPIRY_MS);
        let late = case.fault == Fault::Leaves && near && state == Some(PurchaseState::Expired);
        assert!(lost || late || state == Some(case.path.end), "it ends as {state:?}: {case:?}");
    }
}

impl<D> Halt<D> {
    pub(super) fn links(&mut self, machine: usize, now: Timestamp) {
        if self.machine == machine && self.met.is_some() {
            self.linked_at.get_or_insert(now);
        }
    }

    fn is_at(&self, machine: usize, edge: &str) -> bool {
        let is_meant = self.decided || self.case.path.to.is_empty();
        self.machine == machine && self.case.edge == edge && is_meant && self.met.is_none()
    }
}
