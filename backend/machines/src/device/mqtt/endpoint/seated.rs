//! Sessions of connections that have logged in: messages from their devices and to them.

use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::server::{Subscribe, Unsubscribe};
use nyala_mqtt::{Granted, Publish, Qos};

use super::line::Line;
use super::shared::LineKey;
use super::thread::Thread;
use crate::device::mqtt::conversation::{Effect, LinkId};
use crate::device::mqtt::devices::location;
use crate::device::mqtt::logins::DeviceKey;
use crate::device::mqtt::metrics::{Closed, Dropped};
use crate::device::mqtt::word::{DeviceMessage, Topic};

/// Greatest number of connections of one device.
const LINES: usize = 4;
/// Last part of the topic on which a device receives its commands, after the prefix of its topics.
const COMMANDS: &str = "cmd";

impl Thread {
    /// Takes over a connection that has logged in: this thread owns its device.
    pub(super) fn arrive(&mut self, mut line: Line, key: DeviceKey) {
        // The key was revoked after the check.
        if self.shared.is_revoked(key.id) {
            return self.shared.reports.metrics.closed(Closed::Revoked);
        }
        let now = self.now();
        line.heard_at = now;
        // The CONNECT was checked, so this answer is valid.
        let _ = line.mqtt.accept(&mut line.out);
        let client: Box<str> = line.seat().map(|seat| seat.client.clone()).unwrap_or_default();
        self.devices.get_or_make(location(key.idmesin, key.idoutlet));
        let mut before = self.lines_of.get(&key.idmesin).cloned().unwrap_or_default();
        // Another login of the same moment may already have replaced a connection.
        before.retain(|key| self.line(*key).is_some_and(|line| !line.doomed));
        let same =
            before.iter().copied().find(|key| !client.is_empty() && self.seat(*key).is_some_and(|seat| seat.client == client));
        // The connection that receives commands stays longest: a client beside it may open one connection for each message.
        let oldest =
            || before.iter().copied().find(|key| self.seat(*key).is_some_and(|seat| !seat.commands)).or(before.first().copied());
        if let Some(replaced) = same.or_else(|| oldest().filter(|_| before.len() >= LINES)) {
            self.doom(replaced, Some(Closed::Replaced));
        }
        let Some(at) = self.insert(line) else { return };
        self.lines_of.entry(key.idmesin).or_default().push(at);
        // The connection may have sent packets since its CONNECT.
        self.feed(at, &[]);
        self.read(at);
    }

    /// Ends the session of a closed connection.
    pub(super) fn parted(&mut self, key: LineKey, idmesin: i64) {
        let now = self.now();
        if let Some(lines) = self.lines_of.get_mut(&idmesin) {
            lines.retain(|line| *line != key);
        }
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.unlinked(key.link, now);
        self.perform(idmesin, effects);
    }

    pub(super) fn published(&mut self, key: LineKey, publish: &Publish, now: Timestamp) {
        let Some(seat) = self.seat(key) else { return };
        let idmesin = seat.idmesin;
        let Some(topic) = publish.topic().strip_prefix(&*seat.prefix).and_then(Topic::parse) else {
            tracing::debug!(idmesin, topic = publish.topic(), "a device publishes what is not its own");
            self.shared.reports.metrics.dropped(Dropped::Foreign);
            return self.doom(key, Some(Closed::Protocol));
        };
        let word = match DeviceMessage::parse(topic, publish.payload()) {
            Ok(word) => word,
            Err(e) => {
                tracing::debug!(error = %e, idmesin, "device message dropped: it cannot be parsed");
                self.shared.reports.metrics.dropped(Dropped::Malformed);
                return self.alive(key, now);
            }
        };
        self.shared.reports.metrics.word(&word);
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.hear(key.link, &word, now);
        self.perform(idmesin, effects);
        if topic == Topic::State {
            self.show_state(idmesin, publish);
        }
    }

