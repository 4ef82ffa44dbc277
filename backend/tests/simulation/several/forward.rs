//! Device messages and commands of machines that another server owns, as `machine::device::forward` forwards them.

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_core::purchase::device::{Command, DeviceEvent, Op};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use nyala_ledger::facts::OpenPurchase;
use nyala_machines::device::forward::{EVERY, MESSAGE_TTL_MS};

use super::super::devices::Devices;
use super::super::server::SimulatedServer;
use super::super::server::idmesin;
use super::super::store::MachineWrite;
use super::super::world::{MACHINES, World};
use super::happens::{ClusterHappens, Look};
use super::outlet;
use super::shards::DeviceMessageRow;

impl<D: Devices> World<D> {
    /// The device of a machine sends a message to the server that it is connected to.
    pub fn linked_server_receives(&mut self, machine: usize, event: DeviceEvent, sent_at: Timestamp) {
        match self.several.as_ref().unwrap().links[machine] {
            Some(incarnation) => self.among(
                0,
                ClusterHappens::DeviceMessage {
                    incarnation,
                    message: DeviceMessageRow { machine, event, received_at: sent_at, sent_at },
                },
            ),
            None => self.note("message without a link"),
        }
    }

    pub(super) fn forward_or_deliver(&mut self, message: DeviceMessageRow) {
        let message = DeviceMessageRow { received_at: self.clock(), ..message };
        if let DeviceEvent::State { online, .. } = message.event {
            // The server that the device is connected to writes its presence, until that is stored.
            self.store.set(message.machine, MachineWrite::Online(online));
            if !online {
                return;
            }
        }
        if self.server.owns(message.machine) {
            return self.deliver(message);
        }
        self.me().to_forward.push(message);
        self.forward();
    }

    fn forward(&mut self) {
        let incarnation = self.server.incarnation;
        let member = self.me();
        if !member.forwarding && !member.to_forward.is_empty() {
            member.forwarding = true;
            let messages = std::mem::take(&mut member.to_forward);
            let after_ms = self.lookup_ms();
            self.among(after_ms, ClusterHappens::Forward { incarnation, messages });
        }
    }

    pub(super) fn forwarded(&mut self, incarnation: u32, messages: Vec<DeviceMessageRow>) {
        if self.carried_out(incarnation) {
            self.note("messages through the table");
            if self.server.incarnation == incarnation {
                self.notify_of_messages(messages.iter().map(|message| message.machine));
            }
            self.several.as_mut().unwrap().shards.messages.extend(messages);
        }
        if self.server.incarnation == incarnation {
            self.me().forwarding = false;
            self.forward();
        }
    }

    pub(super) fn takes(&mut self, look: Look) {
        let incarnation = self.server.incarnation;
        let (own, since) = (self.me().ownership.shards().unwrap(), self.clock().plus_ms(-MESSAGE_TTL_MS));
        let messages = self.several.as_mut().unwrap().shards.take(&own, since);
        if !messages.is_empty() && !self.fails() {
            let after_ms = self.lookup_ms();
            self.among(after_ms, ClusterHappens::Taken { incarnation, messages });
        }
        if look == Look::Round {
            self.again(EVERY.as_millis(), ClusterHappens::Take { incarnation, look });
        }
    }

    pub(super) fn taken(&mut self, messages: Vec<DeviceMessageRow>) {
        let now = self.clock();
        for message in messages {
            let event = message.event.aged_by(message.received_at.ms_until(now).max(0));
            self.send_input(message.machine, Input::Reload);
            self.deliver(DeviceMessageRow { event, ..message });
        }
    }

    /// Whether a device's message about a run waits at a server, to be forwarded, taken or decided about.
    pub fn has_a_forwarded_run_report(&self) -> bool {
        let Some(several) = &self.several else { return false };
        let waits = |server: &SimulatedServer| {
            let forwards = server.member.as_ref().is_some_and(|m| m.to_forward.iter().any(DeviceMessageRow::reports_a_run));
            forwards || server.actors.iter().any(|actor| !actor.machine.is_idle())
        };
        several.shards.messages.iter().any(DeviceMessageRow::reports_a_run)
            || (0..self.servers()).map(|server| self.of(server)).any(|server| server.up && waits(server))
    }

    /// `device::deliver`.
    fn deliver(&mut self, message: DeviceMessageRow) {
        let present = self.server.actors[message.machine].present;
        if present || matches!(message.event, DeviceEvent::State { .. }) {
            self.decider_receives(message.machine, message.event, message.sent_at);
        }
    }

    pub(super) fn speaks(&mut self, look: Look) {
        let (incarnation, now) = (self.server.incarnation, self.clock());
        let foreign: Vec<usize> = match look {
            Look::At(machine) => vec![machine],
            Look::Round | Look::Once => (0..MACHINES).filter(|m| !self.server.owns(*m)).collect(),
        };
        let unsettled = |p: &Purchase| p.state != PurchaseState::Running || p.exchange.stop_requested;
        let mut open: Vec<(usize, Purchase)> =
            foreign.iter().filter_map(|m| Some((*m, self.store.load(*m).filter(unsettled)?))).collect();
        let mut waiting = Vec::new();
        if !matches!(look, Look::At(_)) && self.me().sent.asks_for_staff(now) {
            open.extend(foreign.iter().filter_map(|m| Some((*m, self.store.awaiting_staff(*m)?))));
        }
        if !matches!(look, Look::At(_)) && self.me().sent.asks_for_unpaid(now) {
            let over = |m: &&usize| self.store.machines[**m].unpaid.is_some_and(|(_, ends_at)| ends_at <= now);
            waiting.extend(foreign.iter().filter(over));
        }
        if !self.fails() {
            let after_ms = self.lookup_ms();
            self.among(after_ms, ClusterHappens::Spoken { incarnation, look, open, waiting });
        }
        if look == Look::Round {
            self.again(EVERY.as_millis(), ClusterHappens::Speak { incarnation, look });
        }
    }

    pub(super) fn spoken(&mut self, look: Look, open: Vec<(usize, Purchase)>, waiting: Vec<usize>) {
        let (incarnation, now) = (self.server.incarnation, self.clock());
        let links = &self.several.as_ref().unwrap().links;
        let linked = |(machine, purchase): (usize, Purchase)| {
            let idoutlet = outlet(machine);
            (links[machine] == Some(incarnation)).then(|| OpenPurchase {
                idmesin: idmesin(machine),
                idoutlet,
                driver: DriverKind::Sim,
                purchase,
            })
        };
        let waiting: Vec<usize> = waiting.into_iter().filter(|machine| links[*machine] == Some(incarnation)).collect();
        let open: Vec<OpenPurchase> = open.into_iter().filter_map(linked).collect();
        let sent = &mut self.me().sent;
        if !matches!(look, Look::At(_)) {
            sent.forget_all_but(&open);
        }
        let commands: Vec<_> = open.iter().filter_map(|t| sent.next(t, now)).collect();
        for cmd in commands {
            self.note("sent for another server");
            if matches!(look, Look::At(_)) && cmd.op == Op::Start {
                self.note("notification sent a start");
            }
            D::command(self, cmd);
        }
        for machine in waiting {
            D::command(self, Command::about_nothing(idmesin(machine), now));
        }
    }
}
