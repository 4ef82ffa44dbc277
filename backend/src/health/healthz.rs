//! `GET /healthz`: the process answers.

use actix_web::HttpResponse;

use crate::http::answer::{Empty, done};

/// 200 as long as the process answers at all; says nothing of the database.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Empty)))]
pub async fn healthz() -> HttpResponse {
    done("OK")
}
