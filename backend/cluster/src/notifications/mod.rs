//! Change notifications between servers. They say where to look, never what is there. Every fact is read from PostgreSQL, so a lost, late,
//! repeated or forged notification causes only a later or an unnecessary read (docs/decisions/0034-news-says-where-to-look.md).

mod order;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{CustomerId, MachineId, NodeId, OutletId, QuestionId, WalletId};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc};

pub use self::wire::run;
use super::metrics::NotifierMetrics;
use nyala_core::domain::shard::Shard;

/// Capacity of the send queue; a further notification is dropped and counted.
const SEND_BUFFER: usize = 8_192;
/// Notifications that a reader may fall behind; past that it gets [`Received::Missed`].
const RECEIVE_BUFFER: usize = 8_192;
/// Interval of pulses. A server without one for [`SILENT_AFTER`] counts as not connected.
pub const PULSE_EVERY: Duration = Duration::from_secs(1);
pub const SILENT_AFTER: Duration = Duration::from_secs(5);

/// Change notification. It names what to read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// A change of the machine's purchase was committed.
    Machine { id: MachineId, outlet: OutletId },
    /// Device messages for machines of these shards are stored.
    Words { shards: Vec<Shard> },
    /// A question about a device that is connected to another server is stored.
    Question,
    /// The answer to a question is stored.
    Answer { question: QuestionId },
    /// Tokens of the customer have ended.
    Tokens { customer: CustomerId },
    /// Sessions at tills have ended.
    Tills,
    /// A balance of the customer was moved.
    Balance { customer: CustomerId, account: WalletId, cause: Cause },
    /// Number of sockets of these customers at the sending server.
    Sockets { of: Vec<(CustomerId, usize)> },
    /// Sign of life of the sending server.
    Pulse,
}

/// A received notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A change that the server `from` reports; `from` is the number of its start.
    Notification { from: NodeId, hint: Notification },
    /// A change that this server has sent itself: the device may be connected here, although another server owns its machine.
    Own(Notification),
    /// Notifications may have been lost: readers reload everything that other servers decide.
    Missed,
}

/// Sender and receiver of change notifications. Cheap to clone. Without NATS it sends and receives nothing.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Option<Arc<Wire>>);

#[derive(Debug)]
struct Wire {
    told: mpsc::Sender<Notification>,
    /// Taken when the connection task starts.
    to_tell: Mutex<Option<mpsc::Receiver<Notification>>>,
    heard: broadcast::Sender<Received>,
    connected: AtomicBool,
    /// Notifications dropped since the last one that was sent.
    lost: AtomicU64,
    /// Travel time of the last own pulse, and when it came back.
    way: Mutex<Option<(Duration, Instant)>>,
    metrics: NotifierMetrics,
}

impl Notifier {
    /// Needs the task [`run`] to run.
    pub fn new(metrics: NotifierMetrics) -> Self {
        let ((told, to_tell), (heard, _)) = (mpsc::channel(SEND_BUFFER), broadcast::channel(RECEIVE_BUFFER));
        let (connected, lost, way) = Default::default();
        Self(Some(Arc::new(Wire { told, to_tell: Mutex::new(Some(to_tell)), heard, connected, lost, way, metrics })))
    }

    /// Notifies the other servers; never waits. Without a connection to NATS the notification is dropped, and the others find the change by
    /// polling.
    pub fn notify(&self, hint: Notification) {
        let Some(wire) = &self.0 else { return };
        if matches!(hint, Notification::Machine { .. }) {
            // Having no listener is not an error.
            let _ = wire.heard.send(Received::Own(hint.clone()));
        }
        if !wire.connected.load(Ordering::Acquire) || wire.told.try_send(hint).is_err() {
            wire.lost.fetch_add(1, Ordering::AcqRel);
            wire.metrics.not_told.inc();
        }
    }

    /// Notifications from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.0.as_ref().map(|wire| wire.heard.subscribe()))
    }

    /// Travel time of a notification in milliseconds; `None` when no pulse has come back for [`SILENT_AFTER`].
    pub fn way_ms(&self) -> Option<f64> {
        let way = *self.0.as_ref()?.way.lock().unwrap_or_else(PoisonError::into_inner);
        way.filter(|(_, at)| at.elapsed() < SILENT_AFTER).map(|(way, _)| way.as_secs_f64() * 1_000.0)
    }
}

/// Receiver of notifications.
#[derive(Debug)]
pub struct Listener(Option<broadcast::Receiver<Received>>);

impl Listener {
    /// The next notification, [`Received::Missed`] after the reader fell behind. Never returns without NATS.
    pub async fn next(&mut self) -> Received {
        let Some(heard) = &mut self.0 else { return std::future::pending().await };
        match heard.recv().await {
            Ok(heard) => heard,
            Err(broadcast::error::RecvError::Lagged(_)) => Received::Missed,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Up to `most` notifications that are already here.
    pub fn rest(&mut self, most: usize) -> Vec<Received> {
        let Some(heard) = &mut self.0 else { return Vec::new() };
        let mut rest = Vec::new();
        while rest.len() < most {
            match heard.try_recv() {
                Ok(heard) => rest.push(heard),
                Err(broadcast::error::TryRecvError::Lagged(_)) => rest.push(Received::Missed),
                Err(_) => break,
            }
        }
        rest
    }
}
