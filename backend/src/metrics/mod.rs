//! Prometheus metrics: base units, never labelled by machine or customer. Names get the prefix `nyala_` and, by kind, `_total`
//! and `_seconds`.

mod realtime;

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use actix_web::http::Method;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

pub use realtime::RealtimeMetrics;

use crate::auth::AuthState;
use crate::db::pool::Db;
use crate::http::body::Room;
use crate::purchase::state::PurchaseState;

/// Bounds in seconds of everything somebody waits for: from a cached read to the longest answer there is.
const WAIT_BUCKETS_S: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The methods that any route knows; whatever else a stranger sends is one series.
const METHODS: [Method; 4] = [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS];
const OPEN: [PurchaseState; 4] = [PurchaseState::Held, PurchaseState::Sent, PurchaseState::Unsure, PurchaseState::Running];

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct HttpLabels {
    /// The route's pattern, so that ids in paths do not make series.
    route: String,
    method: String,
    status: u16,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// What the server counts. One for the whole process.
#[derive(Debug)]
pub struct ServerMetrics {
    registry: Registry,
    http_requests: Family<HttpLabels, Counter>,
    http_duration: Histogram,
    purchases: Family<StateLabel, Counter>,
    open: Family<StateLabel, Gauge>,
    device_answer: Histogram,
    /// Commands that found no room on their way to the devices.
    pub device_commands_lost: Counter,
    /// What devices said, and found no room on its way to their machines.
    pub device_words_lost: Counter,
    codes: Family<ResultLabel, Counter>,
    database_up: Gauge,
    clock_distance: Gauge<f64, AtomicU64>,
    pub realtime: RealtimeMetrics,
}

impl ServerMetrics {
    /// `db` is asked for its connections at each scrape; `auth` and `bodies` count for themselves.
    pub fn new(db: &Db, auth: &AuthState, bodies: &Room) -> Self {
        let waits = || Histogram::new(WAIT_BUCKETS_S);
        let mut metrics = Self {
            registry: Registry::with_prefix("nyala"),
            http_requests: Family::default(),
            http_duration: waits(),
            purchases: Family::default(),
            open: Family::default(),
            device_answer: waits(),
            device_commands_lost: Counter::default(),
            device_words_lost: Counter::default(),
            codes: Family::default(),
            database_up: Gauge::default(),
            clock_distance: Gauge::default(),
            realtime: RealtimeMetrics::default(),
        };
        metrics.register(db, auth, bodies);
        metrics
    }

    fn register(&mut self, db: &Db, auth: &AuthState, bodies: &Room) {
        let all = &mut self.registry;
        all.register("http_requests", "Answered requests", self.http_requests.clone());
        all.register_with_unit("http_request_duration", "Time to answer a request", Unit::Seconds, self.http_duration.clone());
        all.register_with_unit(
            "http_unfinished_bodies",
            "Bodies that are still on their way",
            Unit::Bytes,
            bodies.bytes().clone(),
        );
        all.register("http_bodies_given_up", "Bodies given up because others needed their room", bodies.given_up().clone());
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
        all.register("device_words_lost", "What devices said and found no room for", self.device_words_lost.clone());
        all.register("codes", "One-time codes given to WhatsApp, by result", self.codes.clone());
        all.register("password_queue_length", "Passwords waiting to be hashed", auth.waiting_passwords().clone());
        all.register(
            "logins_refused",
            "Passwords refused unhashed: too many wrong ones, or too many waiting",
            auth.login_limits.refused().clone(),
        );
        all.register("reset_codes_wrong", "Wrong codes for a forgotten password", auth.reset_alarm.wrong().clone());
        all.register("reset_alarm", "Whether codes for forgotten passwords are being guessed", auth.reset_alarm.on().clone());
        all.register("database_up", "Whether the database answered this scrape", self.database_up.clone());
        all.register_with_unit(
            "clock_distance",
            "How far the database's clock is ahead of the server's",
            Unit::Seconds,
            self.clock_distance.clone(),
        );
        all.register_with_unit("database_wait", "Wait for a database connection", Unit::Seconds, db.waited().clone());
        all.register_collector(Box::new(Connections(db.clone())));
        self.realtime.register(all);
    }

    /// A request to `route` (a pattern) was answered.
    pub fn http(&self, route: &str, method: &Method, status: u16, elapsed: Duration) {
        let method = if METHODS.contains(method) { method.as_str() } else { "other" };
        self.http_requests.get_or_create(&HttpLabels { route: route.to_owned(), method: method.to_owned(), status }).inc();
        self.http_duration.observe(elapsed.as_secs_f64());
    }

    /// A purchase reached a state (committed).
    pub fn purchase_became(&self, state: PurchaseState) {
        self.purchases.get_or_create(&StateLabel { state: state.as_str() }).inc();
    }

    /// How many purchases are open by state, at this scrape; `None` when the database did not tell.
    pub fn purchases_open(&self, counted: Option<&[(PurchaseState, i64)]>) {
        self.database_up.set(i64::from(counted.is_some()));
        let Some(counted) = counted else { return self.open.clear() };
        for state in OPEN {
            let count = counted.iter().find(|(k, _)| *k == state).map_or(0, |(_, n)| *n);
            self.open.get_or_create(&StateLabel { state: state.as_str() }).set(count);
        }
    }

    /// A device answered a command `waited` after it was sent first.
    pub fn device_answered(&self, waited: Duration) {
        self.device_answer.observe(waited.as_secs_f64());
    }

    /// The database's clock is `ahead_ms` ahead of the server's.
    pub fn clock_distance(&self, ahead_ms: i64) {
        self.clock_distance.set(ahead_ms as f64 / 1000.0);
    }

    /// WhatsApp took a code, or it did not.
    pub fn code(&self, sent: bool) {
        self.codes.get_or_create(&ResultLabel { result: if sent { "sent" } else { "failed" } }).inc();
    }

    /// Everything in the OpenMetrics text format.
    pub fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The pools' connections, counted when they are asked for.
#[derive(Debug)]
struct Connections(Db);

impl Collector for Connections {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let usage = self.0.usage();
        for (name, help, value) in [
            ("database_connections", "Open database connections", usage.open),
            ("database_connections_idle", "Open database connections that nobody uses", usage.idle),
            ("database_waiting", "Requests waiting for a database connection", usage.waiting),
        ] {
            let value = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            value.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        }
        Ok(())
    }
}
