//! Logging in: numbers, passwords, one-time codes and tokens (docs/contract.md §1;
//! docs/decisions/0018-a-guess-is-refused-before-it-is-hashed.md).

pub mod argon;
mod change_password;
pub mod code;
mod code_limits;
pub mod code_try;
pub mod customer;
mod fair_queue;
pub mod forgot_password;
pub mod known_phone;
pub mod line;
pub mod login;
mod login_limits;
pub mod logout;
pub mod password;
mod recent;
pub mod register;
pub mod request_otp;
pub mod request_otp_forgot_password;
pub mod requester;
mod reset_alarm;
pub mod session;
pub mod token;

pub use change_password::{PasswordChange, change_password};

use actix_web::web::{ServiceConfig, post};
use actix_web::{HttpRequest, HttpResponse};
use prometheus_client::metrics::gauge::Gauge;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::AppState;
use crate::config::ServerSettings;
use crate::http::answer::ok_with;
use crate::http::client_ip::over_tls;
use crate::http::error::AppError;
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

/// The data of an answer that logs in.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenData {
    /// A JWT whose claims hold `id_customer_global`.
    pub token: String,
}

/// The answer that logs customer `id` in: a token of version `version`, and the phone is known from now on.
pub fn logged_in(state: &AppState, req: &HttpRequest, message: &str, id: i64, version: i32) -> Result<HttpResponse, AppError> {
    let token = state.auth.tokens.mint(id, version, state.clock.now())?;
    let mut answer = ok_with(message, TokenData { token });
    remember_phone(state, req, &mut answer, id, version)?;
    Ok(answer)
}

/// Makes the phone that asked known as one of customer `id`, who has just proved to be that.
pub fn remember_phone(
    state: &AppState,
    req: &HttpRequest,
    answer: &mut HttpResponse,
    id: i64,
    version: i32,
) -> Result<(), AppError> {
    let over_tls = over_tls(req, &state.config.http.trusted_proxies);
    state.auth.known_phones.remember(answer, id, version, over_tls, state.clock.now())
}

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/login", post().to(login::login))
        .route("/logout", post().to(logout::logout))
        .route("/register", post().to(register::register))
        .route("/request_otp", post().to(request_otp::request_otp))
        .route("/request_otp_forgot_password", post().to(request_otp_forgot_password::request_otp_forgot_password))
        .route("/forgot_password", post().to(forgot_password::forgot_password));
}
