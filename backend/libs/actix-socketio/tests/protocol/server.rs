//! Server for one test, of either kind: Socket.IO at `/socket.io/`, an Engine.IO echo at `/engine.io/`.

#[cfg(feature = "actors")]
use std::any::Any;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use actix_http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_http::{HttpService, Request, Response, StatusCode};
use actix_server::{Server as ActixServer, ServerHandle};
use actix_service::map_config;
use actix_socketio::engine_io::{Engine, Handle, Upper, Violation};
use actix_socketio::host::Upgrades;
use actix_socketio::{
    Ack, Args, Caller, Callers, CloseReason, Closer, Config, Connect, Event, Frame, Handler, Limits, Metrics, Origins, Refused,
    Socket, SocketIo, socket_io,
};
use actix_web::App;
use actix_web::dev::AppConfig;
#[cfg(feature = "actors")]
use actix_web::dev::Extensions;
use bytes::Bytes;
use bytestring::ByteString;

/// Maximum time that a test waits for an expected event.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Calls of the handler.
#[derive(Debug)]
pub enum SeenEvents {
    Joined { closer: Closer },
    Left { namespace: String, reason: CloseReason },
    EchoClosed(CloseReason),
}

/// Kind of a server, by the way it gets its websockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// Connections are handed over as they are.
    Raw,
    /// Its app answers upgrade requests like all other requests.
    #[cfg(feature = "actors")]
    Ordinary,
    /// The same without [`actix_socketio::on_connect`].
    #[cfg(feature = "actors")]
    Unbraked,
}

pub struct Server {
    pub address: SocketAddr,
    pub sockets: SocketIo<TestHandler>,
    pub echo: Arc<Metrics>,
    seen: Receiver<SeenEvents>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

pub fn limits() -> Limits {
    Limits { close_timeout: Duration::from_millis(300), ..Limits::default() }
}

pub fn start_on(kind: ServerKind, limits: Limits, origins: Origins) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // Accepted sockets inherit this size: the kernel buffers little for a client that does not read.
    socket2::SockRef::from(&listener).set_send_buffer_size(4096).unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, seen) = channel();
    let callers = Callers::new(caller);
    let config =
        |path: &str| Config::default().path(path).origins(origins.clone()).limits(limits.clone()).callers(callers.clone());
    let sockets = socket_io(config("/socket.io/"), TestHandler { seen: Mutex::new(sender.clone()) });
    let echo_seen = Mutex::new(sender);
    let echo = Engine::new(config("/engine.io/"), move |session| {
        assert!(session.join(), "everybody may use it");
        Echo { session, seen: echo_seen.lock().unwrap().clone() }
    });
    let (metrics, served) = (echo.metrics().clone(), sockets.clone());
    let (handles, started) = channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = match kind {
                ServerKind::Raw => serve(listener, served, echo),
                #[cfg(feature = "actors")]
                ServerKind::Ordinary => serve_ordinary(listener, served, echo, actix_socketio::on_connect),
                #[cfg(feature = "actors")]
                ServerKind::Unbraked => serve_ordinary(listener, served, echo, |_, _| {}),
            };
            handles.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    let handle = started.recv_timeout(PATIENCE).unwrap();
    Server { address, sockets, echo: metrics, seen, handle, thread: Some(thread) }
}

/// The caller, from the request's headers: `X-Known: 7`, `X-Address: 192.0.2.1`; otherwise its peer.
fn caller(headers: &HeaderMap, peer: Option<SocketAddr>) -> Caller {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    let address = header("x-address").map_or_else(|| peer.unwrap().ip(), |ip| ip.parse().unwrap());
    Caller { address, known: header("x-known").map(|number| number.parse().unwrap()) }
}

fn serve(listener: TcpListener, sockets: SocketIo<TestHandler>, echo: Engine<Echo>) -> ActixServer {
    let upgrades = Upgrades::default()
        .mount(sockets.engine())
        .mount(&echo)
        .otherwise(|request: &Request| {
            let mut response = Response::build(StatusCode::NOT_FOUND);
            response.body(format!("no websocket at {}", request.path())).map_into_boxed_body()
        })
        .before_answer(|_, head| {
            let name = HeaderName::from_static("x-answered-by");
            head.headers.insert(name, HeaderValue::from_static("upgrades"));
        });
    let server = ActixServer::build().workers(2).disable_signals().shutdown_timeout(1);
    let server = server.listen("test", listener, move || {
        let app = App::new().configure(|c| sockets.configure(c)).configure(|c| echo.configure(c));
        HttpService::build()
            .h1_allow_half_closed(false)
            .upgrade(upgrades.service())
            .h1(map_config(app, |()| AppConfig::default()))
            .tcp()
    });
    server.unwrap().run()
}

#[cfg(feature = "actors")]
fn serve_ordinary(
    listener: TcpListener,
    sockets: SocketIo<TestHandler>,
    echo: Engine<Echo>,
    on_connect: fn(&dyn Any, &mut Extensions),
) -> ActixServer {
    let server = actix_web::HttpServer::new(move || {
        App::new()
            .wrap(actix_web::middleware::DefaultHeaders::new().add(("x-answered-by", "app")))
            .configure(|c| sockets.configure(c))
            .configure(|c| echo.configure(c))
    });
    server
        .workers(2)
        .disable_signals()
        .shutdown_timeout(1)
        .h1_allow_half_closed(false)
        // The connection of a refused upgrade stays as long; actix-http's clock for it is up to half a second late.
        .client_disconnect_timeout(Duration::from_millis(600))
        .on_connect(on_connect)
        .listen(listener)
        .unwrap()
        .run()
}

