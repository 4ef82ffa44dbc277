//! The device: what it is told, and what it says of itself.

use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};
use uuid::Uuid;

use super::{Ctx, MachineActor};
use crate::machine::device::{Command, DeviceEvent};
use crate::machine::messages::{AskDevice, Said};
use crate::purchase::device;
use crate::purchase::step::{Op, PurchaseEvent};

impl MachineActor {
    /// The first word of the device on a command that this process sent.
    fn measure_answer(&self, cmd_id: Uuid) {
        let asked =
            self.active.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.state.undecided()).and_then(|a| a.p.exchange.first_sent);
        if let Some(first_sent) = asked {
            self.state.metrics.device_answered(Duration::from_millis(first_sent.ms_until(self.now()).max(0).unsigned_abs()));
        }
    }

    pub(super) fn send(&mut self, op: Op, ctx: &mut Ctx) {
        let Some(active) = &self.active else { return };
        let p = &active.p;
        let cmd = Command {
            idmesin: self.location.idmesin,
            cmd_id: p.cmd_id,
            epoch: p.epoch,
            op,
            duration_s: p.duration_s,
            exp: p.exp(),
        };
        self.command(&cmd, ctx);
        if op == Op::Start {
            self.fault("after_send");
        }
    }

    fn command(&self, cmd: &Command, ctx: &mut Ctx) {
        let Some(reply) = device::command(&self.state, &self.location.driver, cmd) else { return };
        let deliver = move |ctx: &mut Ctx| reply.events.iter().for_each(|e| ctx.notify(Said(e.clone())));
        match u64::try_from(reply.after_ms) {
            Ok(ms) if ms > 0 => {
                ctx.run_later(Duration::from_millis(ms), move |_, ctx| deliver(ctx));
            }
            _ => deliver(ctx),
        }
    }

    /// Keeps `online` and the staff flag as the device says, and has unpaid runs on record.
    fn record_state(&mut self, online: bool, run: Option<Uuid>, ctx: &mut Ctx) {
        if self.last_said == Some((online, run)) {
            return;
        }
        self.last_said = Some((online, run));
        if self.recording.is_none() {
            self.record(online, run, ctx);
        }
    }

    fn record(&mut self, online: bool, run: Option<Uuid>, ctx: &mut Ctx) {
        self.recording = Some((online, run));
        let ours = self.active.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        let foreign = run.filter(|_| !ours);
        let (state, idmesin, now) = (self.state.clone(), self.location.idmesin, self.now());
        let work = async move {
            let client = state.db.get().await?;
            device::record(&client, idmesin, online, run.is_some(), foreign, now).await
        };
        ctx.spawn(work.into_actor(self).map(|result, actor, ctx| {
            let stored = actor.recording.take();
            if let Err(e) = result {
                tracing::warn!(error = %e, "a device's state was not stored; its next word will be");
                actor.last_said = actor.last_said.filter(|said| Some(*said) != stored);
            }
            if let Some((online, run)) = actor.last_said.filter(|said| Some(*said) != stored) {
                actor.record(online, run, ctx);
            }
        }));
    }
}

impl Handler<Said> for MachineActor {
    type Result = ();

    fn handle(&mut self, Said(event): Said, ctx: &mut Ctx) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id);
                self.feed(PurchaseEvent::Ack { cmd_id, result }, ctx);
            }
            DeviceEvent::State { online, run } => {
                self.record_state(online, run.map(|r| r.cmd_id), ctx);
                if let Some(run) = run {
                    self.feed(PurchaseEvent::Runs { cmd_id: run.cmd_id, left_ms: run.left_ms }, ctx);
                }
            }
        }
    }
}

impl Handler<AskDevice> for MachineActor {
    type Result = ();

    fn handle(&mut self, _: AskDevice, ctx: &mut Ctx) {
        // No purchase is meant, so the answer counts only as the device's own state.
        let cmd = Command {
            idmesin: self.location.idmesin,
            cmd_id: Uuid::nil(),
            epoch: 0,
            op: Op::Query,
            duration_s: 0,
            exp: self.now(),
        };
        self.last_said = None;
        self.command(&cmd, ctx);
    }
}
