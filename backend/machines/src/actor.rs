//! Actor of a machine: a mailbox in front of [`Machine`], which decides. The actor carries out the effects and returns their results as
//! inputs. It never awaits in its mailbox: a statement runs beside it.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};
use actix_socketio::host::wheel::TimerKey;
use nyala_cluster::Owner;
use nyala_cluster::fence::Fence;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Effect, Input, Machine, Outcome, RequestId, Unanswered};
use nyala_core::purchase::device::{Command, Op};
use nyala_core::purchase::edge;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{Held, Purchase};
use nyala_ledger::{facts, purchase as ledger};
use nyala_store::crash_point;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio::sync::oneshot;

use super::alarm::{self, Wakes};
use super::device::{self, record};
use super::listeners::Broadcast;
use super::machines::{Location, Machines};
use super::status::MachineStatus;
use super::tick::Tick;
use super::ticker::Ticker;

/// Message to a machine's actor.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub enum ActorMessage {
    Input(Input),
    /// An input whose outcome a caller awaits.
    Request {
        id: RequestId,
        input: Input,
        reply: oneshot::Sender<Outcome>,
    },
    /// The machine has its first watcher: ticks are needed.
    FirstWatcher,
    /// Leave memory, unless an input arrived after `Machines` forgot this actor.
    Leave,
}

pub struct MachineActor {
    machines: Machines,
    location: Location,
    machine: Machine,
    /// Receivers of the answers to the machine's requests. An entry is removed with its answer, or when its caller has gone. The core bounds
    /// their number: 65 starts with 256 requests each, 256 deferred inputs, and 256 requests each for the open purchase, for its stop and for
    /// the stop of an unpaid cycle.
    replies: HashMap<RequestId, oneshot::Sender<Outcome>>,
    status: Arc<MachineStatus>,
    alarm: Option<(Timestamp, TimerKey)>,
    ticker: Rc<Ticker>,
}

type Ctx = Context<MachineActor>;

impl MachineActor {
    /// Actor with its open purchase, when that has just been read.
    pub fn new(machines: Machines, location: Location, status: Arc<MachineStatus>, open: Option<Purchase>) -> Self {
        let idmesin = location.idmesin;
        Self {
            ticker: Ticker::new(machines.clone(), &location, status.clone()),
            machine: open.map_or_else(|| Machine::new(idmesin), |p| Machine::with_purchase(idmesin, p)),
            machines,
            location,
            status,
            replies: HashMap::new(),
            alarm: None,
        }
    }

    fn on(&mut self, input: Input, ctx: &mut Ctx) {
        let now = self.machines.parts().store.now();
        // Ownership may have changed since the last input.
        let owned = Input::Owned(self.machines.ownership().owns(self.location.idoutlet));
        for input in self.gone().into_iter().chain([owned, input]) {
            for effect in self.machine.on(input, now) {
                self.perform(effect, now, ctx);
            }
        }
        self.arm(ctx);
    }

    /// The requests whose callers have gone since the last input.
    fn gone(&mut self) -> Option<Input> {
        let gone: BTreeSet<RequestId> = self.replies.extract_if(|_, reply| reply.is_closed()).map(|(id, _)| id).collect();
        (!gone.is_empty()).then_some(Input::Gone(gone))
    }

    fn perform(&mut self, effect: Effect, now: Timestamp, ctx: &mut Ctx) {
        let idmesin = self.location.idmesin;
        match effect {
            Effect::Hold { order, machine, service, at } => {
                self.fault("before_hold");
                let work = async move |client: DbClient| ledger::hold(&client, &order, &machine, &service, at).await;
                self.ask(ctx, "a hold was not confirmed", work, |actor, held| {
                    if matches!(held, Ok(Held::Won { .. })) {
                        actor.fault("after_hold");
                        actor.machines.changed(&actor.location);
                    }
                    Input::Held(held)
                });
            }
            Effect::Apply { next, change, at, .. } => {
                let (before, after) = edge::around(change);
                self.fault(before);
                let (id, became, fault_point) = (next.id, next.state, self.machines.parts().fault_point.clone());
                let (ownership, fence) = (self.machines.ownership().clone(), self.fence());
                let work = async move |client: DbClient| {
                    let result = ledger::apply(&client, id, change, at, fence.as_ref()).await;
                    crash_point::reach(&fault_point, after);
                    let nota = result?;
                    nota.iter().for_each(|nota| log(nota, idmesin, became));
                    if nota.is_none() {
                        ownership.invalidate();
                    }
                    Ok(nota.is_some())
                };
                self.ask(ctx, "a change of a purchase was not confirmed", work, move |actor, done| {
                    if done == Ok(true) {
                        actor.machines.metrics().purchase_became(became);
                        actor.machines.changed(&actor.location);
                    }
                    Input::Applied(done)
                });
            }
            Effect::Load => {
                let work = async move |client: DbClient| facts::open_at(&client, idmesin).await;
                self.ask(ctx, "a machine's purchase cannot be read", work, |_, stored| Input::Loaded(stored));
            }
            Effect::Record { report, unpaid, at } => {
                if let Some(run) = report.run.filter(|_| unpaid) {
                    let cmd_id = tracing::field::display(run.cmd_id);
                    tracing::warn!(
                        cmd_id,
                        idmesin = idmesin.get(),
                        "a device runs what no open purchase says: its machine takes no purchase until it reports no run"
                    );
                }
                let fence = self.fence();
                let work =
                    async move |client: DbClient| record::record(&client, idmesin, report, unpaid, at, fence.as_ref()).await;
                self.ask(ctx, "a device's state was not stored; its next word will be", work, |actor, done| {
                    if done == Ok(true) {
                        actor.machines.changed(&actor.location);
                    }
                    Input::Recorded(done)
                });
            }
            Effect::Command(cmd) => self.command(cmd),
            Effect::Answered { after_ms } => self.machines.metrics().device_answered(after_ms),
            // The status changes before the broadcast: a session that joins now reads it.
            Effect::Show { cycle, change } => {
                self.status.set_cycle(cycle);
                if let Some(change) = change {
                    let tick = Tick::of(change, now);
                    self.machines.parts().listeners.publish(Broadcast { idmesin, tick, volatile: false }, &self.status);
                }
            }
            Effect::Answer { requests, outcome } => {
                for reply in requests.iter().filter_map(|request| self.replies.remove(request)) {
                    // The caller may have gone since.
                    let _ = reply.send(outcome);
                }
            }
        }
    }

