//! Sockets of one thread, by namespace and room.

use std::collections::{HashMap, HashSet};

use bytestring::ByteString;

use super::audience::{Action, Audience, Order};
use crate::engine::Sid;
use crate::hub::Local;
use crate::socket::Socket;

type Sockets = HashMap<Sid, Socket>;

/// By namespace.
#[derive(Default)]
pub struct Members(HashMap<ByteString, Namespace>);

#[derive(Default)]
struct Namespace {
    all: Sockets,
    rooms: HashMap<ByteString, Sockets>,
}

impl Members {
    pub(super) fn enter(&mut self, socket: Socket) {
        self.0.entry(socket.name().clone()).or_default().all.insert(socket.sid(), socket);
    }

    pub(super) fn join(&mut self, socket: Socket, room: ByteString) {
        let namespace = self.0.entry(socket.name().clone()).or_default();
        namespace.rooms.entry(room).or_default().insert(socket.sid(), socket);
    }

    pub(super) fn leave(&mut self, socket: &Socket, room: &str) {
        let Some(rooms) = self.0.get_mut(socket.name()).map(|namespace| &mut namespace.rooms) else { return };
        if let Some(sockets) = rooms.get_mut(room) {
            sockets.remove(&socket.sid());
            if sockets.is_empty() {
                rooms.remove(room);
            }
        }
    }

    /// Removes a socket that has ended, from its rooms too.
    pub(super) fn exit(&mut self, socket: &Socket) {
        let Some(namespace) = self.0.get_mut(socket.name()) else { return };
        namespace.all.remove(&socket.sid());
        if namespace.all.is_empty() && namespace.rooms.is_empty() {
            self.0.remove(socket.name());
        }
    }

    fn of(&self, audience: &Audience) -> Vec<Socket> {
        let Some(namespace) = self.0.get(&audience.namespace) else { return Vec::new() };
        let excepted = |socket: &Socket| {
            audience.not == Some(socket.sid()) || audience.except.iter().any(|room| namespace.has(room, socket.sid()))
        };
        let chosen: Vec<&Socket> = match audience.to.as_slice() {
            [] => namespace.all.values().collect(),
            [room] => namespace.room(room).collect(),
            rooms => {
                let mut seen = HashSet::new();
                rooms.iter().flat_map(|room| namespace.room(room)).filter(|socket| seen.insert(socket.sid())).collect()
            }
        };
        chosen.into_iter().filter(|socket| !excepted(socket)).cloned().collect()
    }
}

impl Namespace {
    /// The sockets of a room. Each socket has its own room, whose name is its id.
    fn room(&self, room: &str) -> impl Iterator<Item = &Socket> {
        let itself = room.parse::<Sid>().ok().and_then(|sid| self.all.get(&sid));
        self.rooms.get(room).into_iter().flat_map(HashMap::values).chain(itself)
    }

    fn has(&self, room: &str, sid: Sid) -> bool {
        room.parse() == Ok(sid) || self.rooms.get(room).is_some_and(|sockets| sockets.contains_key(&sid))
    }
}

impl Local for Members {
    type Message = Order;

    fn deliver(&mut self, Order(order): &Order) {
        let (audience, action) = &**order;
        let sockets = self.of(audience);
        match action {
            Action::Send { frame, volatile: true, .. } => sockets.iter().for_each(|socket| socket.send_volatile(frame)),
            Action::Send { frame, attachments, .. } => sockets.iter().for_each(|socket| socket.send_with(frame, attachments)),
            Action::Join(room) => {
                for socket in sockets {
                    // A socket at its limit does not join: no caller is here to receive the error.
                    if socket.note_room(room) == Ok(true) {
                        self.join(socket, room.clone());
                    }
                }
            }
            Action::Leave(room) => {
                for socket in sockets {
                    if socket.forget_room(room) {
                        self.leave(&socket, room);
                    }
                }
            }
            Action::Disconnect => sockets.iter().for_each(Socket::disconnect),
            // The channel has space for one answer of each thread.
            Action::Tell(ids) => drop(ids.try_send(sockets.iter().map(Socket::id).collect())),
        }
    }

    fn is_volatile(Order(order): &Order) -> bool {
        // `ids` may be lost: its caller notices the missing answer.
        matches!(order.1, Action::Send { volatile: true, .. } | Action::Tell(_))
    }

    /// The receivers of a lost broadcast are unknown, so this closes all sockets of the thread: their clients reconnect and reload.
    fn lost(&mut self) {
        tracing::warn!("this thread stalled and lost broadcasts: its sockets are closed, so that their clients come back");
        let in_rooms = |namespace: &Namespace| namespace.rooms.values().flat_map(HashMap::values).cloned().collect::<Vec<_>>();
        let all = self.0.values().flat_map(|namespace| namespace.all.values().cloned().chain(in_rooms(namespace)));
        all.for_each(|socket| socket.close());
    }
}
