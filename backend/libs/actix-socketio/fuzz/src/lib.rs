//! Fuzz targets for the code that reads bytes from untrusted clients. A target takes any bytes and asserts invariants, not only the
//! absence of panics. `fuzz/run` lets libFuzzer search for bytes that break a target, guided by branch coverage. The tests use the
//! inputs that were found before, and a bounded number of others.

pub mod harness;
mod targets;

use harness::FuzzTarget;
pub use targets::{codec, session, websocket};

/// All targets. The folder with a target's kept inputs has its name.
pub const TARGETS: [FuzzTarget; 3] = [
    FuzzTarget { name: "codec", run: codec::run, seeds: codec::seeds },
    FuzzTarget { name: "websocket", run: websocket::run, seeds: websocket::seeds },
    FuzzTarget { name: "session", run: session::run, seeds: session::seeds },
];
