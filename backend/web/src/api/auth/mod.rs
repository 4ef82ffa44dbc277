//! Login, logout, registration, one-time codes (docs/contract.md §1).

pub mod customer;
pub mod forgot_password;
pub mod login;
pub mod logout;
pub mod register;
pub mod request_otp;
pub mod request_otp_forgot_password;

use actix_web::http::header::SET_COOKIE;
use actix_web::web::{ServiceConfig, post};
use actix_web::{HttpRequest, HttpResponse};
use nyala_core::domain::id::CustomerId;
use nyala_identity::auth::Auth;
use nyala_identity::auth::requester::Requester;
use nyala_store::config::HttpSettings;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::ok_with;
use crate::http::client_ip::{counted, over_tls};
use crate::http::error::AppError;

/// The data of an answer that logs in.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenData {
    /// A JWT whose claims hold `id_customer_global`.
    pub token: String,
}

/// The response that logs in customer `id`: a token of version `version`. From now on the phone is known.
pub fn logged_in(
    auth: &Auth,
    http: &HttpSettings,
    req: &HttpRequest,
    message: &str,
    id: CustomerId,
    version: i32,
) -> Result<HttpResponse, AppError> {
    let mut answer = ok_with(message, TokenData { token: auth.token(id, version)? });
    remember_phone(auth, http, req, &mut answer, id, version)?;
    Ok(answer)
}

/// Marks the requesting phone as known for customer `id`, who has just authenticated.
pub fn remember_phone(
    auth: &Auth,
    http: &HttpSettings,
    req: &HttpRequest,
    answer: &mut HttpResponse,
    id: CustomerId,
    version: i32,
) -> Result<(), AppError> {
    for cookie in auth.phone_cookies(id, version, over_tls(req, http), req.headers())? {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(())
}

/// The requester, as the limits see it.
pub fn requester(req: &HttpRequest, auth: &Auth, http: &HttpSettings) -> Requester {
    auth.requester(counted(req, &http.trusted_proxies), req.headers())
}

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/login", post().to(login::login))
        .route("/logout", post().to(logout::logout))
        .route("/register", post().to(register::register))
        .route("/request_otp", post().to(request_otp::request_otp))
        .route("/request_otp_forgot_password", post().to(request_otp_forgot_password::request_otp_forgot_password))
        .route("/forgot_password", post().to(forgot_password::forgot_password));
}
