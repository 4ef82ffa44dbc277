//! Events among several servers, and the server in whose name each happens: a stopped process does nothing, and a frozen database answers
//! no server.

use nyala_cluster::OwnedShard;
use nyala_cluster::membership::ClusterView;
use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::Shard;
use nyala_core::purchase::step::Purchase;
use rand::Rng;

use super::super::devices::Devices;
use super::super::statements::Write;
use super::super::world::{Happening, World};
use super::notifications::Message;
use super::shards::DeviceMessageRow;

#[derive(Debug)]
pub enum ClusterHappens {
    // --- of one process ---
    Heartbeat {
        incarnation: u32,
        number: u32,
    },
    Claim {
        incarnation: u32,
        number: u32,
        seen: ClusterView,
        limit: i64,
    },
    Own {
        incarnation: u32,
        number: u32,
        seen: ClusterView,
    },
    Learn {
        incarnation: u32,
        number: u32,
        seen: ClusterView,
        owned: Vec<OwnedShard>,
    },
    HandOver {
        incarnation: u32,
        number: u32,
        shards: Vec<Shard>,
    },
    /// A heartbeat takes too long.
    HeartbeatFails {
        incarnation: u32,
        number: u32,
    },
    Resume {
        incarnation: u32,
        shards: Vec<Shard>,
    },
    Resumed {
        incarnation: u32,
        open: Vec<(usize, Purchase)>,
    },
    Mirror {
        incarnation: u32,
        look: Look,
    },
    Mirrored {
        incarnation: u32,
        stored: Vec<(usize, Option<Purchase>)>,
    },
    Take {
        incarnation: u32,
        look: Look,
    },
    Taken {
        incarnation: u32,
        messages: Vec<DeviceMessageRow>,
    },
    Speak {
        incarnation: u32,
        look: Look,
    },
    Spoken {
        incarnation: u32,
        look: Look,
        open: Vec<(usize, Purchase)>,
        waiting: Vec<usize>,
    },
    Forward {
        incarnation: u32,
        messages: Vec<DeviceMessageRow>,
    },
    DeviceMessage {
        incarnation: u32,
        message: DeviceMessageRow,
    },
    /// Another server has sent a change notification.
    Received {
        incarnation: u32,
        message: Message,
    },
    // --- of the database: `then` happens at the server that sent the statement ---
    Lock {
        node: NodeId,
        limit: i64,
        alive: Vec<NodeId>,
        then: Box<ClusterHappens>,
    },
    Give {
        node: NodeId,
        shard: Shard,
        then: Box<ClusterHappens>,
    },
    Move {
        idshards: Vec<Shard>,
        to: Option<NodeId>,
        then: Box<ClusterHappens>,
    },
    // --- of the world ---
    Boot {
        server: usize,
    },
    /// A device connects, perhaps to another server than before.
    Link {
        machine: usize,
    },
    /// A customer begins to watch.
    Watch {
        watcher: usize,
    },
    /// Those shards lost their server two seconds ago, in the fault of that number.
    TakenOver {
        trouble: u32,
        /// The shards, and the epoch in which that server had acquired them.
        shards: Vec<OwnedShard>,
    },
    /// The silent device sends a message at last.
    Speaks {
        machine: usize,
    },
    /// The last check: when all is quiet, each customer buys once more.
    Last,
    // --- where a server is stopped at an edge ---
    /// The purchase begins whose edge the case is about.
    Buys,
    /// Its run is to be stopped.
    Stops,
    /// The stopped process resumes.
    GoesOn {
        incarnation: u32,
    },
}

/// Why something is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The periodic read.
    Round,
    /// A read after a change notification.
    Once,
    /// A read of that machine alone.
    At(usize),
}

/// What an event needs before it can happen.
enum Needs {
    Nothing,
    /// Its process must run.
    Process(u32),
    /// A statement that may be in transit already: its process may be stopped before it is sent.
    Statement(u32),
    /// A statement that is sent now.
    Question(u32),
    /// The database alone: what has begun there continues, whatever happens to the process that sent it.
    Database(u32),
}

impl<D: Devices> World<D> {
    /// An event that is due, in the name of its server. `None` when it has to wait, or when that server is dead.
    pub fn in_its_place(&mut self, what: Happening<D::Happening>) -> Option<Happening<D::Happening>> {
        let Some(several) = &self.several else { return Some(what) };
        let frozen_until = several.frozen_until;
        let needs = match &what {
            Happening::Press { request } => {
                let at = self.place(*request);
                self.enter(at);
                self.requests[*request].at = Some((at, self.server.incarnation));
                if self.server.up { Needs::Question(self.server.incarnation) } else { Needs::Nothing }
            }
            Happening::Deadline { request } => match self.requests[*request].at {
                Some((_, incarnation)) => Needs::Process(incarnation),
                None => Needs::Nothing,
            },
            Happening::Decided { incarnation, .. }
            | Happening::Input { incarnation, .. }
            | Happening::Alarm { incarnation, .. } => Needs::Process(*incarnation),
            Happening::Hold { incarnation, .. }
            | Happening::Write(Write { incarnation, .. })
            | Happening::Load { incarnation, .. } => Needs::Statement(*incarnation),
            Happening::Commit(Write { incarnation, .. }) => Needs::Database(*incarnation),
            Happening::Reap { incarnation, .. } => Needs::Question(*incarnation),
            Happening::OperatorStops { .. } => {
                let at = self.rng.random_range(0..self.servers());
                self.enter(at);
                Needs::Question(self.server.incarnation)
            }
            Happening::Several(what) => what.needs(),
            _ => Needs::Nothing,
        };
        let incarnation = match needs {
            Needs::Nothing => return Some(what),
            Needs::Process(incarnation)
            | Needs::Statement(incarnation)
            | Needs::Question(incarnation)
            | Needs::Database(incarnation) => incarnation,
        };
        let place = self.of_incarnation(incarnation);
        place.into_iter().for_each(|server| self.enter(server));
        let mut wait_until = if matches!(needs, Needs::Process(_)) { self.now } else { frozen_until };
        if place.is_some() {
            let sent = match needs {
                Needs::Database(_) => true,
                Needs::Statement(_) => self.paused_until() > self.now && self.chance(0.5),
                _ => false,
            };
            if !sent {
                wait_until = wait_until.max(self.paused_until());
            }
        } else if !matches!(needs, Needs::Statement(_) | Needs::Database(_)) {
            return None;
        }
        if wait_until > self.now {
            if matches!(what, Happening::Several(ClusterHappens::Received { .. })) && self.is_dropped() {
                return None;
            }
            let jitter_ms = if matches!(needs, Needs::Process(_)) { 0 } else { self.up_to(20) };
            let after_ms = self.now.ms_until(wait_until) + jitter_ms;
            self.after(after_ms, what);
            return None;
        }
        Some(what)
    }

