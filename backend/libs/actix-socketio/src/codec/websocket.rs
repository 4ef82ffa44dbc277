//! Reading of websocket frames (RFC 6455 §5), server side.
//!
//! `actix_http::ws::Codec` is not used: it buffers an oversized frame to its end before it refuses it, and reserves the size that a
//! header announces. A client could make it hold any amount of memory. This decoder refuses at the header.

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;

use super::websocket_frame::{FIN, LENGTH_16, LENGTH_64, MASKED, MAX_CONTROL, RESERVED, opcode};

/// One complete message or control frame of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A text message, fragments joined, checked to be UTF-8.
    Text(ByteString),
    /// A binary message, fragments joined.
    Binary(Bytes),
    /// A ping with its payload (at most 125 bytes).
    Ping(Bytes),
    /// A pong.
    Pong,
    /// The client closes.
    Close,
}

/// Reason why a client's bytes are not websocket frames. The socket is closed with [`WebsocketError::code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebsocketError {
    /// Reserved bits, an unknown opcode, a bad control frame or a fragment out of order.
    #[error("broken websocket frame")]
    Frame,
    /// A frame from a client must be masked (RFC 6455 §5.1).
    #[error("unmasked websocket frame")]
    Unmasked,
    /// A text message must be UTF-8.
    #[error("text message is not UTF-8")]
    Utf8,
    /// A frame or the joined fragments of a message are larger than allowed.
    #[error("websocket message is larger than {0} bytes")]
    TooLarge(usize),
}

impl WebsocketError {
    /// The close code to answer with (RFC 6455 §7.4.1).
    pub fn code(self) -> u16 {
        match self {
            Self::Frame | Self::Unmasked => 1002,
            Self::Utf8 => 1007,
            Self::TooLarge(_) => 1009,
        }
    }
}

/// Splits a byte stream into messages. Holds only the fragments of an unfinished message.
#[derive(Debug)]
pub struct Decoder {
    max: usize,
    /// Boxed, because few clients send fragments.
    fragments: Option<Box<Fragments>>,
}

#[derive(Debug)]
struct Fragments {
    text: bool,
    bytes: BytesMut,
}

struct Header {
    fin: bool,
    opcode: u8,
    mask: [u8; 4],
    /// Bytes of the header.
    size: usize,
    /// Bytes of the payload.
    length: usize,
}

impl Decoder {
    /// A decoder that refuses messages of more than `max` bytes.
    pub fn new(max: usize) -> Self {
        Self { max, fragments: None }
    }

    /// Takes the next message from the front of `buf`. None: more bytes are needed. `buf` never needs to hold more than
    /// `max` + 14 bytes for progress.
    ///
    /// # Errors
    /// When the bytes break RFC 6455 or a message is too large. The stream is unusable then.
    pub fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Message>, WebsocketError> {
        loop {
            let Some(header) = self.header(buf)? else {
                return Ok(None);
            };
            if buf.len() - header.size < header.length {
                return Ok(None);
            }
            buf.advance(header.size);
            let mut payload = buf.split_to(header.length);
            unmask(&mut payload, header.mask);
            if let Some(message) = self.accept(&header, payload)? {
                return Ok(Some(message));
            }
        }
    }

    fn header(&self, buf: &[u8]) -> Result<Option<Header>, WebsocketError> {
        let [first, second, ..] = *buf else {
            return Ok(None);
        };
        if first & RESERVED != 0 {
            return Err(WebsocketError::Frame);
        }
        if second & MASKED == 0 {
            return Err(WebsocketError::Unmasked);
        }
        let (fin, opcode) = (first & FIN != 0, first & 0x0f);
        let (length, extended) = match second & !MASKED {
            LENGTH_16 => match buf.get(2..4) {
                Some(b) => (b.iter().fold(0, |n, b| n << 8 | u64::from(*b)), 2),
                None => return Ok(None),
            },
            LENGTH_64 => match buf.get(2..10) {
                Some(b) => (b.iter().fold(0, |n, b| n << 8 | u64::from(*b)), 8),
                None => return Ok(None),
            },
            n => (u64::from(n), 0),
        };
        let length = usize::try_from(length).map_err(|_| WebsocketError::TooLarge(self.max))?;
        self.check(fin, opcode, length)?;
        let size = 2 + extended + 4;
        match buf.get(size - 4..size) {
            Some(&[a, b, c, d]) => Ok(Some(Header { fin, opcode, mask: [a, b, c, d], size, length })),
            _ => Ok(None),
        }
    }