impl Server {
    pub fn metrics(&self) -> &Metrics {
        self.sockets.metrics()
    }

    /// The next call of the handler.
    pub fn seen(&self) -> SeenEvents {
        self.seen.recv_timeout(PATIENCE).expect("the handler should have seen something")
    }

    /// The next call of the handler, if it comes in time.
    pub fn seen_within(&self, patience: Duration) -> Option<SeenEvents> {
        self.seen.recv_timeout(patience).ok()
    }

    /// The next socket that left; joins before it are skipped.
    pub fn left(&self) -> (String, CloseReason) {
        loop {
            if let SeenEvents::Left { namespace, reason } = self.seen() {
                return (namespace, reason);
            }
        }
    }

    pub fn closer(&self) -> Closer {
        match self.seen() {
            SeenEvents::Joined { closer } => closer,
            other => panic!("expected a joined socket, got {other:?}"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until `what` holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub struct TestHandler {
    seen: Mutex<Sender<SeenEvents>>,
}

impl TestHandler {
    fn send(&self, seen: SeenEvents) {
        let _ = self.seen.lock().unwrap().send(seen);
    }
}

impl Handler for TestHandler {
    type Session = Socket;

    /// The token selects the result: `wrong` is refused, `slow` takes some event-loop turns, `never` never ends.
    async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
        if connect.namespace() == "/random" {
            return Err(Refused::invalid_namespace());
        }
        let auth: serde_json::Value = connect.auth.read().unwrap();
        match auth["token"].as_str() {
            Some("wrong") => return Err(Refused::new("unauthorized")),
            Some("expired") => {
                return Err(Refused::with_data("unauthorized", serde_json::json!({"code": 7})).unwrap());
            }
            Some("slow") => tokio::time::sleep(Duration::from_millis(20)).await,
            Some("never") => std::future::pending().await,
            Some("much") => (0..1000).for_each(|n| connect.socket.emit("early", &n).unwrap()),
            Some("too much") => (0..2000).for_each(|n| connect.socket.emit("early", &n).unwrap()),
            Some("leaves") => connect.socket.disconnect(),
            Some("panic") => panic!("as it was asked to"),
            _ => {}
        }
        connect.socket.emit("auth", &auth).unwrap();
        self.send(SeenEvents::Joined { closer: connect.socket.closer() });
        Ok(connect.socket)
    }

    fn event(&self, socket: &mut Socket, event: Event) {
        match (event.name.as_str(), event.ack) {
            ("message", _) => socket.emit_args("message-back", &event.args).unwrap(),
            ("message-with-ack", Some(ack)) => ack.send_args(&event.args),
            ("disconnect-me", _) => socket.disconnect(),
            ("hang-up", _) => socket.close(),
            ("panic", _) => panic!("as it was asked to"),
            ("join" | "leave" | "to" | "broadcast" | "everyone" | "rooms", ack) => {
                in_rooms(socket, &event.name, &event.args, ack)
            }
            ("ask", _) => ask(socket),
            ("ask-many", _) => {
                let asked: Vec<_> = (0..100).filter_map(|n| socket.ask("question", &n).unwrap().ok()).collect();
                socket.emit("asked", &asked.len()).unwrap();
            }
            // Number, size, and whether the frames are volatile.
            ("flood", ack) => {
                let (count, bytes, volatile): (usize, usize, bool) = event.args.read().unwrap();
                let pad = "x".repeat(bytes);
                for n in 0..count {
                    let frame = Frame::event("/", "tick", &(n, &pad)).unwrap();
                    if volatile { socket.send_volatile(&frame) } else { socket.send(&frame) }
                }
                if let Some(ack) = ack {
                    ack.send(&count).unwrap();
                }
            }
            _ => {}
        }
    }

    fn disconnected(&self, socket: Socket, reason: CloseReason) {
        assert!(!socket.is_open());
        self.send(SeenEvents::Left { namespace: socket.namespace().into(), reason });
    }
}

/// Runs the client's action on a room, and acknowledges whether it succeeded.
fn in_rooms(socket: &Socket, what: &str, args: &Args, ack: Option<Ack>) {
    let (room,): (String,) = args.read().unwrap();
    let mut done = true;
    match what {
        "join" => done = socket.join(&room).is_ok(),
        "leave" => socket.leave(&room),
        "to" => socket.to(&room).emit("said", &room).unwrap(),
        "broadcast" => socket.broadcast().emit("said", &room).unwrap(),
        "everyone" => socket.everyone().emit("said", &room).unwrap(),
        _ => return ack.unwrap().send(&socket.rooms()).unwrap(),
    }
    if let Some(ack) = ack {
        ack.send(&done).unwrap();
    }
}

/// Asks the client, then sends its answer back to it.
fn ask(socket: &Socket) {
    let answer = socket.ask("question", &1).unwrap().unwrap();
    let socket = socket.clone();
    actix_web::rt::spawn(async move {
        match answer.wait().await {
            Ok(args) => socket.emit_args("answered", &args).unwrap(),
            Err(error) => socket.emit("unanswered", &error.to_string()).unwrap(),
        }
    });
}

/// Sends every message back.
pub struct Echo {
    session: Handle,
    seen: Sender<SeenEvents>,
}

impl Upper for Echo {
    fn text(&mut self, text: ByteString) -> Result<(), Violation> {
        self.session.send(&Frame::text(&format!("4{text}")));
        Ok(())
    }

    fn binary(&mut self, bytes: Bytes) -> Result<(), Violation> {
        self.session.send_binary(&bytes);
        Ok(())
    }

    fn closed(&mut self, reason: CloseReason) {
        let _ = self.seen.send(SeenEvents::EchoClosed(reason));
    }
}
