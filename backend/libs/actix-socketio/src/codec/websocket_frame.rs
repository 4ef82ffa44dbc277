//! Format of websocket frames (RFC 6455 §5.2), and writing of frames.

use bytes::Bytes;

/// Opcodes (RFC 6455 §5.2).
pub mod opcode {
    /// A further fragment of a message.
    pub const CONTINUATION: u8 = 0;
    /// A text message.
    pub const TEXT: u8 = 1;
    /// A binary message.
    pub const BINARY: u8 = 2;
    /// The sender closes.
    pub const CLOSE: u8 = 8;
    /// A ping.
    pub const PING: u8 = 9;
    /// A pong.
    pub const PONG: u8 = 10;
}

pub(super) const FIN: u8 = 0x80;
pub(super) const RESERVED: u8 = 0x70;
pub(super) const MASKED: u8 = 0x80;
pub(super) const LENGTH_16: u8 = 126;
pub(super) const LENGTH_64: u8 = 127;
pub(super) const MAX_CONTROL: usize = 125;

/// One complete unmasked frame, as a server sends it.
pub fn encode_frame(opcode: u8, payload: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(payload.len() + 10);
    out.push(FIN | opcode);
    match payload.len() {
        n if n <= MAX_CONTROL => out.push(n as u8),
        n if n <= usize::from(u16::MAX) => {
            out.push(LENGTH_16);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        n => {
            out.push(LENGTH_64);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    out.into()
}

/// A close frame with a code (RFC 6455 §5.5.1).
pub fn close_frame(code: u16) -> Bytes {
    encode_frame(opcode::CLOSE, &code.to_be_bytes())
}
