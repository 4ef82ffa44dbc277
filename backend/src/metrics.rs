//! Prometheus metrics: base units, never labelled by machine or customer.

use std::time::Duration;

use actix_web::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::pembelian::keadaan::Keadaan;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct HttpLabels {
    /// The route's pattern, so that ids in paths do not make series.
    route: String,
    method: String,
    status: u16,
}

#[derive(Debug, Clone, Default)]
pub struct Metrics {
    http_requests: Family<HttpLabels, Counter>,
    http_duration: HttpDuration,
    purchases: Family<StateLabel, Counter>,
    pub realtime: Realtime,
}

/// The socket's side.
#[derive(Debug, Clone)]
pub struct Realtime {
    pub sessions: Gauge,
    pub subscriptions: Gauge,
    pub ticks_sent: Counter,
    pub ticks_dropped: Counter,
    /// From the connect packet to the answer.
    pub join_seconds: Histogram,
    lateness_seconds: Histogram,
}

impl Default for Realtime {
    fn default() -> Self {
        Self {
            sessions: Gauge::default(),
            subscriptions: Gauge::default(),
            ticks_sent: Counter::default(),
            ticks_dropped: Counter::default(),
            join_seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 16)),
            lateness_seconds: Histogram::new(exponential_buckets(0.001, 2.0, 14)),
        }
    }
}

impl Realtime {
    /// How long after its moment a tick went out.
    pub fn tick_lateness(&self, late_ms: i64) {
        self.lateness_seconds.observe(late_ms.max(0) as f64 / 1000.0);
    }

    fn register(&self, registry: &mut Registry) {
        registry.register("sessions", "Customers' sockets that are open", self.sessions.clone());
        registry.register("subscriptions", "Machines watched, summed over all sockets", self.subscriptions.clone());
        registry.register("ticks_sent", "Ticks handed to sockets", self.ticks_sent.clone());
        registry.register("ticks_dropped", "Ticks dropped between threads", self.ticks_dropped.clone());
        registry.register_with_unit("join", "From a socket's connect packet to its answer", Unit::Seconds, self.join_seconds.clone());
        registry.register_with_unit("tick_lateness", "Time between a tick's moment and its sending", Unit::Seconds, self.lateness_seconds.clone());
    }
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone)]
struct HttpDuration(Histogram);

impl Default for HttpDuration {
    fn default() -> Self {
        Self(Histogram::new(exponential_buckets(0.0005, 2.0, 16)))
    }
}

impl Metrics {
    pub fn http(&self, route: &str, method: &Method, status: u16, elapsed: Duration) {
        self.http_requests.get_or_create(&HttpLabels { route: route.to_owned(), method: method.to_string(), status }).inc();
        self.http_duration.0.observe(elapsed.as_secs_f64());
    }

    /// A purchase reached a state (committed).
    pub fn purchase_became(&self, keadaan: Keadaan) {
        self.purchases.get_or_create(&StateLabel { state: keadaan.as_str() }).inc();
    }

    /// Everything in the text format of Prometheus.
    pub fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::with_prefix("nyala");
        registry.register("http_requests", "Answered requests", self.http_requests.clone());
        registry.register_with_unit("http_request_duration", "Time to answer a request", Unit::Seconds, self.http_duration.0.clone());
        registry.register("purchase_transitions", "Committed changes of a purchase's state", self.purchases.clone());
        self.realtime.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}
