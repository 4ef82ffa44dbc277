//! What a session does: it authenticates with the connect packet, watches machines, and ends with its token.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_socketio::{Ack, CloseReason, Connect, Event, Handler, Refused, Socket};
use serde::{Deserialize, Serialize};

use super::hub::{self, Tempat};
use super::kursi::Duduk;
use super::topik;
use crate::app::AppState;
use crate::auth::sesi::authenticate;
use crate::http::error::AppError;
use crate::http::input::Secret;
use crate::mesin::alarm::{self, Wakes};
use crate::mesin::papan::Papan;
use crate::mesin::registry::Alamat;
use crate::mesin::wheel::Key;

/// Serves every customer's socket.
pub struct Sockets(pub AppState);

/// One customer's socket, on its thread.
pub struct Sesi {
    state: AppState,
    socket: Socket,
    /// Shared with subscriptions that wait for a machine's address.
    ditonton: Rc<RefCell<Ditonton>>,
    expiry: Option<Key>,
    _duduk: Duduk,
}

/// What a session watches; leaving is in `Drop`, so that no way of ending forgets it.
#[derive(Default)]
struct Ditonton {
    topics: Vec<(Tempat, Arc<Papan>)>,
    /// Subscriptions that wait for a machine's address.
    waiting: usize,
    closed: bool,
}

impl Ditonton {
    fn find(&self, idmesin: i64) -> Option<usize> {
        self.topics.iter().position(|(tempat, _)| tempat.idmesin == idmesin)
    }

    fn leave(&mut self, at: usize) {
        let (tempat, papan) = self.topics.swap_remove(at);
        hub::leave(tempat);
        papan.leave(hub::thread());
    }
}

impl Drop for Sesi {
    fn drop(&mut self) {
        let mut ditonton = self.ditonton.borrow_mut();
        ditonton.closed = true;
        while !ditonton.topics.is_empty() {
            ditonton.leave(0);
        }
        if let Some(key) = self.expiry {
            alarm::cancel(key);
        }
        self.state.metrics.realtime.sessions.dec();
    }
}

#[derive(Deserialize)]
struct Login {
    token: Secret,
}

/// The acknowledgement of a subscribe: a whole snapshot (contract §3).
#[derive(Serialize)]
struct Snapshot {
    status: u16,
    tl: Option<i64>,
    ends_at: Option<i64>,
    server_time: i64,
}

#[derive(Serialize)]
struct Told {
    status: u16,
    message: String,
}

impl Handler for Sockets {
    type Session = Sesi;

    async fn connect(&self, connect: Connect) -> Result<Sesi, Refused> {
        let began = Instant::now();
        let state = &self.0;
        if connect.namespace() != "/" {
            return Err(Refused::invalid_namespace());
        }
        let login: Login = connect.auth.read().map_err(|_| unauthorized())?;
        let socket = connect.socket;
        let sesi = checked(state, &login.token, &socket).await?;
        let duduk = state.kursi.take(&sesi, socket.closer(), state.config.realtime.sockets_per_customer);
        let duduk = duduk.ok_or_else(|| Refused::new("too many sockets"))?;
        // Again, now that the end of the token would find the seat.
        checked(state, &login.token, &socket).await?;
        let expiry = alarm::set(sesi.exp, Wakes::Tutup(socket.closer()));
        state.metrics.realtime.sessions.inc();
        state.metrics.realtime.join_seconds.observe(began.elapsed().as_secs_f64());
        Ok(Sesi { state: state.clone(), socket, ditonton: Rc::default(), expiry, _duduk: duduk })
    }

    fn event(&self, sesi: &mut Sesi, event: Event) {
        let topic = event.args.read::<(String,)>().ok().and_then(|(text,)| topik::parse(&text));
        match (event.name.as_str(), topic) {
            ("subscribe", Some(idmesin)) => subscribe(sesi, idmesin, event.ack),
            ("unsubscribe", Some(idmesin)) => unsubscribe(sesi, idmesin, event.ack),
            ("subscribe" | "unsubscribe", None) => tell(event.ack, 404, "topik tidak dikenal, misalnya heartbeat/12"),
            _ => tell(event.ack, 400, "peristiwa tidak dikenal, gunakan subscribe atau unsubscribe"),
        }
    }

