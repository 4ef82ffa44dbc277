//! The HTTP server and its start. The port is bound first, so that a taken port is reported before anything else happens.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::error::DispatchError;
use actix_http::{HttpService, Request, Response, ResponseHead};
use actix_server::{Server, ServerHandle};
use actix_service::{ServiceFactoryExt as _, fn_service, map_config};
use actix_socketio::host::{Bodies, Upgrades, set_user_timeout, vital};
use actix_socketio::{Caller, Callers, EngineError, Limits, Sites, SocketIo, socket_io};
use actix_web::dev::AppConfig;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HOST, HeaderValue};
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::web::{Bytes, Payload};
use actix_web::{App, HttpRequest, web};
use futures_util::future::LocalBoxFuture;
use nix::sys::resource::{Resource, getrlimit};
use nyala_cluster::failover;
use nyala_cluster::node::{self, Node};
use nyala_cluster::notifications;
use nyala_machines::conditions;
use nyala_machines::{alarm, device, recovery};
use nyala_store::config::{HttpSettings, ServerSettings};
use nyala_store::db::{clock, prune};
use nyala_store::telemetry;
use nyala_web::alerts::watch::Watch;
use nyala_web::calls::decide;
use nyala_web::http::body::{self, BodyError, BodyLength, Room};
use nyala_web::http::connection::{self, Connection, Connections, HEAD_WITHIN};
use nyala_web::http::error::AppError;
use nyala_web::http::{admission, client_ip, cors, cross_site, envelope, headers, in_flight, request_id};
use nyala_web::live::Live;
use nyala_web::live::balances::Balances;
use nyala_web::live::cut_off;
use nyala_web::live::handler::Sockets;
use nyala_web::live::other_servers;
use nyala_web::moves::Moves;
use nyala_web::push::sender;
use nyala_web::qris::asking;

use crate::app::AppState;
use crate::app::listener::listen;
use crate::app::{devices, metrics_port, router};

/// How long an idle connection is kept for the next request.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(75);
const LINGER: Duration = Duration::from_secs(1);
/// How long a socket has to log in (docs/contract.md §7).
const JOIN_WITHIN_S: u32 = 10;
/// Bytes of an answer beyond which no more of it is made before they are sent.
const WRITE_BUFFER: usize = 8 * 1024;
/// What the kernel holds of an answer that its client has not taken.
const SEND_BUFFER: usize = 64 * 1024;
/// A connection without acknowledgements for this long is closed.
const DEAD_PEER: Duration = Duration::from_secs(40);

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("port {port} on {host} is taken; choose another with NYALA__HTTP__PORT or http.port in config/ ({source})")]
    Taken { host: String, port: u16, source: std::io::Error },
    #[error("cannot listen on {host}:{port}; check http.host and http.port ({source})")]
    Other { host: String, port: u16, source: std::io::Error },
}

pub fn bind(config: &ServerSettings) -> Result<TcpListener, BindError> {
    let (host, port) = (config.http.host.clone(), config.http.port);
    listen((&host, port), config.http.backlog).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => BindError::Taken { host, port, source },
        _ => BindError::Other { host, port, source },
    })
}

/// Each accepted connection, before its first request; sockets of customers keep it. Without TCP_NODELAY the second part of an answer
/// waits for the acknowledgement of the first, which a client may hold back for 40 ms. By itself a kernel keeps up to 4 MiB for a client that
/// does not read. A kernel that refuses an option serves all the same.
fn prepare(io: &TcpStream) {
    let _ = io.set_nodelay(true);
    let socket = socket2::SockRef::from(io);
    // The kernel reports twice the value that was set (socket(7)).
    if socket.send_buffer_size().is_ok_and(|bytes| bytes > 2 * SEND_BUFFER) {
        let _ = socket.set_send_buffer_size(SEND_BUFFER);
    }
    let _ = set_user_timeout(io, DEAD_PEER);
}

/// The workers and the customers' sockets.
pub struct RunningServer {
    pub handle: ServerHandle,
    pub sockets: SocketIo<Sockets>,
    pub balances: Balances,
}

