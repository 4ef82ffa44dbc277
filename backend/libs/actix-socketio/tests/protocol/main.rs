//! Black-box tests of the two protocol documents and of hostile clients: raw HTTP and websocket bytes against a server on its own
//! port.
#![allow(clippy::duplicate_mod, reason = "each suite is there once for each kind of server")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod http;
mod server;
mod wire;
mod ws;

mod hand_over;
#[cfg(feature = "actors")]
mod http_server;

/// All suites on a server of one kind.
macro_rules! suites {
    ($kind:expr) => {
        mod cross_origin;
        mod engine_handshake;
        mod heartbeat;
        mod hostile;
        mod limits;
        mod messages;
        mod namespaces;
        mod polling;
        mod rooms;
        mod unjoined;
        mod upgrade;
        mod websocket;

        use crate::server::{Server, ServerKind, limits, start_on};
        use actix_socketio::{Limits, Origins};

        /// Server with default limits, so that no heartbeat falls into a test.
        fn start() -> Server {
            start_with(limits(), Origins::SameOrigin)
        }

        fn start_with(limits: Limits, origins: Origins) -> Server {
            start_on($kind, limits, origins)
        }
    };
}

#[path = "."]
mod raw {
    suites!(ServerKind::Raw);
}

#[cfg(feature = "actors")]
#[path = "."]
mod ordinary {
    suites!(ServerKind::Ordinary);
}
