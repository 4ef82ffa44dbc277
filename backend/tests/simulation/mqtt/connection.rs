//! The devices' connections with the server. Each keeps its messages in order and loses none until it breaks.

use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::conversation::ConnectionId;
use nyala_machines::device::mqtt::message::DeviceMessage;

use super::super::world::{T0, World};
use super::{Mqtt, MqttHappens};

/// Longest transit time of a message without a fault.
pub const LATENCY_MS: i64 = 300;
/// A device without a connection tries again after a random time up to this one, which doubles with each attempt.
const RETRY_MS: i64 = 2_000;
const RETRY_DOUBLED: u32 = 4;
/// Interval of the pings on the receiving connection of a device that sends on another one.
const PING_MS: i64 = 20_000;
/// The number of a connection that only sends is the number of the receiving one plus this.
const APART: u64 = 1 << 32;

/// A device's connection with the server.
#[derive(Debug)]
pub struct SimulatedConnection {
    machine: usize,
    body: usize,
    /// Whether messages arrive. If not, neither end needs to know it.
    pub carries: bool,
    /// The server does not know yet that the connection has ended.
    pub held: bool,
    /// The device knows that it has subscribed.
    granted: bool,
    /// Earliest arrival of the next message in each direction, which keeps the order.
    free_at: [Timestamp; 2],
}

/// State of the network around a machine.
#[derive(Debug, Clone, Copy)]
pub struct Weather {
    pub until: Timestamp,
    pub slow_ms: i64,
}

impl Weather {
    pub const FINE: Self = Self { until: T0, slow_ms: LATENCY_MS };
}

impl Default for Weather {
    fn default() -> Self {
        Self::FINE
    }
}

const TO_SERVER: usize = 0;
const TO_DEVICE: usize = 1;

impl World<Mqtt> {
    /// The machine and device of a connection, while the device still considers it open.
    pub(super) fn holder(&self, connection: ConnectionId) -> Option<(usize, usize)> {
        let of = self.devices.connections.get(&connection)?;
        let body = self.devices.machines[of.machine].bodies.get(of.body)?;
        (body.connection == Some(connection)).then_some((of.machine, of.body))
    }

    /// Whether messages of the machine's device arrive, and commands arrive at the device.
    pub(super) fn is_connected(&self, machine: usize) -> bool {
        let connection =
            self.devices.machines[machine].bodies[0].connection.and_then(|connection| self.devices.connections.get(&connection));
        connection.is_some_and(|connection| connection.carries && connection.granted)
    }

    pub(super) fn new_connection(&mut self) -> ConnectionId {
        self.devices.last_line += 1;
        ConnectionId(self.devices.last_line)
    }

    pub(super) fn connect(&mut self, machine: usize, body: usize) {
        let (now, somebody_there) = (self.now, self.server.up);
        let Some(of) = self.body(machine, body).filter(|of| of.model.is_some() && of.connection.is_none()) else { return };
        if !somebody_there || now < of.shut_off_until {
            let most_ms = RETRY_MS << of.tries;
            of.tries = (of.tries + 1).min(RETRY_DOUBLED);
            let after_ms = self.up_to(most_ms);
            return self.later(after_ms, MqttHappens::Connect { machine, body });
        }
        let connection = self.new_connection();
        let Some(of) = self.body(machine, body) else { return };
        let Some(model) = &mut of.model else { return };
        model.connect();
        let will = model.will();
        (of.connection, of.tries) = (Some(connection), 0);
        of.record_input("link", now);
        of.record_output(&will);
        self.take_over(machine);
        let made = SimulatedConnection { machine, body, carries: true, held: true, granted: false, free_at: [self.now; 2] };
        self.devices.connections.insert(connection, made);
        let after_ms = self.latency_ms(machine);
        self.later(after_ms, MqttHappens::Subscribed { connection });
    }

