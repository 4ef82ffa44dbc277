//! `GET /.well-known/security.txt` (RFC 9116): where to report a weakness of this installation.

use actix_web::HttpResponse;
use actix_web::web::{self, ServiceConfig, get};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;

use crate::http::answer::Empty;
use crate::http::error::AppError;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// From the request on, so that no file that is served has expired. The RFC recommends less than a year.
const VALID_DAYS: i64 = 180;

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/.well-known/security.txt", get().to(security_txt));
}

/// The contact in `http.security_contact`, and until when it is good.
#[utoipa::path(
    get, path = "/.well-known/security.txt", tag = "health",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = Empty, description = "`http.security_contact` is empty")
    )
)]
pub async fn security_txt(http: web::Data<HttpSettings>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    if http.security_contact.is_empty() {
        return Err(AppError::NotFound("alamat tidak ditemukan"));
    }
    let expires = store.now().plus_ms(VALID_DAYS * DAY_MS).rfc3339();
    let text = format!("Contact: {}\nExpires: {expires}\nPreferred-Languages: id, en\n", http.security_contact);
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(text))
}
