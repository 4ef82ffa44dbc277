//! `GET /healthz`: the process responds, and each of its threads runs.

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_machines::threads::Threads;
use nyala_store::config::HttpSettings;

use super::access;
use super::reasons::Reasons;
use crate::http::answer::Empty;

/// 200 while every worker thread responds; 503 when one has not responded for ten seconds: restart the server then. The database does not
/// matter here.
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, body = Empty), (status = 503, body = Empty, description = "A worker thread hangs: restart the server"))
)]
pub async fn healthz(
    req: HttpRequest,
    http: web::Data<HttpSettings>,
    threads: web::Data<Threads>,
    reasons: web::Data<Reasons>,
) -> HttpResponse {
    let stuck = threads.stuck();
    let why_not = (stuck > 0).then(|| format!("{stuck} utas kerja macet"));
    reasons.healthy(why_not.as_deref());
    access::respond(&req, &http, why_not.as_deref(), "tidak sehat")
}
