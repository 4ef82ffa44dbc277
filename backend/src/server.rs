//! The HTTP server and its beginning: bound first, so that a taken port is told before anything else happens.

use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::{Compress, from_fn};
use actix_web::{App, HttpServer, web};

use crate::app::AppState;
use crate::config::Config;
use crate::http::error::AppError;
use crate::http::{headers, request_id};
use crate::pembelian::pulih;
use crate::router;

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

/// Starts the workers on `listener`. Signals are the caller's (`cli::serve`).
pub fn start(state: &AppState, listener: TcpListener) -> std::io::Result<(Server, ServerHandle)> {
    let shared = state.clone();
    let server = HttpServer::new(move || {
        // Runs once on each worker thread: machines' actors live there, beside the sessions that watch them.
        shared.mesin.add_worker(actix::Arbiter::current());
        App::new()
            .app_data(web::Data::new(shared.clone()))
            .wrap(Compress::default())
            .wrap(headers::security())
            .wrap(from_fn(request_id::middleware))
            .configure(|cfg| router::routes(cfg, &shared.config))
    })
    .workers(workers(&state.config))
    .max_connections(state.config.http.max_connections)
    .shutdown_timeout(state.config.http.drain_s)
    .disable_signals()
    .listen(listener)?
    .run();
    let handle = server.handle();
    Ok((server, handle))
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
    state.set_ready(true);
    Ok(())
}
