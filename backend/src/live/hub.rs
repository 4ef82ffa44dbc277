//! The hub of a worker thread: which of its sockets watch which machine. A frame is encoded once where the machine lives and
//! handed to each thread that watches it; frames for another thread travel together, one message a turn.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use actix_socketio::{Socket, vital};
use slab::Slab;
use tokio::sync::mpsc;

use super::metrics::RealtimeMetrics;
use crate::machine::board::Board;
use crate::machine::listeners::{Broadcast, Listeners};

/// Batches that may wait for a thread. A thread that stalls longer loses ticks, which later ones replace, but no final ones.
const MAX_BATCHES: usize = 1024;

/// The hubs of all threads, by the number of their worker.
#[derive(Default)]
pub struct Hubs {
    doors: RwLock<Vec<mpsc::Sender<Vec<Broadcast>>>>,
}

struct Hub {
    thread: usize,
    topics: HashMap<i64, Slab<Socket>>,
    /// Gathered in this turn for the other threads.
    away: Vec<Vec<Broadcast>>,
    sending: bool,
    hubs: Arc<Hubs>,
    metrics: RealtimeMetrics,
}

thread_local! {
    static HUB: RefCell<Option<Hub>> = const { RefCell::new(None) };
}

/// Where a socket stands in the hub of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub idmesin: i64,
    at: usize,
}

impl Hubs {
    /// Makes this thread's hub; returns the thread's number. Once on each worker thread.
    pub fn start(self: &Arc<Self>, metrics: RealtimeMetrics) -> usize {
        let (door, mut inbox) = mpsc::channel::<Vec<Broadcast>>(MAX_BATCHES);
        let mut doors = self.doors.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let thread = doors.len();
        doors.push(door);
        HUB.set(Some(Hub { thread, topics: HashMap::new(), away: Vec::new(), sending: false, hubs: self.clone(), metrics }));
        vital::spawn("hub", async move {
            while let Some(batch) = inbox.recv().await {
                with(|hub| batch.iter().for_each(|broadcast| hub.deliver(broadcast)));
            }
        });
        thread
    }

    fn door(&self, thread: usize) -> Option<mpsc::Sender<Vec<Broadcast>>> {
        self.doors.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(thread).cloned()
    }
}

fn with<R>(f: impl FnOnce(&mut Hub) -> R) -> Option<R> {
    HUB.with_borrow_mut(|hub| hub.as_mut().map(f))
}

/// The number of this worker thread.
pub fn thread() -> usize {
    with(|hub| hub.thread).unwrap_or(0)
}

/// From now on `socket` hears what is broadcast of the machine.
pub fn enter(idmesin: i64, socket: Socket) -> Option<Subscription> {
    with(|hub| {
        hub.metrics.subscriptions.inc();
        Subscription { idmesin, at: hub.topics.entry(idmesin).or_insert_with(|| Slab::with_capacity(1)).insert(socket) }
    })
}

pub fn leave(subscription: Subscription) {
    with(|hub| {
        if let Some(sockets) = hub.topics.get_mut(&subscription.idmesin)
            && sockets.try_remove(subscription.at).is_some()
        {
            hub.metrics.subscriptions.dec();
            if sockets.is_empty() {
                hub.topics.remove(&subscription.idmesin);
            }
        }
    });
}

impl Listeners for Hubs {
    fn publish(&self, broadcast: Broadcast, board: &Board) {
        with(|hub| {
            for thread in board.threads() {
                if thread == hub.thread {
                    hub.deliver(&broadcast);
                } else {
                    hub.gather(thread, broadcast.clone());
                }
            }
        });
    }
}

impl Hub {
    fn deliver(&self, broadcast: &Broadcast) {
        let Some(sockets) = self.topics.get(&broadcast.idmesin) else { return };
        for (_, socket) in sockets {
            if broadcast.volatile {
                socket.send_volatile(&broadcast.frame);
            } else {
                socket.send(&broadcast.frame);
            }
        }
        self.metrics.ticks_sent.inc_by(sockets.len() as u64);
    }

    fn gather(&mut self, thread: usize, broadcast: Broadcast) {
        if self.away.len() <= thread {
            self.away.resize_with(thread + 1, Vec::new);
        }
        self.away[thread].push(broadcast);
        if !self.sending {
            self.sending = true;
            // Runs after everything that this turn of the thread still broadcasts.
            vital::spawn("hub", async {
                tokio::task::yield_now().await;
                with(Hub::send_away);
            });
        }
    }

    fn send_away(&mut self) {
        self.sending = false;
        for (thread, batch) in self.away.iter_mut().enumerate() {
            if batch.is_empty() {
                continue;
            }
            let Some(door) = self.hubs.door(thread) else { continue };
            if let Err(mpsc::error::TrySendError::Full(mut batch)) = door.try_send(std::mem::take(batch)) {
                let before = batch.len();
                batch.retain(|broadcast| !broadcast.volatile);
                self.metrics.ticks_dropped.inc_by((before - batch.len()) as u64);
                if batch.is_empty() {
                    continue;
                }
                // At most one final tick a machine can wait here.
                actix_web::rt::spawn(async move {
                    let _ = door.send(batch).await;
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_socketio::codec::Frame;
    use tokio::task::yield_now;

    use super::*;

    fn broadcast(volatile: bool) -> Broadcast {
        Broadcast { idmesin: 1, frame: Frame::text("4"), volatile }
    }

    #[actix_web::test]
    async fn a_thread_that_stalls_loses_ticks_which_are_counted_but_no_final_one() {
        let (hubs, metrics) = (Arc::new(Hubs::default()), RealtimeMetrics::default());
        hubs.start(metrics.clone());
        let (door, mut inbox) = mpsc::channel(MAX_BATCHES);
        hubs.doors.write().unwrap().push(door); // the thread that does not read
        let board = Board::new(2);
        board.join(1);

        for batches in 1..=MAX_BATCHES {
            hubs.publish(broadcast(true), &board);
            while inbox.len() < batches {
                yield_now().await;
            }
        }
        assert_eq!(metrics.ticks_dropped.get(), 0);
        hubs.publish(broadcast(true), &board);
        hubs.publish(broadcast(false), &board);
        while metrics.ticks_dropped.get() == 0 {
            yield_now().await;
        }
        assert_eq!(metrics.ticks_dropped.get(), 1);

        for _ in 0..MAX_BATCHES {
            assert!(inbox.recv().await.unwrap().iter().all(|broadcast| broadcast.volatile));
        }
        let last = inbox.recv().await.unwrap();
        assert_eq!(last.iter().map(|broadcast| broadcast.volatile).collect::<Vec<_>>(), [false], "the final one has waited");
    }
}
