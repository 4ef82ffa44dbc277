//! News between servers: where to look, and never what is there. Every fact is read from PostgreSQL, so that a message which is lost, late,
//! repeated or forged makes somebody look, later or in vain, and nothing else (docs/decisions/0034-news-says-where-to-look.md).

mod order;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::domain::cause::Cause;
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc};

pub use self::wire::forever;
use super::metrics::NewsMetrics;

/// Messages that wait to be sent; one more is lost, and counted.
const TOLD: usize = 8_192;
/// Messages that a reader may fall behind; past that it has missed something.
const HEARD: usize = 8_192;
/// How often a server says that it is there. Whoever says nothing for [`SILENT_AFTER`] is not.
pub const PULSE_EVERY: Duration = Duration::from_secs(1);
pub const SILENT_AFTER: Duration = Duration::from_secs(5);

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// Something of the machine's purchase is committed.
    Machine { id: i64, outlet: i64 },
    /// Devices' words are written down, of machines of these shards.
    Words { shards: Vec<i32> },
    /// A device that another server is connected to is asked about.
    Question,
    /// That is answered.
    Answer { question: i64 },
    /// Tokens of the customer have ended.
    Tokens { customer: i64 },
    /// Sessions at tills have ended.
    Tills,
    /// A balance of the customer was moved.
    Balance { customer: i64, account: i64, cause: Cause },
    /// So many sockets of these customers are at the server that says so.
    Sockets { of: Vec<(i64, usize)> },
    /// The server is there.
    Pulse,
}

/// What is heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// The server `from` (its number of this start) says so.
    Hint { from: i64, hint: Hint },
    /// This server has said so: the device of a machine whose purchase it has begun for another one may be connected here.
    Own(Hint),
    /// Something may have been missed: whoever looks at what others decide looks at all of it.
    Missed,
}

/// This server's news. Cheap to clone; a server that has no NATS tells nobody and hears nothing.
#[derive(Debug, Clone, Default)]
pub struct News(Option<Arc<Wire>>);

#[derive(Debug)]
struct Wire {
    told: mpsc::Sender<Hint>,
    /// Until the wire is put up.
    to_tell: Mutex<Option<mpsc::Receiver<Hint>>>,
    heard: broadcast::Sender<Received>,
    connected: AtomicBool,
    /// What could not be told since the last message.
    lost: AtomicU64,
    /// How long the last pulse was on its way back here, and when that was.
    way: Mutex<Option<(Duration, Instant)>>,
    metrics: NewsMetrics,
}

impl News {
    /// To be put up by [`forever`].
    pub fn new(metrics: NewsMetrics) -> Self {
        let ((told, to_tell), (heard, _)) = (mpsc::channel(TOLD), broadcast::channel(HEARD));
        let (connected, lost, way) = Default::default();
        Self(Some(Arc::new(Wire { told, to_tell: Mutex::new(Some(to_tell)), heard, connected, lost, way, metrics })))
    }

    /// Tells the others; never waits. While NATS is away nothing is told: they look by themselves.
    pub fn tell(&self, hint: Hint) {
        let Some(wire) = &self.0 else { return };
        if matches!(hint, Hint::Machine { .. }) {
            // Nobody listening is no error.
            let _ = wire.heard.send(Received::Own(hint.clone()));
        }
        if !wire.connected.load(Ordering::Acquire) || wire.told.try_send(hint).is_err() {
            wire.lost.fetch_add(1, Ordering::AcqRel);
            wire.metrics.not_told.inc();
        }
    }

    /// What others tell from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.0.as_ref().map(|wire| wire.heard.subscribe()))
    }

    /// How long a message takes to the servers, in ms; `None` when none has come back for [`SILENT_AFTER`].
    pub fn way_ms(&self) -> Option<f64> {
        let way = *self.0.as_ref()?.way.lock().unwrap_or_else(PoisonError::into_inner);
        way.filter(|(_, at)| at.elapsed() < SILENT_AFTER).map(|(way, _)| way.as_secs_f64() * 1_000.0)
    }
}

/// Hears what others tell.
#[derive(Debug)]
pub struct Listener(Option<broadcast::Receiver<Received>>);

impl Listener {
    /// What is heard next; one that has fallen behind has missed something. Never returns where there is no news.
    pub async fn next(&mut self) -> Received {
        let Some(heard) = &mut self.0 else { return std::future::pending().await };
        match heard.recv().await {
            Ok(heard) => heard,
            Err(broadcast::error::RecvError::Lagged(_)) => Received::Missed,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// What is here already, `most` at most.
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
