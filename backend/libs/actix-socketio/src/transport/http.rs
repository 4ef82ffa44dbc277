//! HTTP resource for both transports: the common part of their requests.

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::Method;
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};

#[cfg(feature = "actors")]
use super::actors;
use super::polling;
use crate::engine::{Engine, EngineError, Query, Transport, Upper, Verdict};

pub(crate) fn route<U: Upper>(engine: &Engine<U>, service: &mut ServiceConfig) {
    let engine = engine.clone();
    let path = engine.config().path.clone();
    let handler = move |request: HttpRequest, body: Payload| {
        let engine = engine.clone();
        async move { serve(&engine, request, body).await }
    };
    service.service(web::resource(path).route(web::route().to(handler)));
}

async fn serve<U: Upper>(engine: &Engine<U>, request: HttpRequest, body: Payload) -> HttpResponse {
    #[cfg(feature = "actors")]
    if actors::asks_for_websocket(&request) {
        return actors::admit(engine, &request, body).unwrap_or_else(|error| refuse(engine, error));
    }
    let verdict = engine.verdict(request.headers(), request.peer_addr());
    let mut response = if verdict == Verdict::Refused {
        refuse(engine, EngineError::Forbidden)
    } else if request.method() == Method::OPTIONS {
        preflight()
    } else {
        match dispatch(engine, &request, body).await {
            Ok(response) => response,
            Err(error) => refuse(engine, error),
        }
    };
    add_cors(&verdict, response.headers_mut());
    response
}

async fn dispatch<U: Upper>(engine: &Engine<U>, request: &HttpRequest, body: Payload) -> Result<HttpResponse, EngineError> {
    let query = Query::parse(request.query_string(), &engine.config().sid_prefix)?;
    match query.transport {
        // Such a request did not ask for an upgrade, or needs `Upgrades` because the feature `actors` is off.
        Transport::Websocket => Err(EngineError::BadRequest),
        Transport::Polling => match (request.method(), query.sid) {
            (&Method::GET, None) => polling::open(engine, request),
            (&Method::GET, Some(sid)) => polling::get(engine.find(sid)?).await,
            (&Method::POST, Some(sid)) => polling::post(engine, engine.find(sid)?, request, body).await,
            (_, None) => Err(EngineError::BadHandshakeMethod),
            (_, Some(_)) => Err(EngineError::BadRequest),
        },
    }
}

fn refuse<U: Upper>(engine: &Engine<U>, error: EngineError) -> HttpResponse {
    error_response(engine, error).into()
}

/// The answer to a refused request.
pub(super) fn error_response<U: Upper>(engine: &Engine<U>, error: EngineError) -> Response<BoxBody> {
    let body = (engine.config().error_body)(error);
    let mut response = Response::build(error.status());
    let retry_s = match error {
        // By then, each of these sessions has joined or is closed.
        EngineError::TooManyUnjoined => Some(engine.limits().connect_timeout.as_secs().max(1)),
        EngineError::NoRoom => Some(1),
        _ => None,
    };
    if let Some(retry_s) = retry_s {
        response.insert_header((header::RETRY_AFTER, retry_s));
    }
    response.content_type("application/json").body(body).map_into_boxed_body()
}

/// The answer to a browser's CORS preflight before its POST.
fn preflight() -> HttpResponse {
    HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "600"))
        .finish()
}

fn add_cors(verdict: &Verdict, headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let Verdict::Cross { allow, credentials } = verdict else {
        return;
    };
    if let Ok(allow) = HeaderValue::from_str(allow) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allow);
    }
    if *credentials {
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    }
}
