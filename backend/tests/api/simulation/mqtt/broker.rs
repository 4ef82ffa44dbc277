//! A broker between: it keeps the last state of each device, publishes wills in its own way, and dies.

use nyala::domain::timestamp::Timestamp;
use nyala::machine::device::mqtt::conversation::LinkId;
use nyala::machine::device::mqtt::word::{Stamp, Word};
use rand::Rng;
use rand::rngs::StdRng;

use super::super::world::{MACHINES, T0, World};
use super::{Happens, Mqtt};

#[derive(Debug)]
pub struct Broker {
    pub up: bool,
    manner: Manner,
    /// The last state or will of each machine; and as it was when that was last put on disk.
    kept: Vec<Option<Word>>,
    on_disk: Vec<Option<Word>>,
    /// The server's connection.
    pub line: Option<LinkId>,
    /// It carries nothing until then, and nobody knows.
    pub dead_until: Timestamp,
}

/// What becomes of the will at a take-over: the brokers differ.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Old,
    None,
    New,
}

impl Broker {
    pub fn new(rng: &mut StdRng) -> Self {
        let manner = [Manner::Old, Manner::None, Manner::New][rng.random_range(0..3)];
        let kept = vec![None; MACHINES];
        Self { up: true, manner, on_disk: kept.clone(), kept, line: None, dead_until: T0 }
    }

    /// Whether the server hears from it, and it from the server.
    pub fn carries(&self, now: Timestamp) -> bool {
        self.up && self.line.is_some() && now >= self.dead_until
    }
}

impl<const B: bool> World<Mqtt<B>> {
    /// A device publishes: its states are kept.
    pub(super) fn broker_hears(&mut self, machine: usize, word: &Word) {
        if matches!(word, Word::State(_)) {
            self.devices.broker.kept[machine] = Some(word.clone());
        }
    }

    pub(super) fn broker_says(&mut self, machine: usize, word: &Word, said_at: Timestamp) {
        if let Some(line) = self.devices.broker.line.filter(|_| self.devices.broker.carries(self.now)) {
            self.server_hears_word(machine, line, word, said_at);
        }
    }

    pub(super) fn broker_took_over(&mut self, machine: usize, old: Word, new: Word) {
        match self.devices.broker.manner {
            Manner::Old => self.publish_will(machine, old),
            Manner::New => self.publish_will(machine, new),
            Manner::None => {}
        }
    }

    pub(super) fn publish_will(&mut self, machine: usize, will: Word) {
        if !self.devices.broker.up {
            return;
        }
        let Word::Gone(stamp) = &will else { return };
        let stamp = stamp.clone();
        self.devices.broker.kept[machine] = Some(will);
        let after_ms = 5 + self.up_to(100);
        self.later(after_ms, Happens::Will { machine, stamp });
    }

    pub(super) fn will(&mut self, machine: usize, stamp: Stamp) {
        if let Some(line) = self.devices.broker.line.filter(|_| self.devices.broker.carries(self.now)) {
            self.server_hears_will(machine, line, stamp);
        }
    }

    pub(super) fn snapshot(&mut self) {
        let broker = &mut self.devices.broker;
        broker.on_disk.clone_from(&broker.kept);
        self.later(30 * 60_000, Happens::Snapshot);
    }

    pub(super) fn broker_dies(&mut self) {
        if !self.devices.broker.up {
            return;
        }
        self.note("broker down");
        self.hang_up_all();
        let forgets = self.chance(0.3);
        let broker = &mut self.devices.broker;
        broker.up = false;
        // It finds what it had written, or that the power has broken its file.
        broker.kept = if forgets { vec![None; MACHINES] } else { broker.on_disk.clone() };
        self.broker_line_ends();
        let after_ms = 1_000 + self.up_to(30_000);
        self.later(after_ms, Happens::BrokerUp);
    }

    pub(super) fn broker_up(&mut self) {
        self.devices.broker.up = true;
    }

    /// The server's connection with it is gone, and known to be.
    pub(super) fn broker_line_ends(&mut self) {
        self.devices.broker.dead_until = self.now;
        if let Some(line) = self.devices.broker.line.take() {
            for machine in 0..MACHINES {
                self.converse(machine, |talk, now| talk.unlinked(line, now));
            }
        }
        let after_ms = 100 + self.up_to(2_000);
        self.later(after_ms, Happens::BrokerLine);
    }

    /// It is gone, and only a keep-alive will tell.
    pub(super) fn broker_line_dies(&mut self) {
        if self.devices.broker.line.is_some() {
            self.note("the broker's line is dead");
            let lasts_ms = 5_000 + self.up_to(40_000);
            self.devices.broker.dead_until = self.now.plus_ms(lasts_ms);
            self.later(lasts_ms, Happens::BrokerLine);
        }
    }

    pub(super) fn broker_line(&mut self) {
        if !self.server.up {
            return;
        }
        if self.devices.broker.line.is_some() {
            // It was dead, and that has become known.
            if self.devices.broker.dead_until == self.now {
                self.broker_line_ends();
            }
            return;
        }
        if !self.devices.broker.up {
            let after_ms = 500 + self.up_to(2_000);
            return self.later(after_ms, Happens::BrokerLine);
        }
        let line = self.new_line();
        self.devices.broker.line = Some(line);
        for machine in 0..MACHINES {
            self.converse(machine, |talk, now| talk.linked(line, now));
            if self.devices.broker.kept[machine].is_some() {
                let after_ms = 50 + self.up_to(500);
                self.later(after_ms, Happens::Kept { line, machine });
            }
        }
    }

    pub(super) fn kept(&mut self, line: LinkId, machine: usize) {
        if self.devices.broker.line == Some(line) && self.devices.broker.carries(self.now) {
            self.server_hears_kept(machine);
        }
    }

    pub(super) fn plan_broker_trouble(&mut self) {
        match self.rng.random_range(0..3) {
            0 => self.broker_dies(),
            1 => self.broker_line_dies(),
            _ => {
                self.note("the broker's line is cut");
                self.broker_line_ends();
            }
        }
    }
}
