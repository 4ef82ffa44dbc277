//! Who somebody is: numbers, passwords, one-time codes, tokens and the limits before them
//! (docs/decisions/0018-a-guess-is-refused-before-it-is-hashed.md).

pub mod argon;
pub mod change_password;
pub mod code;
mod code_limits;
pub mod code_try;
mod fair_queue;
pub mod known_phone;
pub mod line;
pub mod login_limits;
pub mod password;
mod recent;
pub mod requester;
mod reset_alarm;
pub mod session;
pub mod token;

use prometheus_client::metrics::gauge::Gauge;

use crate::config::ServerSettings;
use crate::secrets::Secrets;

/// What authentication keeps in memory.
pub struct AuthState {
    pub tokens: token::Tokens,
    pub versions: session::Versions,
    pub known_phones: known_phone::KnownPhones,
    pub login_limits: login_limits::LoginLimits,
    pub reset_alarm: reset_alarm::ResetAlarm,
    code_limits: code_limits::CodeLimits,
    passwords: password::Workers,
}

impl AuthState {
    /// Starts the password threads.
    pub fn new(secrets: &Secrets, config: &ServerSettings) -> std::io::Result<Self> {
        let login_limits = login_limits::LoginLimits::new(&config.auth);
        Ok(Self {
            tokens: token::Tokens::new(secrets, config.auth.token_days),
            versions: session::Versions::default(),
            known_phones: known_phone::KnownPhones::new(secrets, config.is_production()),
            reset_alarm: reset_alarm::ResetAlarm::new(&config.auth),
            code_limits: code_limits::CodeLimits::new(&config.auth),
            passwords: password::Workers::start(login_limits.refused().clone())?,
            login_limits,
        })
    }

    /// How many passwords wait to be hashed, for the metrics.
    pub fn waiting_passwords(&self) -> &Gauge {
        self.passwords.waiting()
    }
}
