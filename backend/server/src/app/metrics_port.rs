//! `http.metrics_port`: serves `/metrics` to every client that reaches that port, and nothing else.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_server::ServerBuilder;
use actix_service::{ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::{App, web};
use nyala_web::health::metrics;
use nyala_web::http::connection::{self, Connection, Connections, HEAD_WITHIN};
use nyala_web::http::error::AppError;
use nyala_web::http::{envelope, headers, request_id};

use super::AppState;
use super::listener::listen;
use super::server::KEEP_ALIVE;

/// Has the workers serve it, where it is set. Its connections count with all others.
///
/// # Errors
/// When the port is taken or not to be had.
pub fn serve(builder: ServerBuilder, state: &Arc<AppState>, connections: &Connections) -> std::io::Result<ServerBuilder> {
    let http = &state.config.http;
    let (host, port) = (&http.host, http.metrics_port);
    if port == 0 {
        return Ok(builder);
    }
    let listener = listen((host, port), http.backlog).map_err(|e| {
        Error::new(e.kind(), format!("cannot listen on {host}:{port} for /metrics; check http.metrics_port ({e})"))
    })?;
    let (shared, connections) = (state.clone(), connections.clone());
    builder.listen("metrics", listener, move || {
        let state = shared.clone();
        let app = App::new()
            .wrap(from_fn(envelope::middleware))
            .wrap(from_fn(headers::middleware))
            .wrap(from_fn(request_id::middleware))
            .wrap(from_fn(connection::middleware))
            .configure(|cfg| state.provide(cfg))
            .service(web::resource("/metrics").get(metrics::at_own_port))
            .default_service(web::to(async || Err::<&str, _>(AppError::NotFound("alamat tidak ditemukan"))));
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(HEAD_WITHIN)
            .on_connect_ext(|connection: &Connection, data| {
                data.insert(connection.intake());
            })
            .h1(map_config(app, |()| AppConfig::default()));
        let connections = connections.clone();
        fn_service(move |io: TcpStream| {
            let peer = io.peer_addr().ok();
            std::future::ready(match connections.enter(peer.map(|peer| peer.ip())) {
                Some(place) => Ok((Connection::new(io, Some(place)), peer)),
                None => Err(DispatchError::Io(ErrorKind::ConnectionRefused.into())),
            })
        })
        .and_then(http)
    })
}
