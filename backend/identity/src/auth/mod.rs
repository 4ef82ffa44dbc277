//! Authentication of customers: numbers, passwords, one-time codes, tokens and the limits before them
//! (docs/decisions/0018-a-guess-is-refused-before-it-is-hashed.md).

pub mod account;
pub mod argon;
pub mod change_password;
pub mod code;
mod code_limits;
pub mod code_purpose;
pub mod code_try;
pub mod deletion;
pub mod error;
mod fair_queue;
pub mod known_phone;
pub mod lane;
pub mod login_limits;
pub mod number_move;
pub mod password;
pub mod requester;
mod reset_alarm;
pub mod sent_codes;
pub mod session;
pub mod token;

use actix_web::http::header::{HeaderMap, HeaderValue};
use nyala_cluster::Ownership;
use nyala_core::domain::address::Address;
use nyala_core::domain::id::CustomerId;
use nyala_store::config::{AuthSettings, ServerSettings};
use nyala_store::db::Store;
use nyala_store::secrets::Keyring;
use prometheus_client::metrics::gauge::Gauge;

use crate::whatsapp::WhatsApp;
use error::AuthError;
use requester::Requester;

/// One instance for the whole process.
pub struct Auth {
    pub tokens: token::Tokens,
    pub versions: session::Versions,
    pub known_phones: known_phone::KnownPhones,
    pub login_limits: login_limits::LoginLimits,
    pub reset_alarm: reset_alarm::ResetAlarm,
    pub sent_codes: sent_codes::SentCodes,
    code_limits: code_limits::CodeLimits,
    passwords: password::Workers,
    store: Store,
    whatsapp: WhatsApp,
    /// Has the key of the codes' HMAC.
    keyring: Keyring,
    settings: AuthSettings,
    codes: code::Codes,
}

impl Auth {
    /// Starts the password threads.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn new(
        keyring: Keyring,
        config: &ServerSettings,
        store: Store,
        whatsapp: WhatsApp,
        servers: &Ownership,
    ) -> std::io::Result<Self> {
        let login_limits = login_limits::LoginLimits::new(&config.auth, servers.clone());
        Ok(Self {
            tokens: token::Tokens::new(keyring.clone(), config.auth.token_days),
            versions: session::Versions::default(),
            known_phones: known_phone::KnownPhones::new(keyring.clone(), config.is_production()),
            reset_alarm: reset_alarm::ResetAlarm::new(&config.auth, servers.clone()),
            sent_codes: sent_codes::SentCodes::new(&config.auth),
            code_limits: code_limits::CodeLimits::new(&config.auth),
            passwords: password::Workers::start(login_limits.refused().clone())?,
            login_limits,
            store,
            whatsapp,
            keyring,
            settings: config.auth.clone(),
            codes: code::Codes::default(),
        })
    }

    /// The requester behind `address` and these headers.
    pub fn requester(&self, address: Address, headers: &HeaderMap) -> Requester {
        Requester { address, phone: self.known_phones.of_headers(headers, self.store.now()) }
    }

    /// A token of version `version` for customer `id`, valid from now.
    ///
    /// # Errors
    /// As [`token::Tokens::mint`].
    pub fn token(&self, id: CustomerId, version: i32) -> Result<String, AuthError> {
        self.tokens.mint(id, version, self.store.now())
    }

    /// The cookies that make a phone known from now on; `headers` are those of its request.
    ///
    /// # Errors
    /// As [`known_phone::KnownPhones::cookies`].
    pub fn phone_cookies(
        &self,
        id: CustomerId,
        version: i32,
        over_tls: bool,
        headers: &HeaderMap,
    ) -> Result<Vec<HeaderValue>, AuthError> {
        self.known_phones.cookies(id, version, over_tls, headers, self.store.now())
    }

    /// Codes passed to WhatsApp, by result, for the metrics.
    pub fn codes(&self) -> &code::Codes {
        &self.codes
    }

    /// Number of passwords that wait to be hashed, for the metrics.
    pub fn waiting_passwords(&self) -> &Gauge {
        self.passwords.waiting()
    }
}
