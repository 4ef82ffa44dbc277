//! The fuzz targets of the server itself and of what it speaks with devices. Those of what it speaks with browsers, and what a target is:
//! `backend/libs/actix-socketio/fuzz`.

mod keys;
mod targets;

use actix_socketio_fuzz::harness::FuzzTarget;
pub use targets::{device, mqtt, qr, token};

/// All of them; the folder of what was found for one has its name.
pub const TARGETS: [FuzzTarget; 4] = [
    FuzzTarget { name: "device", run: device::run, seeds: device::seeds },
    FuzzTarget { name: "mqtt", run: mqtt::run, seeds: mqtt::seeds },
    FuzzTarget { name: "qr", run: qr::run, seeds: qr::seeds },
    FuzzTarget { name: "token", run: token::run, seeds: token::seeds },
];
