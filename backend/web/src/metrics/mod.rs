//! Prometheus metrics: base units, never labelled by machine or customer. Names get the prefix `nyala_` and, by kind, `_total` and
//! `_seconds`. Each module counts its own events; this one renders them as one page.

use nyala_cluster::metrics::ClusterMetrics;
use nyala_identity::auth::Auth;
use nyala_machines::metrics::MachineMetrics;
use nyala_store::admission::Gate;
use nyala_store::backup::metrics::BackupMetrics;
use nyala_store::db::clock::Ahead;
use nyala_store::db::pool::Db;
use nyala_store::telemetry;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use crate::alerts::metrics::AttentionMetrics;
use crate::http::body::Room;
use crate::http::metrics::HttpMetrics;
use crate::live::metrics::RealtimeMetrics;
use crate::push::metrics::PushMetrics;
use crate::qris::metrics::QrisMetrics;

/// The server's metrics. One instance for the whole process.
#[derive(Debug)]
pub struct ServerMetrics {
    registry: Registry,
    database_up: Gauge,
    pub clock_distance: Ahead,
    pub http: HttpMetrics,
    pub machines: MachineMetrics,
    pub realtime: RealtimeMetrics,
    pub cluster: ClusterMetrics,
    pub push: PushMetrics,
    pub qris: QrisMetrics,
    pub attention: AttentionMetrics,
    pub backup: BackupMetrics,
}

impl ServerMetrics {
    /// `db` is asked for its connections at each scrape; `auth`, `bodies`, `cluster` and `push` count their own events.
    /// Without a backup its metrics are left out: they would look good.
    pub fn new(db: &Db, auth: &Auth, bodies: &Room, cluster: ClusterMetrics, push: PushMetrics, is_backed_up: bool) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("nyala"),
            database_up: Gauge::default(),
            clock_distance: Ahead::default(),
            http: HttpMetrics::default(),
            machines: MachineMetrics::default(),
            realtime: RealtimeMetrics::default(),
            cluster,
            push,
            qris: QrisMetrics::default(),
            attention: AttentionMetrics::default(),
            backup: BackupMetrics::default(),
        };
        metrics.register(db, auth, bodies);
        if is_backed_up {
            metrics.backup.register(&mut metrics.registry);
        }
        metrics
    }

    fn register(&mut self, db: &Db, auth: &Auth, bodies: &Room) {
        let all = &mut self.registry;
        self.http.register(all);
        self.machines.register(all);
        self.realtime.register(all);
        self.cluster.register(all);
        self.push.register(all);
        self.qris.register(all);
        self.attention.register(all);
        all.register_with_unit(
            "http_unfinished_bodies",
            "Bodies that are still on their way",
            Unit::Bytes,
            bodies.bytes().clone(),
        );
        all.register("http_bodies_given_up", "Bodies given up because others needed their room", bodies.given_up().clone());
        all.register("codes", "One-time codes given to WhatsApp, by result", auth.codes().clone());
        all.register(
            "codes_used_ratio",
            "How much of the limits of codes that all share is used",
            auth.sent_codes.used().clone(),
        );
        all.register("password_queue_length", "Passwords waiting to be hashed", auth.waiting_passwords().clone());
        all.register(
            "logins_refused",
            "Passwords refused unhashed and numbers not looked up: too many wrong or unknown ones, or too many waiting",
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
        all.register("admission_requests", "Requests at the gate, by class and outcome", db.gate().requests().clone());
        all.register_with_unit(
            "admission_wait",
            "Wait of an admitted request for its first database connection",
            Unit::Seconds,
            db.gate().wait().clone(),
        );
        all.register_collector(Box::new(PoolConnections(db.clone())));
        all.register_collector(Box::new(RefusedShares(db.gate().clone())));
        all.register_collector(Box::new(LogLines));
    }

    /// Sets whether the database responded during this scrape.
    pub fn database_up(&self, up: bool) {
        self.database_up.set(i64::from(up));
    }

    /// All metrics in the OpenMetrics text format.
    pub fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The pools' connections, counted at each scrape.
#[derive(Debug)]
struct PoolConnections(Db);

impl Collector for PoolConnections {
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

/// The state of the gate, read at each scrape.
#[derive(Debug)]
struct RefusedShares(Gate);

impl Collector for RefusedShares {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let help = "Share of the requests of a class that is refused because of overload";
        let mut encoder = encoder.encode_descriptor("admission_refused_ratio", help, None, MetricType::Gauge)?;
        for (class, share) in self.0.refused_shares() {
            ConstGauge::new(share).encode(encoder.encode_family(&[("class", class.as_str())])?)?;
        }
        Ok(())
    }
}

/// Log lines, counted by the log writer itself.
#[derive(Debug)]
struct LogLines;

impl Collector for LogLines {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let help = "Log lines dropped because nobody reads standard error fast enough";
        let dropped = ConstCounter::new(telemetry::lines_dropped());
        dropped.encode(encoder.encode_descriptor("log_lines_dropped", help, None, MetricType::Counter)?)
    }
}
