//! Socket sessions. A session authenticates with the connect packet, watches machines, and ends with its token. A member of staff at a
//! till connects with a ticket, and watches boards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_socketio::host::wheel::TimerKey;
use actix_socketio::{Ack, CloseReason, Connect, Event, Handler, Refused, Socket};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::secret::Secret;
use nyala_identity::auth::Auth;
use nyala_identity::auth::error::AuthError;
use nyala_identity::auth::session::{Session, authenticate};
use nyala_identity::staff::error::StaffError;
use nyala_identity::staff::ticket::TicketOf;
use nyala_identity::staff::{browser, session};
use nyala_machines::alarm::{self, Wakes};
use serde::Deserialize;

use super::Live;
use super::board_watches::BoardWatches;
use super::customer_board::PublicBoard;
use super::cut_off::is_cut_off;
use super::sessions::SocketGuard;
use super::staff_board::{StaffBoard, View};
use super::staff_sockets::StaffSocketGuard;
use super::watcher::{WatchRequest, Watcher, acknowledge};
use crate::board::read::is_in_sight;
use crate::http::error::AppError;

/// How often a socket checks whether the server is ready, if it connects while the server starts or is cut off. `connect_timeout` of the
/// transport ends the wait.
const READY_EVERY: Duration = Duration::from_millis(20);

const UNKNOWN_EVENT: &str = "peristiwa tidak dikenal, gunakan subscribe atau unsubscribe";

/// Handles every socket.
pub struct Sockets(pub Arc<Live>);

/// A connected socket, on its thread.
pub enum Connected {
    Customer(Box<CustomerSocket>),
    Staff(StaffSocket),
}

/// A socket of a page of staff, which may watch boards.
pub struct StaffSocket {
    live: Arc<Live>,
    of: TicketOf,
    /// What the socket may see of a board.
    view: View,
    boards: BoardWatches,
    _guard: StaffSocketGuard,
}

/// One customer's socket.
pub struct CustomerSocket {
    live: Arc<Live>,
    watcher: Watcher,
    socket: Socket,
    /// Most phones watch machines only.
    outlets: Option<Box<BoardWatches>>,
    expiry: Option<TimerKey>,
    _guard: SocketGuard,
}

