//! Change notifications over NATS (docs.nats.io, "Core NATS"). At-most-once delivery is enough, so NATS stores nothing. After a lost
//! notification the change is found by the next poll.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Message, ServerAddr, Subscriber};
use futures_util::StreamExt;
use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::Shard;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Receiver;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::order::Numbers;
use super::{Notification, Notifier, PULSE_EVERY, RECEIVE_BUFFER, Received, Wire};
use crate::Ownership;

/// First part of every subject.
const PREFIX: &str = "nyala.v1";
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// A stalled NATS server is noticed after two pings.
const PING_EVERY: Duration = Duration::from_secs(2);
const AGAIN_AFTER: Duration = Duration::from_millis(100);
const AGAIN_AFTER_AT_MAX: Duration = Duration::from_secs(1);
/// Timeout for handing a notification to the connection; after it the notification is dropped.
const SEND_WITHIN: Duration = Duration::from_secs(1);

/// Maximum number of unknown senders that are remembered in case they join.
const MAX_IGNORED: usize = 64;

/// A notification as it is sent.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope {
    from: NodeId,
    number: u64,
    /// Microseconds since the sender's connection task began; the sender measures the travel time with it.
    at_us: u64,
    #[serde(rename = "hint")]
    notification: Notification,
}

impl Notification {
    /// Subject of the notification, for operators who watch (`nats sub 'nyala.v1.>'`).
    fn subject(&self, from: NodeId) -> String {
        match self {
            Self::Machine { id, .. } => format!("{PREFIX}.mesin.{id}"),
            Self::DeviceMessages { shards } => format!("{PREFIX}.shard.{}", shards.first().unwrap_or(&Shard::new(0))),
            Self::Tokens { customer } => format!("{PREFIX}.token.{customer}"),
            Self::Tills => format!("{PREFIX}.till"),
            Self::Balance { account, .. } => format!("{PREFIX}.saldo.{account}"),
            Self::Question | Self::Answer { .. } => format!("{PREFIX}.device"),
            Self::Sockets { .. } | Self::Pulse => format!("{PREFIX}.node.{from}"),
        }
    }
}

/// Connects to NATS, sends and receives notifications, and reconnects, until the process ends.
pub async fn run(notifier: Notifier, addresses: Vec<ServerAddr>, ca: Option<PathBuf>, ownership: Ownership) {
    let Some(wire) = &notifier.0 else { return };
    let Some(mut queue) = wire.send_queue.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    let began = Instant::now();
    let mut number = 0;
    loop {
        match connect(wire, &addresses, ca.clone()).await {
            Ok((client, received)) => {
                let send = send(wire, &client, &mut queue, &ownership, began, &mut number);
                tokio::select! { () = send => {}, () = receive(wire, received, &ownership, began) => {} }
            }
            Err(e) => tracing::warn!(error = %e, "no connection to NATS can be prepared; it is tried again"),
        }
        wire.is_connected(false);
        sleep(AGAIN_AFTER_AT_MAX).await;
    }
}

async fn connect(
    wire: &Arc<Wire>,
    addresses: &[ServerAddr],
    ca: Option<PathBuf>,
) -> Result<(Client, Subscriber), async_nats::Error> {
    let noted = wire.clone();
    let options = ConnectOptions::new()
        .name("nyala")
        .retry_on_initial_connect()
        .max_reconnects(None)
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(PING_EVERY)
        .subscription_capacity(RECEIVE_BUFFER)
        .reconnect_delay_callback(|tries| AGAIN_AFTER_AT_MAX.min(AGAIN_AFTER * u32::try_from(tries).unwrap_or(u32::MAX).min(10)))
        .event_callback(move |event| {
            let wire = noted.clone();
            async move { wire.on_event(&event) }
        });
    let options = ca.into_iter().fold(options, ConnectOptions::add_root_certificates);
    // The library ignores a login in an address.
    let login = addresses.iter().find_map(|address| Some((address.username()?, address.password()?)));
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let options =
        login.into_iter().fold(options, |options, (user, password)| options.user_and_password(plain(user), plain(password)));
    let client = options.connect(addresses).await?;
    let received = client.subscribe(format!("{PREFIX}.>")).await?;
    Ok((client, received))
}

