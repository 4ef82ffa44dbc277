//! Client of a session: the namespaces that the session has joined.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::rt::task::JoinHandle;
use bytes::Bytes;
use bytestring::ByteString;
use futures_util::FutureExt as _;

use super::ack::Ack;
use super::event::{Args, ConnectAuth, Event};
use super::handle::{JoinState, Socket};
use super::handler::{Connect, Handler, Refused};
use super::room::Rooms;
use crate::codec::{Assembled, Assembler, Frame, Kind, Packet};
use crate::engine::{CloseReason, Handle, Upper, Violation};
use crate::limits::Size;

/// The Socket.IO side of one session.
pub struct Client<H: Handler> {
    assembler: Assembler,
    shared: Rc<ClientState<H>>,
}

/// State that the session and a running `connect` share. Borrowed only between awaits.
struct ClientState<H: Handler> {
    handler: Arc<H>,
    session: Handle,
    rooms: Rooms,
    places: RefCell<Vec<Place<H>>>,
    /// Time at which the session is closed unless it joins a namespace; None while it has joined one.
    join_by: Cell<Option<Instant>>,
    /// Whether it has ever joined a namespace.
    has_joined: Cell<bool>,
    /// Namespaces refused so far.
    refusals: Cell<usize>,
}

struct Place<H: Handler> {
    socket: Socket,
    stage: PlaceStage<H>,
}

enum PlaceStage<H: Handler> {
    Connecting(JoinHandle<()>),
    Joined(H::Session),
}

impl<H: Handler> Client<H> {
    pub(super) fn new(handler: Arc<H>, session: Handle, rooms: Rooms) -> Self {
        let limits = session.limits();
        let assembler = Assembler::new(Size { count: limits.max_attachments, bytes: limits.max_attachment_bytes });
        let (places, join_by, has_joined, refusals) = (RefCell::default(), Cell::default(), Cell::default(), Cell::default());
        let shared = Rc::new(ClientState { handler, session, rooms, places, join_by, has_joined, refusals });
        shared.wait_for_a_join();
        Self { assembler, shared }
    }

    fn packet(&self, whole: Assembled) -> Result<(), Violation> {
        let shared = &self.shared;
        match whole.packet.kind {
            Kind::Connect => shared.connect(whole.packet),
            Kind::Disconnect => shared.leave(&whole.packet.namespace),
            Kind::Event | Kind::BinaryEvent => shared.event(whole),
            Kind::Ack | Kind::BinaryAck => shared.ack(whole),
            Kind::ConnectError => Err(Violation::new("connect_error is for servers to send")),
        }
    }
}

impl<H: Handler> Upper for Client<H> {
    fn text(&mut self, text: ByteString) -> Result<(), Violation> {
        match self.assembler.text(&text).map_err(Violation::new)? {
            Some(whole) => self.packet(whole),
            None => Ok(()),
        }
    }

    fn binary(&mut self, bytes: Bytes) -> Result<(), Violation> {
        match self.assembler.binary(bytes).map_err(Violation::new)? {
            Some(whole) => self.packet(whole),
            None => Ok(()),
        }
    }

    fn attend(&mut self) {
        self.shared.leave_where(CloseReason::ServerLeft, |socket| socket.state() == JoinState::Leaving);
        match self.shared.join_by.get() {
            Some(by) if by <= Instant::now() => self.shared.session.close_for(CloseReason::ConnectTimeout),
            Some(by) => self.shared.session.wake_at(by), // the alarm may have been for another deadline
            None => {}
        }
    }

    fn closed(&mut self, reason: CloseReason) {
        self.shared.leave_where(reason, |_| true);
    }
}

impl<H: Handler> ClientState<H> {
    fn wait_for_a_join(&self) {
        let by = Instant::now() + self.session.limits().connect_timeout;
        self.join_by.set(Some(by));
        self.session.wake_at(by);
    }

    fn connect(self: &Rc<Self>, packet: Packet) -> Result<(), Violation> {
        if packet.namespace.len() > self.session.limits().max_namespace_bytes {
            return Err(Violation::new("namespace is too long"));
        }
        if let Some(place) = self.places.borrow().iter().find(|p| p.is(&packet.namespace)) {
            if place.socket.state() == JoinState::Joined {
                place.socket.send_connect(); // the client may have missed the first answer
            }
            return Ok(());
        }
        if self.places.borrow().len() >= self.session.limits().max_namespaces {
            self.refuse(packet.namespace, Refused::new("too many namespaces"));
            return Ok(());
        }
        // Copied: the packet may be a slice of a larger read.
        let namespace =
            if &*packet.namespace == "/" { ByteString::from_static("/") } else { ByteString::from(&*packet.namespace) };
        let socket = Socket::new(self.session.clone(), namespace, self.rooms.clone());
        let connect = Connect { socket: socket.clone(), auth: ConnectAuth::new(&packet.data) };
        let task = actix_web::rt::spawn(self.clone().connecting(connect));
        let mut places = self.places.borrow_mut();
        places.reserve_exact(1); // nearly every session joins one namespace
        places.push(Place { socket, stage: PlaceStage::Connecting(task) });
        Ok(())
    }

