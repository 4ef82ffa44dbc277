//! Sessions of connections that have logged in: messages from their devices and to them.

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::server::{Subscribe, Unsubscribe};
use nyala_mqtt::{Granted, Publish, Qos};

use super::connection::DeviceConnection;
use super::shared::SlotKey;
use super::thread::Thread;
use crate::device::mqtt::conversation::{ConnectionId, Effect};
use crate::device::mqtt::devices::location;
use crate::device::mqtt::logins::DeviceKey;
use crate::device::mqtt::message::{DeviceMessage, Topic};
use crate::device::mqtt::metrics::{Closed, Dropped};

/// Greatest number of connections of one device.
const MAX_CONNECTIONS: usize = 4;
/// Last part of the topic on which a device receives its commands, after the prefix of its topics.
const COMMANDS: &str = "cmd";

impl Thread {
    /// Takes over a connection that has logged in: this thread owns its device.
    pub(super) fn arrive(&mut self, mut connection: DeviceConnection, key: DeviceKey) {
        // The key was revoked after the check.
        if self.shared.is_revoked(key.id) {
            return self.shared.reports.metrics.closed(Closed::Revoked);
        }
        let now = self.now();
        connection.received_at = now;
        // The CONNECT was checked, so this answer is valid.
        let _ = connection.mqtt.accept(&mut connection.out);
        let client: Box<str> = connection.session().map(|session| session.client.clone()).unwrap_or_default();
        self.devices.get_or_make(location(key.idmesin, key.idoutlet));
        let mut before = self.connections_of.get(&key.idmesin).cloned().unwrap_or_default();
        // Another login of the same moment may already have replaced a connection.
        before.retain(|key| self.connection(*key).is_some_and(|connection| !connection.doomed));
        let same = before
            .iter()
            .copied()
            .find(|key| !client.is_empty() && self.session(*key).is_some_and(|session| session.client == client));
        // The connection that receives commands stays longest: a client beside it may open one connection for each message.
        let oldest = || {
            before
                .iter()
                .copied()
                .find(|key| self.session(*key).is_some_and(|session| !session.commands))
                .or(before.first().copied())
        };
        if let Some(replaced) = same.or_else(|| oldest().filter(|_| before.len() >= MAX_CONNECTIONS)) {
            self.doom(replaced, Some(Closed::Replaced));
        }
        let Some(at) = self.insert(connection) else { return };
        self.connections_of.entry(key.idmesin).or_default().push(at);
        // The connection may have sent packets since its CONNECT.
        self.feed(at, &[]);
        self.read(at);
    }

    /// Ends the session of a closed connection.
    pub(super) fn parted(&mut self, key: SlotKey, idmesin: MachineId) {
        let now = self.now();
        if let Some(connections) = self.connections_of.get_mut(&idmesin) {
            connections.retain(|connection| *connection != key);
        }
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.on_closed(key.id, now);
        self.perform(idmesin, effects);
    }

    pub(super) fn published(&mut self, key: SlotKey, publish: &Publish, now: Timestamp) {
        let Some(session) = self.session(key) else { return };
        let idmesin = session.idmesin;
        let Some(topic) = publish.topic().strip_prefix(&*session.prefix).and_then(Topic::parse) else {
            tracing::debug!(idmesin = idmesin.get(), topic = publish.topic(), "a device publishes what is not its own");
            self.shared.reports.metrics.dropped(Dropped::Foreign);
            return self.doom(key, Some(Closed::Protocol));
        };
        let message = match DeviceMessage::parse(topic, publish.payload()) {
            Ok(message) => message,
            Err(e) => {
                tracing::debug!(error = %e, idmesin = idmesin.get(), "device message dropped: it cannot be parsed");
                self.shared.reports.metrics.dropped(Dropped::Malformed);
                return self.alive(key, now);
            }
        };
        self.shared.reports.metrics.message_received(&message);
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.on_message(key.id, &message, now);
        if !effects.iter().any(|effect| matches!(effect, Effect::Dropped(_))) {
            self.shared.reports.signals.on_message(idmesin, &message, now);
            self.shared.reports.coins.on_message(idmesin, &message, now);
        }
        self.perform(idmesin, effects);
        if topic == Topic::State {
            self.show_state(idmesin, publish);
        }
    }

