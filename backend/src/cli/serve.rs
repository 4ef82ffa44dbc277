//! `nyala serve`: the whole product on one port.

use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::AppState;
use crate::config::Config;
use crate::db::lock::ServerLock;
use crate::db::source::{Purpose, Source};
use crate::server;

/// A private database that dies more often than this in `RESTARTS_WITHIN` is not brought back.
const MAX_RESTARTS: usize = 5;
const RESTARTS_WITHIN: Duration = Duration::from_secs(60);

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Serves until SIGTERM, SIGINT or the loss of the database. The port is bound before anything is started, so that a taken one
/// is told at once.
pub async fn run(mut config: Config) -> Result<(), Failure> {
    let (listener, workers) = (server::bind(&config)?, server::workers(&config));
    let source = Source::open(&mut config, Purpose::Serve)?;
    let state = AppState::build(config, source.url(), workers).await?;
    let lock = ServerLock::take(state.db.config()).await?;
    let (running, handle) = server::start(&state, listener)?;
    let running = actix_web::rt::spawn(running);
    server::open(&state).await?;
    let ended = tokio::select! {
        () = stop_signal() => Ok(()),
        why = keep_database(&state, &source, lock) => Err(why),
        done = running => Err(done.map_or_else(Failure::from, |_| "the HTTP server ended by itself".into())),
    };
    drain(&state, &handle).await;
    // Last, so that what was drained could still be stored.
    drop(source);
    ended
}

async fn stop_signal() {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

/// Unready first, so that a load balancer stops sending; then running requests get their time.
async fn drain(state: &AppState, handle: &ServerHandle) {
    state.set_ready(false);
    tracing::info!(at_most_s = state.config.http.drain_s, "stopping: unready, draining");
    handle.stop(true).await;
}

/// Returns why the process has to end. A private database that died is brought back with its lock; another one's loss is final,
/// because from then on a second server could own it (design: money 11).
async fn keep_database(state: &AppState, source: &Source, mut lock: ServerLock) -> Failure {
    let mut restarts: Vec<Instant> = Vec::new();
    loop {
        lock.lost().await;
        let Some(postgres) = source.embedded() else {
            return "the database connection that holds the server's lock was lost".into();
        };
        restarts.retain(|at| at.elapsed() < RESTARTS_WITHIN);
        if restarts.len() >= MAX_RESTARTS {
            return format!("the private database died {MAX_RESTARTS} times in {} s", RESTARTS_WITHIN.as_secs()).into();
        }
        restarts.push(Instant::now());
        tracing::error!("the private database ended; starting it again");
        lock = match bring_back(state, postgres).await {
            Ok(lock) => lock,
            Err(e) => return e,
        };
        tracing::info!("the private database is back");
    }
}

/// How often, and how far apart, the lock is tried once the database is up: the dead one's connections go away at once.
const LOCK_TRIES: usize = 20;
const LOCK_EVERY: Duration = Duration::from_millis(100);

async fn bring_back(state: &AppState, postgres: &embedded_postgres::Postgres) -> Result<ServerLock, Failure> {
    postgres.restart()?;
    let mut last: Failure = "the lock was not tried".into();
    for _ in 0..LOCK_TRIES {
        match ServerLock::take(state.db.config()).await {
            Ok(lock) => return Ok(lock),
            Err(e) => last = e.into(),
        }
        tokio::time::sleep(LOCK_EVERY).await;
    }
    Err(last)
}