    fn disconnected(&self, sesi: Sesi, _: CloseReason) {
        drop(sesi);
    }
}

/// The customer of a good token. A database that cannot be asked closes the transport, so that the client comes back; a refusal
/// would end its tries.
async fn checked(state: &AppState, token: &str, socket: &Socket) -> Result<crate::auth::sesi::Sesi, Refused> {
    authenticate(state, token).await.map_err(|e| {
        if !matches!(e, AppError::Unauthorized) {
            socket.close();
        }
        unauthorized()
    })
}

fn unauthorized() -> Refused {
    Refused::new("unauthorized")
}

fn tell(ack: Option<Ack>, status: u16, message: &str) {
    if let Some(ack) = ack {
        // A struct of a number and a string always serialises.
        let _ = ack.send(&Told { status, message: message.to_owned() });
    }
}

fn subscribe(sesi: &Sesi, idmesin: i64, ack: Option<Ack>) {
    let known = {
        let ditonton = sesi.ditonton.borrow();
        match ditonton.find(idmesin) {
            Some(at) => Some(ditonton.topics[at].1.clone()),
            None if ditonton.topics.len() + ditonton.waiting >= sesi.state.config.realtime.topics_per_session => {
                return tell(
                    ack,
                    429,
                    &format!("paling banyak {} mesin sekaligus", sesi.state.config.realtime.topics_per_session),
                );
            }
            None => None,
        }
    };
    if let Some(papan) = known {
        return snapshot(&sesi.state, &papan, ack);
    }
    if let Some(alamat) = sesi.state.mesin.alamat(idmesin) {
        return watch(&sesi.state, &sesi.socket, &sesi.ditonton, &alamat, ack);
    }
    // The first time anybody asks for this machine, its outlet has to be read.
    let (state, socket, ditonton) = (sesi.state.clone(), sesi.socket.clone(), sesi.ditonton.clone());
    ditonton.borrow_mut().waiting += 1;
    actix_web::rt::spawn(async move {
        let found = Alamat::find(&state, idmesin).await;
        ditonton.borrow_mut().waiting -= 1;
        match found {
            Ok(alamat) => watch(&state, &socket, &ditonton, &alamat, ack),
            Err(e) => tell(ack, e.status().as_u16(), &e.to_string()),
        }
    });
}

/// Enters the hub first and reads the board after it: whatever changes in between is heard or seen, never missed.
fn watch(state: &AppState, socket: &Socket, ditonton: &RefCell<Ditonton>, alamat: &Alamat, ack: Option<Ack>) {
    let mut ditonton = ditonton.borrow_mut();
    if ditonton.closed {
        return;
    }
    if let Some(at) = ditonton.find(alamat.idmesin) {
        return snapshot(state, &ditonton.topics[at].1, ack);
    }
    if ditonton.topics.len() >= state.config.realtime.topics_per_session {
        return tell(ack, 429, &format!("paling banyak {} mesin sekaligus", state.config.realtime.topics_per_session));
    }
    let Some(tempat) = hub::enter(alamat.idmesin, socket.clone()) else {
        return tell(ack, 503, &AppError::Unavailable.to_string());
    };
    match state.mesin.watch(state, alamat, hub::thread()) {
        Ok(papan) => {
            snapshot(state, &papan, ack);
            ditonton.topics.push((tempat, papan));
        }
        Err(e) => {
            hub::leave(tempat);
            tell(ack, e.status().as_u16(), &e.to_string());
        }
    }
}

/// Computed when it is sent, so that `tl` falls strictly from here to the next tick.
fn snapshot(state: &AppState, papan: &Papan, ack: Option<Ack>) {
    let Some(ack) = ack else { return };
    let now = state.jam.now();
    let ends_at = papan.ends_at().filter(|at| *at > now);
    let tl = ends_at.map(|at| now.ms_until(at));
    let _ = ack.send(&Snapshot { status: 200, tl, ends_at: ends_at.map(|at| at.ms()), server_time: now.ms() });
}

fn unsubscribe(sesi: &Sesi, idmesin: i64, ack: Option<Ack>) {
    let mut ditonton = sesi.ditonton.borrow_mut();
    if let Some(at) = ditonton.find(idmesin) {
        ditonton.leave(at);
    }
    tell(ack, 200, "OK");
}
