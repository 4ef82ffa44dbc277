//! Ticker of a countdown (docs/contract.md §3): a machine's actor owns it, and the alarm clock of their thread calls it. A tick is a call
//! and no message, because waking an actor for each tick costs processor time that grows with the number of machines.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use actix_socketio::host::wheel::TimerKey;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Cycle;

use super::alarm::{self, Wakes};
use super::listeners::Broadcast;
use super::machines::{Location, Machines};
use super::status::MachineStatus;
use super::tick::{self, Cadence, Tick};

pub struct Ticker {
    machines: Machines,
    status: Arc<MachineStatus>,
    idmesin: MachineId,
    cadence: Cadence,
    cycle: Cell<Option<Cycle>>,
    /// The next tick, and its alarm.
    next: Cell<Option<(Timestamp, TimerKey)>>,
}

impl Ticker {
    pub fn new(machines: Machines, location: &Location, status: Arc<MachineStatus>) -> Rc<Self> {
        let cadence = Cadence::of(location.idoutlet, machines.parts().ticks_per_second);
        Rc::new(Self { machines, status, idmesin: location.idmesin, cadence, cycle: Cell::new(None), next: Cell::new(None) })
    }

    /// Sends ticks of `cycle` to the watchers from now on. The actor calls this whenever the cycle or the watchers may have changed.
    pub fn follow(self: &Rc<Self>, cycle: Option<Cycle>) {
        if self.cycle.replace(cycle) == cycle && self.next.get().is_some() {
            return;
        }
        if let Some((_, key)) = self.next.take() {
            alarm::cancel(key);
        }
        self.arm(self.machines.parts().store.now());
    }

    /// The alarm rang.
    pub fn ring(self: &Rc<Self>) {
        let (Some((due, _)), Some(cycle)) = (self.next.take(), self.cycle.get()) else { return };
        let now = self.machines.parts().store.now();
        // A late tick may be too close to the end. A tick before its time means that the clock was set back.
        if due <= now && !tick::is_near_end(now, cycle.ends_at) {
            self.machines.metrics().tick_lateness(due.ms_until(now));
            let tick = Tick::running(cycle, now);
            self.machines.parts().listeners.publish(Broadcast { idmesin: self.idmesin, tick, volatile: true }, &self.status);
        }
        self.arm(now);
    }

    /// Sets the next tick. Without watchers there are no ticks, until the actor is notified of a watcher.
    fn arm(self: &Rc<Self>, now: Timestamp) {
        let Some(cycle) = self.cycle.get().filter(|_| self.status.is_watched()) else { return };
        let next = self.cadence.next_after(now, cycle.started_at, cycle.ends_at);
        self.next.set(next.and_then(|at| Some((at, alarm::set(at, Wakes::Ticker(Rc::downgrade(self)))?))));
    }
}
