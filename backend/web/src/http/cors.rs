//! CORS for pages of other origins (`http.allowed_origins`; the Fetch standard, CORS protocol). Tokens are sent in a header, so
//! credentials are not allowed. An origin that is not listed gets no permission.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};

use nyala_store::config::HttpSettings;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type, idempotency-key, x-request-id");
const READABLE_HEADERS: HeaderValue = HeaderValue::from_static("retry-after, x-request-id");
/// Seconds for which a browser may cache a permission.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("600");

pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let Some(origin) = allowed_origin(&req) else {
        return next.call(req).await.map(ServiceResponse::map_into_left_body);
    };
    if req.method() == Method::OPTIONS && req.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        let mut permission = HttpResponse::NoContent();
        permission.insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, METHODS));
        permission.insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS));
        permission.insert_header((header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_S));
        let mut res = req.into_response(permission.finish());
        permit(res.headers_mut(), origin);
        return Ok(res.map_into_right_body());
    }
    let mut res = next.call(req).await?;
    res.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE_HEADERS);
    permit(res.headers_mut(), origin);
    Ok(res.map_into_left_body())
}

fn permit(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

/// The request's origin, when the settings list it. Socket.IO, which polls across origins, handles its own requests.
fn allowed_origin(req: &ServiceRequest) -> Option<HeaderValue> {
    let origin = req.headers().get(header::ORIGIN).filter(|_| !req.path().starts_with("/socket.io"))?;
    let listed = &req.app_data::<web::Data<HttpSettings>>()?.allowed_origins;
    listed.iter().any(|o| o.as_str().as_bytes().eq_ignore_ascii_case(origin.as_bytes())).then(|| origin.clone())
}
