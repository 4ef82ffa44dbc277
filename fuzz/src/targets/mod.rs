//! One file a target.

pub mod codec;
pub mod qr;
pub mod token;
pub mod websocket;

/// The first byte, which says what is done with the others, and those.
fn kind_and_rest(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(kind, rest)| (*kind, rest))
}

/// An input of a kind.
fn of_kind(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}
