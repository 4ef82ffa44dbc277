//! The devices' connections with the server. Each keeps its messages in order and loses none until it breaks.

use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::conversation::ConnectionId;
use nyala_machines::device::mqtt::message::{Cmd, DeviceMessage};

use super::super::world::{T0, World};
use super::{Mqtt, MqttHappens};

/// Longest transit time of a message without a fault.
pub const WAY_MS: i64 = 300;
/// A device without a connection tries again after a random time up to this one, which doubles with each attempt.
const RETRY_MS: i64 = 2_000;
const RETRY_DOUBLED: u32 = 4;
/// Interval of the pings on the receiving connection of a device that sends on another one.
const PING_MS: i64 = 20_000;
/// The number of a connection that only sends is the number of the receiving one plus this.
const APART: u64 = 1 << 32;

/// A device's connection with the server.
#[derive(Debug)]
pub struct SimulatedLine {
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
    pub const FINE: Self = Self { until: T0, slow_ms: WAY_MS };
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
    pub(super) fn holder(&self, line: ConnectionId) -> Option<(usize, usize)> {
        let of = self.devices.lines.get(&line)?;
        let body = self.devices.machines[of.machine].bodies.get(of.body)?;
        (body.line == Some(line)).then_some((of.machine, of.body))
    }

    /// Whether messages of the machine's device arrive, and commands arrive at the device.
    pub(super) fn is_connected(&self, machine: usize) -> bool {
        let line = self.devices.machines[machine].bodies[0].line.and_then(|line| self.devices.lines.get(&line));
        line.is_some_and(|line| line.carries && line.granted)
    }

    pub(super) fn new_line(&mut self) -> ConnectionId {
        self.devices.last_line += 1;
        ConnectionId(self.devices.last_line)
    }

    pub(super) fn connect(&mut self, machine: usize, body: usize) {
        let (now, somebody_there) = (self.now, self.server.up);
        let Some(of) = self.body(machine, body).filter(|of| of.model.is_some() && of.line.is_none()) else { return };
        if !somebody_there || now < of.shut_off_until {
            let most_ms = RETRY_MS << of.tries;
            of.tries = (of.tries + 1).min(RETRY_DOUBLED);
            let after_ms = self.up_to(most_ms);
            return self.later(after_ms, MqttHappens::Connect { machine, body });
        }
        let line = self.new_line();
        let Some(of) = self.body(machine, body) else { return };
        let Some(model) = &mut of.model else { return };
        model.connect();
        let will = model.will();
        (of.line, of.tries) = (Some(line), 0);
        of.record_input("link", now);
        of.record_output(&will);
        self.take_over(machine);
        let made = SimulatedLine { machine, body, carries: true, held: true, granted: false, free_at: [self.now; 2] };
        self.devices.lines.insert(line, made);
        let after_ms = self.way_ms(machine);
        self.later(after_ms, MqttHappens::Subscribed { line });
    }

    /// The same client has a new connection: the server drops the old one.
    fn take_over(&mut self, machine: usize) {
        let held = |(id, line): (&ConnectionId, &SimulatedLine)| (line.machine == machine && line.held).then_some(*id);
        let old: Vec<ConnectionId> = self.devices.lines.iter().filter_map(held).collect();
        for line in old {
            self.note("take-over");
            let Some(of) = self.devices.lines.get_mut(&line) else { continue };
            let carried = std::mem::replace(&mut of.carries, false);
            of.held = false;
            if carried {
                let after_ms = self.way_ms(machine);
                self.later(after_ms, MqttHappens::Lost { line });
            }
            self.converse(machine, |talk, now| talk.on_closed(line, now));
            self.forget_line(line);
        }
    }

    pub(super) fn subscribed(&mut self, line: ConnectionId) {
        let Some(of) = self.devices.lines.get_mut(&line).filter(|of| of.carries && of.held) else { return };
        let machine = of.machine;
        self.converse(machine, |talk, now| talk.on_subscribed(line, now));
        let after_ms = self.way_ms(machine);
        // Later messages arrive after the grant.
        let after_ms = self.in_order(line, TO_DEVICE, after_ms);
        self.later(after_ms, MqttHappens::Granted { line });
    }

    pub(super) fn granted(&mut self, line: ConnectionId) {
        let Some((machine, body)) = self.holder(line) else { return };
        let Some(of) = self.devices.lines.get_mut(&line).filter(|of| of.carries) else { return };
        of.granted = true;
        self.device_tells(machine, body);
        let after_ms = self.up_to(30_000);
        self.later(after_ms, MqttHappens::Heartbeat { line });
        if self.body(machine, body).is_some_and(|of| of.speaks_apart) {
            self.later(PING_MS, MqttHappens::Ping { line });
        }
    }

    pub(super) fn ping(&mut self, line: ConnectionId) {
        let Some((machine, _)) = self.holder(line) else { return };
        let carries = self.devices.lines.get(&line).is_some_and(|of| of.carries && of.held);
        if carries {
            self.converse(machine, |talk, now| talk.on_packet(line, now));
        }
        self.later(PING_MS, MqttHappens::Ping { line });
    }

    // --- ends of connections ---

    /// The device drops its connection. `seen`: the server notices it soon.
    pub(super) fn drop_line(&mut self, machine: usize, body: usize, seen: bool) {
        let now = self.now;
        let Some(line) = self.body(machine, body).and_then(|of| of.parted(now)) else { return };
        let Some(of) = self.devices.lines.get_mut(&line) else { return };
        of.carries = false;
        self.will_be_closed(line, seen);
    }

