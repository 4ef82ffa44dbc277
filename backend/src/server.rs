//! The HTTP server and its beginning: bound first, so that a taken port is told before anything else happens.

use std::net::TcpListener;
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::{HttpService, Request, Response, ResponseHead};
use actix_server::{Server, ServerHandle};
use actix_service::map_config;
use actix_socketio::{EngineError, Limits, Origins, SocketIo, Upgrades, set_user_timeout, socket_io};
use actix_web::dev::AppConfig;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::middleware::{Compress, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::{App, web};

use crate::app::AppState;
use crate::auth::pangkas;
use crate::config::Config;
use crate::http::error::AppError;
use crate::http::{cors, envelope, headers, in_flight, request_id};
use crate::mesin::alarm;
use crate::pembelian::pulih;
use crate::router;
use crate::sesi::handler::Sockets;

/// How long an idle connection is kept for the next request.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long the head of a request may take.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
const LINGER: Duration = Duration::from_secs(1);
/// A phone that acknowledges nothing for so long is gone.
const DEAD_PEER: Duration = Duration::from_secs(40);

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("port {port} on {host} is taken; choose another with NYALA__HTTP__PORT or http.port in config/ ({source})")]
    Taken { host: String, port: u16, source: std::io::Error },
    #[error("cannot listen on {host}:{port}; check http.host and http.port ({source})")]
    Other { host: String, port: u16, source: std::io::Error },
}

/// Worker threads that `http.workers` asks for.
pub fn workers(config: &Config) -> usize {
    match config.http.workers {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        n => n,
    }
}

pub fn bind(config: &Config) -> Result<TcpListener, BindError> {
    let (host, port) = (config.http.host.clone(), config.http.port);
    TcpListener::bind((host.as_str(), port)).map_err(|source| match source.kind() {
        std::io::ErrorKind::AddrInUse => BindError::Taken { host, port, source },
        _ => BindError::Other { host, port, source },
    })
}

/// The workers and the customers' sockets.
pub struct Running {
    pub handle: ServerHandle,
    pub sockets: SocketIo<Sockets>,
}

/// Starts the workers on `listener`. Signals are the caller's (`cli::serve`).
///
/// Not actix-web's `HttpServer`: below it, requests for a websocket are handed over as raw connections, so that no HTTP dispatcher
/// and no buffer of it stays behind a session (design: realtime, two steps).
pub fn start(state: &AppState, listener: TcpListener) -> std::io::Result<(Server, Running)> {
    let sockets = socket_io(socket_config(&state.config), Sockets(state.clone()));
    state.metrics.realtime.set_transport(sockets.metrics().clone());
    let upgrades = Upgrades::default().mount(&sockets).otherwise(no_such_socket).before_answer(add_request_id);
    let (shared, polling) = (state.clone(), sockets.clone());
    let service = move || {
        // Runs once on each worker thread: machines' actors live there, beside the sessions that watch them.
        shared.hubs.start(shared.metrics.realtime.clone());
        alarm::start(&shared.jam);
        shared.mesin.add_worker(actix::Arbiter::current());
        let (state, polling) = (shared.clone(), polling.clone());
        let app = App::new()
            .app_data(web::Data::new(state.clone()))
            .wrap(Compress::default())
            .wrap(from_fn(envelope::middleware))
            .wrap(from_fn(cors::middleware))
            .wrap(headers::security())
            .wrap(from_fn(in_flight::middleware))
            .wrap(from_fn(request_id::middleware))
            .configure(|cfg| polling.configure(cfg))
            .configure(|cfg| router::routes(cfg, &state.config));
        HttpService::build()
            .keep_alive(KEEP_ALIVE)
            // A polling request that was given up ends at once.
            .h1_allow_half_closed(false)
            .client_request_timeout(HEAD_WITHIN)
            // What a client still sends after its answer is read for so long, so that the answer arrives.
            .client_disconnect_timeout(LINGER)
            .on_connect_ext(|io: &TcpStream, _| {
                let _ = set_user_timeout(io, DEAD_PEER);
            })
            .upgrade(upgrades.service())
            .h1(map_config(app, |()| AppConfig::default()))
            .tcp()
    };
    let server = Server::build()
        .workers(workers(&state.config))
        .max_concurrent_connections(state.config.http.max_connections)
        .disable_signals()
        .listen("nyala", listener, service)?
        .run();
    let handle = server.handle();
    Ok((server, Running { handle, sockets }))
}

fn socket_config(config: &Config) -> actix_socketio::Config {
    let origins = match config.http.allowed_origins.as_slice() {
        [] => Origins::SameOrigin,
        list => Origins::List(list.to_vec()),
    };
    let limits = Limits {
        max_payload: config.realtime.max_payload_bytes,
        max_sessions: config.realtime.max_sessions,
        ping_interval: Duration::from_secs(config.realtime.ping_interval_s),
        ping_timeout: Duration::from_secs(config.realtime.ping_timeout_s),
        ..Limits::default()
    };
    actix_socketio::Config { origins, limits, error_body: socket_error, ..actix_socketio::Config::default() }
}

/// A websocket is asked for where there is none: the envelope, as for every unknown route.
fn no_such_socket(_: &Request) -> Response<BoxBody> {
    let body = serde_json::json!({ "status": 404, "message": "alamat tidak ditemukan", "data": null }).to_string();
    Response::build(StatusCode::NOT_FOUND).insert_header((CONTENT_TYPE, "application/json")).body(body).map_into_boxed_body()
}

fn add_request_id(_: &Request, head: &mut ResponseHead) {
    if let Ok(id) = HeaderValue::from_str(&uuid::Uuid::new_v4().simple().to_string()) {
        head.headers_mut().insert(request_id::HEADER, id);
    }
}

/// What the sockets' own refusals look like: the envelope of every answer (contract §1).
fn socket_error(error: EngineError) -> String {
    serde_json::json!({ "status": error.status().as_u16(), "message": error.to_string(), "data": null, "code": error.code() })
        .to_string()
}

/// How long the worker threads may take to come up.
const WORKERS_UP: Duration = Duration::from_secs(10);

/// After `start`: open purchases come back to their machines, then the server is ready and lost work is looked for.
pub async fn open(state: &AppState) -> Result<(), AppError> {
    let all = workers(&state.config);
    let up = async {
        while state.mesin.workers() < all {
            actix_web::rt::time::sleep(Duration::from_millis(2)).await;
        }
    };
    actix_web::rt::time::timeout(WORKERS_UP, up).await.map_err(|_| AppError::internal("worker threads did not come up"))?;
    let resumed = pulih::resume(state).await?;
    tracing::info!(resumed, "open purchases resumed");
    actix_web::rt::spawn(pulih::reap_forever(state.clone()));
    actix_web::rt::spawn(pangkas::forever(state.clone()));
    let seats = state.clone();
    actix_web::rt::spawn(async move { seats.kursi.clone().watch(&seats.auth.versi).await });
    state.set_ready(true);
    Ok(())
}
