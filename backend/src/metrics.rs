//! Prometheus metrics: base units, never labelled by machine or customer.

use std::time::Duration;

use actix_web::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
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
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}