/// Unsubscribing is done here, so that it happens however the session ends.
impl Drop for CustomerSocket {
    fn drop(&mut self) {
        self.watcher.close();
        if let Some(key) = self.expiry {
            alarm::cancel(key);
        }
        self.live.metrics.sessions.dec();
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SocketLogin {
    Customer { token: Secret },
    Staff { tiket: Secret },
}

impl Handler for Sockets {
    type Session = Connected;

    async fn connect(&self, connect: Connect) -> Result<Connected, Refused> {
        let began = Instant::now();
        let live = &self.0;
        if connect.namespace() != "/" {
            return Err(Refused::invalid_namespace());
        }
        let token = match connect.auth.read().map_err(|_| unauthorized())? {
            SocketLogin::Customer { token } => token,
            SocketLogin::Staff { tiket } => return self.till(&connect.socket, &tiket).await.map(Connected::Staff),
        };
        // Before that, running machines look idle, because their purchases are not loaded yet. While the server is cut off, other
        // servers' decisions are unknown.
        while !live.machines.are_open() || is_cut_off(live.machines.ownership()) {
            actix_web::rt::time::sleep(READY_EVERY).await;
        }
        let socket = connect.socket;
        let session = checked(&live.auth, &token, &socket).await?;
        let guard = live.sessions.take(&session, &socket, live.settings.sockets_per_customer);
        let guard = guard.ok_or_else(|| Refused::new("too many sockets"))?;
        // Checked again: from now on, the end of the token closes this socket through its slot.
        checked(&live.auth, &token, &socket).await?;
        let expiry = alarm::set(session.exp, Wakes::Close(socket.closer()));
        live.metrics.sessions.inc();
        live.metrics.join_seconds.observe(began.elapsed().as_secs_f64());
        let watcher = Watcher::new(live.clone(), socket.clone());
        Ok(Connected::Customer(Box::new(CustomerSocket {
            live: live.clone(),
            watcher,
            socket,
            outlets: None,
            expiry,
            _guard: guard,
        })))
    }

    fn event(&self, session: &mut Connected, event: Event) {
        let text = event.args.read::<(String,)>().ok().map(|(text,)| text);
        let session = match session {
            Connected::Customer(session) => session,
            Connected::Staff(staff) => return staff.event(&event.name, text.as_deref(), event.ack),
        };
        let outlet = text.as_deref().and_then(|topic| topic.strip_prefix("outlet/")).and_then(OutletId::parse);
        if let Some(idoutlet) = outlet {
            return session.outlet(&event.name, idoutlet, event.ack);
        }
        let (topic, ack) = (text.as_deref().and_then(machine_of), event.ack);
        match (event.name.as_str(), topic) {
            ("subscribe", Some(idmesin)) => session.watcher.ask(WatchRequest { idmesin, watch: true, ack }),
            ("unsubscribe", Some(idmesin)) => session.watcher.ask(WatchRequest { idmesin, watch: false, ack }),
            ("subscribe" | "unsubscribe", None) => acknowledge(ack, 404, "topik tidak dikenal, misalnya heartbeat/12"),
            _ => acknowledge(ack, 400, UNKNOWN_EVENT),
        }
    }

    fn disconnected(&self, session: Connected, _: CloseReason) {
        drop(session);
    }
}

impl Sockets {
    /// Connects a till's socket. Its session is checked after the slot is taken: a later end of the session closes the slot, an earlier
    /// one is found here.
    async fn till(&self, socket: &Socket, ticket: &str) -> Result<StaffSocket, Refused> {
        let live = &self.0;
        let of = live.staff.tickets.take(ticket, live.clock.now()).ok_or_else(unauthorized)?;
        let guard = live.staff_sockets.take(of, socket.closer()).ok_or_else(|| Refused::new("too many sockets"))?;
        let view = async {
            let (client, now) = (live.staff.store.get().await?, live.clock.now());
            match of {
                TicketOf::Session(of) => Ok(View::of(session::by_id(&*client, of.till, now).await?.role)),
                TicketOf::Board(of) => match browser::paired(&*client, &[of.paired.id], now).await?.contains(&of.paired) {
                    true => Ok(View::Tablet),
                    false => Err(StaffError::NotPaired),
                },
            }
        };
        match view.await {
            Ok(view) => {
                let (live, socket) = (live.clone(), socket.clone());
                Ok(StaffSocket { live, of, view, boards: BoardWatches::new(socket), _guard: guard })
            }
            Err(StaffError::SessionOver | StaffError::NotPaired) => Err(unauthorized()),
            Err(_) => {
                socket.close();
                Err(unauthorized())
            }
        }
    }
}

impl StaffSocket {
    /// Watches the board of an outlet, `papan/<idoutlet>`, or stops watching it.
    fn event(&self, name: &str, topic: Option<&str>, ack: Option<Ack>) {
        let idoutlet = topic.and_then(|topic| topic.strip_prefix("papan/")).and_then(OutletId::parse);
        match (name, idoutlet) {
            ("subscribe", Some(idoutlet)) => {
                let sees = sees_board(self.live.clone(), self.of, idoutlet);
                self.boards.subscribe(&self.live.boards, (idoutlet, self.view), ack, sees);
            }
            ("unsubscribe", Some(idoutlet)) => self.boards.unsubscribe::<StaffBoard>((idoutlet, self.view), ack),
            ("subscribe" | "unsubscribe", None) => acknowledge(ack, 404, "topik tidak dikenal, misalnya papan/12"),
            _ => acknowledge(ack, 400, UNKNOWN_EVENT),
        }
    }
}

impl CustomerSocket {
    /// Watches the machines of an outlet, `outlet/<idoutlet>`, or stops watching them.
    fn outlet(&mut self, name: &str, idoutlet: OutletId, ack: Option<Ack>) {
        let outlets = self.outlets.get_or_insert_with(|| Box::new(BoardWatches::new(self.socket.clone())));
        match name {
            // Whether it is there, the board itself knows.
            "subscribe" => outlets.subscribe(&self.live.public_boards, (idoutlet, ()), ack, std::future::ready(Ok(true))),
            "unsubscribe" => outlets.unsubscribe::<PublicBoard>((idoutlet, ()), ack),
            _ => acknowledge(ack, 400, UNKNOWN_EVENT),
        }
    }
}

/// Whether a socket sees an outlet's board. Rights are read each time, because a person may have been moved to another outlet.
async fn sees_board(live: Arc<Live>, of: TicketOf, idoutlet: OutletId) -> Result<bool, AppError> {
    let of = match of {
        TicketOf::Session(of) => of,
        TicketOf::Board(of) => return Ok(of.idoutlet == idoutlet),
    };
    let client = live.staff.store.get().await?;
    let operator = session::by_id(&*client, of.till, live.clock.now()).await?;
    Ok(is_in_sight(&client, operator.scope, idoutlet).await?)
}

/// Returns the customer of a valid token. If the database cannot be queried, the transport is closed, so that the client reconnects; a
/// refusal would end its attempts.
async fn checked(auth: &Auth, token: &str, socket: &Socket) -> Result<Session, Refused> {
    authenticate(auth, token).await.map_err(|e| {
        if !matches!(e, AuthError::Unauthorized) {
            socket.close();
        }
        unauthorized()
    })
}

fn unauthorized() -> Refused {
    Refused::new("unauthorized")
}

/// The machine of the topic `heartbeat/<idmesin>`; `None` when the text is not such a topic.
fn machine_of(topic: &str) -> Option<MachineId> {
    topic.strip_prefix("heartbeat/").and_then(MachineId::parse)
}
