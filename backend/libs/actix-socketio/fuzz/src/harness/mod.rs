//! Harness of all fuzz targets, also of other packages: the type of a target, the inputs of the tests, and libFuzzer's program.

mod inputs;
mod program;

pub use inputs::try_inputs;
pub use program::{begin, run};

/// A fuzz target: code that reads bytes from untrusted clients.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    pub name: &'static str,
    /// Panics if `bytes` break an invariant.
    pub run: fn(bytes: &[u8]),
    /// Start of a search: at least one input of every kind.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// The target of that name.
///
/// # Errors
/// When no target has this name; the message lists the existing ones.
pub fn find(targets: &[FuzzTarget], name: &str) -> Result<FuzzTarget, String> {
    let names = || targets.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
    targets.iter().find(|t| t.name == name).copied().ok_or_else(|| format!("`{name}` is no target: there are {}", names()))
}

/// Splits off the first byte, which selects the kind of the input.
pub fn kind_and_rest(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(kind, rest)| (*kind, rest))
}

/// An input of this kind.
pub fn of_kind(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}
