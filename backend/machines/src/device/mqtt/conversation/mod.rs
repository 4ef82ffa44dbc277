//! Conversation with one device (docs/contract.md §6): a pure state machine. It decides which of the device's connections counts, which
//! messages are accepted, what they mean for the open purchase, and what is sent to the device and when.
//!
//! Inputs are messages, commands, connection changes and the current time; each call returns effects, which the caller carries out in
//! their order. It has no clock, does no I/O and never waits. It knows the open purchase from the commands that it is given, so it never
//! needs to ask the machine's actor.

mod hear;
mod link;
mod open;
mod order;
mod say;
#[cfg(test)]
mod tests;
mod way;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::DeviceEvent;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use uuid::Uuid;

use self::open::Open;
use self::order::Order;
pub use self::say::PROBE_MS;
use self::way::Way;
use super::word::{Cmd, Run};

/// How often a device receives the time: with the answer to its first state report on a connection, and then at this interval, in
/// milliseconds.
const EXCHANGE_MS: i64 = 10 * 60_000;
/// Silence after which a device is offline.
const SILENCE_MS: i64 = 45_000;

/// Identifier of a connection. A later connection has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// Effects that the caller carries out, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send this to the machine's actor.
    Tell(DeviceEvent, Grounds),
    /// The device's presence has changed: `true` when it can be reached.
    Presence(bool),
    /// Publish this as the device's `cmd`, on this connection.
    Write(LinkId, Cmd),
    /// Close this connection: no device answers at its other end.
    Close(LinkId),
    /// Record this trouble. Staff must look at the machine.
    Trouble(Trouble),
    /// A message was not accepted.
    Dropped(Why),
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
    /// No message of the device: the start was never sent.
    NotWritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The device knew a higher epoch before: it has forgotten what it ran.
    MemoryLost { before: i64, now: i64 },
    /// Two devices use one key.
    Clone,
    /// The run ended long before its time, and no operator had requested a stop.
    EndedEarly { cmd_id: Uuid, left_ms: i64 },
}

/// Reason why a message is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// A newer message has arrived, or the device has a newer connection.
    Stale,
    /// A will of another connection than the one that sent the last message.
    Will,
}

/// Next step for a request that scans a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// The device has sent a message just now.
    Here,
    /// Write this query, and wait up to [`PROBE_MS`] until it [is answered](Conversation::is_asked).
    Ask(LinkId, Cmd),
    /// A query is already in flight: wait for its answer.
    Asked,
    /// The device has no connection.
    Away,
}

/// State of the conversation with one device; see the module. The default is a conversation without a connection.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Connections that subscribed to `cmd`, the newest last: only the newest counts.
    links: Vec<LinkId>,
    /// When the newest connection became the newest.
    linked_at: Timestamp,
    /// The device's last sign of life.
    alive_at: Timestamp,
    /// When the last message was accepted.
    word_at: Option<Timestamp>,
    /// Presence as last reported to the caller.
    present: Option<bool>,
    order: Order,
    way: Way,
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
    boot_word_at: Option<Timestamp>,
    /// The epoch of the last state report.
    epoch: Option<i64>,
    /// The run of the last state report, and the uptime at which the device sent it.
    run: Option<(Run, Option<i64>)>,
    /// Run of which the actor was last notified, or `None` for a free machine.
    told: Option<Uuid>,
    /// End of that run, as the actor was last notified of it.
    told_end: Timestamp,
    /// Whether the actor asked what the device runs: it is then notified even when nothing has changed.
    wanted: bool,
    open: Option<Open>,
    out: Vec<Effect>,
}

impl Conversation {
    /// Sets the machine's open purchase as it is stored. While the machine waits for staff, it sets the last purchase, which serves as
    /// the fence. Every start of it counts as possibly sent. A run that the device has reported here is kept: that is more than the store
    /// knows.
    pub fn recall(&mut self, idmesin: i64, p: &Purchase) {
        if p.state == PurchaseState::Running && self.open.as_ref().is_some_and(|open| open.is(p.cmd_id) && open.ran) {
            return;
        }
        self.open = Some(Open::stored(idmesin, p));
    }

    fn done(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}
