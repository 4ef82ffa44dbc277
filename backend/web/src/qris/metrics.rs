//! Metrics of bills and of their provider.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabel {
    call: &'static str,
}

/// What became of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notified {
    Handled,
    /// It changed nothing.
    Ignored,
    /// A payment that no bill was made for.
    Foreign,
    /// Its signature is wrong.
    Forged,
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct QrisMetrics {
    bills: Family<ResultLabel, Counter>,
    notifications: Family<ResultLabel, Counter>,
    failures: Family<CallLabel, Counter>,
}

impl QrisMetrics {
    /// A bill was `made`, or became `paid`, `paid_late`, `held`, `expired` or `cancelled`.
    pub fn bill(&self, result: &'static str) {
        self.bills.get_or_create(&ResultLabel { result }).inc();
    }

    pub fn notified(&self, what: Notified) {
        let result = match what {
            Notified::Handled => "handled",
            Notified::Ignored => "ignored",
            Notified::Foreign => "foreign",
            Notified::Forged => "forged",
        };
        self.notifications.get_or_create(&ResultLabel { result }).inc();
    }

    /// The provider gave no answer to `create`, `status` or `cancel`.
    pub fn failed(&self, call: &'static str) {
        self.failures.get_or_create(&CallLabel { call }).inc();
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("qris_bills", "Bills made, and what became of them", self.bills.clone());
        all.register("qris_notifications", "Notifications of the payment provider, by result", self.notifications.clone());
        all.register("qris_provider_failures", "Calls that the payment provider did not answer, by call", self.failures.clone());
    }
}
