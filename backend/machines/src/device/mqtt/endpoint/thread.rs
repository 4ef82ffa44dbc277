//! Part of the endpoint on one worker thread: its connections and its devices, in one task. No connection has a separate task or buffer:
//! the kernel reports which ones are ready (an epoll within the runtime's own), and all are read into one buffer.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;

use mio::{Registry, Token};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::server::ServerEvent;
use slab::Slab;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::connection::{DeviceConnection, DeviceSession, Stage, Unsendable};
use super::fresh::MAX_LOGINS;
use super::login::PendingLogin;
use super::login_pool::LoginPool;
use super::shared::{Shared, SlotKey, ThreadCommand};
use crate::device::mqtt::devices::Devices;
use crate::device::mqtt::metrics::{Closed, Refused};

/// First bytes of a PROXY header, version 2 (HAProxy, doc/proxy-protocol.txt §2.2).
const PROXY_HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Reads of a connection before the others have their turn, each of up to `READ_BYTES`.
const READS: usize = 4;
const READ_BYTES: usize = 4_096;
/// Greatest number of packets of a connection between two sweeps; a device that is started, stopped and queried at once sends a tenth of
/// it.
const PACKETS: u32 = 256;

pub struct Thread {
    pub(super) shared: Arc<Shared>,
    registry: Registry,
    /// Sender of orders to this thread itself.
    pub(super) me: mpsc::Sender<ThreadCommand>,
    connections: Slab<DeviceConnection>,
    pub(super) devices: Devices,
    /// Connections of each device, the oldest first.
    pub(super) connections_of: HashMap<MachineId, Vec<SlotKey>>,
    /// Connections that have not logged in.
    pub(super) pool: LoginPool,
    pub(super) logins: Vec<PendingLogin>,
    /// Sender of logins to the task that checks them together.
    pub(super) to_judge: mpsc::Sender<Vec<PendingLogin>>,
    pub(super) ask_at: Option<Instant>,
    pub(super) asking: bool,
    /// Connections that are closed when the present input is processed.
    doomed: Vec<(SlotKey, Option<Closed>)>,
    /// Connections that may have more bytes than were read.
    again: Vec<SlotKey>,
    buf: Vec<u8>,
}

