//! The server that the official protocol test suites expect, on `127.0.0.1:$PORT` (default 3000): Socket.IO at
//! `/socket.io/`, an Engine.IO echo at `/engine.io/`. Prints its address; port 0 means any free one.
//! `$PING_TIMEOUT_MS` gives clients on a busy machine more time than the suites' 200 ms. `$SERVER` is `raw` (the default), which hands
//! websockets over, or `ordinary`: an `HttpServer` whose app serves them.

use std::net::TcpListener;
use std::str::FromStr;
use std::time::Duration;

use actix_http::HttpService;
use actix_server::Server;
use actix_service::map_config;
use actix_socketio::engine_io::{Engine, Handle, Upper, Violation};
use actix_socketio::host::{Upgrades, set_user_timeout};
use actix_socketio::{
    CloseReason, Config, Connect, Event, Frame, Handler, Limits, Origins, Refused, Socket, SocketIo, on_connect, socket_io,
};
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;
use actix_web::{App, HttpServer};
use bytes::Bytes;
use bytestring::ByteString;

struct Conformance;

impl Handler for Conformance {
    type Session = Socket;

    async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
        if !matches!(connect.namespace(), "/" | "/custom") {
            return Err(Refused::invalid_namespace());
        }
        let auth: serde_json::Value = connect.auth.read().map_err(|_| Refused::new("bad auth"))?;
        if auth.get("token").is_some_and(|token| token == "wrong") {
            return Err(Refused::new("unauthorized"));
        }
        connect.socket.emit("auth", &auth).map_err(|_| Refused::new("bad auth"))?;
        Ok(connect.socket)
    }

    fn event(&self, socket: &mut Socket, event: Event) {
        match (event.name.as_str(), event.ack) {
            ("message", _) => {
                let _ = socket.emit_args("message-back", &event.args);
            }
            ("message-with-ack", Some(ack)) => ack.send_args(&event.args),
            ("hang-up", _) => socket.close(),
            _ => {}
        }
    }

    fn disconnected(&self, _: Socket, _: CloseReason) {}
}

/// Sends every message back.
struct Echo(Handle);

/// Every client may join.
fn echo(session: Handle) -> Echo {
    if !session.join() {
        session.close();
    }
    Echo(session)
}

impl Upper for Echo {
    fn text(&mut self, text: ByteString) -> Result<(), Violation> {
        self.0.send(&Frame::text(&format!("4{text}")));
        Ok(())
    }

    fn binary(&mut self, bytes: Bytes) -> Result<(), Violation> {
        self.0.send_binary(&bytes);
        Ok(())
    }

    fn closed(&mut self, _: CloseReason) {}
}

fn number<N: FromStr>(variable: &str, default: N) -> N {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn config(path: &str) -> Config {
    let limits = Limits {
        ping_interval: Duration::from_millis(300),
        ping_timeout: Duration::from_millis(number("PING_TIMEOUT_MS", 200)),
        max_payload: 1_000_000,
        connect_timeout: Duration::from_millis(1000),
        ..Limits::default()
    };
    Config::default().path(path).origins(Origins::Any).limits(limits)
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let sockets = socket_io(config("/socket.io/"), Conformance);
    let echo = Engine::new(config("/engine.io/"), echo);
    let listener = TcpListener::bind(("127.0.0.1", number("PORT", 3000)))?;
    println!("{}", listener.local_addr()?);
    match std::env::var("SERVER").as_deref() {
        Ok("ordinary") => ordinary(listener, sockets, echo).await,
        Ok("raw") | Err(_) => raw(listener, sockets, echo).await,
        Ok(other) => Err(std::io::Error::other(format!("SERVER is raw or ordinary, not {other}"))),
    }
}

async fn ordinary(listener: TcpListener, sockets: SocketIo<Conformance>, echo: Engine<Echo>) -> std::io::Result<()> {
    HttpServer::new(move || App::new().configure(|c| sockets.configure(c)).configure(|c| echo.configure(c)))
        .workers(2)
        .h1_allow_half_closed(false)
        .on_connect(on_connect)
        .listen(listener)?
        .run()
        .await
}

async fn raw(listener: TcpListener, sockets: SocketIo<Conformance>, echo: Engine<Echo>) -> std::io::Result<()> {
    let upgrades = Upgrades::default().mount(sockets.engine()).mount(&echo);
    Server::build()
        .workers(2)
        .listen("conformance", listener, move || {
            let app = App::new().configure(|c| sockets.configure(c)).configure(|c| echo.configure(c));
            HttpService::build()
                .h1_allow_half_closed(false)
                .on_connect_ext(|io: &TcpStream, _| {
                    let _ = set_user_timeout(io, Duration::from_secs(30));
                })
                .upgrade(upgrades.service())
                .h1(map_config(app, |()| AppConfig::default()))
                .tcp()
        })?
        .run()
        .await
}
