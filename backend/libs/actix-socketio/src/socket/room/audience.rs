//! Audience of a broadcast, and the action on each socket.

use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use tokio::sync::mpsc;

use crate::codec::Frame;
use crate::engine::Sid;

/// Selection of sockets of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Audience {
    pub namespace: ByteString,
    /// Sockets in any of these rooms; empty: all sockets.
    pub to: Vec<ByteString>,
    /// Except sockets in these rooms.
    pub except: Vec<ByteString>,
    /// Except this socket.
    pub not: Option<Sid>,
}

/// Action on each selected socket.
#[derive(Debug)]
pub(super) enum Action {
    Send {
        frame: Frame,
        attachments: Vec<Bytes>,
        volatile: bool,
    },
    Join(ByteString),
    Leave(ByteString),
    Disconnect,
    /// Send the ids; each thread sends one message.
    Tell(mpsc::Sender<Vec<String>>),
}

/// Message between threads.
#[derive(Debug, Clone)]
pub struct Order(pub(super) Arc<(Audience, Action)>);
