//! Conversation with one device (docs/contract.md §6): a pure state machine. It decides which of the device's connections counts, which
//! messages are accepted, what they mean for the open purchase, and what is sent to the device and when.
//!
//! Inputs are messages, commands, connection changes and the current time. It has no clock, does no I/O and never waits. It learns of the
//! open purchase from the commands that it is given, so it never needs to ask the machine's actor. The contract is at [`Conversation`].

mod receive;
mod stamps;
#[cfg(test)]
mod tests;

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, Op, Sensor};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use uuid::Uuid;

use self::receive::{OpenPurchaseState, WatchedRun};
use self::stamps::{DelayFilter, MessageOrder};
use super::cmd::Cmd;
use super::message::Run;

/// How often a device receives the time: with the answer to its first state report on a connection, and then at this interval, in
/// milliseconds.
const EXCHANGE_MS: i64 = 10 * 60_000;
/// Silence after which a device is offline.
const SILENCE_MS: i64 = 45_000;

/// Greatest number of a device's connections that may have subscribed to its commands.
const MAX_CONNECTIONS: usize = 4;
/// How long a start waits for a connection's first state report. Without its `echo`, the device may have no clock and cannot accept the
/// start.
const FIRST_STATE_MS: i64 = 2_000;
/// How long the server relies on a device's clock: somewhat less than the device itself does.
const CLOCK_KEPT_MS: i64 = 55 * 60_000;
/// Minimum time between two queries that only serve to send the time.
const ASK_AGAIN_MS: i64 = 10_000;
/// A device that has sent a message within this time is not queried again when a customer scans its machine.
const FRESH_MS: i64 = 3_000;
/// How long a scan waits for the device's answer.
pub const PROBE_MS: i64 = 1_500;

/// Identifier of a connection. A later connection has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// An effect that the caller carries out. The effects of one call keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send this to the machine's actor.
    Notify(DeviceEvent, Grounds),
    /// The device's presence has changed: `true` when it can be reached.
    Presence(bool),
    /// The device has reported an epoch above that of all commands of this process. The database may be behind, after a restore.
    Epoch(i64),
    /// Publish this as the device's `cmd`, on this connection.
    Write(ConnectionId, Cmd),
    /// Close this connection: no device answers at its other end.
    Close(ConnectionId),
    /// Record this trouble. Staff must look at the machine.
    Trouble(Trouble),
    /// Count a message that was not accepted.
    Dropped(DropReason),
}

/// Part of a message from which an event for the actor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grounds {
    Ack,
    /// The `run` of a state report, also when it is absent.
    Run,
    /// The `last` of a state report.
    Last,
    /// The `epoch` of a state report: the start never arrived, and it is now too late for it.
    Epoch,
    /// Not a message: the start was never sent.
    NotWritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The device has reported a lower epoch than before: it has lost its memory.
    MemoryLost { before: i64, now: i64 },
    /// Two devices use one key.
    Clone,
    /// The device's epoch is further ahead of the stored one than a restore explains.
    StrangeEpoch { before: i64, now: i64 },
    /// The run ended long before its time, and no operator had requested a stop.
    EndedEarly { cmd_id: Uuid, left_ms: i64 },
}

/// Reason why a message is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// A newer message has arrived, or the device has a newer connection.
    Stale,
    /// A will of another connection than the one that sent the last message.
    Will,
}

/// Next step of a probe: the check that a device answers, when a customer scans its machine or pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeStep {
    /// The device has sent a message just now.
    Fresh,
    /// Write this query, and wait up to [`PROBE_MS`] until it [is answered](Conversation::is_asked).
    Ask(ConnectionId, Cmd),
    /// A query is already in flight: wait for its answer.
    Asked,
    /// The device has no connection.
    Offline,
}

