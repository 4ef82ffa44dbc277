//! The device: what it is told, and what it says of itself.

use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};
use uuid::Uuid;

use super::{Ctx, MesinActor};
use crate::mesin::device::{Command, DeviceEvent};
use crate::mesin::messages::{AskDevice, Said};
use crate::pembelian::perangkat;
use crate::pembelian::step::{Event, Send};

impl MesinActor {
    /// The first word of the device on a command that this process sent.
    fn measure_answer(&self, cmd_id: Uuid) {
        let asked =
            self.aktif.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.keadaan.undecided()).and_then(|a| a.p.obrolan.first_sent);
        if let Some(first_sent) = asked {
            self.state.metrics.device_answered(Duration::from_millis(first_sent.ms_until(self.now()).max(0).unsigned_abs()));
        }
    }

    pub(super) fn send(&mut self, op: Send, ctx: &mut Ctx) {
        let Some(aktif) = &self.aktif else { return };
        let p = &aktif.p;
        let cmd =
            Command { idmesin: self.alamat.idmesin, cmd_id: p.cmd_id, epoch: p.epoch, op, durasi_s: p.durasi_s, exp: p.exp() };
        self.command(&cmd, ctx);
        if op == Send::Start {
            self.fault("after_send");
        }
    }

    fn command(&self, cmd: &Command, ctx: &mut Ctx) {
        let Some(reply) = perangkat::command(&self.state, &self.alamat.driver, cmd) else { return };
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
        let ours = self.aktif.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        let foreign = run.filter(|_| !ours);
        let (state, idmesin, now) = (self.state.clone(), self.alamat.idmesin, self.now());
        let work = async move {
            let client = state.db.get().await?;
            perangkat::record(&client, idmesin, online, run.is_some(), foreign, now).await
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

impl Handler<Said> for MesinActor {
    type Result = ();

    fn handle(&mut self, Said(event): Said, ctx: &mut Ctx) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id);
                self.feed(Event::Ack { cmd_id, result }, ctx);
            }
            DeviceEvent::State { online, run } => {
                self.record_state(online, run.map(|r| r.cmd_id), ctx);
                if let Some(run) = run {
                    self.feed(Event::Runs { cmd_id: run.cmd_id, sisa_ms: run.sisa_ms }, ctx);
                }
            }
        }
    }
}

impl Handler<AskDevice> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: AskDevice, ctx: &mut Ctx) {
        // No purchase is meant, so the answer counts only as the device's own state.
        let cmd = Command {
            idmesin: self.alamat.idmesin,
            cmd_id: Uuid::nil(),
            epoch: 0,
            op: Send::Query,
            durasi_s: 0,
            exp: self.now(),
        };
        self.last_said = None;
        self.command(&cmd, ctx);
    }
}
