//! One websocket of the floor.

use std::io::Write;
use std::net::TcpStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// RFC 6455 §1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OPCODE_CLOSE: u8 = 8;

pub struct Conn {
    pub stream: TcpStream,
    /// Bytes of an unfinished request or frame; holds no memory while there are none.
    pub unread: Vec<u8>,
    /// The rest of a frame that the socket did not take whole; goes before the next one.
    unsent: Vec<u8>,
    pub watches: Vec<u32>,
    open: bool,
}

pub enum Message {
    Text(String),
    Close,
}

/// A whole unmasked text frame of less than 64 KiB.
pub fn frame(text: &str) -> Vec<u8> {
    let mut out = vec![0x81];
    match u8::try_from(text.len()) {
        Ok(n) if n < 126 => out.push(n),
        _ => {
            out.push(126);
            out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
    out
}

impl Conn {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, unread: Vec::new(), unsent: Vec::new(), watches: Vec::new(), open: false }
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    /// One `write`. What a full socket does not take is dropped, because the next tick replaces it; only a part is kept.
    pub fn send(&mut self, bytes: &[u8]) {
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(bytes);
            if let Ok(n) = self.stream.write(&self.unsent) {
                self.unsent.drain(..n);
            }
        } else if let Ok(n) = self.stream.write(bytes)
            && n < bytes.len()
        {
            self.unsent = bytes[n..].to_vec();
        }
    }

    /// Answers the request for a websocket once it is there. False: not yet.
    pub fn open(&mut self) -> bool {
        let Some(end) = self.unread.windows(4).position(|w| w == b"\r\n\r\n") else { return false };
        let head = String::from_utf8_lossy(&self.unread[..end]).into_owned();
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            lines.clone().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
        };
        let key = header("sec-websocket-key").unwrap_or_default();
        let accept = STANDARD.encode(Sha1::digest(format!("{key}{GUID}")));
        self.send(
            format!(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n"
            )
            .as_bytes(),
        );
        self.unread.drain(..end + 4);
        self.open = true;
        true
    }

    /// The next whole frame, unmasked. The clients send short single frames only.
    pub fn message(&mut self) -> Option<Message> {
        if !self.open || self.unread.len() < 6 {
            return None;
        }
        let (head, length) = match self.unread[1] & 0x7f {
            126 => (8, usize::from(u16::from_be_bytes([self.unread[2], self.unread[3]]))),
            n => (6, usize::from(n)),
        };
        if self.unread.len() < head + length {
            return None;
        }
        let mask = [self.unread[head - 4], self.unread[head - 3], self.unread[head - 2], self.unread[head - 1]];
        let payload = self.unread[head..head + length].iter().zip(mask.iter().cycle()).map(|(byte, m)| byte ^ m).collect();
        let closes = self.unread[0] & 0x0f == OPCODE_CLOSE;
        self.unread.drain(..head + length);
        if self.unread.is_empty() {
            self.unread = Vec::new();
        }
        Some(if closes { Message::Close } else { Message::Text(String::from_utf8(payload).unwrap_or_default()) })
    }
}
