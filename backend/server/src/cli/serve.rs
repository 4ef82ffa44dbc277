//! `nyala serve`: the port, the database, the schema, the demo, the workers; and all of it down again on SIGTERM.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_socketio::host::vital;
use clap::Args;
use embedded_postgres::{Postgres, Restarts};
use nyala_cluster::node;
use nyala_store::backup::service::BackupService;
use nyala_store::config::ServerSettings;
use nyala_store::db::instance;
use nyala_store::db::late_clock::{self, Behind};
use nyala_store::db::lock::{self, Part, ServerLock};
use nyala_store::db::pool;
use nyala_store::db::source::{self, Purpose, Source};
use nyala_store::telemetry;
use nyala_web::ops::people::customers_bulk as pelanggan_bulk;
use tokio::signal::unix::{SignalKind, signal};
use tokio_postgres::Client;

use super::{CommonArgs, Failure, NewDatabase, context, descriptors, profile, service_manager};
use crate::app::AppState;
use crate::app::devices;
use crate::app::key_file::KeyFile;
use crate::app::server::{self, RunningServer};
use crate::app::waiting;
use crate::demo::{self, Seeded};

/// Time for sockets to close after SIGTERM.
const SOCKETS_GONE: Duration = Duration::from_secs(5);
/// Between a defect in the backup and its next start.
const BACKUP_AGAIN: Duration = Duration::from_secs(30);
/// For what is written already to leave.
const LAST_BYTES: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct Serve {
    /// Address to listen on; the same as --set http.host=
    #[arg(long)]
    host: Option<String>,
    /// Port to listen on; the same as --set http.port=
    #[arg(long)]
    port: Option<u16>,
    /// The clock is right now, and was ahead when the newest entries were written: start although it seems to be behind. Stays in
    /// the audit log; later starts need it no more
    #[arg(long)]
    clock_is_right: bool,
    #[command(flatten)]
    new: NewDatabase,
}

impl Serve {
    pub fn run(self, mut common: CommonArgs) -> Result<(), Failure> {
        common.set.extend(self.host.map(|host| format!("http.host={host}")));
        common.set.extend(self.port.map(|port| format!("http.port={port}")));
        let config = context::settings(&common)?;
        telemetry::init(&config.log)?;
        for setting in &config.ignored {
            tracing::warn!(setting, "removed setting ignored: it is empty and has no effect, delete it");
        }
        raise_descriptor_limit();
        let ended = actix_web::rt::System::new().block_on(serve(config, self.clock_is_right, self.new.new_database));
        telemetry::finish();
        ended
    }
}

fn raise_descriptor_limit() {
    match descriptors::raise() {
        Ok(descriptors) => tracing::info!(descriptors, "open files allowed"),
        Err(e) => tracing::warn!(error = %e, "the limit of open files cannot be raised"),
    }
}

/// Serves until SIGTERM, SIGINT or the loss of the database. The port is bound before anything is started, so that a taken
/// port is reported at once.
async fn serve(mut config: ServerSettings, clock_is_right: bool, new_database: bool) -> Result<(), Failure> {
    vital::arm(&config.dev.panic_task);
    // Handlers first: without one a signal ends the process at once, and the private PostgreSQL keeps running.
    let reload = signal(SignalKind::hangup())?;
    let mut stop = pin!(stop_signal()?);
    let listener = server::bind(&config)?;
    let devices = devices::bind(&config)?;
    let source = Source::open(&mut config, Purpose::Serve, new_database)?;
    // Before the schema is touched: another server may be using it.
    let connection = pool::connection(source.url(), Duration::from_millis(config.database.connect_ms))?;
    let part = config.cluster.name().map_or(Part::Alone, |name| Part::Among(name.to_owned()));
    let lock = tokio::select! {
        lock = ServerLock::wait(&connection, &part) => lock.map_err(|e| context::locked_out(&config, e))?,
        () = &mut stop => return Ok(()),
    };
    let (client, _) = lock::connect(&connection).await?;
    source::refuse_lost_external(&client, &config, new_database).await?;
    profile::refuse_production_database(&config, &client).await?;
    let declared = match right_clock(&config, &client, &listener, clock_is_right).await? {
        Start::Now(declared) => declared,
        Start::Stopped => return Ok(()),
    };
    drop(client);
    let state = AppState::build(config, source.url()).await?;
    if source.embedded().is_some() {
        instance::notice_copy(&mut *state.store.get().await?, &state.config.data.dir).await?;
    }
    let backup = backup(&state, &source).await?;
    if let Some(behind) = declared {
        let mut client = state.store.get().await?;
        let tx = client.transaction().await?;
        late_clock::declare_right(&tx, behind, state.store.now()).await?;
        tx.commit().await?;
    }
    profile::enter_production(&state).await?;
    if state.config.dev.seed_demo && demo::seed(&state.store.db, &state.keyring.get(), state.store.now()).await? == Seeded::Now {
        tracing::info!("the demo is seeded");
    }
    let follow = KeyFile::of(&state).await?;
    vital::spawn("keys", follow.follow_loop(state.clone(), reload));
    let address = listener.local_addr()?;
    let device_address = devices::address(devices.as_ref());
    let (server, running) = server::start(&state, listener, devices)?;
    let server = actix_web::rt::spawn(server);
    server::open(&state, &running).await?;
    if let Some(backup) = backup {
        keep_backup(backup);
    }
    let play = device_play(&state, device_address).await?;
    banner(&state.config, address, &demo_codes(&state).await?, play.as_deref());
    service_manager::report_ready();
    let ended = tokio::select! {
        () = stop => Ok(()),
        why = keep_lock(&state, &source, lock) => Err(why),
        _ = server => Err(Failure::new("the HTTP server ended by itself")),
    };
    drain(&state, &running).await;
    telemetry::log_remaining_repeats();
    // Last, so that what was drained could still be stored.
    drop(source);
    ended
}