    /// Runs concurrently with the session; aborted if the session ends or the client leaves first.
    async fn connecting(self: Rc<Self>, connect: Connect) {
        let socket = connect.socket.clone();
        let result = AssertUnwindSafe(async { self.handler.connect(connect).await }).catch_unwind().await;
        match result.unwrap_or_else(|_| Err(panicked("connect"))) {
            // The host disconnected the socket during `connect`: for the client, it never joined.
            Ok(session) if socket.state() != JoinState::Joining => {
                self.places.borrow_mut().retain(|p| !p.socket.is(&socket));
                socket.gone();
                self.disconnected(session, CloseReason::ServerLeft);
                self.refuse(socket.namespace().into(), Refused::new("the server left"));
            }
            Ok(session) if self.session.join() => {
                self.join_by.set(None);
                self.has_joined.set(true);
                if let Some(place) = self.places.borrow_mut().iter_mut().find(|p| p.socket.is(&socket)) {
                    place.stage = PlaceStage::Joined(session);
                }
                socket.joined();
            }
            // `max_sessions` have joined: a real client reconnects.
            Ok(session) => {
                self.places.borrow_mut().retain(|p| !p.socket.is(&socket));
                socket.gone();
                self.disconnected(session, CloseReason::ServerLeft);
                self.session.close();
            }
            Err(refused) => {
                self.places.borrow_mut().retain(|p| !p.socket.is(&socket));
                socket.gone();
                self.refuse(socket.namespace().into(), refused);
            }
        }
    }

    fn refuse(&self, namespace: ByteString, refused: Refused) {
        let data = refused.into_json();
        let packet = Packet { kind: Kind::ConnectError, attachments: 0, namespace, id: None, data };
        self.session.send(&Frame::packet(&packet));
        self.refusals.set(self.refusals.get() + 1);
        if self.refusals.get() > self.session.limits().max_namespaces {
            self.session.close();
        }
    }

    fn event(&self, whole: Assembled) -> Result<(), Violation> {
        let mut places = self.places.borrow_mut();
        let place = places.iter_mut().find(|p| p.is(&whole.packet.namespace));
        let Some(Place { socket, stage: PlaceStage::Joined(session) }) = place else {
            return self.not_joined();
        };
        let ack = whole.packet.id.map(|id| Ack::new(socket.clone(), id));
        let (name, args) = Args::of_event(whole)?;
        if socket.state() == JoinState::Joined {
            let handled = catch_unwind(AssertUnwindSafe(|| self.handler.event(session, Event { name, args, ack })));
            if handled.is_err() {
                panicked("event");
                self.session.close_for(CloseReason::Panicked);
            }
        }
        Ok(())
    }

    fn disconnected(&self, session: H::Session, reason: CloseReason) {
        if catch_unwind(AssertUnwindSafe(|| self.handler.disconnected(session, reason))).is_err() {
            panicked("disconnected");
        }
    }

    fn ack(&self, whole: Assembled) -> Result<(), Violation> {
        let places = self.places.borrow();
        let Some(place) = places.iter().find(|p| p.is(&whole.packet.namespace)) else {
            return self.not_joined();
        };
        if let Some(id) = whole.packet.id {
            place.socket.answered(id, Args::of_ack(whole));
        }
        Ok(())
    }

    fn leave(&self, namespace: &str) -> Result<(), Violation> {
        let left = self.leave_where(CloseReason::ClientLeft, |socket| socket.namespace() == namespace);
        if left == 0 { self.not_joined() } else { Ok(()) }
    }

    /// A packet for a namespace that is not joined. The first packet must join one (Socket.IO protocol, "Connection to a
    /// namespace"); later the packet may have crossed the server's disconnect, so it is ignored.
    fn not_joined(&self) -> Result<(), Violation> {
        if !self.has_joined.get() {
            return Err(Violation::new("the first packet must connect to a namespace"));
        }
        Ok(())
    }

    fn leave_where(&self, reason: CloseReason, which: impl Fn(&Socket) -> bool) -> usize {
        let left: Vec<_> = self.places.borrow_mut().extract_if(.., |place| which(&place.socket)).collect();
        let count = left.len();
        for place in left {
            place.socket.gone();
            match place.stage {
                PlaceStage::Joined(session) => self.disconnected(session, reason),
                PlaceStage::Connecting(task) => {
                    task.abort();
                    if reason == CloseReason::ServerLeft {
                        self.refuse(place.socket.namespace().into(), Refused::new("the server left"));
                    }
                }
            }
        }
        if count > 0 {
            self.count_anew();
        }
        count
    }

    /// A session without a namespace counts as not joined, even if it had joined before. Otherwise a customer could occupy any number
    /// of the places for joined sessions.
    fn count_anew(&self) {
        let joined = self.places.borrow().iter().any(|place| matches!(place.stage, PlaceStage::Joined(_)));
        if joined || self.join_by.get().is_some() || !self.session.is_open() {
            return;
        }
        if self.session.leave() {
            self.wait_for_a_join();
        } else {
            self.session.close();
        }
    }
}

/// Handles a panic of the host: it ends the session in order, so the handler is notified and the rooms remove the socket.
fn panicked(call: &str) -> Refused {
    tracing::error!(call, "the handler panicked: its session ends");
    Refused::new("server error")
}

impl<H: Handler> Place<H> {
    fn is(&self, namespace: &str) -> bool {
        self.socket.namespace() == namespace
    }
}
