//! What a session does: it authenticates with the connect packet, watches machines, and ends with its token.

use std::time::{Duration, Instant};

use actix_socketio::{CloseReason, Connect, Event, Handler, Refused, Socket};
use serde::Deserialize;

use super::Live;
use super::seats::Seated;
use super::watcher::{WatchRequest, Watcher, tell};
use crate::auth::Auth;
use crate::auth::error::AuthError;
use crate::auth::session::{Session, authenticate};
use crate::domain::id::Id;
use crate::domain::secret::Secret;
use crate::machine::alarm::{self, Wakes};
use crate::machine::wheel::TimerKey;

/// How often a socket that came while the server starts looks whether it is ready; `connect_timeout` of the transport ends that.
const READY_EVERY: Duration = Duration::from_millis(20);

/// Serves every customer's socket.
pub struct Sockets(pub Live);

/// One customer's socket, on its thread.
pub struct Connected {
    live: Live,
    watcher: Watcher,
    expiry: Option<TimerKey>,
    _seated: Seated,
}

/// Leaving is here, so that no way of ending forgets it.
impl Drop for Connected {
    fn drop(&mut self) {
        self.watcher.close();
        if let Some(key) = self.expiry {
            alarm::cancel(key);
        }
        self.live.metrics.sessions.dec();
    }
}

#[derive(Deserialize)]
struct Login {
    token: Secret,
}

impl Handler for Sockets {
    type Session = Connected;

    async fn connect(&self, connect: Connect) -> Result<Connected, Refused> {
        let began = Instant::now();
        let live = &self.0;
        if connect.namespace() != "/" {
            return Err(Refused::invalid_namespace());
        }
        let login: Login = connect.auth.read().map_err(|_| unauthorized())?;
        // Before that, machines that run look idle: their purchases are not back yet.
        while !live.machines.are_open() {
            actix_web::rt::time::sleep(READY_EVERY).await;
        }
        let socket = connect.socket;
        let session = checked(&live.auth, &login.token, &socket).await?;
        let seated = live.seats.take(&session, &socket, live.settings.sockets_per_customer);
        let seated = seated.ok_or_else(|| Refused::new("too many sockets"))?;
        // Again, now that the end of the token would find the seat.
        checked(&live.auth, &login.token, &socket).await?;
        let expiry = alarm::set(session.exp, Wakes::Close(socket.closer()));
        live.metrics.sessions.inc();
        live.metrics.join_seconds.observe(began.elapsed().as_secs_f64());
        Ok(Connected { live: live.clone(), watcher: Watcher::new(live.clone(), socket), expiry, _seated: seated })
    }

    fn event(&self, session: &mut Connected, event: Event) {
        let topic = event.args.read::<(String,)>().ok().and_then(|(text,)| machine_of(&text));
        let ack = event.ack;
        match (event.name.as_str(), topic) {
            ("subscribe", Some(idmesin)) => session.watcher.ask(WatchRequest { idmesin, watch: true, ack }),
            ("unsubscribe", Some(idmesin)) => session.watcher.ask(WatchRequest { idmesin, watch: false, ack }),
            ("subscribe" | "unsubscribe", None) => tell(ack, 404, "topik tidak dikenal, misalnya heartbeat/12"),
            _ => tell(ack, 400, "peristiwa tidak dikenal, gunakan subscribe atau unsubscribe"),
        }
    }

    fn disconnected(&self, session: Connected, _: CloseReason) {
        drop(session);
    }
}

/// The customer of a good token. A database that cannot be asked closes the transport, so that the client comes back; a refusal
/// would end its tries.
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

/// The machine that the topic `heartbeat/<idmesin>` is about; `None` when the text is no topic.
fn machine_of(topic: &str) -> Option<i64> {
    topic.strip_prefix("heartbeat/").and_then(Id::parse).map(Id::get)
}
