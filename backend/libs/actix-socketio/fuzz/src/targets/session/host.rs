//! Host of the sessions: a handler that uses the whole API on requests of its clients, and counts the sockets that it serves.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_socketio::{Ack, Args, CloseReason, Connect, Event, Frame, Handler, Refused, Socket};

/// Maximum number of events of one flood, and maximum size of each.
const MAX_FLOOD: (usize, usize) = (24, 300);
const ROOM: &str = "room";
/// Event-loop turns that a slow `connect` takes.
const SLOW_TURNS: usize = 3;

static LAST: AtomicU64 = AtomicU64::new(0);

thread_local!(
    /// The served sockets, by their numbers, kept outside of the sessions as many hosts do.
    static SERVED: RefCell<BTreeMap<u64, Socket>> = RefCell::default()
);

/// Counters of the host over all its sockets.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub joined: u64,
    pub left: u64,
    /// Requests whose answers are pending.
    pub waiting: u64,
    /// Requests that clients answered.
    pub answered: u64,
}

#[derive(Clone, Default)]
pub(super) struct Host(Arc<Mutex<Account>>);

/// State of the host for one socket.
pub(super) struct Member {
    number: u64,
    socket: Socket,
}

impl Host {
    pub fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server has dropped every value that it got from the host.
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Runs an action of the host on a socket, without a request of its client.
    pub fn act_on(&self, nth: usize, name: &str) {
        let socket = SERVED.with_borrow(|served| served.values().nth(nth % served.len().max(1)).cloned());
        if let Some(socket) = socket {
            self.act(&socket, name, &Args::default(), None);
        }
    }

    fn act(&self, socket: &Socket, name: &str, args: &Args, ack: Option<Ack>) {
        match name {
            "message" => assert!(socket.emit_args(name, args).is_ok()),
            "ask" => self.ask(socket),
            "flood" => flood(socket, args, |frame| socket.send(frame)),
            "volatile" => flood(socket, args, |frame| socket.send_volatile(frame)),
            "room" => drop(socket.join(ROOM)), // it may be in too many
            "out" => socket.leave(ROOM),
            "others" => assert!(socket.to(ROOM).emit_args(name, args).is_ok()),
            "tell" => assert!(socket.everyone().except(ROOM).volatile().emit(name, &1).is_ok()),
            "end" => socket.everyone().disconnect(),
            "leave" => socket.disconnect(),
            "close" => socket.close(),
            "hang" => socket.closer().close(),
            _ => {}
        }
        // Answers also for a socket that has just left.
        match ack {
            Some(ack) if name == "ack" => ack.send_args(args),
            Some(ack) => assert!(ack.send(name).is_ok()),
            None => {}
        }
    }

    /// Asks the client, then sends its answer back to it.
    fn ask(&self, socket: &Socket) {
        let Ok(Ok(answer)) = socket.ask("question", &1) else { return };
        let (host, socket) = (self.clone(), socket.clone());
        host.account().waiting += 1;
        actix_web::rt::spawn(async move {
            let outcome = match answer.wait().await {
                Ok(args) => {
                    host.account().answered += 1;
                    socket.emit_args("answered", &args)
                }
                Err(error) => socket.emit("unanswered", &error.to_string()),
            };
            assert!(outcome.is_ok());
            host.account().waiting -= 1;
        });
    }
}

/// Sends the requested number of events, of the requested size.
fn flood(socket: &Socket, args: &Args, send: impl Fn(&Frame)) {
    let (count, bytes): (usize, usize) = args.read().unwrap_or(MAX_FLOOD);
    let pad = "x".repeat(bytes.min(MAX_FLOOD.1));
    for n in 0..count.min(MAX_FLOOD.0) {
        let Ok(frame) = Frame::event(socket.namespace(), "tick", &(n, &pad)) else {
            unreachable!("a number and a text are JSON")
        };
        send(&frame);
    }
}

impl Handler for Host {
    type Session = Member;

    /// The token selects the result: `wrong` and `data` are refused, `slow` takes some event-loop turns, `never` never ends. Any other
    /// token is an action that the host runs before it accepts the client.
    async fn connect(&self, connect: Connect) -> Result<Member, Refused> {
        let auth: serde_json::Value = connect.auth.read().unwrap_or_default();
        match auth["token"].as_str().unwrap_or_default() {
            "wrong" => return Err(Refused::new("unauthorized")),
            "data" => return Err(Refused::with_data("unauthorized", &auth).unwrap_or_else(|_| Refused::invalid_namespace())),
            "slow" => {
                for _ in 0..SLOW_TURNS {
                    tokio::task::yield_now().await;
                }
            }
            "never" => std::future::pending().await,
            name => self.act(&connect.socket, name, &Args::default(), None),
        }
        self.account().joined += 1;
        let member = Member { number: LAST.fetch_add(1, Relaxed), socket: connect.socket };
        SERVED.with_borrow_mut(|served| served.insert(member.number, member.socket.clone()));
        Ok(member)
    }

    fn event(&self, member: &mut Member, event: Event) {
        assert!(member.socket.is_open() && is_served(member), "an event of a socket that is gone");
        self.act(&member.socket, &event.name, &event.args, event.ack);
    }

    fn disconnected(&self, member: Member, _: CloseReason) {
        assert!(!member.socket.is_open(), "a socket is gone before the host is told");
        assert!(is_served(&member), "a socket goes once");
        SERVED.with_borrow_mut(|served| served.remove(&member.number));
        self.account().left += 1;
    }
}

fn is_served(member: &Member) -> bool {
    SERVED.with_borrow(|served| served.contains_key(&member.number))
}
