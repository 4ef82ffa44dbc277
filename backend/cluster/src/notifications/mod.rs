//! Change notifications between servers. A notification names what to read again, and carries no fact. Every fact is read from PostgreSQL, so
//! a lost, late, repeated or forged notification causes only a later or an unnecessary read (docs/decisions/0034-news-says-where-to-look.md).

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
/// Notifications that are kept for a slow reader. A slower one gets [`Received::Missed`].
const RECEIVE_BUFFER: usize = 8_192;
/// Interval of pulses.
pub const PULSE_EVERY: Duration = Duration::from_secs(1);
/// A server without a pulse for this time counts as not connected.
pub const SILENT_AFTER: Duration = Duration::from_secs(5);

/// A change notification. Its JSON is the same in all releases that run side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// A change of the machine's purchase was committed.
    Machine { id: MachineId, outlet: OutletId },
    /// Device messages for machines of these shards are stored.
    #[serde(rename = "words")]
    DeviceMessages { shards: Vec<Shard> },
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
    Notification { from: NodeId, notification: Notification },
    /// A change that this server has sent. It concerns this server too: a device may be connected here whose machine another server owns.
    Own(Notification),
    /// Notifications may have been lost. Readers reload everything that other servers decide.
    Missed,
}

/// Sender and receiver of change notifications. Cheap to clone. Without NATS it sends and receives nothing.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Option<Arc<Wire>>);

#[derive(Debug)]
struct Wire {
    to_send: mpsc::Sender<Notification>,
    /// The receiving end of `to_send`; the connection task takes it when it starts.
    send_queue: Mutex<Option<mpsc::Receiver<Notification>>>,
    received: broadcast::Sender<Received>,
    connected: AtomicBool,
    /// Notifications dropped since the last one that was sent.
    lost: AtomicU64,
    /// Round trip of the last own pulse, and when it came back.
    round_trip: Mutex<Option<(Duration, Instant)>>,
    metrics: NotifierMetrics,
}

impl Notifier {
    /// Sends nothing until the task [`run`] is started.
    pub fn new(metrics: NotifierMetrics) -> Self {
        let ((to_send, send_queue), (received, _)) = (mpsc::channel(SEND_BUFFER), broadcast::channel(RECEIVE_BUFFER));
        let (connected, lost, round_trip) = Default::default();
        Self(Some(Arc::new(Wire {
            to_send,
            send_queue: Mutex::new(Some(send_queue)),
            received,
            connected,
            lost,
            round_trip,
            metrics,
        })))
    }

    /// Notifies the other servers; never waits. Without a connection to NATS the notification is dropped, and the others find the change by
    /// polling.
    pub fn notify(&self, notification: Notification) {
        let Some(wire) = &self.0 else { return };
        if matches!(notification, Notification::Machine { .. }) {
            // Having no listener is not an error.
            let _ = wire.received.send(Received::Own(notification.clone()));
        }
        if !wire.connected.load(Ordering::Acquire) || wire.to_send.try_send(notification).is_err() {
            wire.lost.fetch_add(1, Ordering::AcqRel);
            wire.metrics.not_sent.inc();
        }
    }

    /// Receives the notifications that arrive from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.0.as_ref().map(|wire| wire.received.subscribe()))
    }

    /// Round trip of a notification to NATS, in milliseconds; `None` when no pulse has come back for [`SILENT_AFTER`].
    pub fn round_trip_ms(&self) -> Option<f64> {
        let round_trip = *self.0.as_ref()?.round_trip.lock().unwrap_or_else(PoisonError::into_inner);
        round_trip.filter(|(_, at)| at.elapsed() < SILENT_AFTER).map(|(round_trip, _)| round_trip.as_secs_f64() * 1_000.0)
    }
}

/// Receiver of notifications.
#[derive(Debug)]
pub struct Listener(Option<broadcast::Receiver<Received>>);

impl Listener {
    /// The next notification. Never returns without NATS.
    pub async fn next(&mut self) -> Received {
        let Some(received) = &mut self.0 else { return std::future::pending().await };
        match received.recv().await {
            Ok(received) => received,
            Err(broadcast::error::RecvError::Lagged(_)) => Received::Missed,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Up to `limit` notifications that have already arrived.
    pub fn rest(&mut self, limit: usize) -> Vec<Received> {
        let Some(received) = &mut self.0 else { return Vec::new() };
        let mut rest = Vec::new();
        while rest.len() < limit {
            match received.try_recv() {
                Ok(received) => rest.push(received),
                Err(broadcast::error::TryRecvError::Lagged(_)) => rest.push(Received::Missed),
                Err(_) => break,
            }
        }
        rest
    }
}
