//! A device's connection: its socket, what was read of it, and what waits to be sent.

use std::io::ErrorKind;

use nyala_core::domain::address::Address;
use nyala_core::domain::timestamp::Timestamp;
use nyala_mqtt::Limits;
use nyala_mqtt::server::Connection;

use super::shared::Place;
use crate::device::mqtt::conversation::LinkId;
use crate::device::mqtt::socket::Socket;

/// Bytes that may wait to be sent; whoever does not take them is closed.
pub const MOST_WAITING: usize = 4 * 1024;

#[derive(Debug)]
pub struct Line {
    pub socket: Socket,
    pub mqtt: Connection,
    /// To be sent.
    pub out: Vec<u8>,
    pub link: LinkId,
    pub from: Address,
    pub stage: Stage,
    /// The last packet; before there was one, when it came.
    pub heard_at: Timestamp,
    /// After so long without one it is dead.
    pub silence_ms: i64,
    /// Packets since the last sweep.
    pub packets: u32,
    /// Nothing more is read of it: it is about to be closed.
    pub doomed: bool,
    _place: Place,
}

#[derive(Debug)]
pub enum Stage {
    /// Waits for the PROXY header of the balancer that forwards it.
    Proxied,
    /// Waits for its CONNECT.
    Fresh,
    /// Waits for its judgement.
    Judged(Login),
    Seated(Seat),
}

/// What a CONNECT asked for.
#[derive(Debug)]
pub struct Login {
    pub idmesin: i64,
    pub client: Box<str>,
    pub silence_ms: i64,
    /// The topic of its will.
    pub will: Option<Box<str>>,
}

/// A device's connection that has logged in.
#[derive(Debug)]
pub struct Seat {
    pub idmesin: i64,
    /// Of `device_key`.
    pub key: i64,
    pub client: Box<str>,
    /// What its topics begin with.
    pub prefix: Box<str>,
    /// Whether it has subscribed to its commands, and to its own states.
    pub commands: bool,
    pub states: bool,
}

/// Why nothing more can be sent on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsendable {
    /// It takes less than it is sent.
    Slow,
    Broken,
}

impl Line {
    pub fn new(socket: Socket, link: LinkId, from: Address, place: Place, now: Timestamp, login_within_ms: i64) -> Self {
        Self {
            socket,
            mqtt: Connection::new(Limits::default()),
            out: Vec::new(),
            link,
            from,
            stage: Stage::Fresh,
            heard_at: now,
            silence_ms: login_within_ms,
            packets: 0,
            doomed: false,
            _place: place,
        }
    }

    pub fn seat(&self) -> Option<&Seat> {
        match &self.stage {
            Stage::Seated(seat) => Some(seat),
            Stage::Proxied | Stage::Fresh | Stage::Judged(_) => None,
        }
    }

    pub fn seat_mut(&mut self) -> Option<&mut Seat> {
        match &mut self.stage {
            Stage::Seated(seat) => Some(seat),
            Stage::Proxied | Stage::Fresh | Stage::Judged(_) => None,
        }
    }

    /// Sends what the kernel takes of what waits.
    ///
    /// # Errors
    /// When the line is to be closed.
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
            // A device that says nothing for hours keeps no memory for it.
            self.out = Vec::new();
        }
        match ended {
            Err(e) if e.kind() == ErrorKind::WouldBlock && self.out.len() > MOST_WAITING => Err(Unsendable::Slow),
            Err(e) if e.kind() != ErrorKind::WouldBlock => Err(Unsendable::Broken),
            _ => Ok(()),
        }
    }
}