    /// The same client has a new connection: the server drops the old one.
    fn take_over(&mut self, machine: usize) {
        let held = |(id, connection): (&ConnectionId, &SimulatedConnection)| {
            (connection.machine == machine && connection.held).then_some(*id)
        };
        let old: Vec<ConnectionId> = self.devices.connections.iter().filter_map(held).collect();
        for connection in old {
            self.note("take-over");
            let Some(of) = self.devices.connections.get_mut(&connection) else { continue };
            let carried = std::mem::replace(&mut of.carries, false);
            of.held = false;
            if carried {
                let after_ms = self.latency_ms(machine);
                self.later(after_ms, MqttHappens::Lost { connection });
            }
            self.converse(machine, |talk, now| talk.on_closed(connection, now));
            self.forget_connection(connection);
        }
    }

    pub(super) fn subscribed(&mut self, connection: ConnectionId) {
        let Some(of) = self.devices.connections.get_mut(&connection).filter(|of| of.carries && of.held) else { return };
        let machine = of.machine;
        self.converse(machine, |talk, now| talk.on_subscribed(connection, now));
        let after_ms = self.latency_ms(machine);
        // Later messages arrive after the grant.
        let after_ms = self.in_order(connection, TO_DEVICE, after_ms);
        self.later(after_ms, MqttHappens::Granted { connection });
    }

    pub(super) fn granted(&mut self, connection: ConnectionId) {
        let Some((machine, body)) = self.holder(connection) else { return };
        let Some(of) = self.devices.connections.get_mut(&connection).filter(|of| of.carries) else { return };
        of.granted = true;
        self.device_tells(machine, body);
        if self.body(machine, body).is_some_and(|of| of.speaks_apart) {
            self.later(PING_MS, MqttHappens::Ping { connection });
        }
    }

    pub(super) fn ping(&mut self, connection: ConnectionId) {
        let Some((machine, _)) = self.holder(connection) else { return };
        let carries = self.devices.connections.get(&connection).is_some_and(|of| of.carries && of.held);
        if carries {
            self.converse(machine, |talk, now| talk.on_packet(connection, now));
        }
        self.later(PING_MS, MqttHappens::Ping { connection });
    }

    // --- ends of connections ---

    /// The device drops its connection. `seen`: the server notices it soon.
    pub(super) fn drop_line(&mut self, machine: usize, body: usize, seen: bool) {
        let now = self.now;
        let Some(connection) = self.body(machine, body).and_then(|of| of.parted(now)) else { return };
        let Some(of) = self.devices.connections.get_mut(&connection) else { return };
        of.carries = false;
        self.will_be_closed(connection, seen);
    }

    /// The connection is dead, and the device does not know it yet.
    pub(super) fn deaden(&mut self, machine: usize, body: usize) {
        let Some(connection) = self.body(machine, body).and_then(|of| of.connection) else { return };
        let Some(of) = self.devices.connections.get_mut(&connection) else { return };
        of.carries = false;
        self.will_be_closed(connection, false);
        let after_ms = 10_000 + self.up_to(35_000);
        self.later(after_ms, MqttHappens::Lost { connection });
    }

    fn will_be_closed(&mut self, connection: ConnectionId, seen: bool) {
        // The server closes the connection for its silence when it does not notice the end.
        if seen {
            let after_ms = self.up_to(200);
            self.later(after_ms, MqttHappens::Closed { connection });
        }
    }

    /// The server has closed the connection, or its process has ended.
    pub(super) fn hang_up(&mut self, connection: ConnectionId) {
        let Some(of) = self.devices.connections.get_mut(&connection) else { return };
        let (machine, carried) = (of.machine, std::mem::replace(&mut of.carries, false));
        of.held = false;
        if carried {
            // The packet that closes the connection is lost at times.
            let after_ms = if self.chance(0.1) { 10_000 + self.up_to(35_000) } else { self.latency_ms(machine) };
            self.later(after_ms, MqttHappens::Lost { connection });
        }
        self.forget_connection(connection);
    }

    pub(super) fn hang_up_all(&mut self) {
        let all: Vec<ConnectionId> = self.devices.connections.keys().copied().collect();
        all.into_iter().for_each(|connection| self.hang_up(connection));
    }

