//! Metrics of requests.

use std::time::Duration;

use actix_web::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use nyala_store::telemetry::WAIT_BUCKETS_S;

/// The methods that a route may use; all other methods share one series.
const METHODS: [Method; 4] = [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS];

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct HttpLabels {
    /// The route's pattern, so that ids in paths do not create series.
    route: String,
    method: String,
    status: u16,
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct HttpMetrics {
    requests: Family<HttpLabels, Counter>,
    duration: Histogram,
    /// Connections closed because others needed their slots, …
    pub idle_closed: Counter,
    /// … and because their clients did not read.
    pub slow_closed: Counter,
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            duration: Histogram::new(WAIT_BUCKETS_S),
            idle_closed: Counter::default(),
            slow_closed: Counter::default(),
        }
    }
}

impl HttpMetrics {
    /// Counts a request to `route` (a pattern) that was answered.
    pub fn answered(&self, route: &str, method: &Method, status: u16, elapsed: Duration) {
        let method = if METHODS.contains(method) { method.as_str() } else { "other" };
        self.requests.get_or_create(&HttpLabels { route: route.to_owned(), method: method.to_owned(), status }).inc();
        self.duration.observe(elapsed.as_secs_f64());
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("http_requests", "Answered requests", self.requests.clone());
        all.register_with_unit("http_request_duration", "Time to answer a request", Unit::Seconds, self.duration.clone());
        all.register("http_idle_closed", "Idle connections closed because room ran short", self.idle_closed.clone());
        all.register(
            "http_slow_closed",
            "Connections closed because their clients did not read the answer",
            self.slow_closed.clone(),
        );
    }
}