/// Conversation with one device. The default has no connection.
///
/// Each call returns effects. The caller performs them in their order before the next call, and owes the conversation:
/// - [`on_subscribed`](Self::on_subscribed) when a connection has subscribed to `cmd`, and [`on_closed`](Self::on_closed) when it is closed. After an
///   [`Effect::Close`] the connection is already forgotten here;
/// - [`on_message`](Self::on_message) for each message, and [`on_packet`](Self::on_packet) for each other packet;
/// - [`recall`](Self::recall) with the stored purchase before the first command about it, then [`send`](Self::send) for each command;
/// - [`wake`](Self::wake) when the time of [`silent_at`](Self::silent_at) has come, which changes with every call.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Connections that subscribed to `cmd`, the newest last: only the newest counts.
    connections: Vec<ConnectionId>,
    /// Since when the present newest connection counts.
    connected_at: Timestamp,
    /// When it subscribed; not known of one that is the newest again because a later one was closed.
    subscribed_at: Option<Timestamp>,
    /// The device's last sign of life.
    alive_at: Timestamp,
    /// When the last message was accepted.
    message_at: Option<Timestamp>,
    /// Presence as last reported to the caller.
    present: Option<bool>,
    order: MessageOrder,
    delay: DelayFilter,
    /// The `up_ms` of the device's last state report on this connection.
    echo: Option<i64>,
    /// When a state report of this connection was last answered with the time; `None` before its first one.
    answered_at: Option<Timestamp>,
    /// The `up_ms` of that state report.
    answered: Option<i64>,
    /// When the device last showed that it had accepted the time of that answer.
    clock_at: Option<Timestamp>,
    /// When the device was asked for a state report that it has not yet sent.
    asked_at: Option<Timestamp>,
    /// Number of the present boot, and the last message of the latest earlier boot in which a cycle ran.
    boot: Option<i64>,
    before_boot: Option<Timestamp>,
    /// The last message of the present boot.
    boot_message_at: Option<Timestamp>,
    /// The device has acknowledged a start, and has sent no state report since.
    acked_start: bool,
    /// The epoch of the last state report.
    epoch: Option<i64>,
    /// The run of the last state report, and the uptime at which the device sent it.
    run: Option<(Run, Option<i64>)>,
    sensor: Sensor,
    /// The sensor has changed since the actor was last notified.
    sensor_changed: bool,
    /// The last run of a board with a sensor.
    watched: Option<WatchedRun>,
    /// Run of which the actor was last notified, or `None` for a free machine.
    notified_run: Option<Uuid>,
    /// End of that run, as the actor was last notified of it.
    notified_end: Timestamp,
    /// Whether the actor asked what the device runs: it is then notified even when nothing has changed.
    wanted: bool,
    /// In a box, because most devices have none at most times.
    open: Option<Box<OpenPurchaseState>>,
    out: Vec<Effect>,
}

impl Conversation {
    /// Sets the stored open purchase of the machine, or the last purchase while the machine waits for staff, because its epoch still counts. Its
    /// start counts as possibly sent. A run that the device has already reported here is kept, because the stored purchase may not have it yet.
    pub fn recall(&mut self, idmesin: MachineId, p: &Purchase) {
        if p.state == PurchaseState::Running && self.open.as_ref().is_some_and(|open| open.is(p.cmd_id) && open.ran) {
            return;
        }
        self.open = Some(Box::new(OpenPurchaseState::stored(idmesin, p)));
    }

    /// Records that a connection subscribed to `cmd`.
    pub fn on_subscribed(&mut self, connection: ConnectionId, now: Timestamp) -> Vec<Effect> {
        let before = self.connection();
        if let Err(at) = self.connections.binary_search(&connection) {
            self.connections.insert(at, connection);
        }
        if self.connections.len() > MAX_CONNECTIONS {
            self.connections.remove(0);
        }
        if self.newest_since(before, now) {
            self.subscribed_at = Some(now);
        }
        self.done()
    }

    /// Records that a connection is closed.
    pub fn on_closed(&mut self, connection: ConnectionId, now: Timestamp) -> Vec<Effect> {
        self.drop_connection(connection, now);
        self.done()
    }