    /// All checks that do not need the payload.
    fn check(&self, fin: bool, op: u8, length: usize) -> Result<(), WebsocketError> {
        match op {
            opcode::CLOSE | opcode::PING | opcode::PONG => {
                if fin && length <= MAX_CONTROL {
                    Ok(())
                } else {
                    Err(WebsocketError::Frame)
                }
            }
            opcode::CONTINUATION | opcode::TEXT | opcode::BINARY => {
                if (op == opcode::CONTINUATION) != self.fragments.is_some() {
                    return Err(WebsocketError::Frame);
                }
                let before = self.fragments.as_ref().map_or(0, |f| f.bytes.len());
                if length > self.max - before { Err(WebsocketError::TooLarge(self.max)) } else { Ok(()) }
            }
            _ => Err(WebsocketError::Frame),
        }
    }

    fn accept(&mut self, header: &Header, payload: BytesMut) -> Result<Option<Message>, WebsocketError> {
        match header.opcode {
            opcode::CLOSE => return Ok(Some(Message::Close)),
            opcode::PING => return Ok(Some(Message::Ping(payload.freeze()))),
            opcode::PONG => return Ok(Some(Message::Pong)),
            _ => {}
        }
        let whole = match self.fragments.take() {
            None => Fragments { text: header.opcode == opcode::TEXT, bytes: payload },
            Some(mut fragments) => {
                fragments.bytes.extend_from_slice(&payload);
                *fragments
            }
        };
        if !header.fin {
            self.fragments = Some(Box::new(whole));
            return Ok(None);
        }
        let bytes = whole.bytes.freeze();
        if !whole.text {
            return Ok(Some(Message::Binary(bytes)));
        }
        ByteString::try_from(bytes).map(|text| Some(Message::Text(text))).map_err(|_| WebsocketError::Utf8)
    }
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let (words, rest) = payload.as_chunks_mut::<4>();
    let key = u32::from_ne_bytes(mask);
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ key).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode_frame;

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let frame = encode_frame(first & 0x0f, payload);
        let header = frame.len() - payload.len();
        let mut out = frame[..header].to_vec();
        out[0] = first;
        out[1] |= MASKED;
        let mask = [1, 2, 3, 4];
        out.extend_from_slice(&mask);
        out.extend(payload.iter().enumerate().map(|(i, b)| b ^ mask[i % 4]));
        out
    }

    fn decode(bytes: &[u8], max: usize) -> Result<Vec<Message>, WebsocketError> {
        let (mut decoder, mut buf, mut out) = (Decoder::new(max), BytesMut::from(bytes), Vec::new());
        while let Some(message) = decoder.decode(&mut buf)? {
            out.push(message);
        }
        Ok(out)
    }

    #[test]
    fn messages_of_every_length_form_read_back() {
        for n in [0, 1, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; n];
            let got = decode(&masked(0x82, &payload), 70_000);
            assert_eq!(got, Ok(vec![Message::Binary(payload.into())]));
        }
    }

    #[test]
    fn fragments_join_around_a_ping() {
        let mut bytes = masked(0x01, b"hel");
        bytes.extend(masked(0x89, b"p"));
        bytes.extend(masked(0x80, b"lo"));
        let expected = vec![Message::Ping(Bytes::from_static(b"p")), Message::Text("hello".into())];
        assert_eq!(decode(&bytes, 5), Ok(expected));
        assert_eq!(decode(&bytes, 4), Err(WebsocketError::TooLarge(4)));
    }

    #[test]
    fn an_oversize_frame_is_refused_at_its_header() {
        let header = [0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0];
        assert_eq!(decode(&header, 1_000_000), Err(WebsocketError::TooLarge(1_000_000)));
    }

    #[test]
    fn broken_frames_are_refused() {
        let frame = Err(WebsocketError::Frame);
        assert_eq!(decode(&masked(0xc1, b"a"), 9), frame, "reserved bit");
        assert_eq!(decode(&masked(0x83, b"a"), 9), frame, "unknown opcode");
        assert_eq!(decode(&masked(0x80, b"a"), 9), frame, "continuation of nothing");
        assert_eq!(decode(&masked(0x09, b"a"), 9), frame, "fragmented ping");
        assert_eq!(decode(&masked(0x89, &[0; 126]), 900), frame, "long ping");
        let twice = [masked(0x01, b"a"), masked(0x81, b"b")].concat();
        assert_eq!(decode(&twice, 9), frame, "message inside a message");
        assert_eq!(decode(&encode_frame(1, b"a"), 9), Err(WebsocketError::Unmasked));
        assert_eq!(decode(&masked(0x81, &[0xff]), 9), Err(WebsocketError::Utf8));
    }
}