    /// Repeats a device's state report on its own connections that subscribed to it: people use that to watch a device.
    fn show_state(&mut self, idmesin: MachineId, publish: &Publish) {
        let connections = self.connections_of.get(&idmesin).cloned().unwrap_or_default();
        for key in connections {
            if self.session(key).is_some_and(|session| session.states)
                && let Some(connection) = self.connection(key)
            {
                let _ = connection.mqtt.publish(publish.topic(), publish.payload(), Qos::AtMostOnce, &mut connection.out);
                self.send(key);
            }
        }
    }

    pub(super) fn subscribed(&mut self, key: SlotKey, subscribe: &Subscribe, now: Timestamp) {
        let Some(session) = self.session_mut(key) else { return };
        let (idmesin, subscribed_before) = (session.idmesin, session.commands);
        let mut foreign = false;
        let mut granted = Vec::with_capacity(subscribe.topics().len());
        for (topic, qos) in subscribe.topics() {
            let own = match topic.strip_prefix(&*session.prefix) {
                Some(COMMANDS) => Some(&mut session.commands),
                Some(own) if own == Topic::State.as_str() => Some(&mut session.states),
                _ => None,
            };
            foreign |= own.is_none();
            granted.push(own.map_or(Granted::No, |own| {
                *own = true;
                Granted::Yes(qos)
            }));
        }
        let subscribes = session.commands && !subscribed_before;
        if foreign {
            self.shared.reports.metrics.dropped(Dropped::Foreign);
        }
        if let Some(connection) = self.connection(key) {
            let _ = connection.mqtt.grant(subscribe, &granted, &mut connection.out);
        }
        if subscribes {
            self.shared.reports.signals.connected(idmesin, now);
        }
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects =
            if subscribes { device.conversation.on_subscribed(key.id, now) } else { device.conversation.on_packet(key.id, now) };
        self.perform(idmesin, effects);
    }

    pub(super) fn unsubscribed(&mut self, key: SlotKey, unsubscribe: &Unsubscribe, now: Timestamp) {
        let Some(session) = self.session_mut(key) else { return };
        let (idmesin, subscribed_before) = (session.idmesin, session.commands);
        for topic in unsubscribe.topics() {
            match topic.strip_prefix(&*session.prefix) {
                Some(COMMANDS) => session.commands = false,
                Some(own) if own == Topic::State.as_str() => session.states = false,
                _ => {}
            }
        }
        if subscribed_before && !session.commands {
            let Some(device) = self.devices.get(idmesin) else { return };
            let effects = device.conversation.on_closed(key.id, now);
            self.perform(idmesin, effects);
        }
    }

    /// Processes a packet that is no message.
    pub(super) fn alive(&mut self, key: SlotKey, now: Timestamp) {
        let Some(idmesin) = self.session(key).map(|session| session.idmesin) else { return };
        let Some(device) = self.devices.get(idmesin) else { return };
        let effects = device.conversation.on_packet(key.id, now);
        self.perform(idmesin, effects);
    }

    /// Carries out the effects of a conversation.
    pub(super) fn perform(&mut self, idmesin: MachineId, effects: Vec<Effect>) {
        let now = self.now();
        let Some(device) = self.devices.get(idmesin) else { return };
        let location = device.location;
        device.answer(now);
        for effect in effects {
            match self.shared.reports.carry(location, effect, now) {
                Some(Effect::Write(id, cmd)) => self.write(idmesin, id, &cmd.json()),
                Some(Effect::Close(id)) => {
                    if let Some(key) = self.key_of(idmesin, id) {
                        self.doom(key, Some(Closed::Silent));
                    }
                }
                _ => {}
            }
        }
    }

    fn key_of(&self, idmesin: MachineId, id: ConnectionId) -> Option<SlotKey> {
        self.connections_of.get(&idmesin)?.iter().copied().find(|key| key.id == id)
    }

    fn write(&mut self, idmesin: MachineId, id: ConnectionId, payload: &[u8]) {
        let Some(key) = self.key_of(idmesin, id) else { return };
        let Some(connection) = self.connection(key) else { return };
        let Some(topic) = connection.session().map(|session| format!("{}{COMMANDS}", session.prefix)) else { return };
        // Nothing depends on an MQTT acknowledgement: a command without an answer is sent again.
        if let Err(e) = connection.mqtt.publish(&topic, payload, Qos::AtMostOnce, &mut connection.out) {
            tracing::error!(error = %e, idmesin = idmesin.get(), "a command cannot be written");
        }
        self.send(key);
    }
}
