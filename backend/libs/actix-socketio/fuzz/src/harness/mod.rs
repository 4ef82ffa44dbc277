//! What every fuzz target needs, those of other packages too: what one is, a bounded number of inputs for tests, and libFuzzer's program.

mod inputs;
mod program;

pub use inputs::try_inputs;
pub use program::{begin, run};

/// One place where bytes of strangers are read.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    pub name: &'static str,
    /// Panics when `bytes` break what must hold.
    pub run: fn(bytes: &[u8]),
    /// What searches begin with: at least one input of every kind.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// The target of that name.
///
/// # Errors
/// When there is none; the message names those that there are.
pub fn find(targets: &[FuzzTarget], name: &str) -> Result<FuzzTarget, String> {
    let names = || targets.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
    targets.iter().find(|t| t.name == name).copied().ok_or_else(|| format!("`{name}` is no target: there are {}", names()))
}

/// The first byte, which says what is done with the others, and those.
pub fn kind_and_rest(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(kind, rest)| (*kind, rest))
}

/// An input of a kind.
pub fn of_kind(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}
