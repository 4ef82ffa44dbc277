//! The machine: queue, cache and alarm clock of its purchase (design: money 1 and 7). It never awaits in its mailbox: it
//! starts a transaction, remembers that, and takes the result as a message. It announces nothing that is not committed.

mod buy;
mod commit;
mod countdown;
mod device;
mod reread;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::board::Board;
use super::messages::{Leave, Outcome, Start, Waiter};
use super::registry::Location;
use super::ticker::Ticker;
use super::wheel::TimerKey;
use crate::app::AppState;
use crate::domain::timestamp::Timestamp;
use crate::purchase::fault;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{Purchase, PurchaseEvent};

pub struct MachineActor {
    state: AppState,
    location: Location,
    active: Option<Active>,
    /// The purchase whose hold is being committed.
    hold: Option<Start>,
    queue: VecDeque<Start>,
    board: Arc<Board>,
    alarm: Option<TimerKey>,
    ticker: Rc<Ticker>,
    loading: bool,
    /// Counts what was learned of the purchase, so that a slower reading of the database cannot put an older state back.
    learned: u64,
    /// What the device last said of itself: whether it is online, and what it runs.
    last_said: Option<DeviceWord>,
    /// The word that is being stored: one at a time, so that an older one never lands on a newer one.
    recording: Option<DeviceWord>,
}

type DeviceWord = (bool, Option<Uuid>);

/// The open purchase and who waits for it.
struct Active {
    p: Purchase,
    waiters: Vec<Waiter>,
    stop_waiters: Vec<oneshot::Sender<()>>,
    /// A change is being committed; events wait in `events`.
    committing: bool,
    events: VecDeque<PurchaseEvent>,
}

impl Active {
    fn new(p: Purchase) -> Self {
        Self { p, waiters: Vec::new(), stop_waiters: Vec::new(), committing: false, events: VecDeque::new() }
    }

    fn answer(&mut self, outcome: Outcome) {
        for waiter in self.waiters.drain(..) {
            let _ = waiter.send(outcome);
        }
    }
}

/// The outcome that a decided state is, for those who wait.
fn outcome(state: PurchaseState) -> Option<Outcome> {
    match state {
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => Some(Outcome::Started),
        PurchaseState::Refused | PurchaseState::Expired => Some(Outcome::NotStarted),
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => None,
    }
}

type Ctx = Context<MachineActor>;

impl MachineActor {
    pub fn new(state: AppState, location: Location, board: Arc<Board>, active: Option<Purchase>) -> Self {
        Self {
            ticker: Ticker::new(state.clone(), &location, board.clone()),
            state,
            location,
            board,
            active: active.map(Active::new),
            hold: None,
            queue: VecDeque::new(),
            alarm: None,
            loading: false,
            learned: 0,
            last_said: None,
            recording: None,
        }
    }

    fn now(&self) -> Timestamp {
        self.state.clock.now()
    }

    fn fault(&self, name: &str) {
        fault::point(&self.state.config.dev.fault_point, name);
    }

    fn watch_idle(ctx: &mut Ctx, every: Duration) {
        ctx.run_interval(every, |actor, ctx| {
            if actor.is_idle() && actor.state.machine.forget(actor.location.idmesin, &ctx.address()) {
                // What was told before that is in the mailbox, and the mailbox comes first.
                ctx.notify(Leave);
            }
        });
    }

    fn is_idle(&self) -> bool {
        self.active.is_none() && self.hold.is_none() && self.queue.is_empty() && !self.loading && self.recording.is_none()
    }
}

impl Actor for MachineActor {
    type Context = Ctx;

    fn stopped(&mut self, _: &mut Ctx) {
        self.state.metrics.realtime.actors.dec();
    }

    fn started(&mut self, ctx: &mut Ctx) {
        self.state.metrics.realtime.actors.inc();
        self.state.metrics.realtime.actors_started.inc();
        Self::watch_idle(ctx, Duration::from_secs(self.state.config.mesin.idle_s.max(1)));
        self.arm(ctx);
    }
}

impl Handler<Leave> for MachineActor {
    type Result = ();

    fn handle(&mut self, _: Leave, ctx: &mut Ctx) {
        let stays = !self.is_idle() && self.state.machine.remember(self.location.idmesin, ctx.address(), &self.board);
        if !stays {
            ctx.stop();
        }
    }
}
