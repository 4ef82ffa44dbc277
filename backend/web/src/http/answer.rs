//! The envelope of every JSON answer (docs/contract.md §1).

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// `{"status": <the HTTP status>, "message": "<text>", "data": <object, array or null>}`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer<T> {
    /// The HTTP status again.
    pub status: u16,
    pub message: String,
    pub data: T,
}

/// An envelope whose `data` is always null: refusals, and confirmations without data.
#[derive(Debug, Serialize, ToSchema)]
pub struct Empty {
    /// The HTTP status again.
    pub status: u16,
    pub message: String,
    #[schema(value_type = Option<Object>, required)]
    pub data: Option<()>,
}

/// 200 with a message and no data.
pub fn done(message: &str) -> HttpResponse {
    HttpResponse::Ok().json(Empty { status: 200, message: message.to_owned(), data: None })
}

/// 200 with `data`.
pub fn ok<T: Serialize>(data: T) -> HttpResponse {
    ok_with("OK", data)
}

/// 200 with `data` and the given message.
pub fn ok_with<T: Serialize>(message: &str, data: T) -> HttpResponse {
    with_status(StatusCode::OK, message, data)
}

pub fn with_status<T: Serialize>(status: StatusCode, message: &str, data: T) -> HttpResponse {
    HttpResponse::build(status).json(Answer { status: status.as_u16(), message: message.to_owned(), data })
}
