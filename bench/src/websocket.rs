//! A Socket.IO client over a websocket: as little work as possible beside what is measured.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Error;
use crate::http::Http;

/// More than anything that a server sends here.
const MAX_FRAME_BYTES: usize = 64 * 1024;
const PATH: &str = "/socket.io/?EIO=4&transport=";
const UPGRADE: &str = "host: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// The packet that joins the main namespace.
fn login(token: &str) -> String {
    format!("40{}", json!({ "token": token }))
}

/// A session in the main namespace, and what was read of it.
pub struct Websocket {
    stream: TcpStream,
    read: Vec<u8>,
    asked: u64,
}

impl Websocket {
    /// Connects with `token` and waits until the server says that it joined.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn connect(address: SocketAddr, token: &str) -> Result<Self, Error> {
        let mut websocket = Self::open(address, "").await?;
        websocket.send(&login(token)).await?;
        let joined = websocket.until("4").await?;
        if joined.starts_with("40") { Ok(websocket) } else { Err(format!("not joined: {joined}").into()) }
    }

    /// The same as phones do it: joined by polling, then upgraded.
    ///
    /// # Errors
    /// When the server refuses any step.
    pub async fn upgraded(address: SocketAddr, token: &str) -> Result<Self, Error> {
        let mut http = Http::connect(address).await?;
        let polling = format!("{PATH}polling");
        let open = http.get(&polling).await?.body;
        let open: Value = serde_json::from_str(open.strip_prefix('0').unwrap_or_default())
            .map_err(|e| format!("no Engine.IO handshake: {open:?}: {e}"))?;
        let session = format!("&sid={}", open["sid"].as_str().ok_or("a handshake without sid")?);
        let polling = polling + &session;
        http.post(&polling, "", &login(token)).await?;
        let joined = http.get(&polling).await?.body;
        if !joined.starts_with("40") {
            return Err(format!("not joined: {joined}").into());
        }
        let mut websocket = Self::open(address, &session).await?;
        websocket.send("2probe").await?;
        websocket.until("3probe").await?;
        websocket.send("5").await?;
        Ok(websocket)
    }

    /// The websocket of a new session, or of the one that `session` names (`&sid=…`).
    async fn open(address: SocketAddr, session: &str) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut websocket = Self { stream, read: Vec::new(), asked: 0 };
        websocket.stream.write_all(format!("GET {PATH}websocket{session} HTTP/1.1\r\n{UPGRADE}").as_bytes()).await?;
        let head = loop {
            if let Some(at) = websocket.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            websocket.more().await?;
        };
        if !websocket.read.starts_with(b"HTTP/1.1 101") {
            return Err(format!("no websocket: {}", String::from_utf8_lossy(&websocket.read[..head])).into());
        }
        websocket.read.drain(..head);
        Ok(websocket)
    }

    /// Subscribes to a machine and gives the acknowledgement; ticks that come meanwhile are passed over.
    ///
    /// # Errors
    /// When the connection ends.
    pub async fn subscribe(&mut self, idmesin: i64) -> Result<Value, Error> {
        let id = self.asked;
        self.asked += 1;
        self.send(&format!(r#"42{id}["subscribe","heartbeat/{idmesin}"]"#)).await?;
        let prefix = format!("43{id}[");
        let answer = self.until(&prefix).await?;
        Ok(serde_json::from_str(answer[prefix.len()..].trim_end_matches(']'))?)
    }

    /// Reads and throws away what is there; the number of bytes, 0 at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn skip(&mut self) -> Result<usize, Error> {
        let mut waste = [0; 4096];
        Ok(self.stream.read(&mut waste).await?)
    }

    /// Waits for a packet that begins so, and answers heartbeats meanwhile.
    async fn until(&mut self, prefix: &str) -> Result<String, Error> {
        loop {
            let packet = self.packet().await?;
            if packet == "2" {
                self.send("3").await?;
            } else if packet.starts_with(prefix) {
                return Ok(packet);
            }
        }
    }

    /// The next frame's text.
    async fn packet(&mut self) -> Result<String, Error> {
        loop {
            if let [_, short, rest @ ..] = &self.read[..] {
                let (head, length) = match (*short, rest) {
                    (126, [a, b, ..]) => (4, usize::from(u16::from_be_bytes([*a, *b]))),
                    (126.., _) => (4, MAX_FRAME_BYTES),
                    (n, _) => (2, usize::from(n)),
                };
                if let Some(payload) = self.read.get(head..head + length) {
                    let text = String::from_utf8(payload.to_vec())?;
                    self.read.drain(..head + length);
                    return Ok(text);
                }
            }
            self.more().await?;
        }
    }

    async fn send(&mut self, text: &str) -> Result<(), Error> {
        let mut frame = vec![0x81];
        match u16::try_from(text.len())? {
            n if n < 126 => frame.push(0x80 | n as u8),
            n => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&n.to_be_bytes());
            }
        }
        // a mask of zeros is a mask
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text.as_bytes());
        Ok(self.stream.write_all(&frame).await?)
    }

    async fn more(&mut self) -> Result<(), Error> {
        if self.stream.read_buf(&mut self.read).await? == 0 {
            return Err("the server closed the connection".into());
        }
        if self.read.len() > MAX_FRAME_BYTES { Err("a frame is too long".into()) } else { Ok(()) }
    }
}
