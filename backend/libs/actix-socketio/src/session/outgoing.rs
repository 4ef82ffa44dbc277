//! Outgoing packets, for both transports.

use bytes::Bytes;

use crate::codec::{Frame, encode_frame, opcode, push_binary};

/// A packet that waits for a transport.
#[derive(Debug, Clone)]
pub(super) enum Outgoing {
    Text(Frame),
    Binary(Bytes),
}

/// An outgoing packet, or one part of a packet with attachments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a Frame),
    Binary(&'a Bytes),
    /// The answer to a websocket ping; ignored by polling.
    Pong(&'a [u8]),
}

impl Outgoing {
    pub fn text_len(&self) -> usize {
        self.part().text_len()
    }

    pub fn write_text(&self, out: &mut String) {
        match self {
            Self::Text(frame) => out.push_str(frame.as_text()),
            Self::Binary(bytes) => push_binary(out, bytes),
        }
    }

    pub fn part(&self) -> Part<'_> {
        match self {
            Self::Text(frame) => Part::Text(frame),
            Self::Binary(bytes) => Part::Binary(bytes),
        }
    }
}

impl Part<'_> {
    pub fn text_len(self) -> usize {
        match self {
            Self::Text(frame) => frame.as_text().len(),
            Self::Binary(bytes) => 1 + bytes.len().div_ceil(3) * 4,
            Self::Pong(_) => 0,
        }
    }

    pub fn payload_len(self) -> usize {
        match self {
            Self::Text(frame) => frame.as_text().len(),
            Self::Binary(bytes) => bytes.len(),
            Self::Pong(payload) => payload.len(),
        }
    }

    pub fn to_websocket(self) -> Bytes {
        match self {
            Self::Text(frame) => frame.as_websocket().clone(),
            Self::Binary(bytes) => encode_frame(opcode::BINARY, bytes),
            Self::Pong(payload) => encode_frame(opcode::PONG, payload),
        }
    }

    pub(super) fn to_polling(self) -> Option<Outgoing> {
        match self {
            Self::Text(frame) => Some(Outgoing::Text(frame.clone())),
            Self::Binary(bytes) => Some(Outgoing::Binary(bytes.clone())),
            Self::Pong(_) => None,
        }
    }
}
