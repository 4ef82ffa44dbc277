//! Connections that have not logged in: their limits, and the login itself.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::Refusal;
use nyala_mqtt::server::Connect;
use ppp::v2::{Addresses, Header, ParseError};
use tokio::time::{Duration, Instant};

use super::connection::{DeviceConnection, DeviceSession, Stage};
use super::login::{self, PendingLogin};
use super::login_pool::Admission;
use super::shared::{ConnectionPermit, SlotKey, ThreadCommand, Verdict};
use super::thread::Thread;
use crate::device::mqtt::logins::DeviceKey;
use crate::device::mqtt::metrics::Refused;
use crate::device::mqtt::socket::Socket;
use crate::device::mqtt::tls::DeviceTls;

/// Time in which a connection must send its CONNECT and be checked.
const LOGIN_WITHIN_MS: i64 = 5_000;
/// Greatest number of connections of a thread that have not logged in.
pub(super) const MAX_LOGINS: usize = 1_024;
/// Time for which logins are gathered before they are checked together.
const GATHER: Duration = Duration::from_millis(10);

/// Whether a warning about a proxy without a PROXY header was logged: one line is enough, and each connection could add another.
static WARNED: AtomicBool = AtomicBool::new(false);

impl Thread {
    pub(super) fn accepted(&mut self, stream: std::net::TcpStream) {
        // A connection that is already gone needs no answer: its device reconnects.
        let Ok(peer) = stream.peer_addr() else { return };
        let peer = peer.ip().to_canonical();
        match self.make_room(peer) {
            Some(place) => self.begin(stream, peer, place),
            None => self.shared.reports.metrics.refused(Refused::Crowded),
        }
    }

    /// Returns a place for a connection from `peer`. If necessary, another connection that has not logged in is closed for it.
    fn make_room(&mut self, peer: IpAddr) -> Option<ConnectionPermit> {
        let free = self.shared.place();
        match self.pool.admission(peer.into(), free.is_none(), self.now()) {
            Admission::Free => free,
            Admission::Full => None,
            Admission::Evict(key) => {
                self.remove(key)?;
                self.shared.reports.metrics.refused(Refused::Crowded);
                free.or_else(|| self.shared.place())
            }
        }
    }

    fn begin(&mut self, stream: std::net::TcpStream, peer: IpAddr, place: ConnectionPermit) {
        // A socket that the kernel refuses is dropped: its device reconnects.
        let Ok(socket) = Socket::new(stream, self.shared.tls.as_ref().map(DeviceTls::config)) else { return };
        let now = self.now();
        let mut connection = DeviceConnection::new(socket, self.shared.next_id(), peer.into(), place, now, LOGIN_WITHIN_MS);
        if self.shared.trusted_proxies.iter().any(|block| block.contains(peer)) {
            connection.stage = Stage::Proxied;
        }
        self.insert(connection);
    }