/// The backup, where one is set.
async fn backup(state: &AppState, source: &Source) -> Result<Option<Arc<BackupService>>, Failure> {
    let settings = &state.config.backup;
    if !settings.is_on() {
        return Ok(None);
    }
    let (programs, metrics) = (source.programs_dir(), state.metrics.backup.clone());
    let postgres = (source.url(), programs.as_deref());
    let backup = BackupService::new(&state.store, settings, &state.keyring, postgres, metrics).await?;
    backup.refuse_foreign_folder().await?;
    let (dir, data) = (&settings.dir, &state.config.data.dir);
    let disk = |folder: &Path| std::fs::metadata(folder).map(|meta| meta.dev()).ok();
    if disk(dir) == disk(data) {
        let (dir, data) = (dir.display(), data.display());
        tracing::warn!(
            "backup.dir = {dir} is on the same disk as data.dir = {data}, and both are lost with it: choose another disk"
        );
    }
    Ok(Some(Arc::new(backup)))
}

/// Runs the backup. A defect in it ends no sale, so it is started again.
fn keep_backup(backup: Arc<BackupService>) {
    actix_web::rt::spawn(async move {
        loop {
            let running = backup.clone();
            if let Err(e) = actix_web::rt::spawn(async move { running.run().await }).await {
                tracing::error!(error = %e, "the backup ended, and starts again");
            }
            tokio::time::sleep(BACKUP_AGAIN).await;
        }
    });
}

/// Whether the server starts.
enum Start {
    /// How far the clock is behind, when `--clock-is-right` was given.
    Now(Option<Behind>),
    /// SIGTERM came while it waited.
    Stopped,
}

/// Waits for a database whose clock is behind its newest entries. Until then `listener` answers 503.
async fn right_clock(
    config: &ServerSettings,
    client: &Client,
    listener: &TcpListener,
    clock_is_right: bool,
) -> Result<Start, Failure> {
    let Some(behind) = late_clock::look(client).await?.filter(|behind| behind.is_far()) else { return Ok(Start::Now(None)) };
    if clock_is_right {
        tracing::warn!("{behind}: --clock-is-right starts the server all the same, and the audit log keeps that");
        return Ok(Start::Now(Some(behind)));
    }
    let at_most = Duration::from_secs(config.database.clock_wait_s);
    let answering = waiting::serve(listener)?;
    let waited = tokio::select! {
        waited = late_clock::wait(client, behind, at_most) => waited,
        () = stop_signal()? => return Ok(Start::Stopped),
    };
    answering.stop(true).await;
    let Some(behind) = waited? else { return Ok(Start::Now(None)) };
    let host = if config.database.url.is_empty() { "this machine" } else { "the database's machine" };
    Err(Failure::new(format!(
        "{behind}, after {} s of waiting: set the clock of {host} right (timedatectl; or let it reach a time server) and start \
         again. If the clock is right now and was ahead when that entry was written, start once with `nyala serve --clock-is-right`",
        at_most.as_secs()
    )))
}

/// Codes that pair browsers with the demo.
#[derive(Default)]
struct DemoCodes {
    till: Option<String>,
    owner: Option<String>,
}

/// The ways into the demo, where there is one.
async fn demo_codes(state: &AppState) -> Result<DemoCodes, Failure> {
    if !state.config.dev.seed_demo {
        return Ok(DemoCodes::default());
    }
    let (db, now) = (&state.store.db, state.store.now());
    Ok(DemoCodes { till: demo::invite(db, now).await?, owner: demo::invite_owner(db, now).await? })
}

