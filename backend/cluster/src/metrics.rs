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
    pub shards_gained: Counter,
    pub shards_lost: Counter,
    pub beat_seconds: Histogram,
    pub beats_failed: Counter,
    /// Statements that changed no row, because the fence did not match or the stored state was another one.
    pub doubts: Counter,
    pub notifications: NotifierMetrics,
}

/// Metrics of change notifications.
#[derive(Debug, Clone)]
pub struct NotifierMetrics {
    pub connected: Gauge,
    pub told: Counter,
    /// Not sent: no connection to NATS, or no room in the queue.
    pub not_told: Counter,
    pub heard: Counter,
    /// Gaps in the numbers of received notifications.
    pub missed: Counter,
    pub unreadable: Counter,
    /// Notifications whose sender is not a live server.
    pub ignored: Counter,
    pub way_seconds: Histogram,
}

impl Default for ClusterMetrics {
    fn default() -> Self {
        Self {
            nodes: Gauge::default(),
            shards_owned: Gauge::default(),
            shards_free: Gauge::default(),
            shards_gained: Counter::default(),
            shards_lost: Counter::default(),
            beat_seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 14)),
            beats_failed: Counter::default(),
            doubts: Counter::default(),
            notifications: NotifierMetrics {
                connected: Gauge::default(),
                told: Counter::default(),
                not_told: Counter::default(),
                heard: Counter::default(),
                missed: Counter::default(),
                unreadable: Counter::default(),
                ignored: Counter::default(),
                way_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 14)),
            },
        }
    }
}

impl ClusterMetrics {
    pub fn register(&self, all: &mut Registry) {
        all.register("cluster_nodes", "Servers of the cluster that live and stay, as this one sees them", self.nodes.clone());
        all.register("cluster_shards_owned", "Shards of 256 that this server owns", self.shards_owned.clone());
        all.register("cluster_shards_free", "Shards that nobody who lives owns", self.shards_free.clone());
        all.register("cluster_shards_gained", "Shards that came to this server", self.shards_gained.clone());
        all.register("cluster_shards_lost", "Shards that went from this server", self.shards_lost.clone());
        all.register_with_unit("cluster_beat", "A beat's way to the database and back", Unit::Seconds, self.beat_seconds.clone());
        all.register("cluster_beats_failed", "Beats that did not reach the database", self.beats_failed.clone());
        all.register(
            "cluster_doubts",
            "Changes that met a fence that did not stand, or a state that was another",
            self.doubts.clone(),
        );
        self.notifications.register(all);
    }
}

impl NotifierMetrics {
    fn register(&self, all: &mut Registry) {
        all.register("cluster_news_connected", "Whether this server is connected to NATS", self.connected.clone());
        all.register("cluster_news_told", "Messages that went to the other servers", self.told.clone());
        all.register("cluster_news_not_told", "Messages that did not: no connection to NATS, or no room", self.not_told.clone());
        all.register("cluster_news_heard", "Messages that came from the other servers", self.heard.clone());
        all.register("cluster_news_missed", "Messages of the other servers that did not come", self.missed.clone());
        all.register(
            "cluster_news_unreadable",
            "Messages that cannot be read: another version, or not a server's",
            self.unreadable.clone(),
        );
        all.register("cluster_news_ignored", "Messages whose sender is no living server", self.ignored.clone());
        all.register_with_unit("cluster_news_way", "A message's way to NATS and back", Unit::Seconds, self.way_seconds.clone());
    }
}
