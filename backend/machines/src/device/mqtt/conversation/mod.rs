//! The conversation with one device (docs/contract.md §6), decided: which of its connections counts, which of its words, what they mean
//! for the open purchase, and what is said to it when. No clock, no line and no waiting in here: words, commands and the time come in,
//! effects go out. What is known of the open purchase is what its commands tell, so nobody needs to ask its machine's actor.

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

/// A device is told the time after its first state of a connection, and after the first one each so many milliseconds.
const EXCHANGE_MS: i64 = 10 * 60_000;
/// A device without a sign of life for this long is offline.
const SILENCE_MS: i64 = 45_000;

/// A connection. One that came later has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Bring this to the machine's actor.
    Tell(DeviceEvent, Grounds),
    /// Whether the device can be reached is another than before.
    Presence(bool),
    /// Publish it as the device's `cmd`, on this connection.
    Write(LinkId, Cmd),
    /// Nobody is at the other end.
    Close(LinkId),
    /// Somebody must look at the machine, and it goes on record.
    Trouble(Trouble),
    /// The word was not believed.
    Dropped(Why),
}

/// What a word for the actor is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grounds {
    Ack,
    /// The run of a state, or that there is none.
    Run,
    /// The `last` of a state.
    Last,
    /// The `epoch` of a state: the start never arrived, and now it is too late.
    Epoch,
    /// The start never left.
    NotWritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The device knew a higher epoch: it has forgotten what it ran.
    MemoryLost { before: i64, now: i64 },
    /// Two devices have one key.
    Clone,
    /// It stopped long before the end, and nobody had asked for it.
    EndedEarly { cmd_id: Uuid, left_ms: i64 },
}

/// Why a word is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// There are newer ones, or a newer connection.
    Stale,
    /// A will of a connection that is not the last word's.
    Will,
}

/// What somebody who scans a machine is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It was heard just now.
    Here,
    /// Write this, and wait up to [`PROBE_MS`] until it [is no more asked](Conversation::is_asked).
    Ask(LinkId, Cmd),
    /// It is asked already: wait.
    Asked,
    /// There is nobody to ask.
    Away,
}

/// What is known of a device; see the module. The default has not begun.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Those that subscribed to `cmd`, the newest last: that one counts.
    links: Vec<LinkId>,
    /// When the newest did.
    linked_at: Timestamp,
    /// The last sign of life.
    alive_at: Timestamp,
    /// The last word that was believed.
    word_at: Option<Timestamp>,
    /// What was last told of its presence.
    present: Option<bool>,
    order: Order,
    way: Way,
    /// The `up_ms` of its last state on this connection.
    echo: Option<i64>,
    /// When a state of this connection was last answered with the time; `None` before its first.
    answered_at: Option<Timestamp>,
    /// The `up_ms` of that state.
    answered: Option<i64>,
    /// When it was last seen to have taken the time from that.
    clock_at: Option<Timestamp>,
    /// It was asked for a state, and has said nothing since.
    asked_at: Option<Timestamp>,
    /// What tells its present boot from others, and the last word of the boot before in which something ran.
    boot: Option<i64>,
    before_boot: Option<Timestamp>,
    /// The last word of the present boot.
    boot_word_at: Option<Timestamp>,
    /// The epoch of its last state.
    epoch: Option<i64>,
    /// What it runs by that, and the uptime when it said so.
    run: Option<(Run, Option<i64>)>,
    /// What the actor was last told that it runs.
    told: Option<Uuid>,
    /// And until when.
    told_end: Timestamp,
    /// The actor wants to know what it runs, although it be nothing new.
    wanted: bool,
    open: Option<Open>,
    out: Vec<Effect>,
}

impl Conversation {
    /// The machine's open purchase as it was found in the store, or the last one where staff are waited for: that is the fence. Whatever
    /// was said of it before counts as written. Of a run that was heard of here more is known than is stored.
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