/// How to play a machine of the demo, where there is one and devices can connect.
async fn device_play(state: &AppState, address: Option<SocketAddr>) -> Result<Option<String>, Failure> {
    match address.filter(|_| state.config.dev.seed_demo && !state.config.mqtt.tls) {
        Some(address) => Ok(demo::devices::play(&state.store.db, address).await?),
        None => Ok(None),
    }
}

/// Where to go now, for the person who started it.
fn banner(config: &ServerSettings, address: SocketAddr, codes: &DemoCodes, play: Option<&str>) {
    let mut text = format!("Nyala is open at http://{address}/\n");
    if config.dev.seed_demo {
        text += &format!("  demo login:        {} / {}\n", demo::TELP, pelanggan_bulk::PASSWORD);
    }
    if let Some(code) = &codes.till {
        text += &format!("  the till:          http://{address}/kasir/pasang#{code} (PIN: {})\n", demo::pins());
    }
    if let Some(code) = &codes.owner {
        text += &format!("  Buka outlet baru:  http://{address}/kasir/pasang#{code} (PIN: {})\n", demo::owners_pin());
    }
    if config.dev.routes {
        text += &format!("  WhatsApp messages: http://{address}/dev/whatsapp\n  API documents:     http://{address}/docs/\n");
    }
    text += play.unwrap_or_default();
    // A reader may take one line and close the pipe; that is no reason to end.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Returns when SIGTERM or Ctrl-C comes.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Unready first, so that a load balancer stops sending; then running requests get their time. Idle connections get none.
async fn drain(state: &AppState, running: &RunningServer) {
    state.machines.set_open(false);
    if let Err(e) = node::leave(state.store.db.config(), state.machines.ownership()).await {
        tracing::warn!(error = %e, "nothing was handed over; the others take it in a second");
    }
    let at_most = Duration::from_secs(state.config.http.drain_s);
    tracing::info!(at_most_s = at_most.as_secs(), "stopping: unready, draining");
    let answered = tokio::time::timeout(at_most, state.in_flight.none());
    // Phones that have other servers come to them little by little; where this one is alone they wait for the next one.
    let spread = if state.config.cluster.enabled { at_most } else { Duration::ZERO };
    let (_, answered) = tokio::join!(running.sockets.shut_down_over(spread, SOCKETS_GONE), answered);
    if answered.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
    let _ = tokio::time::timeout(LAST_BYTES, running.handle.stop(true)).await;
}

/// Returns why the process has to end.
async fn keep_lock(state: &AppState, source: &Source, lock: ServerLock) -> Failure {
    match source.embedded() {
        Some(postgres) => keep_private_database(state, postgres, lock).await,
        None => keep_external_lock(state, lock).await,
    }
}

/// With an external database a lost lock is taken again, however long the database is away. The process ends only when another
/// process has the lock by then (docs/decisions/0011-one-server-process-owns-a-database.md).
async fn keep_external_lock(state: &AppState, mut lock: ServerLock) -> Failure {
    loop {
        lock.lost().await;
        tracing::warn!("the connection that holds the server's lock is lost; taking it again");
        let again = match lock.again().await {
            Ok(again) => again,
            Err(taken) => return Failure::new(format!("the server's lock was lost, and somebody else has it now: {taken}")),
        };
        let elsewhere = again.is_on_another_server(&lock);
        if elsewhere {
            state.store.db.leave_old_server();
        }
        tracing::info!(elsewhere, "the server's lock is held again");
        lock = again;
    }
}

/// A private database that died is brought back with its lock.
async fn keep_private_database(state: &AppState, postgres: &Postgres, mut lock: ServerLock) -> Failure {
    let mut restarts = Restarts::serving(Instant::now());
    loop {
        lock.lost().await;
        let mut why = "it ended".to_owned();
        lock = loop {
            let Some(pause) = restarts.died(Instant::now()) else {
                return Failure::new(format!("the private database cannot stay up; at last: {why}"));
            };
            let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            tracing::error!(why, pause_ms, "the private database does not run; starting it again");
            tokio::time::sleep(pause).await;
            match bring_back(state, postgres).await {
                Ok(lock) => break lock,
                Err(e) => why = e.to_string(),
            }
        };
        restarts.came_back(Instant::now());
        tracing::info!("the private database is back");
    }
}

async fn bring_back(state: &AppState, postgres: &Postgres) -> Result<ServerLock, Failure> {
    postgres.restart()?;
    Ok(ServerLock::wait(state.store.db.config(), &Part::Alone).await?)
}
