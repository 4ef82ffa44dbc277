//! What a stranger may send, given to the code that reads it. A target takes any bytes and asserts what must hold for them: not
//! only that nothing panics. `fuzz/run` lets libFuzzer search for bytes that break a target, guided by the branches that are taken;
//! the tests try those that were found before, and a bounded number of others.

pub mod harness;
mod targets;

use harness::FuzzTarget;
pub use targets::{codec, session, websocket};

/// All of them; the folder of what was found for one has its name.
pub const TARGETS: [FuzzTarget; 3] = [
    FuzzTarget { name: "codec", run: codec::run, seeds: codec::seeds },
    FuzzTarget { name: "websocket", run: websocket::run, seeds: websocket::seeds },
    FuzzTarget { name: "session", run: session::run, seeds: session::seeds },
];
