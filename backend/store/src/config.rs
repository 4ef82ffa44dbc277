//! Settings: `config/default.toml`, `config/<profile>.toml`, then `NYALA__SECTION__KEY`, then `--set section.key=value`.
//! Each key is explained in `config/default.toml`; unknown keys are refused; secrets are never printed.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use config::Source;
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use nyala_core::domain::address::Block;
use nyala_core::domain::origin::Origin;
use nyala_core::domain::rupiah::MaxBalance;
use nyala_core::domain::secret::Secret;

mod attention;
mod backup;
mod check;
mod cluster;
mod contact;
mod environment;
mod push;
mod qris;
mod ranges;
mod removed;
mod share;

pub use attention::AttentionSettings;
pub use backup::BackupSettings;
pub use cluster::ClusterSettings;
pub use push::PushSettings;
pub use qris::{QrisSettings, ServerKeys};

/// Settings that are lists: in the environment and in flags their items are separated by commas.
const LISTS: [&str; 5] =
    ["http.trusted_proxies", "http.metrics_from", "http.allowed_origins", "mqtt.trusted_proxies", "push.hosts"];
const DEFAULT: &str = "default.toml";
/// The files of `config/`: an installed program needs no folder.
const IN_THE_PROGRAM: [(&str, &str); 3] = [
    (DEFAULT, include_str!("../../../config/default.toml")),
    ("development.toml", include_str!("../../../config/development.toml")),
    ("production.toml", include_str!("../../../config/production.toml")),
];
/// `data.dir` in `config/default.toml`.
const DEFAULT_DATA_DIR: &str = "data";

/// The port of development, as in config/default.toml.
const DEVICE_PORT: u16 = 1883;

/// Every task whose panic ends the process (`vital`): `dev.panic_task` names one, and a test of each is in `tests/api/process/vital.rs`.
pub const VITAL_TASKS: [&str; 29] = [
    "alarm",
    "hub",
    "turn",
    "wheel",
    "reaper",
    "pruning",
    "moves",
    "keys",
    "push",
    "log",
    "clock",
    "seats",
    "tills",
    "passwords",
    "devices",
    "sim",
    "endpoint",
    "logins",
    "presence",
    "signals",
    "coins",
    "troubles",
    "revocations",
    "conditions",
    "boards",
    "public boards",
    "calls",
    "alerts",
    "bills",
];

/// Settings of one server of a cluster, and of its change notifications.
pub const VITAL_TASKS_OF_A_CLUSTER: [&str; 13] = [
    "node",
    "orphans",
    "takeover",
    "mirror",
    "failover",
    "cut-off",
    "words away",
    "words in",
    "commands",
    "questions",
    "news",
    "balances",
    "sockets",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    Development,
    Production,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    pub profile: Profile,
    pub http: HttpSettings,
    pub data: DataSettings,
    pub database: DatabaseSettings,
    pub backup: BackupSettings,
    pub auth: AuthSettings,
    pub whatsapp: WhatsAppSettings,
    pub push: PushSettings,
    pub qris: QrisSettings,
    pub attention: AttentionSettings,
    pub ledger: LedgerSettings,
    #[serde(rename = "move")]
    pub moves: MoveSettings,
    pub purchase: PurchaseSettings,
    pub mesin: MachineSettings,
    pub mqtt: MqttSettings,
    pub realtime: RealtimeSettings,
    pub cluster: ClusterSettings,
    pub log: LogSettings,
    pub dev: DevSettings,
    /// Names of removed settings that are still there, all of them empty.
    #[serde(skip)]
    pub ignored: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    pub host: String,
    pub port: u16,
    /// 0: one per core.
    pub workers: usize,
    pub max_connections: usize,
    pub backlog: u16,
    pub unfinished_bodies_mb: usize,
    pub trusted_proxies: Vec<Block>,
    /// Accept `X-Forwarded-Host` of a trusted proxy.
    pub forwarded_host: bool,
    /// Who may read `/metrics` from another host.
    pub metrics_from: Vec<Block>,
    /// A port that serves `/metrics` and nothing else; 0: none.
    pub metrics_port: u16,
    /// As browsers write them.
    pub allowed_origins: Vec<Origin>,
    /// Where people reach this server: links begin with it. Empty: not known.
    pub public_url: String,
    /// URI for reports of weaknesses of this installation; empty: none.
    pub security_contact: String,
    pub app_dir: PathBuf,
    pub drain_s: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    pub dir: PathBuf,
    /// `dir` is the default: only then may the private database move to a system folder.
    #[serde(skip)]
    pub dir_is_default: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    /// From `DATABASE_URL`; empty: the private embedded one.
    pub url: Secret,
    /// 0: four a worker thread, and two.
    pub connections: usize,
    pub wait_ms: u64,
    /// 0: off, as by default.
    pub admission_ms: u64,
    pub connect_ms: u64,
    pub statement_ms: u64,
    pub lock_ms: u64,
    pub clock_wait_s: u64,
    pub npm_postgres_dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuthSettings {
    pub token_days: i64,
    pub otp_per_ip_hour: i64,
    pub otp_factor_v6_56: i64,
    pub otp_factor_v6_48: i64,
    pub otp_factor_v4_24: i64,
    pub otp_per_hour: i64,
    pub otp_factor_day: i64,
    pub otp_known_per_hour: i64,
    pub otp_per_telp_day: i64,
    pub wrong_logins_per_phone: usize,
    pub wrong_logins_per_number: usize,
    pub wrong_logins_per_address: usize,
    pub wrong_logins_address_refill_s: i64,
    pub wrong_codes_per_address_hour: usize,
    pub wrong_codes_per_site_hour: usize,
    pub reset_alarm_wrong_per_hour: usize,
    pub reset_alarm_codes_per_hour: i64,
    pub reset_alarm_hours: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename = "Sender", rename_all = "lowercase")]
