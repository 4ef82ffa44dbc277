//! What the port answers while the server waits for the clock: 503, and that it is alive.

use std::net::TcpListener;

use actix_web::dev::ServerHandle;
use actix_web::http::StatusCode;
use actix_web::middleware::from_fn;
use actix_web::{App, HttpRequest, HttpServer, web};

use nyala_web::http::answer::{done, with_status};
use nyala_web::http::{headers, request_id};

/// Seconds that a connection has to get its last answer.
const LAST_ANSWERS_S: u64 = 1;

/// Answers on `listener` until the handle is stopped; the listener itself stays open.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(listener: &TcpListener) -> std::io::Result<ServerHandle> {
    let answer = |req: HttpRequest| async move {
        match req.path() {
            "/healthz" => done("OK"),
            _ => with_status(StatusCode::SERVICE_UNAVAILABLE, "menunggu jam basis data", None::<()>),
        }
    };
    let server = HttpServer::new(move || {
        let app = App::new().wrap(from_fn(headers::middleware)).wrap(from_fn(request_id::middleware));
        app.default_service(web::to(answer))
    })
    .workers(1)
    .disable_signals()
    .shutdown_timeout(LAST_ANSWERS_S)
    .listen(listener.try_clone()?)?
    .run();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    Ok(handle)
}
