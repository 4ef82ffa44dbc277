//! actix-socketio as its README does it: a room a machine, `io.to(room).emit(…)`. `TRANSPORT=handover` hands websockets over as they
//! are; otherwise they go through actix-web-actors in an ordinary `HttpServer`.

use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_socketio::host::Upgrades;
use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Limits, Refused, Socket, SocketIo, socket_io};
use actix_web::rt::{spawn, time::sleep};
use actix_web::{App, HttpServer, dev::AppConfig};
use nyala_bench_peers::{PING_INTERVAL_MS, PING_TIMEOUT_MS, Run, Schedule, Settings, machine_of, now_ms, topic};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BACKLOG: i32 = 4096;

struct Machines {
    settings: Settings,
    run: Run,
    /// Since somebody subscribed; nobody leaves during a measurement.
    watched: Arc<[AtomicBool]>,
}

impl Handler for Machines {
    type Session = Socket;

    async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
        Ok(connect.socket)
    }

    fn event(&self, socket: &mut Socket, event: Event) {
        let Ok((name,)) = event.args.read::<(String,)>() else { return };
        if let (Some(idmesin), Some(ack)) = (machine_of(&name, self.settings.machines), event.ack) {
            // what fails is not acknowledged, and counts there
            if socket.join(name).is_ok() {
                self.watched[idmesin as usize - 1].store(true, Ordering::Relaxed);
                let _ = ack.send(&self.run.snapshot());
            }
        }
    }

    fn disconnected(&self, _: Socket, _: CloseReason) {}
}

async fn tick(io: SocketIo<Machines>, settings: Settings, run: Run, watched: Arc<[AtomicBool]>) {
    let mut schedule = Schedule::new(settings);
    loop {
        let wait = schedule.due().saturating_sub(now_ms());
        sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
        for idmesin in schedule.take() {
            if watched[*idmesin as usize - 1].load(Ordering::Relaxed) {
                let topic = topic(*idmesin);
                // a struct of numbers always serialises
                let _ = io.to(topic.clone()).volatile().emit(&topic, &run.tick());
            }
        }
    }
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::from_env()?;
    let (run, watched) = (Run::begin(), (0..settings.machines).map(|_| AtomicBool::new(false)).collect::<Arc<[_]>>());
    let limits = Limits {
        ping_interval: Duration::from_millis(PING_INTERVAL_MS.unsigned_abs()),
        ping_timeout: Duration::from_millis(PING_TIMEOUT_MS.unsigned_abs()),
        unjoined_per_address: 100_000, // all of the load comes from one
        max_unjoined: 100_000,
        ..Limits::default()
    };
    let io = socket_io(Config::default().limits(limits), Machines { settings, run, watched: watched.clone() });
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], settings.port)).into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from(socket);
    settings.listening();
    // One worker, which ticks as well.
    let ticking = Arc::new(AtomicBool::new(false));
    let begin = {
        let io = io.clone();
        move || {
            if !ticking.swap(true, Ordering::Relaxed) {
                spawn(tick(io.clone(), settings, run, watched.clone()));
            }
        }
    };
    if std::env::var("TRANSPORT").is_ok_and(|transport| transport == "handover") {
        return handed_over(io, listener, begin).await;
    }
    let app = move || {
        begin();
        App::new().configure(|app| io.configure(app))
    };
    let server = HttpServer::new(app).workers(1).max_connections(100_000);
    Ok(server.on_connect(actix_socketio::on_connect).h1_allow_half_closed(false).listen(listener)?.run().await?)
}

async fn handed_over(
    io: SocketIo<Machines>,
    listener: TcpListener,
    begin: impl Fn() + Clone + Send + 'static,
) -> Result<(), Box<dyn std::error::Error>> {
    let upgrades = Upgrades::default().mount(io.engine());
    let service = move || {
        begin();
        let io = Rc::new(io.clone());
        let app = App::new().configure(|app| io.configure(app));
        actix_http::HttpService::build()
            .h1_allow_half_closed(false)
            .upgrade(upgrades.service())
            .h1(actix_service::map_config(app, |()| AppConfig::default()))
            .tcp()
    };
    let server = actix_server::Server::build().workers(1).max_concurrent_connections(100_000);
    Ok(server.listen("peer", listener, service)?.run().await?)
}