    /// Records a packet that is no message, for example a ping: any packet on a connection is a sign of life.
    pub fn on_packet(&mut self, connection: ConnectionId, now: Timestamp) -> Vec<Effect> {
        self.packet_arrived(connection, now);
        self.ask_for_the_time(now);
        self.done()
    }

    /// When [`Conversation::wake`] is due: the device is offline then.
    pub fn silent_at(&self) -> Option<Timestamp> {
        (self.present == Some(true)).then(|| self.alive_at.plus_ms(SILENCE_MS))
    }

    /// Closes the connection of a device that has been silent for too long.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        if let Some(connection) = self.connection().filter(|_| self.silent_at().is_some_and(|at| at <= now)) {
            self.out.push(Effect::Close(connection));
            self.drop_connection(connection, now);
        }
        self.done()
    }

    pub fn is_present(&self) -> bool {
        self.present == Some(true)
    }

    fn connection(&self) -> Option<ConnectionId> {
        self.connections.last().copied()
    }

    fn drop_connection(&mut self, connection: ConnectionId, now: Timestamp) {
        let before = self.connection();
        self.connections.retain(|l| *l != connection);
        self.newest_since(before, now);
    }

    /// Called when the connections have changed. A new newest connection decides the device's presence, and starts without a known state. Returns
    /// whether there is one.
    fn newest_since(&mut self, before: Option<ConnectionId>, now: Timestamp) -> bool {
        let connection = self.connection();
        if connection == before {
            return false;
        }
        (self.connected_at, self.alive_at, self.subscribed_at) = (now, now, None);
        (self.echo, self.answered_at, self.answered, self.asked_at) = (None, None, None, None);
        self.set_present(connection.is_some());
        connection.is_some()
    }

    fn set_present(&mut self, present: bool) {
        if self.present != Some(present) {
            self.present = Some(present);
            self.out.push(Effect::Presence(present));
        }
    }

    /// A packet arrived on `connection`. Only the newest connection shows that the device is reachable.
    fn packet_arrived(&mut self, connection: ConnectionId, now: Timestamp) {
        if self.connection() == Some(connection) {
            self.alive_at = now;
            self.set_present(true);
        }
    }

    /// Sends a command of the machine. `begins`: it is a start that is sent for the first time; a process that found the purchase in the
    /// store never sets it.
    pub fn send(&mut self, cmd: &Command, begins: bool, now: Timestamp) -> Vec<Effect> {
        self.remember_purchase(cmd, begins, now);
        match cmd.op {
            Op::Start => self.start_if_due(now),
            Op::Query => self.query(cmd, now),
            Op::Stop => {
                self.wanted = true;
                self.write(Cmd::new(cmd, now, None), now);
            }
        }
        self.done()
    }

    fn remember_purchase(&mut self, cmd: &Command, begins: bool, now: Timestamp) {
        if cmd.cmd_id.is_nil() {
            return;
        }
        match &mut self.open {
            // A command about a run without an open purchase has epoch 0. The known purchase stays.
            Some(open) if open.is(cmd.cmd_id) && cmd.epoch < open.cmd.epoch => {}
            None if cmd.epoch == 0 => return,
            Some(open) if open.is(cmd.cmd_id) => open.cmd = cmd.clone(),
            Some(open) if cmd.epoch <= open.cmd.epoch => return,
            _ => self.open = Some(Box::new(OpenPurchaseState::begin(cmd, begins))),
        }
        if let Some(open) = self.open.as_mut().filter(|_| cmd.op == Op::Stop) {
            open.stop_at.get_or_insert(now);
        }
    }

    /// Sends the start of the open purchase, unless the connection's first state report is still expected.
    fn start_if_due(&mut self, now: Timestamp) {
        let ready = !self.is_state_awaited(now);
        let Some(cmd) = self.open.as_ref().filter(|open| open.is_to_start(now)).map(|open| Cmd::new(&open.cmd, now, None)) else {
            return;
        };
        if ready
            && self.write(cmd, now)
            && let Some(open) = &mut self.open
        {
            (open.written, open.sent) = (true, true);
        }
    }

    fn query(&mut self, cmd: &Command, now: Timestamp) {
        self.wanted = true;
        let Some(open) = &mut self.open else {
            self.write(Cmd::new(cmd, now, None), now);
            return;
        };
        if open.is(cmd.cmd_id) && open.is_void(now) {
            open.answered = true;
            self.out.push(Effect::Notify(open.ack(AckResult::Expired), Grounds::NotWritten));
            return;
        }
        // The device may still accept an older start. A query with the last purchase's epoch makes it refuse that, so this query is sent instead.
        let newer = Some(open.query()).filter(|newer| cmd.cmd_id.is_nil() && now >= newer.exp && self.is_below_last_epoch());
        self.write(Cmd::new(newer.as_ref().unwrap_or(cmd), now, None), now);
    }

    /// Asks for a state report when a customer scans the machine: money is held only for a device that answered just now.
    pub fn probe(&mut self, now: Timestamp) -> ProbeStep {
        match self.connection().filter(|_| self.present == Some(true)) {
            None => ProbeStep::Offline,
            Some(_) if self.is_fresh(now) && self.has_clock(now) => ProbeStep::Fresh,
            Some(_) if self.is_asked(now) => ProbeStep::Asked,
            Some(_) if self.is_state_awaited(now) => {
                // No query now: the device would report again, and could not set its clock by the answer to its first report.
                self.asked_at = Some(now);
                ProbeStep::Asked
            }
            Some(connection) => {
                self.asked_at = Some(now);
                ProbeStep::Ask(connection, Cmd { echo: self.echo, ..nil_query(now) })
            }
        }
    }

    /// Whether a query for a state report still waits for its answer.
    pub fn is_asked(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| at.ms_until(now) < PROBE_MS)
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.message_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS)
    }

    /// Whether the device counts as reachable although it did not answer a query in time, because the query only served to send the time.
    pub fn was_fresh(&self, now: Timestamp) -> bool {
        self.present == Some(true) && self.message_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS + PROBE_MS)
    }

    /// Whether the device can accept a start without receiving the time first, as far as this server knows.
    fn has_clock(&self, now: Timestamp) -> bool {
        !self.delay.is_known() || self.clock_at.is_some_and(|at| at.ms_until(now) < CLOCK_KEPT_MS)
    }

    /// Whether the first state report of a connection is still expected.
    fn is_state_awaited(&self, now: Timestamp) -> bool {
        self.answered_at.is_none() && self.connected_at.ms_until(now) < FIRST_STATE_MS
    }

    /// Queries the device when the last exchange of the time is long ago: the server answers the state report with the time. It also queries
    /// when the connection's first state report was dropped as stale, because a later message on another connection overtook it.
    fn ask_for_the_time(&mut self, now: Timestamp) {
        let due = match self.answered_at {
            Some(at) => self.echo.is_some() && at.ms_until(now) >= EXCHANGE_MS,
            None => self.delay.is_known() && !self.is_state_awaited(now),
        };
        if due && self.asked_at.is_none_or(|at| at.ms_until(now) >= ASK_AGAIN_MS) {
            self.ask(now);
        }
    }

    fn ask(&mut self, now: Timestamp) {
        if self.write(nil_query(now), now) {
            self.asked_at = Some(now);
        }
    }

    /// Writes to the newest connection; `false` when there is no connection.
    fn write(&mut self, cmd: Cmd, now: Timestamp) -> bool {
        let Some(connection) = self.connection() else { return false };
        self.out.push(Effect::Write(connection, Cmd { now_ms: now.ms(), echo: self.echo, ..cmd }));
        true
    }

    fn done(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}

/// Query that belongs to no command: the device answers it with a state report only.
fn nil_query(now: Timestamp) -> Cmd {
    let exp = now.ms().div_euclid(1000);
    Cmd { cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, durasi_s: 0, pulses: None, exp, now_ms: now.ms(), echo: None }
}
