//! Metrics of the customers' sockets (docs/contract.md §3).

use std::sync::{Arc, OnceLock};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone)]
pub struct RealtimeMetrics {
    /// Sockets that are logged in.
    pub sessions: Gauge,
    pub subscriptions: Gauge,
    pub ticks_sent: Counter,
    /// Dropped between threads. The transport counts the ticks that a slow phone did not receive.
    pub ticks_dropped: Counter,
    /// From the connect packet to the response.
    pub join_seconds: Histogram,
    transport: Arc<OnceLock<Arc<actix_socketio::Metrics>>>,
}

impl Default for RealtimeMetrics {
    fn default() -> Self {
        Self {
            sessions: Gauge::default(),
            subscriptions: Gauge::default(),
            ticks_sent: Counter::default(),
            ticks_dropped: Counter::default(),
            join_seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 16)),
            transport: Arc::default(),
        }
    }
}

impl RealtimeMetrics {
    /// Sets the transport's counters, once there are sockets.
    pub fn set_transport(&self, metrics: Arc<actix_socketio::Metrics>) {
        let _ = self.transport.set(metrics);
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("sessions", "Customers' sockets that are logged in", self.sessions.clone());
        all.register("subscriptions", "Machines watched, summed over all sockets", self.subscriptions.clone());
        all.register("ticks_sent", "Ticks handed to sockets", self.ticks_sent.clone());
        all.register("ticks_dropped", "Ticks dropped between threads", self.ticks_dropped.clone());
        all.register_with_unit("join", "From a socket's connect packet to its answer", Unit::Seconds, self.join_seconds.clone());
        all.register_collector(Box::new(Transport(self.transport.clone())));
    }
}

/// The transport's counters, read at each scrape.
#[derive(Debug)]
struct Transport(Arc<OnceLock<Arc<actix_socketio::Metrics>>>);

impl Collector for Transport {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(m) = self.0.get() else { return Ok(()) };
        let counters = [
            ("socket_frames_sent", "Packets handed to a socket or a polling answer", &m.frames_sent),
            ("socket_frames_dropped", "Ticks dropped because a phone was slow", &m.frames_dropped),
            ("socket_stalled", "Sessions closed because a phone took nothing", &m.stalled),
            ("socket_heartbeats_missed", "Sessions closed because a heartbeat was not answered", &m.heartbeats_missed),
            (
                "socket_sessions_refused",
                "Handshakes and joins refused because as many sessions as may be had logged in",
                &m.sessions_refused,
            ),
            (
                "socket_unjoined_refused",
                "Handshakes refused because too many of their address had not logged in",
                &m.unjoined_refused,
            ),
            (
                "socket_unjoined_displaced",
                "Sessions closed before they logged in, to make room for another address's",
                &m.unjoined_displaced,
            ),
            ("socket_violations", "Sessions closed because of a packet that the protocol does not allow", &m.violations),
        ];
        let gauges = [
            ("socket_sessions_open", "Sessions of the transport, those that have not logged in included", &m.sessions_open),
            ("socket_sessions_unjoined", "Sessions of the transport that have not logged in", &m.sessions_unjoined),
        ];
        for (name, help, gauge) in gauges {
            let value = ConstGauge::new(i64::try_from(gauge.get()).unwrap_or(i64::MAX));
            value.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        }
        for (name, help, counter) in counters {
            let value = ConstCounter::new(counter.get());
            value.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}