    /// Reads the PROXY header (version 2) of a connection that a trusted proxy forwards; its source address is the device's. Returns
    /// whether the connection is ready for what follows the header.
    pub(super) fn take_proxy_header(&mut self, key: SlotKey, buf: &mut [u8]) -> bool {
        let Some(connection) = self.connection(key) else { return false };
        if !matches!(connection.stage, Stage::Proxied) {
            return true;
        }
        let peeked = match connection.socket.peek(buf) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) => return false,
            Err(_) => {
                self.doom(key, None);
                return false;
            }
        };
        let (length, from) = match Header::try_from(&buf[..peeked]) {
            Ok(header) => {
                let from = match header.addresses {
                    Addresses::IPv4(ip) => Some(IpAddr::V4(ip.source_address)),
                    Addresses::IPv6(ip) => Some(IpAddr::V6(ip.source_address).to_canonical()),
                    // The proxy's own connection, such as a health check.
                    Addresses::Unspecified | Addresses::Unix(_) => None,
                };
                (header.len(), from.filter(|_| header.command == ppp::v2::Command::Proxy))
            }
            // The rest of the header follows, unless the connection has ended or the header is longer than the buffer.
            Err(ParseError::Incomplete(_) | ParseError::Partial(..)) if peeked > 0 && peeked < buf.len() => return false,
            Err(e) => {
                if peeked > 0 && !WARNED.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        error = %e,
                        "a proxy of mqtt.trusted_proxies does not begin with a PROXY protocol version 2 header and is refused; add \
                         send-proxy-v2 to its server lines, or take it out of the setting"
                    );
                }
                self.shared.reports.metrics.refused(Refused::Protocol);
                self.doom(key, None);
                return false;
            }
        };
        if connection.socket.skip(&mut buf[..length]).is_err() {
            self.doom(key, None);
            return false;
        }
        connection.stage = Stage::Fresh;
        if let Some(from) = from.map(Into::into) {
            let before = std::mem::replace(&mut connection.from, from);
            if let Some(since) = self.pool.remove(key, before) {
                self.pool.insert(key, from, since);
            }
        }
        true
    }

    pub(super) fn on_connect(&mut self, key: SlotKey, connect: &Connect, now: Timestamp) {
        let Some(claim) = login::claim(connect) else { return self.refuse(key, Refusal::Login, Refused::Wrong) };
        let shared = self.shared.clone();
        let Some(connection) = self.connection(key) else { return };
        if !shared.may_log_in(claim.idmesin, connection.from, now) {
            return self.refuse(key, Refusal::NotAuthorized, Refused::Limited);
        }
        connection.stage = Stage::Checking(login::login(connect, claim.idmesin));
        if self.logins.len() >= MAX_LOGINS {
            self.forget_gone();
        }
        self.logins.push(PendingLogin { key, claim });
        self.ask_at.get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// When the waiting logins must be checked. Only one statement runs at a time; further logins gather in the meantime.
    pub fn is_to_ask_at(&self) -> Option<Instant> {
        self.ask_at.filter(|_| !self.asking && self.shared.is_open())
    }

    /// Drops logins of closed connections, so that no more logins wait than connections may.
    fn forget_gone(&mut self) {
        let mut logins = std::mem::take(&mut self.logins);
        logins.retain(|login| self.connection(login.key).is_some());
        self.logins = logins;
    }

    pub fn ask(&mut self) {
        self.ask_at = None;
        self.forget_gone();
        self.asking = self.to_judge.try_send(std::mem::take(&mut self.logins)).is_ok();
    }

    pub(super) fn checked(&mut self, verdicts: Vec<(SlotKey, Verdict)>) {
        self.asking = false;
        let now = self.now();
        for (key, verdict) in verdicts {
            match verdict {
                Verdict::Yes(found) => self.let_in(key, found),
                Verdict::Unavailable => self.refuse(key, Refusal::Unavailable, Refused::Unavailable),
                Verdict::Wrong => {
                    let shared = self.shared.clone();
                    if let Some(DeviceConnection { from, stage: Stage::Checking(login), .. }) = self.connection(key) {
                        shared.was_wrong(login.idmesin, *from, now);
                    }
                    self.refuse(key, Refusal::Login, Refused::Wrong);
                }
            }
        }
    }

    /// Completes a login: passes the connection to the thread of its device.
    fn let_in(&mut self, key: SlotKey, found: DeviceKey) {
        if self.shared.is_revoked(found.id) {
            return self.refuse(key, Refusal::Login, Refused::Wrong);
        }
        let prefix = login::prefix(found.idoutlet, found.idmesin);
        let Some(Stage::Checking(login)) = self.connection(key).map(|connection| &connection.stage) else { return };
        if !login::has_own_will(login, &prefix) {
            return self.refuse(key, Refusal::NotAuthorized, Refused::Foreign);
        }
        let Some(mut connection) = self.remove(key) else { return };
        let Stage::Checking(login) = std::mem::replace(&mut connection.stage, Stage::Fresh) else { return };
        connection.silence_ms = login.silence_ms;
        connection.stage = Stage::LoggedIn(DeviceSession {
            idmesin: found.idmesin,
            key: found.id,
            client: login.client,
            prefix: prefix.into(),
            commands: false,
            states: false,
        });
        if self.shared.is_home(found.idoutlet, &self.me) {
            self.arrive(connection, found);
        } else if self.shared.order(found.idoutlet, ThreadCommand::Adopt(Box::new(connection), found)).is_err() {
            self.shared.reports.metrics.refused(Refused::Crowded);
        }
    }

    /// Refuses a login; then the connection is closed.
    fn refuse(&mut self, key: SlotKey, answer: Refusal, why: Refused) {
        self.shared.reports.metrics.refused(why);
        if let Some(connection) = self.connection(key) {
            let _ = connection.mqtt.refuse(answer, &mut connection.out);
            self.send(key);
        }
        self.doom(key, None);
    }
}