/// Starts the workers on `listener`, and on that of devices. Signals are the caller's (`cli::serve`).
///
/// Not actix-web's `HttpServer`: below it, requests for a websocket are handed over as raw connections, so that no HTTP dispatcher
/// and no buffer of it stays behind a session (docs/decisions/0014-below-actix-webs-httpserver.md).
pub fn start(
    state: &Arc<AppState>,
    listener: TcpListener,
    devices: Option<TcpListener>,
) -> std::io::Result<(Server, RunningServer)> {
    let live = Arc::new(Live {
        auth: state.auth.clone(),
        machines: state.machines.clone(),
        hubs: state.hubs.clone(),
        clock: state.store.clock.clone(),
        sessions: state.sessions.clone(),
        staff: state.staff.clone(),
        staff_sockets: state.staff_sockets.clone(),
        boards: state.boards.clone(),
        public_boards: state.public_boards.clone(),
        metrics: state.metrics.realtime.clone(),
        settings: state.config.realtime.clone(),
    });
    let sockets = socket_io(socket_config(state), Sockets(live));
    state.boards.send_to(sockets.of("/"));
    state.public_boards.send_to(sockets.of("/"));
    state.metrics.realtime.set_transport(sockets.metrics().clone());
    let upgrades = Upgrades::default().mount(sockets.engine()).otherwise(no_such_socket).before_answer(add_headers);
    let balances = Balances::new(sockets.clone(), state.sessions.clone(), state.notifier.clone());
    let (shared, polling, balances_shared) = (state.clone(), sockets.clone(), balances.clone());
    let limit = connection_limit(&state.config)?;
    let (of_sockets, trusted) = (sockets.metrics().clone(), state.config.http.trusted_proxies.clone());
    let websockets = move || usize::try_from(of_sockets.websockets_open.get()).unwrap_or(usize::MAX);
    let connections = Connections::new(limit, trusted, state.metrics.http.clone(), websockets);
    let places = connections.clone();
    let service = move || {
        // Runs once on each worker thread: machines' actors live there, beside the sessions that watch them.
        shared.store.db.widen(shared.connections_per_thread);
        shared.hubs.thread();
        alarm::start(&shared.store.clock, shared.threads.join());
        shared.writes.watch();
        shared.machines.add_worker(actix::Arbiter::current());
        let (state, polling, balances) = (shared.clone(), polling.clone(), balances_shared.clone());
        let app = App::new()
            .wrap(from_fn(admission::middleware))
            .wrap(from_fn(envelope::middleware))
            .wrap(from_fn(connection::refuse_unread_bodies))
            .wrap(from_fn(cross_site::middleware))
            .wrap(from_fn(cors::middleware))
            .wrap(from_fn(headers::middleware))
            .wrap(from_fn(in_flight::middleware))
            .wrap(from_fn(request_id::middleware))
            .wrap(from_fn(connection::middleware))
            .configure(|cfg| state.provide(cfg))
            .app_data(web::Data::new(balances))
            .configure(|cfg| polling.configure(cfg))
            .configure(|cfg| router::routes(cfg, &state.config));
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .h1_write_buffer_size(WRITE_BUFFER)
            // A polling request that was given up ends at once.
            .h1_allow_half_closed(false)
            .client_request_timeout(HEAD_WITHIN)
            // What a client still sends after its answer is read for this long, so that the answer arrives.
            .client_disconnect_timeout(LINGER)
            .on_connect_ext(|connection: &Connection, data| {
                prepare(connection.tcp());
                data.insert(connection.intake());
            })
            .upgrade(upgrades.service())
            .h1(map_config(app, |()| AppConfig::default()));
        let connections = places.clone();
        fn_service(move |io: TcpStream| {
            let peer = io.peer_addr().ok();
            let place = connections.enter(peer.map(|peer| peer.ip()));
            std::future::ready(match place {
                Some(place) => Ok((Connection::new(io, Some(place)), peer)),
                None => Err(DispatchError::Io(ErrorKind::ConnectionRefused.into())),
            })
        })
        .and_then(http)
    };
    let server = Server::build()
        .workers(state.config.workers())
        .max_concurrent_connections(limit.div_ceil(state.config.workers()))
        .disable_signals()
        .listen("nyala", listener, service)?;
    let server = match devices {
        Some(listener) => devices::serve(server, state, listener)?,
        None => server,
    };
    let server = metrics_port::serve(server, state, &connections)?;
    let server = server.run();
    let handle = server.handle();
    Ok((server, RunningServer { handle, sockets, balances }))
}

/// Descriptors for what else is open: files, the listeners, the database, and devices, which get at most a quarter of all.
fn reserved(config: &ServerSettings, descriptors: u64) -> u64 {
    const FILES: u64 = 128;
    let devices = (config.mqtt.max_connections as u64).min(descriptors / 4);
    FILES + config.connections() as u64 + devices
}