impl Thread {
    pub fn new(
        shared: Arc<Shared>,
        registry: Registry,
        me: mpsc::Sender<ThreadCommand>,
        to_judge: mpsc::Sender<Vec<PendingLogin>>,
    ) -> Self {
        Self {
            shared,
            registry,
            me,
            connections: Slab::new(),
            devices: Devices::default(),
            connections_of: HashMap::new(),
            pool: LoginPool::new(MAX_LOGINS),
            logins: Vec::new(),
            to_judge,
            ask_at: None,
            asking: false,
            doomed: Vec::new(),
            again: Vec::new(),
            buf: vec![0; READ_BYTES],
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.shared.store.now()
    }

    pub fn order(&mut self, order: ThreadCommand) {
        match order {
            ThreadCommand::Accepted(stream) => self.accepted(stream),
            ThreadCommand::Judged(verdicts) => self.checked(verdicts),
            ThreadCommand::Adopt(connection, key) => self.arrive(*connection, key),
            ThreadCommand::Request(request) => {
                let now = self.now();
                if let Some((idmesin, effects)) = self.devices.request(request, &self.shared.reports, now) {
                    self.perform(idmesin, effects);
                }
            }
            ThreadCommand::DisconnectAll => {
                let all: Vec<SlotKey> =
                    self.connections.iter().map(|(at, connection)| SlotKey { at, id: connection.id }).collect();
                all.into_iter().for_each(|key| self.doom(key, Some(Closed::CutOff)));
            }
            ThreadCommand::Revoked(keys) => {
                let revoked = self
                    .connections
                    .iter()
                    .filter(|(_, connection)| connection.session().is_some_and(|session| keys.contains(&session.key)));
                let revoked: Vec<SlotKey> = revoked.map(|(at, connection)| SlotKey { at, id: connection.id }).collect();
                revoked.into_iter().for_each(|key| self.doom(key, Some(Closed::Revoked)));
            }
        }
    }

    // --- connections ---

    pub(super) fn connection(&mut self, key: SlotKey) -> Option<&mut DeviceConnection> {
        self.connections.get_mut(key.at).filter(|connection| connection.id == key.id)
    }

    pub(super) fn session(&self, key: SlotKey) -> Option<&DeviceSession> {
        self.connections.get(key.at).filter(|connection| connection.id == key.id)?.session()
    }

    pub(super) fn session_mut(&mut self, key: SlotKey) -> Option<&mut DeviceSession> {
        self.connection(key)?.session_mut()
    }

    /// Adds a connection to this thread. `None`: the kernel does not take it.
    pub(super) fn insert(&mut self, mut connection: DeviceConnection) -> Option<SlotKey> {
        let entry = self.connections.vacant_entry();
        let key = SlotKey { at: entry.key(), id: connection.id };
        connection.socket.register(&self.registry, Token(key.at)).ok()?;
        if connection.session().is_none() {
            self.pool.insert(key, connection.from, connection.received_at);
        }
        entry.insert(connection);
        Some(key)
    }

    /// Removes a connection, to close it or to pass it to another thread.
    pub(super) fn remove(&mut self, key: SlotKey) -> Option<DeviceConnection> {
        self.connection(key)?;
        let mut connection = self.connections.remove(key.at);
        // A connection that the other side closed may already be deregistered by the kernel.
        let _ = connection.socket.deregister(&self.registry);
        if connection.session().is_none() {
            self.pool.remove(key, connection.from);
        }
        Some(connection)
    }

    /// Processes a kernel event of a connection.
    pub fn ready(&mut self, token: Token, readable: bool) {
        let Some(id) = self.connections.get(token.0).map(|connection| connection.id) else { return };
        let key = SlotKey { at: token.0, id };
        // The kernel reports only once that a socket is writable, and it may do so at any time.
        self.send(key);
        if readable {
            self.read(key);
        }
    }

    /// Whether there is more to do without waiting for an event.
    pub fn has_more(&self) -> bool {
        !self.again.is_empty()
    }

    /// Ends the processing of an input: reads on from connections that have more bytes, and closes the doomed ones.
    pub fn settle(&mut self) {
        for key in std::mem::take(&mut self.again) {
            self.read(key);
        }
        // Closing one may doom another, but never one that is already closed.
        while let Some((key, why)) = self.doomed.pop() {
            self.close(key, why);
        }
    }

    pub(super) fn read(&mut self, key: SlotKey) {
        let mut buf = std::mem::take(&mut self.buf);
        if !self.take_proxy_header(key, &mut buf) {
            self.buf = buf;
            return;
        }
        let mut reads = 0..READS;
        let more = loop {
            let Some(connection) = self.connection(key).filter(|connection| !connection.doomed) else { break false };
            if reads.next().is_none() {
                break true;
            }
            match connection.socket.read(&mut buf) {
                Ok(0) => self.doom(key, None),
                Ok(n) => self.feed(key, &buf[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.doom(key, None),
            }
        };
        self.buf = buf;
        self.send(key);
        if more {
            self.again.push(key);
        }
    }

    /// Parses the bytes that were read.
    pub(super) fn feed(&mut self, key: SlotKey, mut bytes: &[u8]) {
        let (now, begins) = (self.now(), bytes);
        while let Some(connection) = self.connection(key).filter(|connection| !connection.doomed) {
            match connection.mqtt.feed(&mut bytes, &mut connection.out) {
                Ok(None) => return,
                Ok(Some(event)) => {
                    connection.packets += 1;
                    if connection.packets > PACKETS {
                        return self.doom(key, Some(Closed::Flood));
                    }
                    // Before its login, a connection has one deadline for everything.
                    if connection.session().is_some() {
                        connection.received_at = now;
                    }
                    self.event(key, event, now);
                }
                Err(violation) => {
                    let is_logged_in = connection.session().is_some();
                    tracing::debug!(error = %violation, "a device broke the protocol");
                    if begins.starts_with(PROXY_HEADER) {
                        tracing::warn!(
                            error = "a connection begins with a PROXY header, and its peer is not in mqtt.trusted_proxies",
                            "refused"
                        );
                    }
                    self.send(key);
                    if !is_logged_in {
                        self.shared.reports.metrics.refused(Refused::Protocol);
                    }
                    return self.doom(key, is_logged_in.then_some(Closed::Protocol));
                }
            }
        }
    }

    fn event(&mut self, key: SlotKey, event: ServerEvent, now: Timestamp) {
        match event {
            ServerEvent::Connect(connect) => self.on_connect(key, &connect, now),
            ServerEvent::Publish(publish) => self.published(key, &publish, now),
            ServerEvent::Subscribe(subscribe) => self.subscribed(key, &subscribe, now),
            ServerEvent::Unsubscribe(unsubscribe) => self.unsubscribed(key, &unsubscribe, now),
            ServerEvent::Acknowledged(_) | ServerEvent::Ping => self.alive(key, now),
            ServerEvent::Disconnect => self.doom(key, None),
        }
    }

    /// Sends the waiting bytes of a connection.
    pub(super) fn send(&mut self, key: SlotKey) {
        let Some(connection) = self.connection(key) else { return };
        match connection.flush() {
            Ok(()) => {}
            Err(Unsendable::Slow) => self.doom(key, Some(Closed::Slow)),
            Err(Unsendable::Broken) => self.doom(key, None),
        }
    }

    /// Marks a connection to be closed after the present input. `why`: the server's reason, if the server closes it.
    pub(super) fn doom(&mut self, key: SlotKey, why: Option<Closed>) {
        if let Some(connection) = self.connection(key).filter(|connection| !connection.doomed) {
            connection.doomed = true;
            self.doomed.push((key, why));
        }
    }

    fn close(&mut self, key: SlotKey, why: Option<Closed>) {
        let Some(connection) = self.remove(key) else { return };
        let Stage::LoggedIn(session) = connection.stage else { return };
        if let Some(why) = why {
            self.shared.reports.metrics.closed(why);
            tracing::debug!(idmesin = session.idmesin.get(), ?why, "a device's connection is closed");
        }
        self.parted(key, session.idmesin);
    }

    /// Closes connections and wakes conversations that have been silent for too long.
    pub fn sweep(&mut self) {
        let now = self.now();
        let mut silent = Vec::new();
        for (at, connection) in &mut self.connections {
            connection.packets = 0;
            if connection.received_at.ms_until(now) >= connection.silence_ms {
                match connection.stage {
                    Stage::Proxied | Stage::Fresh => self.shared.reports.metrics.refused(Refused::Protocol),
                    // The database did not answer in time.
                    Stage::Checking(_) => self.shared.reports.metrics.refused(Refused::Unavailable),
                    Stage::LoggedIn(_) => {}
                }
                silent.push(SlotKey { at, id: connection.id });
            }
        }
        silent.into_iter().for_each(|key| self.doom(key, Some(Closed::Silent)));
        for idmesin in self.devices.silent(now) {
            let Some(device) = self.devices.get(idmesin) else { continue };
            let effects = device.conversation.wake(now);
            self.perform(idmesin, effects);
        }
    }
}
