//! Access control: a token in `auth`, a namespace for staff, one socket per user (a new one ends the old one), and allowed foreign
//! pages. `cargo run --example auth`; `$PORT` is the port (default 3000; 0: any free one). It prints its address.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use actix_socketio::{CloseReason, Closer, Config, Connect, Event, Handler, Limits, Origins, Refused, Socket, socket_io};
use actix_web::{App, HttpServer};
use serde::Deserialize;

/// Tokens and their users; a real app asks its database.
const TOKENS: [(&str, &str, bool); 2] = [("token of siti", "siti", false), ("token of rina", "rina", true)];

#[derive(Default)]
struct Access {
    /// The socket of each user in each namespace.
    active: Mutex<HashMap<(String, String), (String, Closer)>>,
}

#[derive(Deserialize)]
struct Login {
    token: String,
}

struct User {
    socket: Socket,
    name: String,
}

impl Handler for Access {
    type Session = User;

    async fn connect(&self, connect: Connect) -> Result<User, Refused> {
        let Login { token } = connect.auth.read().map_err(|_| Refused::new("send auth: { token }"))?;
        let known = TOKENS.iter().find(|(text, _, _)| *text == token);
        let Some(&(_, name, is_staff)) = known else { return Err(Refused::new("unauthorized")) };
        match connect.namespace() {
            "/" => {}
            "/staff" if is_staff => {}
            // A user without access gets the same answer as for a namespace that does not exist.
            _ => return Err(Refused::invalid_namespace()),
        }
        let (socket, name) = (connect.socket, name.to_owned());
        let key = (name.clone(), socket.namespace().to_owned());
        let before = self.active().insert(key, (socket.id(), socket.closer()));
        if let Some((_, closer)) = before {
            closer.close();
        }
        let _ = socket.emit("welcome", &name);
        Ok(User { socket, name })
    }

    fn event(&self, user: &mut User, event: Event) {
        if let ("who am i", Some(ack)) = (event.name.as_str(), event.ack) {
            let _ = ack.send(&user.name);
        }
    }

    fn disconnected(&self, user: User, _: CloseReason) {
        let key = (user.name, user.socket.namespace().to_owned());
        let mut active = self.active();
        if active.get(&key).is_some_and(|(id, _)| *id == user.socket.id()) {
            active.remove(&key);
        }
    }
}

impl Access {
    fn active(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), (String, Closer)>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000);
    let config = Config::default()
        .origins(Origins::List(vec!["https://app.example.com".into()]))
        .limits(Limits { max_payload: 10_000, ..Limits::default() });
    let io = socket_io(config, Access::default());
    let server = HttpServer::new(move || App::new().configure(|app| io.configure(app)))
        .on_connect(actix_socketio::on_connect)
        .h1_allow_half_closed(false)
        .bind(("127.0.0.1", port))?;
    server.addrs().iter().for_each(|address| println!("{address}"));
    server.run().await
}
