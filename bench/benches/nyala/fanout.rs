//! A tick to a thousand websockets: encoded once, handed to each session, one write each. The clients read on another thread.

use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use actix_http::HttpService;
use actix_server::Server;
use actix_service::map_config;
use actix_socketio::host::Upgrades;
use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Limits, Metrics, Refused, Socket, SocketIo, socket_io};
use actix_web::dev::AppConfig;
use actix_web::{App, rt};
use criterion::{Criterion, Throughput};
use nyala_bench::websocket::Websocket;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Cycle;
use nyala_machines::tick::Tick;
use nyala_web::live::tick_frame;
use tokio::sync::mpsc as channel;

const CLIENTS: usize = 1000;
/// For all of them to connect.
const PATIENCE: Duration = Duration::from_secs(30);

/// Puts every socket into the list of its thread.
struct Audience(mpsc::Sender<()>);

thread_local!(static SOCKETS: RefCell<Vec<Socket>> = const { RefCell::new(Vec::new()) });

impl Handler for Audience {
    type Session = ();

    async fn connect(&self, connect: Connect) -> Result<(), Refused> {
        SOCKETS.with_borrow_mut(|sockets| sockets.push(connect.socket));
        let _ = self.0.send(());
        Ok(())
    }

    fn event(&self, (): &mut (), _: Event) {}

    fn disconnected(&self, (): (), _: CloseReason) {}
}

/// Number of rounds, and where to send their duration.
type Order = (u64, mpsc::Sender<Duration>);

/// A server with its audience.
struct Stage {
    orders: channel::UnboundedSender<Order>,
    sockets: SocketIo<Audience>,
}

pub fn bench(criterion: &mut Criterion) {
    let mut stage = None;
    let mut group = criterion.benchmark_group("fan-out");
    group.throughput(Throughput::Elements(CLIENTS as u64));
    group.bench_function(format!("a tick to {CLIENTS} websockets"), |b| {
        let stage = stage.get_or_insert_with(Stage::open);
        b.iter_custom(|n| stage.play(n));
    });
    group.finish();
    if let Some(stage) = stage {
        assert_eq!(stage.sockets.metrics().frames_dropped.get(), 0, "the clients did not keep up");
    }
}

impl Stage {
    fn open() -> Self {
        let (came, coming) = mpsc::channel();
        // All clients come from one address, and at once.
        let limits = Limits { ping_interval: Duration::from_secs(3600), unjoined_per_address: CLIENTS, ..Limits::default() };
        let sockets = socket_io(Config::default().limits(limits), Audience(came));
        let (orders, inbox) = channel::unbounded_channel();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = sockets.clone();
        std::thread::spawn(move || rt::System::new().block_on(serve(server, listener, inbox)));
        std::thread::spawn(move || listen(address));
        for _ in 0..CLIENTS {
            coming.recv_timeout(PATIENCE).unwrap();
        }
        Self { orders, sockets }
    }

    fn play(&self, rounds: u64) -> Duration {
        let (done, took) = mpsc::channel();
        self.orders.send((rounds, done)).unwrap();
        took.recv().unwrap()
    }
}

async fn serve(sockets: SocketIo<Audience>, listener: TcpListener, inbox: channel::UnboundedReceiver<Order>) {
    let upgrades = Upgrades::default().mount(sockets.engine());
    let inbox = Arc::new(Mutex::new(Some(inbox)));
    let service = move || {
        // on the thread of the sessions, once
        if let Some(inbox) = inbox.lock().unwrap().take() {
            rt::spawn(rounds(inbox, sockets.metrics().clone()));
        }
        let polling = sockets.clone();
        let app = App::new().configure(|c| polling.configure(c));
        HttpService::build().upgrade(upgrades.service()).h1(map_config(app, |()| AppConfig::default())).tcp()
    };
    Server::build().workers(1).listen("fan-out", listener, service).unwrap().run().await.unwrap();
}

async fn rounds(mut inbox: channel::UnboundedReceiver<Order>, metrics: Arc<Metrics>) {
    while let Some((rounds, done)) = inbox.recv().await {
        let began = Instant::now();
        for round in 0..rounds {
            let now = Timestamp::from_ms(i64::try_from(round).unwrap());
            let frame =
                tick_frame::encode(MachineId::new(1234), Tick::running(Cycle::until(now.plus_ms(3_600_000), 3_600_000), now));
            let sent = metrics.frames_sent.get() + metrics.frames_dropped.get();
            SOCKETS.with_borrow(|sockets| sockets.iter().for_each(|socket| socket.send_volatile(&frame)));
            while metrics.frames_sent.get() + metrics.frames_dropped.get() < sent + CLIENTS as u64 {
                tokio::task::yield_now().await;
            }
        }
        let _ = done.send(began.elapsed());
    }
}

/// The clients, which only read.
fn listen(address: SocketAddr) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tasks = tokio::task::LocalSet::new();
    for _ in 0..CLIENTS {
        tasks.spawn_local(async move {
            let mut websocket = Websocket::connect(address, "").await.unwrap();
            while websocket.skip().await.unwrap_or(0) > 0 {}
        });
    }
    runtime.block_on(tasks);
}
