//! Sockets that watch each machine, by thread. A frame is encoded once by the machine's actor and handed to each thread that watches it.

use nyala_core::domain::id::MachineId;
use std::collections::HashMap;

use actix_socketio::Socket;
use actix_socketio::host::{Hub, Local};
use nyala_machines::listeners::{Broadcast, Listeners};
use nyala_machines::status::MachineStatus;
use slab::Slab;

use super::metrics::RealtimeMetrics;

/// The hub of all worker threads. A thread that stalls loses ticks, which later ones replace. If it loses a final tick, its sockets are
/// closed.
#[derive(Debug, Clone)]
pub struct Hubs(Hub<Topics>);

/// The watching sockets of one thread.
struct Topics {
    by_machine: HashMap<MachineId, Slab<Socket>>,
    metrics: RealtimeMetrics,
}

/// Position of a socket in the hub of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub idmesin: MachineId,
    at: usize,
}

impl Hubs {
    pub fn new(metrics: RealtimeMetrics) -> Self {
        let dropped = metrics.ticks_dropped.clone();
        let topics = move || Topics { by_machine: HashMap::new(), metrics: metrics.clone() };
        Self(Hub::new(topics, move |ticks| {
            dropped.inc_by(ticks);
        }))
    }

    /// The number of this worker thread. Threads are numbered in the order of their first call.
    pub fn thread(&self) -> usize {
        self.0.thread()
    }

    /// From now on `socket` receives the machine's broadcasts.
    pub fn enter(&self, idmesin: MachineId, socket: Socket) -> Option<Subscription> {
        self.0.here(|topics| {
            topics.metrics.subscriptions.inc();
            let at = topics.by_machine.entry(idmesin).or_insert_with(|| Slab::with_capacity(1)).insert(socket);
            Subscription { idmesin, at }
        })
    }

    pub fn leave(&self, subscription: Subscription) {
        self.0.if_here(|topics| {
            if let Some(sockets) = topics.by_machine.get_mut(&subscription.idmesin)
                && sockets.try_remove(subscription.at).is_some()
            {
                topics.metrics.subscriptions.dec();
                if sockets.is_empty() {
                    topics.by_machine.remove(&subscription.idmesin);
                }
            }
        });
    }
}

impl Listeners for Hubs {
    fn publish(&self, broadcast: Broadcast, status: &MachineStatus) {
        self.0.publish(&broadcast, status.threads());
    }
}

impl Local for Topics {
    type Message = Broadcast;

    fn deliver(&mut self, broadcast: &Broadcast) {
        let Some(sockets) = self.by_machine.get(&broadcast.idmesin) else { return };
        for (_, socket) in sockets {
            if broadcast.volatile {
                socket.send_volatile(&broadcast.frame);
            } else {
                socket.send(&broadcast.frame);
            }
        }
        self.metrics.ticks_sent.inc_by(sockets.len() as u64);
    }

    fn is_volatile(broadcast: &Broadcast) -> bool {
        broadcast.volatile
    }

    /// Closes the sockets: the phones reconnect and receive the current state.
    fn lost(&mut self) {
        tracing::warn!("thread stalled and dropped final ticks: its sockets are closed and reconnect");
        self.by_machine.values().flatten().for_each(|(_, socket)| socket.close());
    }
}
