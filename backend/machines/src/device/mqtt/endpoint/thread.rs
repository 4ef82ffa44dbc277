//! Part of the endpoint on one worker thread: its connections and its devices, in one task. No connection has a separate task or buffer:
//! the kernel reports which ones are ready (an epoll within the runtime's own), and all are read into one buffer.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;

use mio::{Registry, Token};
use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::server::Event;
use slab::Slab;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::fresh::MAX_LOGINS;
use super::line::{DeviceSession, Line, Stage, Unsendable};
use super::login::Knock;
use super::login_pool::LoginPool;
use super::shared::{LineKey, Order, Shared};
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
    pub(super) me: mpsc::Sender<Order>,
    lines: Slab<Line>,
    pub(super) devices: Devices,
    /// Connections of each device, the oldest first.
    pub(super) lines_of: HashMap<i64, Vec<LineKey>>,
    /// Connections that have not logged in.
    pub(super) pool: LoginPool,
    pub(super) knocks: Vec<Knock>,
    /// Sender of logins to the task that checks them together.
    pub(super) to_judge: mpsc::Sender<Vec<Knock>>,
    pub(super) ask_at: Option<Instant>,
    pub(super) asking: bool,
    /// Connections that are closed when the present input is processed.
    doomed: Vec<(LineKey, Option<Closed>)>,
    /// Connections that may have more bytes than were read.
    again: Vec<LineKey>,
    buf: Vec<u8>,
}