    /// The connection is dead, and the device does not know it yet.
    pub(super) fn deaden(&mut self, machine: usize, body: usize) {
        let Some(line) = self.body(machine, body).and_then(|of| of.line) else { return };
        let Some(of) = self.devices.lines.get_mut(&line) else { return };
        of.carries = false;
        self.will_be_closed(line, false);
        let after_ms = 10_000 + self.up_to(35_000);
        self.later(after_ms, MqttHappens::Lost { line });
    }

    fn will_be_closed(&mut self, line: ConnectionId, seen: bool) {
        // The server closes the connection for its silence when it does not notice the end.
        if seen {
            let after_ms = self.up_to(200);
            self.later(after_ms, MqttHappens::Closed { line });
        }
    }

    /// The server has closed the connection, or its process has ended.
    pub(super) fn hang_up(&mut self, line: ConnectionId) {
        let Some(of) = self.devices.lines.get_mut(&line) else { return };
        let (machine, carried) = (of.machine, std::mem::replace(&mut of.carries, false));
        of.held = false;
        if carried {
            // The packet that closes the connection is lost at times.
            let after_ms = if self.chance(0.1) { 10_000 + self.up_to(35_000) } else { self.way_ms(machine) };
            self.later(after_ms, MqttHappens::Lost { line });
        }
        self.forget_line(line);
    }

    pub(super) fn hang_up_all(&mut self) {
        let all: Vec<ConnectionId> = self.devices.lines.keys().copied().collect();
        all.into_iter().for_each(|line| self.hang_up(line));
    }

    pub(super) fn closed(&mut self, line: ConnectionId) {
        let Some(of) = self.devices.lines.get_mut(&line).filter(|of| of.held) else { return };
        of.held = false;
        let machine = of.machine;
        self.converse(machine, |talk, now| talk.on_closed(line, now));
        self.forget_line(line);
    }

    pub(super) fn lost(&mut self, line: ConnectionId) {
        let Some((machine, body)) = self.holder(line) else { return self.forget_line(line) };
        let now = self.now;
        if let Some(of) = self.body(machine, body) {
            of.parted(now);
        }
        self.forget_line(line);
        let after_ms = self.up_to(RETRY_MS);
        self.later(after_ms, MqttHappens::Connect { machine, body });
    }

    /// Removes a connection that both ends consider closed.
    fn forget_line(&mut self, line: ConnectionId) {
        if self.holder(line).is_none() && self.devices.lines.get(&line).is_some_and(|of| !of.held) {
            self.devices.lines.remove(&line);
        }
    }

    // --- messages ---

    pub(super) fn way_ms(&mut self, machine: usize) -> i64 {
        let weather = self.devices.talks[machine].weather;
        2 + self.up_to(if self.now < weather.until { weather.slow_ms } else { WAY_MS })
    }

    /// Delay after which a message sent now arrives on a connection that keeps the order.
    fn in_order(&mut self, line: ConnectionId, way: usize, after_ms: i64) -> i64 {
        let Some(of) = self.devices.lines.get_mut(&line) else { return after_ms };
        let at = self.now.plus_ms(after_ms).max(of.free_at[way]);
        of.free_at[way] = at;
        self.now.ms_until(at)
    }

    /// Holds all messages back for `ms`; then all of them arrive.
    pub(super) fn stall(&mut self, line: ConnectionId, ms: i64) {
        let at = self.now.plus_ms(ms);
        if let Some(of) = self.devices.lines.get_mut(&line) {
            of.free_at.iter_mut().for_each(|free| *free = (*free).max(at));
        }
    }

    pub(super) fn device_sends(&mut self, machine: usize, body: usize, message: DeviceMessage) {
        let Some(of) = self.body(machine, body) else { return };
        let (Some(line), apart) = (of.line, of.speaks_apart) else { return };
        let Some(way) = self.devices.lines.get(&line).filter(|way| way.granted) else { return };
        let carries = way.carries;
        self.devices.machines[machine].bodies[body].record_output(&message);
        if !carries {
            return;
        }
        let (sent_at, mut after_ms) = (self.now, self.way_ms(machine));
        if !apart {
            after_ms = self.in_order(line, TO_SERVER, after_ms);
        }
        self.later(after_ms, MqttHappens::ToServer { machine, line, message, sent_at });
    }

    pub(super) fn message_arrives(&mut self, machine: usize, line: ConnectionId, message: &DeviceMessage, sent_at: Timestamp) {
        if !self.devices.lines.get(&line).is_some_and(|of| of.carries && of.held) {
            return;
        }
        let apart = self.body(machine, 0).is_some_and(|of| of.speaks_apart);
        let from = if apart { ConnectionId(line.0 + APART) } else { line };
        self.server_receives_message(machine, from, message, sent_at);
    }

    /// The server sends a command.
    pub(super) fn transmit(&mut self, machine: usize, line: ConnectionId, cmd: Cmd) {
        let after_ms = self.way_ms(machine);
        if self.devices.lines.get(&line).is_some_and(|of| of.carries) {
            let after_ms = self.in_order(line, TO_DEVICE, after_ms);
            self.later(after_ms, MqttHappens::ToDevice { machine, line, cmd });
        }
    }

    pub(super) fn command_arrives(&mut self, machine: usize, line: ConnectionId, cmd: &Cmd) {
        let carries = |of: &SimulatedLine| of.machine == machine && of.carries && of.granted;
        if self.devices.lines.get(&line).is_some_and(carries)
            && let Some((machine, body)) = self.holder(line)
        {
            self.device_receives(machine, body, cmd);
        }
    }
}