    pub(super) fn closed(&mut self, connection: ConnectionId) {
        let Some(of) = self.devices.connections.get_mut(&connection).filter(|of| of.held) else { return };
        of.held = false;
        let machine = of.machine;
        self.converse(machine, |talk, now| talk.on_closed(connection, now));
        self.forget_connection(connection);
    }

    pub(super) fn lost(&mut self, connection: ConnectionId) {
        let Some((machine, body)) = self.holder(connection) else { return self.forget_connection(connection) };
        let now = self.now;
        if let Some(of) = self.body(machine, body) {
            of.parted(now);
        }
        self.forget_connection(connection);
        let after_ms = self.up_to(RETRY_MS);
        self.later(after_ms, MqttHappens::Connect { machine, body });
    }

    /// Removes a connection that both ends consider closed.
    fn forget_connection(&mut self, connection: ConnectionId) {
        if self.holder(connection).is_none() && self.devices.connections.get(&connection).is_some_and(|of| !of.held) {
            self.devices.connections.remove(&connection);
        }
    }

    // --- messages ---

    pub(super) fn latency_ms(&mut self, machine: usize) -> i64 {
        let weather = self.devices.talks[machine].weather;
        2 + self.up_to(if self.now < weather.until { weather.slow_ms } else { LATENCY_MS })
    }

    /// Delay after which a message sent now arrives on a connection that keeps the order.
    fn in_order(&mut self, connection: ConnectionId, direction: usize, after_ms: i64) -> i64 {
        let Some(of) = self.devices.connections.get_mut(&connection) else { return after_ms };
        let at = self.now.plus_ms(after_ms).max(of.free_at[direction]);
        of.free_at[direction] = at;
        self.now.ms_until(at)
    }

    /// Holds all messages back for `ms`; then all of them arrive.
    pub(super) fn stall(&mut self, connection: ConnectionId, ms: i64) {
        let at = self.now.plus_ms(ms);
        if let Some(of) = self.devices.connections.get_mut(&connection) {
            of.free_at.iter_mut().for_each(|free| *free = (*free).max(at));
        }
    }

    pub(super) fn device_sends(&mut self, machine: usize, body: usize, message: DeviceMessage) {
        let Some(of) = self.body(machine, body) else { return };
        let (Some(connection), apart) = (of.connection, of.speaks_apart) else { return };
        let Some(of) = self.devices.connections.get(&connection).filter(|of| of.granted) else { return };
        let carries = of.carries;
        self.devices.machines[machine].bodies[body].record_output(&message);
        if !carries {
            return;
        }
        let (sent_at, mut after_ms) = (self.now, self.latency_ms(machine));
        if !apart {
            after_ms = self.in_order(connection, TO_SERVER, after_ms);
        }
        self.later(after_ms, MqttHappens::ToServer { machine, connection, message, sent_at });
    }

    pub(super) fn message_arrives(
        &mut self,
        machine: usize,
        connection: ConnectionId,
        message: &DeviceMessage,
        sent_at: Timestamp,
    ) {
        if !self.devices.connections.get(&connection).is_some_and(|of| of.carries && of.held) {
            return;
        }
        let apart = self.body(machine, 0).is_some_and(|of| of.speaks_apart);
        let from = if apart { ConnectionId(connection.0 + APART) } else { connection };
        self.server_receives_message(machine, from, message, sent_at);
    }

    /// The server sends a command.
    pub(super) fn transmit(&mut self, machine: usize, connection: ConnectionId, cmd: Cmd) {
        let after_ms = self.latency_ms(machine);
        if self.devices.connections.get(&connection).is_some_and(|of| of.carries) {
            let after_ms = self.in_order(connection, TO_DEVICE, after_ms);
            self.later(after_ms, MqttHappens::ToDevice { machine, connection, cmd });
        }
    }

    pub(super) fn command_arrives(&mut self, machine: usize, connection: ConnectionId, cmd: &Cmd) {
        let carries = |of: &SimulatedConnection| of.machine == machine && of.carries && of.granted;
        if self.devices.connections.get(&connection).is_some_and(carries)
            && let Some((machine, body)) = self.holder(connection)
        {
            self.device_receives(machine, body, cmd);
        }
    }
}
