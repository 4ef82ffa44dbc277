//! Logging in: numbers, passwords, one-time codes and tokens (contract §1; design: money, security).

mod change_password;
pub mod forgot_password;
pub mod kode;
pub mod login;
pub mod pangkas;
pub mod password;
pub mod pelanggan;
pub mod register;
pub mod request_otp;
pub mod request_otp_forgot_password;
pub mod sesi;
pub mod token;

pub use change_password::{Change, change_password};

use actix_web::web::{ServiceConfig, post};
use prometheus_client::metrics::gauge::Gauge;
use serde::Serialize;
use utoipa::ToSchema;

use crate::secrets::Secrets;

/// What authentication keeps in memory.
pub struct Auth {
    pub tokens: token::Tokens,
    pub versi: sesi::Versi,
    sandi: password::Worker,
}

impl Auth {
    /// `token_days` is how long a token lives. Starts the password thread.
    pub fn new(secrets: &Secrets, token_days: i64) -> std::io::Result<Self> {
        Ok(Self {
            tokens: token::Tokens::new(secrets, token_days),
            versi: sesi::Versi::default(),
            sandi: password::Worker::start()?,
        })
    }

    /// How many passwords wait to be hashed, for the metrics.
    pub fn waiting_passwords(&self) -> &Gauge {
        self.sandi.waiting()
    }
}

/// The data of an answer that logs in.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenData {
    /// A JWT whose claims hold `id_customer_global`.
    pub token: String,
}

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/login", post().to(login::login))
        .route("/register", post().to(register::register))
        .route("/request_otp", post().to(request_otp::request_otp))
        .route("/request_otp_forgot_password", post().to(request_otp_forgot_password::request_otp_forgot_password))
        .route("/forgot_password", post().to(forgot_password::forgot_password));
}
