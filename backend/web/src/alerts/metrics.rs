//! What needs a person now, as numbers.

use nyala_core::board::attention::Kind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

/// Entries of the outlets that this server owns. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct AttentionMetrics(Family<KindLabel, Gauge>);

impl AttentionMetrics {
    /// The number of entries of each kind.
    pub fn set(&self, count: impl Fn(Kind) -> usize) {
        for kind in Kind::ALL {
            let entries = i64::try_from(count(kind)).unwrap_or(i64::MAX);
            self.0.get_or_create(&KindLabel { kind: kind.as_str() }).set(entries);
        }
    }

    pub fn register(&self, all: &mut Registry) {
        self.set(|_| 0);
        all.register("attention", "What needs a person at the outlets of this server, by kind", self.0.clone());
    }
}
