//! What no route has taken: a known address with another method, a file or page of the app, or nothing.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use nyala_store::config::HttpSettings;
use nyala_web::http::answer::with_status;
use nyala_web::http::error::AppError;

use super::{files, openapi};

pub async fn unrouted(
    req: HttpRequest,
    http: web::Data<HttpSettings>,
    built: web::Data<files::Built>,
) -> Result<HttpResponse, AppError> {
    match req.match_pattern() {
        Some(pattern) => Ok(wrong_method(&req, openapi::methods(&pattern))),
        None => files::serve(&req, &http.app_dir, &built),
    }
}

fn wrong_method(req: &HttpRequest, allowed: &'static str) -> HttpResponse {
    let message = format!("alamat ini tidak menerima {}; yang diterima: {allowed}", req.method());
    let mut answer = with_status(StatusCode::METHOD_NOT_ALLOWED, &message, None::<()>);
    answer.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(allowed));
    answer
}