    /// Queries the database beside the mailbox; `input` makes an input of the result. `failed` is logged when the query fails.
    fn ask<T: 'static>(
        &self,
        ctx: &mut Ctx,
        failed: &'static str,
        work: impl AsyncFnOnce(DbClient) -> Result<T, DbError> + 'static,
        input: impl FnOnce(&Self, Result<T, Unanswered>) -> Input + 'static,
    ) {
        let (db, idmesin) = (self.machines.parts().store.db.clone(), self.location.idmesin);
        let answered = async move {
            match db.get().await {
                Ok(client) => work(client).await,
                Err(e) => Err(e),
            }
        };
        ctx.spawn(answered.into_actor(self).map(move |result, actor, ctx| {
            let result = result.map_err(|e| {
                tracing::warn!(error = %e, idmesin = idmesin.get(), "{failed}");
                Unanswered
            });
            let input = input(actor, result);
            actor.on(input, ctx);
        }));
    }

    /// Fence for every change but a finish; `None` on a single server. On a remote machine the fence never holds, so nothing changes.
    fn fence(&self) -> Option<Fence> {
        match self.machines.ownership().of(self.location.idoutlet) {
            Owner::Alone => None,
            Owner::Here(fence) => Some(fence),
            Owner::Remote => Some(Fence::of_nobody()),
        }
    }

    fn command(&self, cmd: Command) {
        let op = cmd.op;
        device::command(&self.machines, self.location, cmd);
        if op == Op::Start {
            self.fault("after_send");
        }
    }

    /// Sets the alarm for the machine's next deadline, and the ticker for its run.
    fn arm(&mut self, ctx: &mut Ctx) {
        self.ticker.follow(self.machine.running().map(Purchase::cycle));
        let wake_at = self.machine.wake_at();
        if self.alarm.map(|(at, _)| at) == wake_at {
            return;
        }
        if let Some((_, key)) = self.alarm.take() {
            alarm::cancel(key);
        }
        self.alarm = wake_at.and_then(|at| Some((at, alarm::set(at, Wakes::Machine(ctx.address()))?)));
    }

    fn fault(&self, name: &str) {
        crash_point::reach(&self.machines.parts().fault_point, name);
    }
}

/// Logs a purchase for operators who search by the receipt number: outcomes as info or warnings, all other states as debug.
fn log(nota: &str, idmesin: MachineId, became: PurchaseState) {
    use PurchaseState as State;
    let state = became.as_str();
    match became {
        State::Held | State::Sent | State::Finished => tracing::debug!(nota, idmesin = idmesin.get(), state, "purchase"),
        State::Running | State::Stopped | State::Refused => tracing::info!(nota, idmesin = idmesin.get(), state, "purchase"),
        State::Unsure | State::Expired => tracing::warn!(nota, idmesin = idmesin.get(), state, "purchase"),
    }
}

impl Actor for MachineActor {
    type Context = Ctx;

    fn started(&mut self, ctx: &mut Ctx) {
        self.machines.metrics().actor_started();
        ctx.run_interval(self.machines.parts().idle, |actor, ctx| {
            if let Some(gone) = actor.gone() {
                actor.on(gone, ctx);
            }
            if actor.machine.is_idle() && actor.machines.forget(actor.location.idmesin, &ctx.address()) {
                // Earlier inputs are already in the mailbox and are processed before this message.
                ctx.notify(ActorMessage::Leave);
            }
        });
        self.arm(ctx);
    }

    fn stopped(&mut self, _: &mut Ctx) {
        self.machines.metrics().actor_stopped();
    }
}

impl Handler<ActorMessage> for MachineActor {
    type Result = ();

    fn handle(&mut self, message: ActorMessage, ctx: &mut Ctx) {
        match message {
            ActorMessage::Input(input) => {
                if input == Input::Alarm {
                    self.alarm = None;
                }
                self.on(input, ctx);
            }
            ActorMessage::Request { id, input, reply } => {
                if let Input::Stop { .. } = input {
                    // The stop is stored, and its device has not received it yet.
                    self.fault("after_stop_request");
                    self.machines.changed(&self.location);
                }
                let input = if reply.is_closed() {
                    input.without_caller()
                } else {
                    self.replies.insert(id, reply);
                    Some(input)
                };
                if let Some(input) = input {
                    self.on(input, ctx);
                }
            }
            ActorMessage::FirstWatcher => {
                self.status.notification_received();
                self.arm(ctx);
            }
            ActorMessage::Leave => {
                // An input arrived since: the actor stays, unless another one has replaced it.
                if self.machine.is_idle() || !self.machines.remember(self.location.idmesin, ctx.address(), &self.status) {
                    ctx.stop();
                }
            }
        }
    }
}
