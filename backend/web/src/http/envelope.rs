//! Envelope (docs/contract.md §1) for refusals of the framework itself, such as a range outside of a file.

use actix_web::Error;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header};
use actix_web::middleware::Next;

use super::answer::with_status;

pub async fn middleware<B: MessageBody + 'static>(req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<BoxBody>, Error> {
    let res = next.call(req).await?.map_into_boxed_body();
    if !is_bare(&res) {
        return Ok(res);
    }
    let status = res.status();
    let message = match status {
        StatusCode::RANGE_NOT_SATISFIABLE => "bagian berkas yang diminta tidak ada",
        StatusCode::METHOD_NOT_ALLOWED => "cara memanggil alamat ini tidak sesuai",
        StatusCode::PAYLOAD_TOO_LARGE => "isi permintaan terlalu besar",
        _ => "permintaan ditolak, periksa isinya",
    };
    Ok(res.into_response(with_status(status, message, None::<()>)))
}

/// Whether a refusal has neither an envelope nor a page. Socket.IO has its own refusals.
fn is_bare(res: &ServiceResponse<BoxBody>) -> bool {
    let refused = res.status().is_client_error() || res.status().is_server_error();
    let kind = res.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let is_readable = kind.starts_with("application/json") || kind.starts_with("text/html");
    refused && !is_readable && !res.request().path().starts_with("/socket.io")
}
