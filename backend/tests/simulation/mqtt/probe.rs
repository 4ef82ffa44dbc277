//! The probe: before money is held, the device is queried, unless a message from it arrived just now.

use nyala_core::machine::{Input, Outcome, Start};
use nyala_core::purchase::rules::Refusal;
use nyala_machines::device::mqtt::conversation::{PROBE_MS, ProbeStep};

use super::super::world::World;
use super::talk::GRACE_MS;
use super::{Mqtt, MqttHappens};

impl World<Mqtt> {
    /// A customer scans the sticker.
    pub(super) fn scan(&mut self, machine: usize) {
        if self.server.up
            && let ProbeStep::Ask(link, cmd) = self.devices.talks[machine].conversation.probe(self.now)
        {
            self.transmit(machine, link, cmd);
        }
    }

    pub(super) fn probe(&mut self, request: usize, machine: usize, start: Start) {
        let (incarnation, talk) = (self.server.incarnation, &mut self.devices.talks[machine]);
        if talk.presence.known.is_none() && self.server.up_since.ms_until(self.now) < GRACE_MS {
            self.note("probe spared: it is on its way back");
            return self.send_input(machine, Input::Start(start));
        }
        match talk.conversation.probe(self.now) {
            ProbeStep::Fresh => self.send_input(machine, Input::Start(start)),
            ProbeStep::Offline => self.is_offline(request),
            asked => {
                talk.waiting.push((request, start));
                self.later(PROBE_MS, MqttHappens::ProbeOver { incarnation, request, machine });
                if let ProbeStep::Ask(link, cmd) = asked {
                    self.transmit(machine, link, cmd);
                }
            }
        }
    }

    /// Answers the requests that wait for the probe, once it is over.
    pub(super) fn answer_probes(&mut self, machine: usize) {
        let talk = &mut self.devices.talks[machine];
        if talk.waiting.is_empty() || talk.conversation.is_asked(self.now) {
            return;
        }
        let present = talk.conversation.is_present();
        for (request, start) in std::mem::take(&mut talk.waiting) {
            if present {
                self.note("probe answered");
                self.send_input(machine, Input::Start(start));
            } else {
                self.is_offline(request);
            }
        }
    }

    pub(super) fn probe_over(&mut self, machine: usize, request: usize) {
        let talk = &mut self.devices.talks[machine];
        let Some(at) = talk.waiting.iter().position(|(of, _)| *of == request) else { return };
        let (_, start) = talk.waiting.remove(at);
        let was_fresh = talk.conversation.was_fresh(self.now);
        self.note("probe not answered");
        if was_fresh {
            self.send_input(machine, Input::Start(start));
        } else {
            self.is_offline(request);
        }
    }

    fn is_offline(&mut self, request: usize) {
        self.note("offline by its probe");
        self.answer(request, Outcome::Refused(Refusal::MachineOffline));
    }
}
