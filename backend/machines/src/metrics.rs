//! Metrics of machines, their devices and their purchases.

use nyala_core::purchase::state::PurchaseState;
use nyala_store::telemetry::WAIT_BUCKETS_S;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::device::mqtt::metrics::DeviceMetrics;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct MachineMetrics {
    /// Machine actors alive.
    actors: Gauge,
    /// Actors started so far: far more than machines means that actors are removed too early.
    actors_started: Counter,
    /// Commands that were dropped because the queue to the devices was full.
    pub device_commands_lost: Counter,
    /// Messages of devices that were dropped because a queue was full.
    pub device_messages_dropped: Counter,
    purchases: Family<StateLabel, Counter>,
    open: Family<StateLabel, Gauge>,
    device_answer: Histogram,
    pub devices: DeviceMetrics,
    lateness_seconds: Histogram,
}

impl Default for MachineMetrics {
    fn default() -> Self {
        Self {
            actors: Gauge::default(),
            actors_started: Counter::default(),
            device_commands_lost: Counter::default(),
            device_messages_dropped: Counter::default(),
            purchases: Family::default(),
            open: Family::default(),
            device_answer: Histogram::new(WAIT_BUCKETS_S),
            devices: DeviceMetrics::default(),
            lateness_seconds: Histogram::new(exponential_buckets(0.001, 2.0, 14)),
        }
    }
}

impl MachineMetrics {
    /// Counts a purchase that reached a state (committed).
    pub fn purchase_became(&self, state: PurchaseState) {
        self.purchases.get_or_create(&StateLabel { state: state.as_str() }).inc();
    }

    /// Sets how many purchases are open by state, at this scrape; `None` when the database could not be read.
    pub fn purchases_open(&self, counted: Option<&[(PurchaseState, i64)]>) {
        let Some(counted) = counted else { return self.open.clear() };
        for state in PurchaseState::all_open() {
            let count = counted.iter().find(|(k, _)| *k == state).map_or(0, |(_, n)| *n);
            self.open.get_or_create(&StateLabel { state: state.as_str() }).set(count);
        }
    }

    /// Records that a device answered a command `after_ms` milliseconds after it was first sent.
    pub fn device_answered(&self, after_ms: i64) {
        self.device_answer.observe(after_ms.unsigned_abs() as f64 / 1000.0);
    }

    pub fn actor_started(&self) {
        self.actors.inc();
        self.actors_started.inc();
    }

    pub fn actor_stopped(&self) {
        self.actors.dec();
    }

    /// Records by how many milliseconds a tick was sent late.
    pub fn tick_lateness(&self, late_ms: i64) {
        self.lateness_seconds.observe(f64::from(u32::try_from(late_ms).unwrap_or(0)) / 1000.0);
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("purchase_transitions", "Committed changes of a purchase's state", self.purchases.clone());
        all.register("purchases_open", "Purchases that hold their machine, by state", self.open.clone());
        all.register_with_unit(
            "device_answer_duration",
            "From a command to the device's answer",
            Unit::Seconds,
            self.device_answer.clone(),
        );
        all.register(
            "device_commands_lost",
            "Commands that found no room on their way to the devices",
            self.device_commands_lost.clone(),
        );
        all.register("device_words_lost", "What devices said and found no room for", self.device_messages_dropped.clone());
        self.devices.register(all);
        all.register("machine_actors", "Machine actors alive", self.actors.clone());
        all.register("machine_actors_started", "Machine actors made", self.actors_started.clone());
        all.register_with_unit(
            "tick_lateness",
            "From a tick's moment to its sending",
            Unit::Seconds,
            self.lateness_seconds.clone(),
        );
    }
}
