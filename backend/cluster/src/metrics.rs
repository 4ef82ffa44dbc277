//! Metrics of a server in a cluster; all stay at zero for a single server.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone)]
pub struct ClusterMetrics {
    /// Live servers that may claim shards: neither leaving nor in the grace period.
    pub nodes: Gauge,
    pub shards_owned: Gauge,
    /// Shards without a live owner.
    pub shards_free: Gauge,
    pub shards_acquired: Counter,
    pub shards_lost: Counter,
    pub heartbeat_seconds: Histogram,
    pub heartbeats_failed: Counter,
    /// Statements that changed no row, because the fence or the expected state did not match.
    pub invalidations: Counter,
    pub notifications: NotifierMetrics,
}

#[derive(Debug, Clone)]
pub struct NotifierMetrics {
    pub connected: Gauge,
    pub sent: Counter,
    /// Not sent: no connection to NATS, or no room in the queue.
    pub not_sent: Counter,
    pub received: Counter,
    /// Gaps in the numbers of received notifications.
    pub missed: Counter,
    pub unreadable: Counter,
    /// Notifications whose sender is not a live server.
    pub ignored: Counter,
    pub round_trip_seconds: Histogram,
}

impl Default for ClusterMetrics {
    fn default() -> Self {
        Self {
            nodes: Gauge::default(),
            shards_owned: Gauge::default(),
            shards_free: Gauge::default(),
            shards_acquired: Counter::default(),
            shards_lost: Counter::default(),
            heartbeat_seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 14)),
            heartbeats_failed: Counter::default(),
            invalidations: Counter::default(),
            notifications: NotifierMetrics {
                connected: Gauge::default(),
                sent: Counter::default(),
                not_sent: Counter::default(),
                received: Counter::default(),
                missed: Counter::default(),
                unreadable: Counter::default(),
                ignored: Counter::default(),
                round_trip_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 14)),
            },
        }
    }
}

impl ClusterMetrics {
    pub fn register(&self, all: &mut Registry) {
        all.register("cluster_nodes", "Live servers that may claim shards, as this server sees them", self.nodes.clone());
        all.register("cluster_shards_owned", "Shards (of 256) that this server owns", self.shards_owned.clone());
        all.register("cluster_shards_free", "Shards without a live owner", self.shards_free.clone());
        all.register("cluster_shards_gained", "Shards that this server has acquired", self.shards_acquired.clone());
        all.register("cluster_shards_lost", "Shards that this server has lost", self.shards_lost.clone());
        all.register_with_unit(
            "cluster_beat",
            "Duration of a heartbeat to the database",
            Unit::Seconds,
            self.heartbeat_seconds.clone(),
        );
        all.register("cluster_beats_failed", "Heartbeats that failed", self.heartbeats_failed.clone());
        all.register(
            "cluster_doubts",
            "Statements that changed nothing, because the fence or the expected state did not match",
            self.invalidations.clone(),
        );
        self.notifications.register(all);
    }
}

impl NotifierMetrics {
    fn register(&self, all: &mut Registry) {
        all.register("cluster_news_connected", "Whether this server is connected to NATS", self.connected.clone());
        all.register("cluster_news_told", "Notifications sent to the other servers", self.sent.clone());
        all.register(
            "cluster_news_not_told",
            "Notifications not sent: no connection to NATS, or a full queue",
            self.not_sent.clone(),
        );
        all.register("cluster_news_heard", "Notifications received from the other servers", self.received.clone());
        all.register("cluster_news_missed", "Notifications of the other servers that were lost", self.missed.clone());
        all.register(
            "cluster_news_unreadable",
            "Notifications that cannot be read: another version, or not from a server",
            self.unreadable.clone(),
        );
        all.register("cluster_news_ignored", "Notifications whose sender is not a live server", self.ignored.clone());
        all.register_with_unit(
            "cluster_news_way",
            "Round trip of a notification to NATS",
            Unit::Seconds,
            self.round_trip_seconds.clone(),
        );
    }
}
