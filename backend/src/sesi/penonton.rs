//! What a socket watches: subscribe, unsubscribe, and the snapshot in the acknowledgement (contract §3).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use actix_socketio::{Ack, Socket};
use serde::Serialize;

use super::hub::{self, Tempat};
use crate::app::AppState;
use crate::http::error::AppError;
use crate::mesin::papan::Papan;
use crate::mesin::registry::Alamat;

/// Requests of one socket that may wait for machines' addresses.
const MAX_WAITING: usize = 1024;

/// A subscribe or an unsubscribe.
pub struct Permintaan {
    pub idmesin: i64,
    pub watch: bool,
    pub ack: Option<Ack>,
}

/// A socket as it watches machines. Cheap to clone; stays on its thread.
#[derive(Clone)]
pub struct Penonton {
    state: AppState,
    socket: Socket,
    ditonton: Rc<RefCell<Ditonton>>,
}

#[derive(Default)]
struct Ditonton {
    topics: Vec<(Tempat, Arc<Papan>)>,
    /// Machines whose address is being read, each with what was asked of it since, in that order.
    antre: Vec<(i64, Vec<Permintaan>)>,
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

    fn waiting(&self) -> usize {
        self.antre.iter().map(|(_, all)| all.len()).sum()
    }
}

/// A whole snapshot.
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

/// Acknowledges with a status and a sentence, when an answer was asked for.
pub fn tell(ack: Option<Ack>, status: u16, message: &str) {
    if let Some(ack) = ack {
        // A struct of a number and a string always serialises.
        let _ = ack.send(&Told { status, message: message.to_owned() });
    }
}

impl Penonton {
    pub fn new(state: AppState, socket: Socket) -> Self {
        Self { state, socket, ditonton: Rc::default() }
    }

    /// Does what is asked, behind whatever still waits for the same machine.
    pub fn ask(&self, minta: Permintaan) {
        let mut ditonton = self.ditonton.borrow_mut();
        let full = ditonton.waiting() >= MAX_WAITING;
        if let Some((_, before)) = ditonton.antre.iter_mut().find(|(idmesin, _)| *idmesin == minta.idmesin) {
            if full {
                return tell(minta.ack, 429, "terlalu banyak permintaan sekaligus, coba lagi");
            }
            return before.push(minta);
        }
        if !minta.watch {
            return unsubscribe(&mut ditonton, minta);
        }
        if let Some(at) = ditonton.find(minta.idmesin) {
            return snapshot(&self.state, &ditonton.topics[at].1, minta.ack);
        }
        if ditonton.topics.len() + ditonton.antre.len() >= self.max_topics() {
            return self.too_many(minta.ack);
        }
        if let Some(alamat) = self.state.mesin.alamat(minta.idmesin) {
            return self.watch(&mut ditonton, &alamat, minta.ack);
        }
        // The first time anybody asks for this machine, its outlet has to be read.
        let idmesin = minta.idmesin;
        ditonton.antre.push((idmesin, vec![minta]));
        actix_web::rt::spawn(self.clone().look_up(idmesin));
    }

    async fn look_up(self, idmesin: i64) {
        let found = Alamat::find(&self.state, idmesin).await;
        let mut ditonton = self.ditonton.borrow_mut();
        let waited = ditonton.antre.iter().position(|(of, _)| *of == idmesin).map(|at| ditonton.antre.swap_remove(at).1);
        ditonton.antre.shrink_to_fit(); // a phone that only watches holds no queue
        for minta in waited.unwrap_or_default() {
            match &found {
                _ if !minta.watch => unsubscribe(&mut ditonton, minta),
                Ok(alamat) => self.watch(&mut ditonton, alamat, minta.ack),
                Err(e) => tell(minta.ack, e.status().as_u16(), &e.to_string()),
            }
        }
    }

    /// Enters the hub first and reads the board after it: whatever changes in between is heard or seen, never missed.
    fn watch(&self, ditonton: &mut Ditonton, alamat: &Alamat, ack: Option<Ack>) {
        if ditonton.closed {
            return;
        }
        if let Some(at) = ditonton.find(alamat.idmesin) {
            return snapshot(&self.state, &ditonton.topics[at].1, ack);
        }
        if ditonton.topics.len() >= self.max_topics() {
            return self.too_many(ack);
        }
        let Some(tempat) = hub::enter(alamat.idmesin, self.socket.clone()) else {
            return tell(ack, 503, &AppError::Unavailable.to_string());
        };
        match self.state.mesin.watch(&self.state, alamat, hub::thread()) {
            Ok(papan) => {
                snapshot(&self.state, &papan, ack);
                ditonton.topics.reserve_exact(1); // most phones watch one machine
                ditonton.topics.push((tempat, papan));
            }
            Err(e) => {
                hub::leave(tempat);
                tell(ack, e.status().as_u16(), &e.to_string());
            }
        }
    }

    /// Leaves everything; whatever still waits is not answered. Called when the socket is gone.
    pub fn close(&self) {
        let mut ditonton = self.ditonton.borrow_mut();
        ditonton.closed = true;
        ditonton.antre.clear();
        while !ditonton.topics.is_empty() {
            ditonton.leave(0);
        }
    }

    fn max_topics(&self) -> usize {
        self.state.config.realtime.topics_per_session
    }

    fn too_many(&self, ack: Option<Ack>) {
        tell(ack, 429, &format!("paling banyak {} mesin sekaligus", self.max_topics()));
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

fn unsubscribe(ditonton: &mut Ditonton, minta: Permintaan) {
    if let Some(at) = ditonton.find(minta.idmesin) {
        ditonton.leave(at);
    }
    tell(minta.ack, 200, "OK");
}
