//! What the peers have in common: the settings, the machines' phases, the countdown and the words of the protocol.
//!
//! Every peer serves Socket.IO over websockets at `/socket.io/`, lets anybody subscribe to `heartbeat/<1..=MACHINES>`, and ticks as
//! Nyala does: an outlet's machines at the same moment, outlets spread over the period, only while somebody watches.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// As the load makes its shops.
const MACHINES_PER_OUTLET: u32 = 8;
const RUN_MS: i64 = 3_600_000;
const STEP_MS: i64 = 10;

/// Engine.IO's first packet, with the intervals of every peer.
pub const OPEN: &str =
    r#"0{"sid":"abcdefghijklmnopqrst","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#;
pub const PING_INTERVAL_MS: i64 = 25_000;
pub const PING_TIMEOUT_MS: i64 = 20_000;
/// The answer to `40{"token":…}`; whatever the token, it is accepted.
pub const CONNECTED: &str = r#"40{"sid":"bcdefghijklmnopqrstu"}"#;

/// From the environment: `PORT`, `MACHINES`, `TICKS_PER_SECOND`.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub port: u16,
    /// Their ids are 1 to this.
    pub machines: u32,
    /// Milliseconds between two ticks of a machine.
    pub period_ms: i64,
}

impl Settings {
    /// Also takes as many descriptors as the system gives.
    ///
    /// # Errors
    /// The variable that is no number or out of range.
    pub fn from_env() -> Result<Self, String> {
        let number = |name: &str, default: u32, max: u32| {
            let text = std::env::var(name).unwrap_or_else(|_| default.to_string());
            let n = text.parse().ok().filter(|n| (1..=max).contains(n));
            n.ok_or_else(|| format!("{name}={text} must be a number from 1 to {max}"))
        };
        let port = number("PORT", 9100, u16::MAX.into())?;
        let settings = Self {
            port: u16::try_from(port).map_err(|e| e.to_string())?,
            machines: number("MACHINES", 1000, 1_000_000)?,
            period_ms: 1000 / i64::from(number("TICKS_PER_SECOND", 1, 100)?),
        };
        let (_, max) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).map_err(|e| e.to_string())?;
        nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, max, max).map_err(|e| e.to_string())?;
        Ok(settings)
    }

    /// Tells whoever started this that it may connect.
    pub fn listening(&self) {
        println!("listening on 127.0.0.1:{}", self.port);
    }
}

/// Epoch milliseconds.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// When the machine ticks within its period, in milliseconds: spread as Nyala spreads its outlets.
pub fn phase_ms(idmesin: u32, period_ms: i64) -> i64 {
    let outlet = u64::from((idmesin - 1) / MACHINES_PER_OUTLET + 1);
    let spread = outlet.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    i64::try_from(spread % 100).unwrap_or(0) * STEP_MS % period_ms
}

/// Every machine runs from the start of the peer on.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    ends_at: i64,
}

/// What is told of a run.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Tick {
    pub tl: i64,
    pub ends_at: i64,
    pub server_time: i64,
}

/// The answer to a subscribe.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Snapshot {
    pub status: u16,
    #[serde(flatten)]
    pub tick: Tick,
}

impl Run {
    pub fn begin() -> Self {
        Self { ends_at: now_ms() + RUN_MS }
    }

    pub fn tick(self) -> Tick {
        let server_time = now_ms();
        Tick { tl: self.ends_at - server_time, ends_at: self.ends_at, server_time }
    }

    pub fn snapshot(self) -> Snapshot {
        Snapshot { status: 200, tick: self.tick() }
    }

    /// The tick as a Socket.IO event.
    pub fn event(self, idmesin: u32) -> String {
        let Tick { tl, ends_at, server_time } = self.tick();
        format!(r#"42["heartbeat/{idmesin}",{{"tl":{tl},"ends_at":{ends_at},"server_time":{server_time}}}]"#)
    }

    /// The acknowledgement number `id` of a subscribe.
    pub fn ack(self, id: u64) -> String {
        let Tick { tl, ends_at, server_time } = self.tick();
        format!(r#"43{id}[{{"status":200,"tl":{tl},"ends_at":{ends_at},"server_time":{server_time}}}]"#)
    }
}

pub fn topic(idmesin: u32) -> String {
    format!("heartbeat/{idmesin}")
}

/// The machine of a topic, when there is one.
pub fn machine_of(topic: &str, machines: u32) -> Option<u32> {
    topic.strip_prefix("heartbeat/")?.parse().ok().filter(|id| (1..=machines).contains(id))
}

/// The acknowledgement's number and the machine of `42<n>["subscribe","heartbeat/<id>"]`.
pub fn subscribe_of(packet: &str, machines: u32) -> Option<(u64, u32)> {
    let (id, arguments) = packet.strip_prefix("42")?.split_once('[')?;
    let topic = arguments.strip_prefix(r#""subscribe",""#)?.strip_suffix(r#""]"#)?;
    Some((id.parse().ok()?, machine_of(topic, machines)?))
}

/// Who ticks when: the machines by their moment in the period, over and over.
#[derive(Debug)]
pub struct Schedule {
    /// Sorted.
    phases: Vec<(i64, Vec<u32>)>,
    at: usize,
    period_begins: i64,
    period_ms: i64,
}

impl Schedule {
    pub fn new(settings: Settings) -> Self {
        let mut phases = std::collections::BTreeMap::<i64, Vec<u32>>::new();
        for idmesin in 1..=settings.machines {
            phases.entry(phase_ms(idmesin, settings.period_ms)).or_default().push(idmesin);
        }
        let period_begins = (now_ms() / settings.period_ms + 1) * settings.period_ms;
        Self { phases: phases.into_iter().collect(), at: 0, period_begins, period_ms: settings.period_ms }
    }

    /// When the next machines tick, in epoch milliseconds.
    pub fn due(&self) -> i64 {
        self.period_begins + self.phases[self.at].0
    }

    /// The machines that tick next; afterwards come those behind them.
    pub fn take(&mut self) -> &[u32] {
        let taken = self.at;
        self.at += 1;
        if self.at == self.phases.len() {
            (self.at, self.period_begins) = (0, self.period_begins + self.period_ms);
        }
        &self.phases[taken].1
    }
}
