//! Metrics of pushes.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// Result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its push service has accepted it.
    Sent,
    /// It is retried later.
    Again,
    /// Refused, or out of retries.
    Failed,
    /// The browser no longer exists; its subscription is deleted.
    Gone,
    /// It is no longer needed, or too late.
    Needless,
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PushMetrics {
    pushes: Family<ResultLabel, Counter>,
    waiting: Gauge,
}

impl PushMetrics {
    pub fn ended(&self, outcome: Outcome) {
        let result = match outcome {
            Outcome::Sent => "sent",
            Outcome::Again => "again",
            Outcome::Failed => "failed",
            Outcome::Gone => "gone",
            Outcome::Needless => "needless",
        };
        self.pushes.get_or_create(&ResultLabel { result }).inc();
    }

    /// Number of due pushes at this scrape.
    pub fn waiting(&self, due: i64) {
        self.waiting.set(due);
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("pushes", "Messages to browsers' push services, by result", self.pushes.clone());
        all.register("pushes_waiting", "Messages to browsers that are due and not taken by their service", self.waiting.clone());
    }
}