/// Maximum number of open customers' connections: that of the settings, limited by the available descriptors (`RLIMIT_NOFILE`).
fn connection_limit(config: &ServerSettings) -> std::io::Result<usize> {
    let (descriptors, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let reserve = reserved(config, descriptors);
    let wanted = config.http.max_connections.saturating_mul(config.workers());
    let left = usize::try_from(descriptors.saturating_sub(reserve)).unwrap_or(usize::MAX);
    let connections = wanted.min(left).max(config.workers());
    tracing::info!(
        connections,
        wanted,
        descriptors,
        reserve,
        "connections allowed: http.max_connections on each worker, and no more than open files (RLIMIT_NOFILE) less a reserve"
    );
    Ok(connections)
}

fn socket_config(state: &Arc<AppState>) -> actix_socketio::Config {
    let config = &state.config;
    let limits = Limits {
        max_payload: config.realtime.max_payload_bytes,
        max_sessions: config.realtime.max_sessions,
        ping_interval: Duration::from_secs(config.realtime.ping_interval_s),
        ping_timeout: Duration::from_secs(config.realtime.ping_timeout_s),
        unjoined_per_address: config.realtime.unjoined_per_address,
        connect_timeout: Duration::from_secs(JOIN_WITHIN_S.into()),
        ..Limits::default()
    };
    let of = state.clone();
    let callers = Callers::new(move |headers, peer| Caller {
        address: client_ip::of(peer, headers, &of.config.http.trusted_proxies),
        // The limit counts all phones of a customer together, whatever their logins.
        known: of.auth.known_phones.of_headers(headers, of.store.now()).map(|phone| phone.customer.get().cast_unsigned()),
    });
    let of = state.clone();
    let origins = cross_site::origins(&config.http);
    let ours = origins.clone();
    let sites = Sites::new(move |headers, peer| cross_site::socket_site(peer, headers, &of.config.http, &ours));
    let bodies = Bodies::new(read_body);
    actix_socketio::Config::default()
        .sid_prefix(config.cluster.name().unwrap_or_default())
        .origins(origins)
        .sites(sites)
        .limits(limits)
        .callers(callers)
        .bodies(bodies)
        .error_body(socket_error)
}

/// A socket's POST takes its room from the same sum as every call's body.
fn read_body(req: &HttpRequest, body: Payload, max: usize) -> LocalBoxFuture<'static, Result<Bytes, EngineError>> {
    let req = req.clone();
    Box::pin(async move {
        let bodies = req.app_data::<web::Data<Room>>().ok_or(EngineError::NoRoom)?;
        let http = req.app_data::<web::Data<HttpSettings>>().ok_or(EngineError::NoRoom)?;
        let enter = || bodies.enter(client_ip::counted(&req, &http.trusted_proxies));
        let length = BodyLength { declared: body::declared(&req), max };
        body::read(body, length, enter).await.map_err(|why| match why {
            BodyError::TooLarge => EngineError::PayloadTooLarge,
            BodyError::Broken => EngineError::BadRequest,
            BodyError::NoRoom => EngineError::NoRoom,
        })
    })
}

/// Answer to a websocket request at an unknown route: the envelope, as for every unknown route.
fn no_such_socket(_: &Request) -> Response<BoxBody> {
    let body = serde_json::json!({ "status": 404, "message": "alamat tidak ditemukan", "data": null }).to_string();
    Response::build(StatusCode::NOT_FOUND).insert_header((CONTENT_TYPE, "application/json")).body(body).map_into_boxed_body()
}

/// What the middleware adds to every other answer.
fn add_headers(request: &Request, head: &mut ResponseHead) {
    let host = request.head().headers().get(HOST).and_then(|host| host.to_str().ok());
    headers::add(head.headers_mut(), host);
    if let Ok(id) = HeaderValue::from_str(&uuid::Uuid::new_v4().simple().to_string()) {
        head.headers_mut().insert(request_id::HEADER, id);
    }
}

/// What the sockets' own refusals look like: the envelope of every answer (docs/contract.md §1).
fn socket_error(error: EngineError) -> String {
    let message = match error {
        // A customer may see this answer, so it has the usual envelope and `Retry-After`.
        EngineError::TooManyUnjoined => AppError::TooMany { retry_s: JOIN_WITHIN_S }.to_string(),
        EngineError::NoRoom => AppError::Unavailable.to_string(),
        other => other.to_string(),
    };
    serde_json::json!({ "status": error.status().as_u16(), "message": message, "data": null, "code": error.code() }).to_string()
}

/// How long the worker threads may take to come up.
const WORKERS_UP: Duration = Duration::from_secs(10);