/// Sends queued notifications and pulses.
async fn send(
    wire: &Wire,
    client: &Client,
    queue: &mut Receiver<Notification>,
    own: &Ownership,
    began: Instant,
    number: &mut u64,
) {
    let mut pulse = interval(PULSE_EVERY);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let notification = tokio::select! {
            notification = queue.recv() => notification,
            _ = pulse.tick() => Some(Notification::Pulse),
        };
        let (Some(notification), Some(from)) = (notification, own.node()) else { continue };
        // Dropped notifications use up numbers, so that the other servers notice the gap.
        *number += 1 + wire.lost.swap(0, Ordering::AcqRel);
        let subject = notification.subject(from);
        let at_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let envelope = Envelope { from, number: *number, at_us, notification };
        let Ok(payload) = serde_json::to_vec(&envelope) else { continue };
        // Without a connection the library would queue the notification, and send it when it is stale.
        let is_up = client.connection_state() == State::Connected;
        if is_up && matches!(timeout(SEND_WITHIN, client.publish(subject, payload.into())).await, Ok(Ok(()))) {
            wire.metrics.sent.inc();
        } else {
            wire.metrics.not_sent.inc();
        }
    }
}

async fn receive(wire: &Wire, mut received: Subscriber, own: &Ownership, began: Instant) {
    let (mut numbers, mut ignored) = (Numbers::default(), BTreeSet::new());
    while let Some(message) = received.next().await {
        let Some(Envelope { from, number, at_us, notification }) = read(&message) else {
            wire.metrics.unreadable.inc();
            continue;
        };
        if own.node() == Some(from) {
            if notification == Notification::Pulse {
                wire.record_round_trip(began.elapsed().saturating_sub(Duration::from_micros(at_us)));
            }
            continue;
        }
        // A server that has just joined becomes known with this server's next heartbeat. Its notifications until then count as missed.
        if !own.is_alive(from) {
            wire.metrics.ignored.inc();
            if ignored.len() < MAX_IGNORED {
                ignored.insert(from);
            }
            continue;
        }
        let missing = numbers.missing(from, number, Instant::now()) + u64::from(ignored.remove(&from));
        wire.metrics.received.inc();
        if missing > 0 {
            wire.metrics.missed.inc_by(missing);
            wire.pass_on(Received::Missed);
        }
        wire.pass_on(Received::Notification { from, notification });
    }
}

fn read(message: &Message) -> Option<Envelope> {
    serde_json::from_slice(&message.payload).ok()
}

impl Wire {
    fn is_connected(&self, connected: bool) {
        self.connected.store(connected, Ordering::Release);
        self.metrics.connected.set(i64::from(connected));
    }

    fn on_event(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.is_connected(true);
                // Notifications sent during the interruption are lost.
                self.pass_on(Received::Missed);
                tracing::info!("connected to NATS");
            }
            Event::Disconnected | Event::Closed => {
                self.is_connected(false);
                tracing::warn!("no connection to NATS: what other servers decide is seen when it is looked for");
            }
            Event::SlowConsumer(_) => {
                self.metrics.missed.inc();
                self.pass_on(Received::Missed);
            }
            Event::ServerError(refused) => tracing::warn!(error = %refused, "NATS refuses"),
            other => tracing::debug!(event = %other, "NATS"),
        }
    }

    fn pass_on(&self, received: Received) {
        // Having no listener is not an error.
        let _ = self.received.send(received);
    }

    fn record_round_trip(&self, round_trip: Duration) {
        self.metrics.round_trip_seconds.observe(round_trip.as_secs_f64());
        *self.round_trip.lock().unwrap_or_else(PoisonError::into_inner) = Some((round_trip, Instant::now()));
    }
}
