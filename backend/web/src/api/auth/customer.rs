//! The logged-in customer as an argument of a handler.

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest, web};
use futures_util::future::LocalBoxFuture;
use nyala_core::domain::id::CustomerId;
use nyala_identity::auth::Auth;
use nyala_identity::auth::session::{Session, authenticate};

use crate::http::error::AppError;

/// The customer of the request's bearer token; 401 without a valid one.
#[derive(Debug, Clone, Copy)]
pub struct Customer {
    pub id: CustomerId,
}

impl FromRequest for Customer {
    type Error = AppError;
    type Future = LocalBoxFuture<'static, Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let login = Login::from_request(req, payload);
        Box::pin(async move { Ok(Self { id: login.await?.0.id }) })
    }
}

/// The login that the request's bearer token belongs to; 401 without a valid one.
#[derive(Debug)]
pub struct Login(pub Session);

impl FromRequest for Login {
    type Error = AppError;
    type Future = LocalBoxFuture<'static, Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let auth = req.app_data::<web::Data<Auth>>().cloned();
        let token = bearer(req).map(str::to_owned);
        Box::pin(async move {
            let auth = auth.ok_or_else(|| AppError::internal("the app has no Auth"))?;
            Ok(Self(authenticate(&auth, &token.ok_or(AppError::Unauthorized)?).await?))
        })
    }
}

/// The token of `Authorization: Bearer …` (RFC 6750 §2.1; the scheme in any case, RFC 9110 §11.1).
pub fn bearer(req: &HttpRequest) -> Option<&str> {
    let value = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
