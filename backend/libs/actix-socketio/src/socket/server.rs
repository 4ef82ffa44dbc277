//! Server, as a host uses it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use bytestring::ByteString;
use serde::Serialize;

use super::client::Client;
use super::handler::Handler;
use super::room::{Broadcast, Rooms};
#[cfg(feature = "host")]
use crate::engine::Upper;
use crate::engine::{Config, Engine};
use crate::metrics::Metrics;

/// A Socket.IO server. A clone is another handle to the same server: create one, and clone it into every worker and every other part
/// that needs to [`emit`](Self::emit).
pub struct SocketIo<H: Handler> {
    engine: Engine<Client<H>>,
    rooms: Rooms,
}

/// A Socket.IO server whose sockets `handler` serves.
pub fn socket_io<H: Handler>(config: Config, handler: H) -> SocketIo<H> {
    let handler = Arc::new(handler);
    let metrics = Arc::<Metrics>::default();
    let rooms = Rooms::new(metrics.clone());
    let of = rooms.clone();
    let engine = Engine::counted(config, metrics, move |session| Client::new(handler.clone(), session, of.clone()));
    SocketIo { engine, rooms }
}

impl<H: Handler> SocketIo<H> {
    /// Adds its route to an app: `App::new().configure(|app| io.configure(app))`.
    pub fn configure(&self, app: &mut ServiceConfig) {
        self.engine.configure(app);
    }

    /// All sockets of `namespace`, which begins with `/`.
    pub fn of(&self, namespace: impl Into<String>) -> Broadcast {
        self.rooms.of(namespace.into().into(), None)
    }

    /// All sockets in a room of the main namespace. For a room or a socket's id of another namespace: `io.of("/staff").to(…)`.
    pub fn to(&self, room: impl Into<String>) -> Broadcast {
        self.main().to(room)
    }

    /// All sockets of the main namespace except those in `room`.
    pub fn except(&self, room: impl Into<String>) -> Broadcast {
        self.main().except(room)
    }

    /// Emits an event with one argument to all sockets of the main namespace.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn emit<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<()> {
        self.main().emit(name, argument)
    }

    fn main(&self) -> Broadcast {
        self.rooms.of(ByteString::from_static("/"), None)
    }

    /// The counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        self.engine.metrics()
    }

    /// Refuses new sessions, closes all open ones and waits until they are gone, at most `within`. True: all are.
    pub async fn shut_down(&self, within: Duration) -> bool {
        self.engine.shut_down(within).await
    }

    /// The same for one of several servers: open sessions are closed gradually over `spread`, or faster if they are few. So the other
    /// servers do not get all their clients at once. `within` starts after the last of these closes.
    pub async fn shut_down_over(&self, spread: Duration, within: Duration) -> bool {
        self.engine.shut_down_over(spread, within).await
    }

    /// The Engine.IO server below it, for [`Upgrades::mount`](crate::host::Upgrades::mount).
    #[cfg(feature = "host")]
    pub fn engine(&self) -> &Engine<impl Upper + use<H>> {
        &self.engine
    }
}

impl<H: Handler> Clone for SocketIo<H> {
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), rooms: self.rooms.clone() }
    }
}

impl<H: Handler> fmt::Debug for SocketIo<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketIo").field("engine", &self.engine).finish_non_exhaustive()
    }
}
