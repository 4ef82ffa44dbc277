//! Change notifications between servers (`cluster::notifications`): where to look, and never the data. Messages are late, lost, and sent to
//! stopped servers.

use std::collections::{BTreeSet, HashMap};

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_core::purchase::device::Op;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Held;
use nyala_machines::recovery::RESEND_REMOTE_AFTER_MS;
use rand::Rng;

use super::super::devices::Devices;
use super::super::world::World;
use super::happens::{ClusterHappens, Look};
use super::outlet;

/// Share of the histories without notifications.
const NONE: f64 = 0.2;
/// Transit time of a message, the share of late ones, and the transit time of those.
const LATENCY_MS: i64 = 5;
const LATE: f64 = 0.1;
const LATE_MS: i64 = 2_000;
/// Messages that pile up for a stopped server may exceed its buffer.
const DROPPED: f64 = 0.3;
const CUT_MS: i64 = 20_000;

/// The change notifications of a history.
#[derive(Debug)]
pub struct Notifications {
    /// Share of lost messages; `None`: no server sends any.
    loses: Option<f64>,
    /// Until then all messages are lost.
    cut_until: Timestamp,
    /// Purchases that were still held when their owner received the notification.
    waited: BTreeSet<PurchaseId>,
}

impl Notifications {
    pub fn new(rng: &mut impl Rng, now: Timestamp) -> Self {
        let loses = (!rng.random_bool(NONE)).then(|| rng.random_range(0.1..0.3));
        Self::that_loses(loses, now)
    }

    /// `None`: no server sends any.
    pub fn that_loses(loses: Option<f64>, now: Timestamp) -> Self {
        Self { loses, cut_until: now, waited: BTreeSet::new() }
    }
}

/// The last message number that a server has sent, and those it has received.
#[derive(Debug, Default)]
pub struct Numbers {
    sent: u64,
    /// The last number from each other server start.
    received: HashMap<u32, u64>,
}

#[derive(Debug, Clone)]
pub enum Notification {
    /// `open`: its purchase, for the checks only; it is not part of the message.
    Machine {
        machine: usize,
        open: Option<PurchaseId>,
    },
    DeviceMessages {
        shards: BTreeSet<Shard>,
    },
}

#[derive(Debug)]
pub struct Message {
    from: u32,
    number: u64,
    notification: Notification,
}

impl<D: Devices> World<D> {
    /// An actor has received the commit of its change, or a stored stop: the other servers are notified.
    pub fn notify_others(&mut self, machine: usize, input: &Input) {
        let is_change = matches!(input, Input::Held(Ok(Held::Won { .. })) | Input::Applied(Ok(true)) | Input::Stop { .. });
        if is_change && self.several.is_some() {
            let open = self.store.open().find(|(_, p)| p.order.machine == machine).map(|(id, _)| id);
            self.notify_all(&Notification::Machine { machine, open });
        }
    }

    pub(super) fn notify_of_messages(&mut self, machines: impl Iterator<Item = usize>) {
        self.notify_all(&Notification::DeviceMessages { shards: machines.map(|machine| Shard::of(outlet(machine))).collect() });
    }

    fn notify_all(&mut self, notification: &Notification) {
        let Notifications { loses, cut_until, .. } = self.several.as_ref().unwrap().notifications;
        let Some(loses) = loses else { return self.note("no notifications") };
        let from = self.server.incarnation;
        let numbers = &mut self.me().numbers;
        numbers.sent += 1;
        let number = numbers.sent;
        let others: Vec<u32> =
            (0..self.servers()).map(|server| self.of(server)).filter(|s| s.up).map(|s| s.incarnation).collect();
        for incarnation in others.into_iter().filter(|incarnation| *incarnation != from) {
            if cut_until > self.now || self.chance(loses) {
                self.note("notification lost");
                continue;
            }
            let longest_ms = if self.chance(LATE) { LATE_MS } else { LATENCY_MS };
            let after_ms = self.up_to(longest_ms);
            self.among(
                after_ms,
                ClusterHappens::Received { incarnation, message: Message { from, number, notification: notification.clone() } },
            );
        }
    }

    pub(super) fn cut_notifications(&mut self) {
        self.note("notifications cut");
        let ms = self.up_to(CUT_MS);
        let until = self.now.plus_ms(ms);
        self.several.as_mut().unwrap().notifications.cut_until = until;
    }

    pub(super) fn restore_notifications(&mut self) {
        let now = self.now;
        self.several.as_mut().unwrap().notifications.cut_until = now;
    }

    /// Whether a message to a stopped server is lost.
    pub(super) fn is_dropped(&mut self) -> bool {
        let is_dropped = self.chance(DROPPED);
        self.note(if is_dropped { "notification lost" } else { "notification buffered" });
        is_dropped
    }

    pub(super) fn receive_notification(&mut self, Message { from, number, notification }: Message) {
        let incarnation = self.server.incarnation;
        let before = self.me().numbers.received.insert(from, number);
        if before.is_some_and(|before| number > before + 1) {
            self.note("notification missed");
            let (take_ms, mirror_ms, speak_ms) = (self.up_to(3), self.up_to(3), self.up_to(3));
            self.among(take_ms, ClusterHappens::Take { incarnation, look: Look::Once });
            self.among(mirror_ms, ClusterHappens::Mirror { incarnation, look: Look::Once });
            self.among(speak_ms, ClusterHappens::Speak { incarnation, look: Look::Once });
        }
        match notification {
            Notification::Machine { machine, open } => self.look_at_machine(machine, open),
            Notification::DeviceMessages { shards } => {
                let own = self.me().ownership.shards().unwrap();
                if shards.iter().any(|shard| own.contains(shard)) {
                    let after_ms = self.up_to(3);
                    self.among(after_ms, ClusterHappens::Take { incarnation, look: Look::Once });
                }
            }
        }
    }

    fn look_at_machine(&mut self, machine: usize, open: Option<PurchaseId>) {
        let (incarnation, owns) = (self.server.incarnation, self.server.owns(machine));
        if let Some(purchase) = open {
            let state = self.store.purchase(purchase).state;
            if !state.open() {
                self.note("notification after its purchase was over");
            }
            if owns && state == PurchaseState::Held {
                self.several.as_mut().unwrap().notifications.waited.insert(purchase);
            }
        }
        if owns {
            return self.send_input(machine, Input::Reload);
        }
        if self.server.actors[machine].present {
            let after_ms = self.up_to(3);
            self.among(after_ms, ClusterHappens::Mirror { incarnation, look: Look::At(machine) });
        }
        if self.several.as_ref().unwrap().links[machine] == Some(incarnation) {
            let after_ms = self.up_to(3);
            self.among(after_ms, ClusterHappens::Speak { incarnation, look: Look::At(machine) });
        }
    }

    /// An owner commands its device. Counts a start that a notification brought, before any periodic read would have found it.
    pub(super) fn note_commanded(&mut self, machine: usize, op: Op) {
        let open = self.store.open().find(|(_, p)| p.order.machine == machine).map(|(id, p)| (id, p.created_at));
        let Some((purchase, created_at)) = open.filter(|_| op == Op::Start) else { return };
        let waited = self.several.as_mut().unwrap().notifications.waited.remove(&purchase);
        if waited && created_at.ms_until(self.clock()) < RESEND_REMOTE_AFTER_MS {
            self.note("notification began a start");
        }
    }
}
