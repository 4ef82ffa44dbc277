//! `GET /scan/v1/push/kunci`: the key that a browser subscribes with.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;
use crate::push::Push;

#[derive(Debug, Serialize, ToSchema)]
pub struct KunciPush {
    /// The public key of this server (VAPID): an uncompressed point of P-256, base64url without padding.
    #[schema(min_length = 87, max_length = 87)]
    kunci: String,
}

impl KunciPush {
    pub fn of(push: &Push) -> Result<Self, AppError> {
        let (_, kunci) = push.key().map_err(AppError::internal)?;
        Ok(Self { kunci })
    }
}

/// The server's key, for `pushManager.subscribe`.
#[utoipa::path(
    get, path = "/scan/v1/push/kunci", tag = "push", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<KunciPush>))
)]
pub async fn kunci(push: web::Data<Push>, _: Customer) -> Result<HttpResponse, AppError> {
    Ok(ok(KunciPush::of(&push)?))
}
