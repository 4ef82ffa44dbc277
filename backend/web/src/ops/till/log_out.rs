//! `POST /ops/v1/keluar`: ends the session, and its sockets.

use actix_web::{HttpResponse, web};
use nyala_identity::staff::Staff;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Seller;

/// Ends this session.
#[utoipa::path(
    post, path = "/ops/v1/keluar", tag = "kasir", security(("session" = [])),
    responses((status = 200, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn keluar(seller: Seller, staff: web::Data<Staff>) -> Result<HttpResponse, AppError> {
    staff.leave(seller.till.session).await?;
    Ok(answer::ok(None::<()>))
}
