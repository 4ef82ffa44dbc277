//! What the metrics show of backups.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::health::BackupHealth;
use super::status::Status;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Step {
    step: &'static str,
}

#[derive(Debug, Clone, Default)]
pub struct BackupMetrics {
    age: Gauge<f64, AtomicU64>,
    unreceived: Gauge<f64, AtomicU64>,
    base_age: Gauge<f64, AtomicU64>,
    gaps: Counter,
    failures: Family<Step, Counter>,
    /// For staff.
    pub health: BackupHealth,
}

impl BackupMetrics {
    pub fn register(&self, all: &mut Registry) {
        all.register_with_unit(
            "backup_age",
            "Since when something of the log is not in the backup; 0 while everything is",
            Unit::Seconds,
            self.age.clone(),
        );
        all.register_with_unit("backup_unreceived", "Log that is not in the backup", Unit::Bytes, self.unreceived.clone());
        all.register_with_unit("backup_base_age", "Age of the newest verified base backup", Unit::Seconds, self.base_age.clone());
        all.register("backup_gaps", "Gaps in the backup's log, whose moments cannot be restored to", self.gaps.clone());
        all.register("backup_failures", "Steps of the backup that failed", self.failures.clone());
    }

    pub(super) fn show(&self, status: &Status) {
        self.age.set(seconds(status.age));
        #[expect(clippy::cast_precision_loss, reason = "PostgreSQL keeps far less than 2^53 bytes of log")]
        self.unreceived.set(status.unreceived_bytes.map_or(f64::INFINITY, |bytes| bytes as f64));
        self.base_age.set(seconds(status.base_age));
    }

    /// When the folder or the database cannot be read: what is not known is not zero.
    pub(super) fn show_unknown(&self, age: Option<Duration>) {
        self.age.set(seconds(age));
        self.unreceived.set(f64::INFINITY);
        self.base_age.set(f64::INFINITY);
    }

    pub(super) fn gap(&self) {
        self.gaps.inc();
    }

    pub(super) fn failed(&self, step: &'static str) {
        self.failures.get_or_create(&Step { step }).inc();
    }
}

/// What was never so is older than any limit of an alarm.
fn seconds(since: Option<Duration>) -> f64 {
    since.map_or(f64::INFINITY, |since| since.as_secs_f64())
}
