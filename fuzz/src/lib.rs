//! What a stranger may send, given to the code that reads it. A target takes any bytes and asserts what must hold for them: not
//! only that nothing panics. `make fuzz` lets libFuzzer search for bytes that break a target, guided by the branches that are taken;
//! `make test` tries those that were found before, and a bounded number of others.

mod keys;
mod targets;

pub use targets::{codec, qr, token, websocket};

/// One place where bytes of strangers are read.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    pub name: &'static str,
    /// Panics when `bytes` break what must hold.
    pub run: fn(bytes: &[u8]),
    /// What searches begin with: at least one input of every kind.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them; the folder of what was found for one has its name.
pub const TARGETS: [FuzzTarget; 4] = [
    FuzzTarget { name: "codec", run: codec::run, seeds: codec::seeds },
    FuzzTarget { name: "websocket", run: websocket::run, seeds: websocket::seeds },
    FuzzTarget { name: "qr", run: qr::run, seeds: qr::seeds },
    FuzzTarget { name: "token", run: token::run, seeds: token::seeds },
];

/// The target of that name.
///
/// # Errors
/// When there is none; the message names those that there are.
pub fn target(name: &str) -> Result<FuzzTarget, String> {
    let names = || TARGETS.map(|t| t.name).join(", ");
    TARGETS.into_iter().find(|t| t.name == name).ok_or_else(|| format!("`{name}` is no target: there are {}", names()))
}
