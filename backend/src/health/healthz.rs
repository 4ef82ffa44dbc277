//! `GET /healthz`: the process answers, and each of its threads turns.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};

use crate::http::answer::{Empty, done, with_status};
use crate::machine::threads::Threads;

/// 200 as long as every worker thread turns; 503 when one has not for ten seconds: then restart it. Says nothing of the database.
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, body = Empty), (status = 503, body = Empty, description = "A worker thread hangs: restart the server"))
)]
pub async fn healthz(threads: web::Data<Threads>) -> HttpResponse {
    match threads.stuck() {
        0 => done("OK"),
        stuck => with_status(StatusCode::SERVICE_UNAVAILABLE, &format!("{stuck} utas kerja macet"), None::<()>),
    }
}
