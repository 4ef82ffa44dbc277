//! actix as its examples do it: a `WebsocketContext` actor a session, an actor a machine, one message a delivery.

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, StreamHandler};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use actix_web_actors::ws;
use bytestring::ByteString;
use nyala_bench_peers::{CONNECTED, OPEN, PING_INTERVAL_MS, Run, Settings, now_ms, phase_ms, subscribe_of};
use std::collections::HashSet;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Machine {
    idmesin: u32,
    run: Run,
    period_ms: i64,
    watchers: HashSet<Addr<Session>>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Join(Addr<Session>);

#[derive(Message)]
#[rtype(result = "()")]
struct Leave(Addr<Session>);

#[derive(Message)]
#[rtype(result = "()")]
struct TickEvent(ByteString);

impl Actor for Machine {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let period = Duration::from_millis(self.period_ms.unsigned_abs());
        let first = (phase_ms(self.idmesin, self.period_ms) - now_ms()).rem_euclid(self.period_ms);
        ctx.run_later(Duration::from_millis(first.unsigned_abs()), move |_, ctx| {
            ctx.run_interval(period, |machine, _| machine.tick());
        });
    }
}

impl Machine {
    fn tick(&self) {
        if self.watchers.is_empty() {
            return;
        }
        let event = ByteString::from(self.run.event(self.idmesin));
        for session in &self.watchers {
            session.do_send(TickEvent(event.clone()));
        }
    }
}

impl Handler<Join> for Machine {
    type Result = ();
    fn handle(&mut self, Join(session): Join, _: &mut Self::Context) {
        self.watchers.insert(session);
    }
}

impl Handler<Leave> for Machine {
    type Result = ();
    fn handle(&mut self, Leave(session): Leave, _: &mut Self::Context) {
        self.watchers.remove(&session);
    }
}

#[derive(Clone)]
struct Shared {
    run: Run,
    machines: Vec<Addr<Machine>>,
}

struct Session {
    shared: web::Data<Shared>,
    watches: Vec<Addr<Machine>>,
}

impl Actor for Session {
    type Context = ws::WebsocketContext<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.text(OPEN);
        ctx.run_interval(Duration::from_millis(PING_INTERVAL_MS.unsigned_abs()), |_, ctx| ctx.text("2"));
    }

    fn stopping(&mut self, ctx: &mut Self::Context) -> actix::Running {
        for machine in &self.watches {
            machine.do_send(Leave(ctx.address()));
        }
        actix::Running::Stop
    }
}

impl Handler<TickEvent> for Session {
    type Result = ();
    fn handle(&mut self, TickEvent(event): TickEvent, ctx: &mut Self::Context) {
        ctx.text(event);
    }
}

impl StreamHandler<Result<ws::Message, ws::ProtocolError>> for Session {
    fn handle(&mut self, message: Result<ws::Message, ws::ProtocolError>, ctx: &mut Self::Context) {
        let Ok(ws::Message::Text(text)) = message else {
            return if !matches!(message, Ok(ws::Message::Pong(_))) {
                ctx.close(None)
            };
        };
        if text.starts_with("40") {
            ctx.text(CONNECTED);
        } else if let Some((id, idmesin)) = subscribe_of(&text, u32::try_from(self.shared.machines.len()).unwrap_or(u32::MAX)) {
            ctx.text(self.shared.run.ack(id));
            let machine = self.shared.machines[idmesin as usize - 1].clone();
            machine.do_send(Join(ctx.address()));
            self.watches.push(machine);
        }
    }
}

async fn connect(request: HttpRequest, body: web::Payload, shared: web::Data<Shared>) -> actix_web::Result<HttpResponse> {
    ws::start(Session { shared, watches: Vec::new() }, &request, body)
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::from_env()?;
    let run = Run::begin();
    let server = HttpServer::new(move || {
        // On the worker's thread, where the sessions are.
        let machines = (1..=settings.machines)
            .map(|idmesin| Machine { idmesin, run, period_ms: settings.period_ms, watchers: HashSet::new() }.start())
            .collect();
        App::new().app_data(web::Data::new(Shared { run, machines })).route("/socket.io/", web::get().to(connect))
    })
    .workers(1)
    .bind(("127.0.0.1", settings.port))?
    .run();
    settings.listening();
    Ok(server.await?)
}