impl Thread {
    pub fn new(shared: Arc<Shared>, registry: Registry, me: mpsc::Sender<Order>, to_judge: mpsc::Sender<Vec<Knock>>) -> Self {
        Self {
            shared,
            registry,
            me,
            lines: Slab::new(),
            devices: Devices::default(),
            lines_of: HashMap::new(),
            pool: LoginPool::new(MAX_LOGINS),
            knocks: Vec::new(),
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

    pub fn order(&mut self, order: Order) {
        match order {
            Order::Accepted(stream) => self.accepted(stream),
            Order::Judged(verdicts) => self.judged(verdicts),
            Order::DeviceSession(line, key) => self.arrive(*line, key),
            Order::Request(request) => {
                let now = self.now();
                if let Some((idmesin, effects)) = self.devices.request(request, &self.shared.reports, now) {
                    self.perform(idmesin, effects);
                }
            }
            Order::SendAway => {
                let all: Vec<LineKey> = self.lines.iter().map(|(at, line)| LineKey { at, link: line.link }).collect();
                all.into_iter().for_each(|key| self.doom(key, Some(Closed::CutOff)));
            }
            Order::Revoked(keys) => {
                let revoked = self.lines.iter().filter(|(_, line)| line.seat().is_some_and(|seat| keys.contains(&seat.key)));
                let revoked: Vec<LineKey> = revoked.map(|(at, line)| LineKey { at, link: line.link }).collect();
                revoked.into_iter().for_each(|key| self.doom(key, Some(Closed::Revoked)));
            }
        }
    }

    // --- connections ---

    pub(super) fn line(&mut self, key: LineKey) -> Option<&mut Line> {
        self.lines.get_mut(key.at).filter(|line| line.link == key.link)
    }

    pub(super) fn seat(&self, key: LineKey) -> Option<&DeviceSession> {
        self.lines.get(key.at).filter(|line| line.link == key.link)?.seat()
    }

    pub(super) fn seat_mut(&mut self, key: LineKey) -> Option<&mut DeviceSession> {
        self.line(key)?.seat_mut()
    }

    /// Adds a connection to this thread. `None`: the kernel does not take it.
    pub(super) fn insert(&mut self, mut line: Line) -> Option<LineKey> {
        let entry = self.lines.vacant_entry();
        let key = LineKey { at: entry.key(), link: line.link };
        line.socket.register(&self.registry, Token(key.at)).ok()?;
        if line.seat().is_none() {
            self.pool.insert(key, line.from, line.heard_at);
        }
        entry.insert(line);
        Some(key)
    }

    /// Removes a connection, to close it or to pass it to another thread.
    pub(super) fn remove(&mut self, key: LineKey) -> Option<Line> {
        self.line(key)?;
        let mut line = self.lines.remove(key.at);
        // A connection that the other side closed may already be deregistered by the kernel.
        let _ = line.socket.deregister(&self.registry);
        if line.seat().is_none() {
            self.pool.remove(key, line.from);
        }
        Some(line)
    }

    /// Processes a kernel event of a connection.
    pub fn ready(&mut self, token: Token, readable: bool) {
        let Some(link) = self.lines.get(token.0).map(|line| line.link) else { return };
        let key = LineKey { at: token.0, link };
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

    pub(super) fn read(&mut self, key: LineKey) {
        let mut buf = std::mem::take(&mut self.buf);
        if !self.take_proxy_header(key, &mut buf) {
            self.buf = buf;
            return;
        }
        let mut reads = 0..READS;
        let more = loop {
            let Some(line) = self.line(key).filter(|line| !line.doomed) else { break false };
            if reads.next().is_none() {
                break true;
            }
            match line.socket.read(&mut buf) {
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
    pub(super) fn feed(&mut self, key: LineKey, mut bytes: &[u8]) {
        let (now, begins) = (self.now(), bytes);
        while let Some(line) = self.line(key).filter(|line| !line.doomed) {
            match line.mqtt.feed(&mut bytes, &mut line.out) {
                Ok(None) => return,
                Ok(Some(event)) => {
                    line.packets += 1;
                    if line.packets > PACKETS {
                        return self.doom(key, Some(Closed::Flood));
                    }
                    // Before its login, a connection has one deadline for everything.
                    if line.seat().is_some() {
                        line.heard_at = now;
                    }
                    self.event(key, event, now);
                }
                Err(violation) => {
                    let seated = line.seat().is_some();
                    tracing::debug!(error = %violation, "a device broke the protocol");
                    if begins.starts_with(PROXY_HEADER) {
                        tracing::warn!(
                            error = "a connection begins with a PROXY header, and its peer is not in mqtt.trusted_proxies",
                            "refused"
                        );
                    }
                    self.send(key);
                    if !seated {
                        self.shared.reports.metrics.refused(Refused::Protocol);
                    }
                    return self.doom(key, seated.then_some(Closed::Protocol));
                }
            }
        }
    }

    fn event(&mut self, key: LineKey, event: Event, now: Timestamp) {
        match event {
            Event::Connect(connect) => self.knock(key, &connect, now),
            Event::Publish(publish) => self.published(key, &publish, now),
            Event::Subscribe(subscribe) => self.subscribed(key, &subscribe, now),
            Event::Unsubscribe(unsubscribe) => self.unsubscribed(key, &unsubscribe, now),
            Event::Acknowledged(_) | Event::Ping => self.alive(key, now),
            Event::Disconnect => self.doom(key, None),
        }
    }

    /// Sends the waiting bytes of a connection.
    pub(super) fn send(&mut self, key: LineKey) {
        let Some(line) = self.line(key) else { return };
        match line.flush() {
            Ok(()) => {}
            Err(Unsendable::Slow) => self.doom(key, Some(Closed::Slow)),
            Err(Unsendable::Broken) => self.doom(key, None),
        }
    }

    /// Marks a connection to be closed after the present input. `why`: the server's reason, if the server closes it.
    pub(super) fn doom(&mut self, key: LineKey, why: Option<Closed>) {
        if let Some(line) = self.line(key).filter(|line| !line.doomed) {
            line.doomed = true;
            self.doomed.push((key, why));
        }
    }

    fn close(&mut self, key: LineKey, why: Option<Closed>) {
        let Some(line) = self.remove(key) else { return };
        let Stage::Seated(seat) = line.stage else { return };
        if let Some(why) = why {
            self.shared.reports.metrics.closed(why);
            tracing::debug!(idmesin = seat.idmesin, ?why, "a device's connection is closed");
        }
        self.parted(key, seat.idmesin);
    }

    /// Closes connections and wakes conversations that have been silent for too long.
    pub fn sweep(&mut self) {
        let now = self.now();
        let mut silent = Vec::new();
        for (at, line) in &mut self.lines {
            line.packets = 0;
            if line.heard_at.ms_until(now) >= line.silence_ms {
                match line.stage {
                    Stage::Proxied | Stage::Fresh => self.shared.reports.metrics.refused(Refused::Protocol),
                    // The database did not answer in time.
                    Stage::Judged(_) => self.shared.reports.metrics.refused(Refused::Unavailable),
                    Stage::Seated(_) => {}
                }
                silent.push(LineKey { at, link: line.link });
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
