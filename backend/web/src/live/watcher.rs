//! Subscriptions of a socket: subscribe, unsubscribe, and the snapshot in the acknowledgement (docs/contract.md §3).

use nyala_core::domain::id::MachineId;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use actix_socketio::{Ack, Socket};
use nyala_machines::machines::Location;
use nyala_machines::status::MachineStatus;
use serde::Serialize;

use super::Live;
use super::hub::{Hubs, Subscription};
use crate::http::error::AppError;

/// Requests of one socket that may wait for machines' locations.
const MAX_WAITING: usize = 1024;

/// A subscribe or an unsubscribe.
pub struct WatchRequest {
    pub idmesin: MachineId,
    pub watch: bool,
    pub ack: Option<Ack>,
}

/// A socket's subscriptions to machines. Cheap to clone; stays on its thread.
#[derive(Clone)]
pub struct Watcher {
    live: Arc<Live>,
    socket: Socket,
    watching: Rc<RefCell<Watching>>,
}

#[derive(Default)]
struct Watching {
    topics: Vec<(Subscription, Arc<MachineStatus>)>,
    /// Machines whose location is being read, each with the requests received since, in their order.
    queue: Vec<(MachineId, Vec<WatchRequest>)>,
    closed: bool,
}

impl Watching {
    fn find(&self, idmesin: MachineId) -> Option<usize> {
        self.topics.iter().position(|(subscription, _)| subscription.idmesin == idmesin)
    }

    fn leave(&mut self, at: usize, hubs: &Hubs) {
        let (subscription, status) = self.topics.swap_remove(at);
        hubs.leave(subscription);
        status.leave(hubs.thread());
    }

    fn waiting(&self) -> usize {
        self.queue.iter().map(|(_, all)| all.len()).sum()
    }
}

/// A complete snapshot.
#[derive(Serialize)]
struct Snapshot {
    status: u16,
    tl: Option<i64>,
    ends_at: Option<i64>,
    server_time: i64,
}

#[derive(Serialize)]
struct StatusMessage {
    status: u16,
    message: String,
}

/// Acknowledges with a status and a message, if the client requested an acknowledgement.
pub fn acknowledge(ack: Option<Ack>, status: u16, message: &str) {
    if let Some(ack) = ack {
        // A struct of a number and a string can always be serialised.
        let _ = ack.send(&StatusMessage { status, message: message.to_owned() });
    }
}

/// Acknowledges with the status and the message that an HTTP call would return for the same error.
fn refuse(ack: Option<Ack>, why: &AppError) {
    acknowledge(ack, why.status().as_u16(), &why.to_string());
}

impl Watcher {
    pub fn new(live: Arc<Live>, socket: Socket) -> Self {
        Self { live, socket, watching: Rc::default() }
    }

    /// Handles the request after the requests that still wait for the same machine.
    pub fn ask(&self, request: WatchRequest) {
        let mut watching = self.watching.borrow_mut();
        let full = watching.waiting() >= MAX_WAITING;
        if let Some((_, before)) = watching.queue.iter_mut().find(|(idmesin, _)| *idmesin == request.idmesin) {
            if full {
                return acknowledge(request.ack, 429, "terlalu banyak permintaan sekaligus, coba lagi");
            }
            return before.push(request);
        }
        if !request.watch {
            return unsubscribe(&self.live.hubs, &mut watching, request);
        }
        if let Some(at) = watching.find(request.idmesin) {
            return snapshot(&self.live, &watching.topics[at].1, request.ack);
        }
        if watching.topics.len() + watching.queue.len() >= self.max_topics() {
            return self.too_many(request.ack);
        }
        if let Some(location) = self.live.machines.shown(request.idmesin) {
            return self.watch(&mut watching, &location, request.ack);
        }
        // The first request for this machine: its outlet has to be read.
        let idmesin = request.idmesin;
        watching.queue.push((idmesin, vec![request]));
        actix_web::rt::spawn(self.clone().look_up(idmesin));
    }

    async fn look_up(self, idmesin: MachineId) {
        let found = self.live.machines.show(idmesin).await.map_err(AppError::from);
        let mut watching = self.watching.borrow_mut();
        let waited = watching.queue.iter().position(|(of, _)| *of == idmesin).map(|at| watching.queue.swap_remove(at).1);
        watching.queue.shrink_to_fit(); // a phone that only watches holds no queue
        for request in waited.unwrap_or_default() {
            match &found {
                _ if !request.watch => unsubscribe(&self.live.hubs, &mut watching, request),
                Ok(location) => self.watch(&mut watching, location, request.ack),
                Err(e) => refuse(request.ack, e),
            }
        }
    }

    /// Enters the hub first and reads the status after it: a change in between is either received or already in the snapshot.
    fn watch(&self, watching: &mut Watching, location: &Location, ack: Option<Ack>) {
        if watching.closed {
            return;
        }
        if let Some(at) = watching.find(location.idmesin) {
            return snapshot(&self.live, &watching.topics[at].1, ack);
        }
        if watching.topics.len() >= self.max_topics() {
            return self.too_many(ack);
        }
        let Some(subscription) = self.live.hubs.enter(location.idmesin, self.socket.clone()) else {
            return acknowledge(ack, 503, &AppError::Unavailable.to_string());
        };
        match self.live.machines.watch(location, self.live.hubs.thread()) {
            Ok(status) => {
                snapshot(&self.live, &status, ack);
                watching.topics.reserve_exact(1); // most phones watch one machine
                watching.topics.push((subscription, status));
            }
            Err(e) => {
                self.live.hubs.leave(subscription);
                refuse(ack, &e.into());
            }
        }
    }

    /// Ends all subscriptions; waiting requests get no response. Called when the socket is closed.
    pub fn close(&self) {
        let mut watching = self.watching.borrow_mut();
        watching.closed = true;
        watching.queue.clear();
        while !watching.topics.is_empty() {
            watching.leave(0, &self.live.hubs);
        }
    }

    fn max_topics(&self) -> usize {
        self.live.settings.topics_per_session
    }

    fn too_many(&self, ack: Option<Ack>) {
        acknowledge(ack, 429, &format!("paling banyak {} mesin sekaligus", self.max_topics()));
    }
}

/// Computed when it is sent, so that `tl` strictly falls from here to the next tick.
fn snapshot(live: &Live, status: &MachineStatus, ack: Option<Ack>) {
    let Some(ack) = ack else { return };
    let now = live.clock.now();
    let ends_at = status.shown_end(now).filter(|at| *at > now);
    let tl = ends_at.map(|at| now.ms_until(at));
    let _ = ack.send(&Snapshot { status: 200, tl, ends_at: ends_at.map(|at| at.ms()), server_time: now.ms() });
}

fn unsubscribe(hubs: &Hubs, watching: &mut Watching, request: WatchRequest) {
    if let Some(at) = watching.find(request.idmesin) {
        watching.leave(at, hubs);
    }
    acknowledge(request.ack, 200, "OK");
}
