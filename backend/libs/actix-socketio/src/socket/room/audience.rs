//! Whom a broadcast is for, and what it does to them.

use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use tokio::sync::mpsc;

use crate::codec::Frame;
use crate::engine::Sid;

/// Sockets of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Audience {
    pub namespace: ByteString,
    /// Those of any of these rooms; of none: all.
    pub to: Vec<ByteString>,
    /// But not those of these.
    pub except: Vec<ByteString>,
    /// And not this one.
    pub not: Option<Sid>,
}

/// What is done to each of them.
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
    /// Their ids are told, by each thread once.
    Tell(mpsc::Sender<Vec<String>>),
}

/// What threads hand to each other.
#[derive(Debug, Clone)]
pub struct Order(pub(super) Arc<(Audience, Action)>);
