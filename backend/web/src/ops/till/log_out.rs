//! `POST /ops/v1/keluar`: ends the session, and its sockets.

use actix_web::{HttpResponse, web};
use nyala_core::domain::role::ANYBODY;
use nyala_identity::staff::Staff;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::{Minimal, at_till};

/// Ends this session.
#[utoipa::path(
    post, path = "/ops/v1/keluar", tag = "kasir", security(("session" = [])),
    responses((status = 200, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn keluar(by: Minimal<ANYBODY>, staff: web::Data<Staff>) -> Result<HttpResponse, AppError> {
    staff.leave(at_till(&by.0)?.session).await?;
    Ok(answer::ok(None::<()>))
}
