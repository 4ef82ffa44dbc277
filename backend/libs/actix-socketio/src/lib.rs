#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

// Items that only a host uses are not exported without the feature `host`.
#[cfg_attr(not(feature = "host"), allow(unused_imports, dead_code))]
mod codec;
mod engine;
#[cfg_attr(not(feature = "host"), allow(dead_code))]
mod fair_pool;
#[cfg_attr(not(feature = "host"), allow(dead_code))]
mod hub;
mod limits;
mod metrics;
mod session;
mod socket;
#[cfg_attr(not(feature = "host"), allow(unused_imports, dead_code))]
mod transport;
#[cfg_attr(not(feature = "host"), allow(dead_code))]
mod vital;
#[cfg_attr(not(feature = "host"), allow(dead_code))]
mod wheel;

pub use codec::Frame;
pub use engine::{Caller, Callers, CloseReason, Closer, Config, EngineError, Origins, Site, Sites};
pub use limits::{Limits, Size};
pub use metrics::{Counter, Metrics};
pub use socket::{
    Ack, AckAnswer, AckError, Args, Broadcast, Connect, ConnectAuth, Event, Handler, NoAnswer, Refused, Socket, SocketIo,
    TooManyRooms, socket_io,
};
#[cfg(feature = "actors")]
pub use transport::on_connect;

/// Engine.IO without Socket.IO: messages over polling and websockets, for protocols other than Socket.IO.
pub mod engine_io {
    pub use crate::engine::{Engine, Handle, Upper, Violation};
}

/// Items for a program that serves its connections itself, on the same threads.
#[cfg(feature = "host")]
pub mod host {
    pub use crate::engine::Bodies;
    pub use crate::hub::{Hub, Local};
    pub use crate::transport::{Upgrades, set_user_timeout};

    /// Bytes to packets and back.
    pub mod codec {
        pub use crate::codec::*;
    }

    /// Room that many holders share: the largest one loses first.
    pub mod fair_pool {
        pub use crate::fair_pool::*;
    }

    /// Tasks that a thread cannot work without.
    pub mod vital {
        pub use crate::vital::*;
    }

    /// Timing wheel for many deadlines.
    pub mod wheel {
        pub use crate::wheel::*;
    }
}
