//! The ticks of a countdown (contract §3): the actor of a machine owns its ticker, and the alarm clock of their thread rings it. A
//! tick is a call and no message, because an actor that is woken for each costs processor time that grows with the machines.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::alarm::{self, Wakes};
use super::papan::Papan;
use super::registry::Alamat;
use super::tick::{self, Irama, Tick};
use super::wheel::Key;
use crate::app::AppState;
use crate::domain::waktu::Waktu;
use crate::sesi::hub::{self, Siaran};

pub struct Ticker {
    state: AppState,
    papan: Arc<Papan>,
    idmesin: i64,
    irama: Irama,
    run: Cell<Option<Run>>,
    /// The next tick, and its alarm.
    next: Cell<Option<(Waktu, Key)>>,
}

/// From when until when a machine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub started_at: Waktu,
    pub ends_at: Waktu,
}

impl Ticker {
    pub fn new(state: AppState, alamat: &Alamat, papan: Arc<Papan>) -> Rc<Self> {
        let irama = Irama::of(alamat.idoutlet, state.config.dev.ticks_per_second);
        Rc::new(Self { state, papan, idmesin: alamat.idmesin, irama, run: Cell::new(None), next: Cell::new(None) })
    }

    /// From now on `run` is what is told to whoever watches; the actor calls this whenever either may have changed.
    pub fn follow(self: &Rc<Self>, run: Option<Run>) {
        if self.run.replace(run) == run && self.next.get().is_some() {
            return;
        }
        if let Some((_, key)) = self.next.take() {
            alarm::cancel(key);
        }
        self.arm(self.state.jam.now());
    }

    /// The alarm rang.
    pub fn ring(self: &Rc<Self>) {
        let (Some((due, _)), Some(run)) = (self.next.take(), self.run.get()) else { return };
        let now = self.state.jam.now();
        // A late one may have come too near to the end; before its time it is when the clock was put back.
        if due <= now && !tick::is_near_end(now, run.ends_at) {
            self.state.metrics.realtime.tick_lateness(due.ms_until(now));
            let frame = Tick::running(run.ends_at, now).frame(self.idmesin);
            hub::publish(Siaran { idmesin: self.idmesin, frame, volatile: true }, &self.papan);
        }
        self.arm(now);
    }

    /// Nobody watches: no ticks, until the actor hears of somebody.
    fn arm(self: &Rc<Self>, now: Waktu) {
        let Some(run) = self.run.get().filter(|_| self.papan.is_watched()) else { return };
        let next = self.irama.next_after(now, run.started_at, run.ends_at);
        self.next.set(next.and_then(|at| Some((at, alarm::set(at, Wakes::Ticker(Rc::downgrade(self)))?))));
    }
}
