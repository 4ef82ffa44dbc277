//! The hosts of a database: a URL may name several, of which one takes writes (docs/cluster.md). Each is tried separately: a
//! host that does not answer, or freezes after TCP connected, must not use up the caller's time for all.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use deadpool_postgres::ClientWrapper;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::history;
use super::pool::StatementLimits;
use super::session::{self, SessionError};

/// For one of several, from its name to a connection that takes writes.
const EACH: Duration = Duration::from_secs(1);
/// For a single one that was given no limit.
const ALONE: Duration = Duration::from_secs(30);
const DEFAULT_PORT: u16 = 5432;

/// Carries a connection's bytes for as long as it is polled.
pub type ConnectionTask = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// How connections are made. Cheap to clone; clones know together which host was good last.
#[derive(Clone)]
pub struct Hosts(Arc<HostList>);

struct HostList {
    each: Vec<Config>,
    limit: Duration,
    tls: Option<MakeRustlsConnect>,
    /// The one that gave a connection last, which is asked first.
    good: AtomicUsize,
}

impl Hosts {
    /// Connections whose statements may take as long as they do.
    pub fn of(config: &Config) -> Self {
        Self::with_limits(config, None)
    }

    pub fn with_limits(config: &Config, limits: Option<StatementLimits>) -> Self {
        let config = &session::with_options(config, limits);
        let each: Vec<_> = (0..count(config).max(1)).map(|i| only(config, i)).collect();
        let limit = if each.len() > 1 { EACH } else { config.get_connect_timeout().copied().unwrap_or(ALONE) };
        Self(Arc::new(HostList { each, limit, tls: tls_for(config), good: AtomicUsize::new(0) }))
    }

    pub fn are_several(&self) -> bool {
        self.0.each.len() > 1
    }

    /// What trying all of them may take.
    pub fn limit(&self) -> Duration {
        self.0.each.iter().map(|_| self.0.limit).sum()
    }

    /// A connection to the first host that gives one, beginning with the one that did so last.
    ///
    /// # Errors
    /// The last host's, when none gives one.
    pub async fn connect(&self) -> Result<(Client, ConnectionTask), Error> {
        let (all, good) = (self.0.each.len(), self.0.good.load(Ordering::Relaxed));
        let mut failed = None;
        for (i, host) in self.0.each.iter().enumerate().cycle().skip(good).take(all) {
            match self.open(host).await {
                Ok(connection) => {
                    self.0.good.store(i, Ordering::Relaxed);
                    return Ok(connection);
                }
                Err(e) => {
                    tracing::debug!(host = i, error = &e as &dyn std::error::Error, "a host of the database gives no connection");
                    failed = Some(e);
                }
            }
        }
        match failed {
            Some(e) => Err(e),
            // There is one at least.
            None => within(Duration::ZERO, std::future::pending()).await,
        }
    }

    /// A connection to `host`. Where the database continues from an earlier moment, its ids and epochs jump first.
    async fn open(&self, host: &Config) -> Result<(Client, ConnectionTask), Error> {
        let connect = || within(self.0.limit, connect(host, self.0.tls.clone()));
        let (client, line, is_settled) = connect().await?;
        if is_settled {
            return Ok((client, line));
        }
        // In a separate task, because the caller's timeout would otherwise cancel the jump each time before it is complete.
        let jump = tokio::spawn(async {
            let mut client = ClientWrapper::new(client, tokio::spawn(async { drop(line.await) }));
            history::settle(&mut client).await
        });
        match jump.await {
            Ok(Ok(_)) => {}
            Ok(Err(e)) => return failed(IoError::other(e.to_string())).await,
            Err(e) => return failed(IoError::other(e)).await,
        }
        match connect().await? {
            (client, line, true) => Ok((client, line)),
            _ => failed(IoError::other("the database has changed its place in its history again")).await,
        }
    }
}

/// A connection to a database whose ids and epochs the caller lets jump.
///
/// # Errors
/// When none can be had.
pub(crate) async fn connect_unsettled(config: &Config) -> Result<(Client, ConnectionTask), Error> {
    let config = session::with_options(config, None);
    connect(&config, tls_for(&config)).await.map(|(client, line, _)| (client, line))
}

