//! Sockets that watch each machine, by thread. A tick is encoded once and handed to each thread that watches its machine.

use nyala_core::domain::id::MachineId;
use std::collections::HashMap;

use actix_socketio::host::{Hub, Local};
use actix_socketio::{Frame, Socket};
use nyala_machines::listeners::{Broadcast, Listeners};
use nyala_machines::status::MachineStatus;
use slab::Slab;

use super::metrics::RealtimeMetrics;
use super::tick_frame;

/// The hub of all worker threads. A thread that stalls loses ticks, which later ones replace. If it loses a final tick, its sockets are
/// closed.
#[derive(Debug, Clone)]
pub struct Hubs(Hub<Topics>);

/// The watching sockets of one thread.
struct Topics {
    by_machine: HashMap<MachineId, Slab<Socket>>,
    metrics: RealtimeMetrics,
}

/// A broadcast as it is sent.
#[derive(Debug, Clone)]
struct Encoded {
    idmesin: MachineId,
    frame: Frame,
    volatile: bool,
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
        let Broadcast { idmesin, tick, volatile } = broadcast;
        let encoded = Encoded { idmesin, frame: tick_frame::encode(idmesin, tick), volatile };
        self.0.publish(&encoded, status.threads());
    }
}

impl Local for Topics {
    type Message = Encoded;

    fn deliver(&mut self, encoded: &Encoded) {
        let Some(sockets) = self.by_machine.get(&encoded.idmesin) else { return };
        for (_, socket) in sockets {
            if encoded.volatile {
                socket.send_volatile(&encoded.frame);
            } else {
                socket.send(&encoded.frame);
            }
        }
        self.metrics.ticks_sent.inc_by(sockets.len() as u64);
    }

    fn is_volatile(encoded: &Encoded) -> bool {
        encoded.volatile
    }

    /// Closes the sockets: the phones reconnect and receive the current state.
    fn lost(&mut self) {
        tracing::warn!("thread stalled and dropped final ticks: its sockets are closed and reconnect");
        self.by_machine.values().flatten().for_each(|(_, socket)| socket.close());
    }
}