/// After `start`: devices are spoken with, open purchases come back to their machines, then the server is ready and lost work is looked for.
pub async fn open(state: &Arc<AppState>, running: &RunningServer) -> Result<(), AppError> {
    let all = state.config.workers();
    let up = async {
        while state.machines.workers() < all {
            actix_web::rt::time::sleep(Duration::from_millis(2)).await;
        }
    };
    actix_web::rt::time::timeout(WORKERS_UP, up).await.map_err(|_| AppError::internal("worker threads did not come up"))?;
    device::start(&state.machines).map_err(AppError::internal)?;
    match state.config.cluster.name() {
        None => {
            let resumed = recovery::resume(&state.machines, None).await?;
            state.sim.record_reach(&state.store.db).await?;
            tracing::info!(resumed, "open purchases resumed");
        }
        Some(name) => {
            let own = state.machines.ownership();
            let (clock, cluster) = (state.metrics.clock_distance.clone(), state.metrics.cluster.clone());
            let node = Node::join(&state.store, name, own.clone(), state.notifier.clone(), state.keyring.clone(), clock, cluster)
                .await
                .map_err(AppError::internal)?;
            vital::spawn("node", node.run());
            vital::spawn("orphans", node::mark_orphans_offline_loop(state.store.clone(), own.clone()));
            vital::spawn("takeover", recovery::resume_loop(state.machines.clone()));
            vital::spawn("mirror", recovery::mirror_loop(state.machines.clone()));
            let of = state.clone();
            vital::spawn("failover", async move { failover::watch(of.store.db.config(), of.machines.ownership()).await });
            let cut = state.clone();
            vital::spawn("cut-off", async move {
                cut_off::watch(&cut.machines, &cut.sessions, &cut.staff_sockets).await;
            });
            spawn_notifications(state, running)?;
        }
    }
    state.writes.watch();
    vital::spawn("reaper", recovery::reap_loop(state.machines.clone()));
    vital::spawn("pruning", prune::prune_loop(state.store.clone()));
    vital::spawn("push", sender::send_loop(state.push.clone()));
    vital::spawn("bills", asking::ask_loop(state.qris.clone(), running.balances.clone()));
    vital::spawn("log", telemetry::log_repeats_loop());
    vital::spawn("clock", clock::follow(state.store.clone(), state.metrics.clock_distance.clone()));
    let sessions = state.clone();
    vital::spawn("seats", async move {
        sessions.sessions.clone().watch(&sessions.auth, sessions.config.cluster.enabled, &sessions.notifier).await
    });
    let tills = state.clone();
    vital::spawn("tills", async move { tills.staff_sockets.clone().watch(&tills.staff, &tills.notifier).await });
    vital::spawn("conditions", conditions::record_loop(state.machines.clone()));
    let boards = state.public_boards.clone();
    vital::spawn("calls", decide::decide_loop(state.store.clone(), state.machines.clone(), state.mqtt.clone(), boards));
    let moves = Moves {
        store: state.store.clone(),
        auth: state.auth.clone(),
        whatsapp: state.whatsapp.clone(),
        settings: state.config.clone(),
    };
    vital::spawn("moves", moves.run());
    let attention = Watch {
        store: state.store.clone(),
        ownership: state.machines.ownership().clone(),
        settings: state.config.attention.clone(),
        backup: state.metrics.backup.health.clone(),
        metrics: state.metrics.attention.clone(),
    };
    vital::spawn("alerts", attention.run());
    vital::spawn("boards", state.boards.clone().wake_loop(state.changes.subscribe(), state.notifier.clone()));
    vital::spawn("public boards", state.public_boards.clone().wake_loop(state.changes.subscribe(), state.notifier.clone()));
    state.machines.set_open(true);
    Ok(())
}

/// Puts up the wire to the other servers, where there is NATS.
fn spawn_notifications(state: &Arc<AppState>, running: &RunningServer) -> Result<(), AppError> {
    let settings = &state.config.cluster;
    let Some(addresses) = settings.nats().map_err(AppError::internal)? else { return Ok(()) };
    let ca = (!settings.nats_ca.as_os_str().is_empty()).then(|| settings.nats_ca.clone());
    vital::spawn("news", notifications::run(state.notifier.clone(), addresses, ca, state.machines.ownership().clone()));
    let (balances, of) = (running.balances.clone(), state.clone());
    vital::spawn("balances", async move { balances.follow(&of.store).await });
    let of = state.clone();
    vital::spawn("sockets", async move { other_servers::follow(&of.sessions, &of.notifier).await });
    Ok(())
}