/// Whether the database is where its servers left it comes with the connection.
async fn connect(config: &Config, tls: Option<MakeRustlsConnect>) -> Result<(Client, ConnectionTask, bool), Error> {
    let (client, mut line) = match tls {
        Some(tls) => config.connect(tls).await.map(|(client, line)| (client, Box::pin(line) as ConnectionTask))?,
        None => config.connect(NoTls).await.map(|(client, line)| (client, Box::pin(line) as ConnectionTask))?,
    };
    let begun = tokio::select! {
        begun = async { session::begin(&client).await?; Ok(history::is_settled(&client).await?) } => begun,
        // The connection ended; the session returns its own error.
        Err(e) = &mut line => return Err(e),
    };
    match begun {
        Ok(is_settled) => Ok((client, line, is_settled)),
        Err(SessionError::Database(e)) => Err(e),
        Err(SessionError::Refused(why)) => failed(IoError::new(ErrorKind::Unsupported, why)).await,
    }
}

async fn within<T>(limit: Duration, connecting: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(limit, connecting).await {
        Ok(done) => done,
        Err(_) => {
            let why = format!("it did not answer within {} ms", limit.as_millis());
            failed(IoError::new(ErrorKind::TimedOut, why)).await
        }
    }
}

/// The driver's error for `why`. Only the driver makes its errors, so it is given a connection that fails so.
async fn failed<T>(why: IoError) -> Result<T, Error> {
    match Config::new().user("").ssl_mode(SslMode::Disable).connect_raw(Failing(why.kind(), why.to_string()), NoTls).await {
        Err(e) => Err(e),
        Ok(_) => std::future::pending().await,
    }
}

/// A connection whose every read and write fails.
struct Failing(ErrorKind, String);

impl Failing {
    fn error<T>(&self) -> Poll<IoResult<T>> {
        Poll::Ready(Err(IoError::new(self.0, self.1.clone())))
    }
}

impl AsyncRead for Failing {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<IoResult<()>> {
        self.error()
    }
}

impl AsyncWrite for Failing {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<IoResult<usize>> {
        self.error()
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<IoResult<()>> {
        self.error()
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<IoResult<()>> {
        self.error()
    }
}

/// How many hosts a connection string names.
pub fn count(config: &Config) -> usize {
    config.get_hosts().len().max(config.get_hostaddrs().len())
}

/// The same for the `i`th host alone.
fn only(config: &Config, i: usize) -> Config {
    let mut only = Config::new();
    if let Some(host) = config.get_hosts().get(i) {
        match host {
            Host::Tcp(name) => only.host(name),
            Host::Unix(folder) => only.host_path(folder),
        };
    }
    if let Some(address) = config.get_hostaddrs().get(i) {
        only.hostaddr(*address);
    }
    only.port(config.get_ports().get(i).or(config.get_ports().first()).copied().unwrap_or(DEFAULT_PORT));
    config.get_user().map(|user| only.user(user));
    config.get_password().map(|password| only.password(password));
    config.get_dbname().map(|name| only.dbname(name));
    config.get_options().map(|options| only.options(options));
    config.get_application_name().map(|name| only.application_name(name));
    config.get_connect_timeout().map(|limit| only.connect_timeout(*limit));
    config.get_tcp_user_timeout().map(|limit| only.tcp_user_timeout(*limit));
    only.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    config.get_keepalives_interval().map(|every| only.keepalives_interval(every));
    config.get_keepalives_retries().map(|times| only.keepalives_retries(times));
    only.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    only.channel_binding(config.get_channel_binding()).target_session_attrs(config.get_target_session_attrs());
    only
}

/// TLS with the web's root certificates when the connection string asks for it (`sslmode=require`).
fn tls_for(config: &Config) -> Option<MakeRustlsConnect> {
    (config.get_ssl_mode() == SslMode::Require).then(|| {
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        MakeRustlsConnect::new(rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    })
}