    pub fn happen_among(&mut self, what: ClusterHappens) {
        match what {
            ClusterHappens::Heartbeat { number, .. } => self.sends_heartbeat(number),
            ClusterHappens::Claim { incarnation, number, seen, limit } if incarnation == self.server.incarnation => {
                self.claims(number, seen, limit)
            }
            ClusterHappens::Own { number, seen, .. } => self.reads_own(number, seen),
            ClusterHappens::Learn { number, seen, owned, .. } => self.learns(number, seen, &owned),
            ClusterHappens::HandOver { number, shards, .. } => self.hands_over(number, shards),
            ClusterHappens::HeartbeatFails { number, .. } => self.heartbeat_fails(number),
            ClusterHappens::Lock { node, limit, alive, then } => self.locks(node, limit, &alive, then),
            ClusterHappens::Give { node, shard, then } => self.gives(node, shard, then),
            ClusterHappens::Move { idshards, to, then } => self.moves(&idshards, to, *then),
            ClusterHappens::Resume { incarnation, shards } if incarnation == self.server.incarnation => self.resumes(shards),
            ClusterHappens::Resumed { open, .. } => self.resumed(open),
            ClusterHappens::Mirror { look, .. } => self.mirrors(look),
            ClusterHappens::Mirrored { stored, .. } => self.mirrored(stored),
            ClusterHappens::Take { look, .. } => self.takes(look),
            ClusterHappens::Taken { messages, .. } => self.taken(messages),
            ClusterHappens::Speak { look, .. } => self.speaks(look),
            ClusterHappens::Spoken { look, open, waiting, .. } => self.spoken(look, open, waiting),
            ClusterHappens::Forward { incarnation, messages } => self.forwarded(incarnation, messages),
            ClusterHappens::DeviceMessage { message, .. } => self.forward_or_deliver(message),
            ClusterHappens::Received { message, .. } => self.receive_notification(message),
            ClusterHappens::Boot { server } => self.boot_among(server),
            ClusterHappens::Link { machine } => self.link(machine),
            ClusterHappens::Watch { watcher } => self.starts_watching(watcher),
            ClusterHappens::TakenOver { trouble, shards } => self.check_taken_over(trouble, &shards),
            ClusterHappens::Speaks { machine } => {
                self.several.as_mut().unwrap().silent = None;
                D::peace(self, machine);
            }
            ClusterHappens::Last => self.everybody_buys(),
            ClusterHappens::Buys => self.one_buys(),
            ClusterHappens::Stops => self.is_stopped_by_staff(),
            ClusterHappens::GoesOn { .. } => self.goes_on(),
            ClusterHappens::Claim { .. } | ClusterHappens::Resume { .. } => {}
        }
    }
}

impl ClusterHappens {
    /// Whether it carries a device's message about a run.
    pub fn reports_a_run(&self) -> bool {
        match self {
            Self::DeviceMessage { message, .. } => message.reports_a_run(),
            Self::Forward { messages, .. } | Self::Taken { messages, .. } => messages.iter().any(DeviceMessageRow::reports_a_run),
            _ => false,
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Self::Heartbeat { incarnation, .. }
            | Self::Own { incarnation, .. }
            | Self::Mirror { incarnation, .. }
            | Self::Take { incarnation, .. }
            | Self::Speak { incarnation, .. } => Needs::Question(*incarnation),
            Self::Claim { incarnation, .. } | Self::Resume { incarnation, .. } | Self::Forward { incarnation, .. } => {
                Needs::Statement(*incarnation)
            }
            Self::Lock { then, .. } | Self::Give { then, .. } | Self::Move { then, .. } => match then.needs() {
                Needs::Process(incarnation) | Needs::Question(incarnation) => Needs::Database(incarnation),
                other => other,
            },
            Self::Learn { incarnation, .. }
            | Self::HandOver { incarnation, .. }
            | Self::HeartbeatFails { incarnation, .. }
            | Self::Resumed { incarnation, .. }
            | Self::Mirrored { incarnation, .. }
            | Self::Taken { incarnation, .. }
            | Self::Spoken { incarnation, .. }
            | Self::DeviceMessage { incarnation, .. }
            | Self::Received { incarnation, .. }
            | Self::GoesOn { incarnation } => Needs::Process(*incarnation),
            Self::Boot { .. }
            | Self::Link { .. }
            | Self::Watch { .. }
            | Self::TakenOver { .. }
            | Self::Speaks { .. }
            | Self::Last
            | Self::Buys
            | Self::Stops => Needs::Nothing,
        }
    }
}