    /// Repeats a device's state report on its own connections that subscribed to it: people use that to watch a device.
    fn show_state(&mut self, idmesin: i64, publish: &Publish) {
        let lines = self.lines_of.get(&idmesin).cloned().unwrap_or_default();
        for key in lines {
            if self.seat(key).is_some_and(|seat| seat.states)
                && let Some(line) = self.line(key)
            {
                let _ = line.mqtt.publish(publish.topic(), publish.payload(), Qos::AtMostOnce, &mut line.out);
                self.send(key);
            }
        }
    }

    pub(super) fn subscribed(&mut self, key: LineKey, subscribe: &Subscribe, now: Timestamp) {
        let Some(seat) = self.seat_mut(key) else { return };
        let (idmesin, heard_before) = (seat.idmesin, seat.commands);
        let mut foreign = false;
        let mut granted = Vec::with_capacity(subscribe.topics().len());
        for (topic, qos) in subscribe.topics() {
            let own = match topic.strip_prefix(&*seat.prefix) {
                Some(COMMANDS) => Some(&mut seat.commands),
                Some(own) if own == Topic::State.as_str() => Some(&mut seat.states),
                _ => None,
            };
            foreign |= own.is_none();
            granted.push(own.map_or(Granted::No, |own| {
                *own = true;
                Granted::Yes(qos)
            }));
        }
        let links = seat.commands && !heard_before;
        if foreign {
            self.shared.reports.metrics.dropped(Dropped::Foreign);
        }
        if let Some(line) = self.line(key) {
            let _ = line.mqtt.grant(subscribe, &granted, &mut line.out);
        }
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = if links { device.conversation.linked(key.link, now) } else { device.conversation.alive(key.link, now) };
        self.perform(idmesin, effects);
    }

    pub(super) fn unsubscribed(&mut self, key: LineKey, unsubscribe: &Unsubscribe, now: Timestamp) {
        let Some(seat) = self.seat_mut(key) else { return };
        let (idmesin, heard_before) = (seat.idmesin, seat.commands);
        for topic in unsubscribe.topics() {
            match topic.strip_prefix(&*seat.prefix) {
                Some(COMMANDS) => seat.commands = false,
                Some(own) if own == Topic::State.as_str() => seat.states = false,
                _ => {}
            }
        }
        if heard_before && !seat.commands {
            let Some(device) = self.devices.get(idmesin) else { return };
            let effects = device.conversation.unlinked(key.link, now);
            self.perform(idmesin, effects);
        }
    }

    /// Processes a packet that is no message.
    pub(super) fn alive(&mut self, key: LineKey, now: Timestamp) {
        let Some(idmesin) = self.seat(key).map(|seat| seat.idmesin) else { return };
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.alive(key.link, now);
        self.perform(idmesin, effects);
    }

    /// Carries out the effects of a conversation.
    pub(super) fn perform(&mut self, idmesin: i64, effects: Vec<Effect>) {
        let now = self.now();
        let Some(device) = self.devices.get(idmesin) else { return };
        let location = device.location;
        device.answer(now);
        for effect in effects {
            match self.shared.reports.carry(location, effect, now) {
                Some(Effect::Write(link, cmd)) => self.write(idmesin, link, &cmd.json()),
                Some(Effect::Close(link)) => {
                    if let Some(key) = self.key_of(idmesin, link) {
                        self.doom(key, Some(Closed::Silent));
                    }
                }
                _ => {}
            }
        }
    }

    fn key_of(&self, idmesin: i64, link: LinkId) -> Option<LineKey> {
        self.lines_of.get(&idmesin)?.iter().copied().find(|key| key.link == link)
    }

    fn write(&mut self, idmesin: i64, link: LinkId, payload: &[u8]) {
        let Some(key) = self.key_of(idmesin, link) else { return };
        let Some(line) = self.line(key) else { return };
        let Some(topic) = line.seat().map(|seat| format!("{}{COMMANDS}", seat.prefix)) else { return };
        // Nothing depends on an MQTT acknowledgement: a command without an answer is sent again.
        if let Err(e) = line.mqtt.publish(&topic, payload, Qos::AtMostOnce, &mut line.out) {
            tracing::error!(error = %e, idmesin, "a command cannot be written");
        }
        self.send(key);
    }
}
