//! What is counted of pushes.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// What has become of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its service has taken it.
    Sent,
    /// It is tried again.
    Again,
    /// Refused, or tried often enough.
    Failed,
    /// There is no such browser any more, which is forgotten.
    Gone,
    /// Nobody needs to be told any more, or it is too late.
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

    /// How many are due, at this scrape.
    pub fn waiting(&self, due: i64) {
        self.waiting.set(due);
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("pushes", "Messages to browsers' push services, by result", self.pushes.clone());
        all.register("pushes_waiting", "Messages to browsers that are due and not taken by their service", self.waiting.clone());
    }
}