pub enum SenderKind {
    Log,
    Meta,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WhatsAppSettings {
    pub sender: SenderKind,
    pub meta_base_url: String,
    pub meta_phone_number_id: String,
    pub meta_access_token: Secret,
    pub meta_template: String,
    /// Of the notice to the old number before a move; empty: tills move no accounts.
    pub meta_template_move: String,
    pub meta_language: String,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerSettings {
    /// Rupiah of all balances of an owner from which a licence is needed.
    pub float_notice: i64,
    /// The most rupiah of balance that an account may be sold; 0: no limit.
    pub max_balance: u64,
}

impl LedgerSettings {
    pub fn max_balance(&self) -> MaxBalance {
        MaxBalance::new(self.max_balance)
    }
}

/// Moves to a new number.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MoveSettings {
    /// For which a move that a till asks for waits for a no of the old number.
    pub wait_s: i64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PurchaseSettings {
    pub per_customer_minute: usize,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSettings {
    pub idle_s: u64,
    pub sim_min_ms: u64,
    pub sim_max_ms: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MqttSettings {
    pub host: String,
    pub port: u16,
    /// Address in the keys of devices; empty: `host`, when that leads to the server.
    pub public_host: String,
    /// TCP balancers whose connections begin with a PROXY protocol version 2 header.
    pub trusted_proxies: Vec<Block>,
    pub max_connections: usize,
    pub tls: bool,
    /// The port is the default.
    #[serde(skip)]
    pub port_is_default: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RealtimeSettings {
    pub max_sessions: usize,
    pub unjoined_per_address: usize,
    pub sockets_per_customer: usize,
    pub topics_per_session: usize,
    pub max_payload_bytes: usize,
    pub ping_interval_s: u64,
    pub ping_timeout_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Pretty,
    Json,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub format: LogFormat,
    pub filter: String,
}

impl LogSettings {
    /// What `log.filter` lets through.
    ///
    /// # Errors
    /// When it is no filter.
    pub fn filter(&self) -> Result<EnvFilter, ConfigError> {
        EnvFilter::try_new(&self.filter).map_err(|e| ConfigError::Filter { filter: self.filter.clone(), why: e.to_string() })
    }
}

/// Only for development; production refuses to start when one of these is not at its default.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct DevSettings {
    pub routes: bool,
    pub allow_lan: bool,
    pub seed_demo: bool,
    pub fault_point: String,
    pub panic_task: String,
    pub ticks_per_second: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{0}")]
    Read(#[from] config::ConfigError),
    #[error("`--set {0}` must look like section.key=value")]
    Flag(String),
    #[error("log.filter = \"{filter}\" is no filter; use a level such as \"info\", or \"nyala=debug,info\" ({why})")]
    Filter { filter: String, why: String },
    #[error("{0}")]
    Refused(String),
}

impl ServerSettings {
    /// Reads and checks the settings. `dir` holds the `*.toml`, else those in the program count; `flags` are `section.key=value`.
    pub fn load(dir: Option<&Path>, flags: &[String]) -> Result<Self, ConfigError> {
        let (lists, plain) = environment::sources();
        let read = |name: &str| -> Result<String, ConfigError> {
            match dir {
                None => Ok(IN_THE_PROGRAM.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text).to_owned()),
                Some(dir) => match std::fs::read_to_string(dir.join(name)) {
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound && name != DEFAULT => Ok(String::new()),
                    text => text.map_err(|e| ConfigError::Refused(format!("{} cannot be read: {e}", dir.join(name).display()))),
                },
            }
        };
        let toml = |text: &str| config::File::from_str(text, config::FileFormat::Toml);
        let default = read(DEFAULT)?;
        let base = || config::Config::builder().add_source(toml(&default));
        environment::refuse_misspelt(&base().build()?.collect()?)?;
        let profile: String = with_flags(base().add_source(plain.clone()), flags)?.build()?.get("profile")?;
        let mut builder = base();
        builder = builder.add_source(toml(&read(&format!("{profile}.toml"))?));
        builder = builder.add_source(plain);
        for (key, items) in lists {
            builder = builder.set_override(key, items)?;
        }
        if let Ok(url) = std::env::var("DATABASE_URL")
            && !url.trim().is_empty()
        {
            builder = builder.set_override("database.url", url.trim())?;
        }
        let mut settings = with_flags(builder, flags)?.build()?;
        let ignored = removed::take_out(&mut settings.cache)?;
        let mut config: Self = settings.try_deserialize()?;
        config.ignored = ignored;
        config.data.dir_is_default = config.data.dir == Path::new(DEFAULT_DATA_DIR)
            && std::env::var_os("NYALA__DATA__DIR").is_none()
            && !flags.iter().any(|f| f.starts_with("data.dir="));
        config.mqtt.port_is_default = config.mqtt.port == DEVICE_PORT
            && std::env::var_os("NYALA__MQTT__PORT").is_none()
            && !flags.iter().any(|f| f.starts_with("mqtt.port="));
        config.check()?;
        Ok(config)
    }

    pub fn is_production(&self) -> bool {
        self.profile == Profile::Production
    }

    /// Where the server keeps the port that devices find it by when it was given any free one: commands are other processes.
    pub fn device_port_file(&self) -> PathBuf {
        self.data.dir.join("mqtt.port")
    }

    /// Host under which devices find the server. `None` when it is not configured: in production, or with a wildcard address.
    pub fn device_host(&self) -> Option<&str> {
        let mqtt = &self.mqtt;
        if !mqtt.public_host.is_empty() {
            return Some(&mqtt.public_host);
        }
        let anywhere = mqtt.host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified());
        (!anywhere && !self.is_production()).then_some(mqtt.host.as_str())
    }

    /// Worker threads.
    pub fn workers(&self) -> usize {
        match self.http.workers {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            n => n,
        }
    }

    fn shared_connections(&self) -> share::Connections {
        share::Connections { chosen: self.database.connections, threads: self.workers() }
    }

    /// Connections to the database, everything counted.
    pub fn connections(&self) -> usize {
        self.shared_connections().in_all()
    }

    /// Those of one worker thread.
    ///
    /// # Errors
    /// When too few were chosen for the worker threads; of settings that were loaded that is known.
    pub fn connections_per_thread(&self) -> Result<usize, ConfigError> {
        self.shared_connections().per_thread().map_err(|few| ConfigError::Refused(few.to_string()))
    }
}

fn with_flags(
    mut builder: config::ConfigBuilder<config::builder::DefaultState>,
    flags: &[String],
) -> Result<config::ConfigBuilder<config::builder::DefaultState>, ConfigError> {
    for flag in flags {
        let (key, value) = flag
            .split_once('=')
            .filter(|(k, _)| k.contains('.') || *k == "profile")
            .ok_or_else(|| ConfigError::Flag(flag.clone()))?;
        builder = if LISTS.contains(&key) {
            builder.set_override(key, environment::items(value))?
        } else {
            builder.set_override(key, value)?
        };
    }
    Ok(builder)
}
