//! Connection of a device: its socket, what was read from it, and what waits to be sent.

use std::io::ErrorKind;

use nyala_core::domain::address::Address;
use nyala_core::domain::id::{DeviceKeyId, MachineId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::Limits;
use nyala_mqtt::server::ServerConnection;

use super::shared::ConnectionPermit;
use crate::device::mqtt::conversation::ConnectionId;
use crate::device::mqtt::socket::Socket;

/// Greatest number of bytes that wait to be sent; a connection that exceeds it is closed.
pub const MAX_WAITING: usize = 4 * 1024;

#[derive(Debug)]
pub struct DeviceConnection {
    pub socket: Socket,
    pub mqtt: ServerConnection,
    /// Bytes to be sent.
    pub out: Vec<u8>,
    pub id: ConnectionId,
    pub from: Address,
    pub stage: Stage,
    /// When the last packet arrived; before the first packet, when the connection was accepted.
    pub received_at: Timestamp,
    /// Silence after which the connection is dead.
    pub silence_ms: i64,
    /// Packets since the last sweep.
    pub packets: u32,
    /// The connection is about to be closed: nothing more is read from it.
    pub doomed: bool,
    _place: ConnectionPermit,
}

#[derive(Debug)]
pub enum Stage {
    /// Waits for the PROXY header of the balancer that forwards the connection.
    Proxied,
    /// Waits for its CONNECT.
    Fresh,
    /// Waits for the result of its login.
    Checking(Login),
    LoggedIn(DeviceSession),
}

/// Content of a CONNECT that is needed after the check.
#[derive(Debug)]
pub struct Login {
    pub idmesin: MachineId,
    pub client: Box<str>,
    pub silence_ms: i64,
    /// Topic of its will.
    pub will: Option<Box<str>>,
}

/// Session of a device's connection that has logged in.
#[derive(Debug)]
pub struct DeviceSession {
    pub idmesin: MachineId,
    /// Id in `device_key`.
    pub key: DeviceKeyId,
    pub client: Box<str>,
    /// Prefix of its topics.
    pub prefix: Box<str>,
    /// Whether it has subscribed to its commands, and to its own state reports.
    pub commands: bool,
    pub states: bool,
}

/// Reason why nothing more can be sent on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsendable {
    /// It takes less than is sent to it.
    Slow,
    Broken,
}

impl DeviceConnection {
    pub fn new(
        socket: Socket,
        id: ConnectionId,
        from: Address,
        place: ConnectionPermit,
        now: Timestamp,
        login_within_ms: i64,
    ) -> Self {
        Self {
            socket,
            mqtt: ServerConnection::new(Limits::default()),
            out: Vec::new(),
            id,
            from,
            stage: Stage::Fresh,
            received_at: now,
            silence_ms: login_within_ms,
            packets: 0,
            doomed: false,
            _place: place,
        }
    }

    pub fn session(&self) -> Option<&DeviceSession> {
        match &self.stage {
            Stage::LoggedIn(session) => Some(session),
            Stage::Proxied | Stage::Fresh | Stage::Checking(_) => None,
        }
    }

    pub fn session_mut(&mut self) -> Option<&mut DeviceSession> {
        match &mut self.stage {
            Stage::LoggedIn(session) => Some(session),
            Stage::Proxied | Stage::Fresh | Stage::Checking(_) => None,
        }
    }

    /// Sends as much of the waiting bytes as the kernel takes.
    ///
    /// # Errors
    /// When the connection must be closed.
    pub fn flush(&mut self) -> Result<(), Unsendable> {
        let mut sent = 0;
        let ended = loop {
            let result = match &self.out[sent..] {
                [] => break self.socket.flush(),
                rest => self.socket.write(rest),
            };
            match result {
                Ok(0) => break Err(ErrorKind::WriteZero.into()),
                Ok(n) => sent += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        self.out.drain(..sent);
        if self.out.is_empty() {
            // A device may be silent for hours: its connection keeps no buffer.
            self.out = Vec::new();
        }
        match ended {
            Err(e) if e.kind() == ErrorKind::WouldBlock && self.out.len() > MAX_WAITING => Err(Unsendable::Slow),
            Err(e) if e.kind() != ErrorKind::WouldBlock => Err(Unsendable::Broken),
            _ => Ok(()),
        }
    }
}
