//! Raw websockets.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use actix_socketio::host::codec::opcode;

use crate::http::{PendingAnswer, Polling, connect};
use crate::server::Server;
use crate::wire::{frame, text_frame, upgrade_request};

/// One frame on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WsFrame {
    pub opcode: u8,
    pub payload: Vec<u8>,
}

pub struct Ws {
    pub stream: TcpStream,
}

/// An upgrade request that gets an ordinary answer.
pub fn refused(server: &Server, target: &str, more: &str) -> crate::http::Answer {
    let mut stream = connect(server.address);
    stream.write_all(upgrade_request(server.address, target, more).as_bytes()).unwrap();
    PendingAnswer(stream).answer()
}

impl Ws {
    /// Sends the handshake together with `early`, and checks its answer.
    pub fn handshake(stream: TcpStream, target: &str, early: &[u8]) -> Self {
        Self::handshake_with(stream, target, "", early)
    }

    /// The same with further header lines.
    fn handshake_with(mut stream: TcpStream, target: &str, more: &str, early: &[u8]) -> Self {
        let mut bytes = upgrade_request(stream.peer_addr().unwrap(), target, more).into_bytes();
        bytes.extend_from_slice(early);
        stream.write_all(&bytes).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        assert!(head.contains("x-answered-by: "), "whoever answers may add headers: {head}");
        // RFC 6455 §1.3: the answer to its sample key.
        assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
        Self { stream }
    }

    /// A session on a websocket, its handshake packet read.
    pub fn open(server: &Server, path: &str) -> Self {
        Self::open_on(connect(server.address), path)
    }

    pub fn open_on(stream: TcpStream, path: &str) -> Self {
        Self::open_as(stream, path, "")
    }

    pub fn open_as(stream: TcpStream, path: &str, more: &str) -> Self {
        let mut ws = Self::handshake_with(stream, &format!("{path}?EIO=4&transport=websocket"), more, b"");
        let packet = ws.text();
        assert_eq!(crate::http::handshake(&packet)["upgrades"], serde_json::json!([]));
        ws
    }

    /// A session that joined the main namespace.
    pub fn joined(server: &Server) -> Self {
        let mut ws = Self::open(server, "/socket.io/");
        ws.join("40");
        ws
    }

    /// Joins a namespace; returns the socket's id.
    pub fn join(&mut self, connect: &str) -> String {
        self.send(connect);
        let prefix = &connect[..connect.find('{').unwrap_or(connect.len())];
        let joined = self.text();
        let data = joined.strip_prefix(prefix).unwrap_or_else(|| panic!("{joined} does not answer {connect}"));
        let data: serde_json::Value = serde_json::from_str(data.trim_start_matches(',')).unwrap();
        let auth = self.text();
        assert!(auth.contains("[\"auth\","), "{auth}");
        data["sid"].as_str().unwrap().to_string()
    }

    /// A websocket for a session on polling.
    pub fn upgrade(server: &Server, polling: &Polling) -> Self {
        Self::handshake(connect(server.address), &polling.upgrade_target(), b"")
    }

    pub fn send(&mut self, text: &str) {
        self.send_raw(&text_frame(text));
    }

    /// Sends the same message `n` times in one piece, so that the server cannot close the connection in between.
    pub fn send_times(&mut self, text: &str, n: usize) {
        self.send_raw(&text_frame(text).repeat(n));
    }

    pub fn send_binary(&mut self, bytes: &[u8]) {
        self.send_raw(&frame(0x80 | opcode::BINARY, bytes));
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next frame; None at the end of the connection.
    pub fn next(&mut self) -> Option<WsFrame> {
        let mut header = [0; 2];
        if self.stream.read_exact(&mut header).is_err() {
            return None;
        }
        assert_eq!(header[0] & 0xf0, 0x80, "a server sends whole frames without reserved bits");
        assert_eq!(header[1] & 0x80, 0, "a server does not mask");
        let length = match header[1] {
            126 => {
                let mut length = [0; 2];
                self.stream.read_exact(&mut length).unwrap();
                usize::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.stream.read_exact(&mut length).unwrap();
                u64::from_be_bytes(length) as usize
            }
            n => usize::from(n),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).unwrap();
        Some(WsFrame { opcode: header[0] & 0x0f, payload })
    }

    /// The next frame, a text.
    pub fn text(&mut self) -> String {
        let frame = self.next().expect("a frame");
        assert_eq!(frame.opcode, opcode::TEXT, "{frame:?}");
        String::from_utf8(frame.payload).unwrap()
    }

    /// The next frame, a binary.
    pub fn binary(&mut self) -> Vec<u8> {
        let frame = self.next().expect("a frame");
        assert_eq!(frame.opcode, opcode::BINARY, "{frame:?}");
        frame.payload
    }

    /// Reads until the connection ends; returns the code of the close frame, if one came. After it, this side closes.
    pub fn closed(&mut self) -> Option<u16> {
        self.read_on(|stream| drop(stream.shutdown(Shutdown::Write)))
    }

    /// The same without closing.
    pub fn closed_alone(&mut self) -> Option<u16> {
        self.read_on(|_| {})
    }

    fn read_on(&mut self, at_close: impl Fn(&TcpStream)) -> Option<u16> {
        let mut code = None;
        while let Some(frame) = self.next() {
            if frame.opcode == opcode::CLOSE {
                code = Some(u16::from_be_bytes([frame.payload[0], frame.payload[1]]));
                at_close(&self.stream);
            }
        }
        code
    }
}
