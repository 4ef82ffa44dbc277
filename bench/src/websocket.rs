//! A Socket.IO client over a websocket: as little work as possible beside what is measured.

use std::net::SocketAddr;

use nyala_loadtest::engine::heartbeat::Snapshot;
use nyala_loadtest::engine::{ServerMessage, frame, message, session};
use nyala_loadtest::http::KeptConnection;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::BenchError;

const POLLING: &str = "/socket.io/?EIO=4&transport=polling";

/// A session in the main namespace, and what was read of it.
pub struct Websocket {
    stream: TcpStream,
    read: Vec<u8>,
    asked: usize,
}

impl Websocket {
    /// Connects with `token` and waits until the server says that it joined.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn connect(address: SocketAddr, token: &str) -> Result<Self, BenchError> {
        let mut websocket = Self::open(address, "").await?;
        websocket.send(|out| session::join(out, token)).await?;
        let joined = websocket.until(|packet| match message(packet) {
            ServerMessage::Joined => Some(Ok(())),
            ServerMessage::Refused(why) => Some(Err(why)),
            _ => None,
        });
        joined.await?.map_err(|why| format!("not joined: {why}"))?;
        Ok(websocket)
    }

    /// The same as phones do it: joined by polling, then upgraded.
    ///
    /// # Errors
    /// When the server refuses any step.
    pub async fn upgraded(address: SocketAddr, token: &str) -> Result<Self, BenchError> {
        let mut http = KeptConnection::open(address).await?;
        let open = http.ask_raw("GET", POLLING, "", "").await?.body;
        let open: Value = serde_json::from_str(open.strip_prefix('0').unwrap_or_default())
            .map_err(|e| format!("no Engine.IO handshake: {open:?}: {e}"))?;
        let session = format!("&sid={}", open["sid"].as_str().ok_or("a handshake without sid")?);
        let polling = format!("{POLLING}{session}");
        http.ask_raw("POST", &polling, "", &format!("40{}", json!({ "token": token }))).await?;
        let joined = http.ask_raw("GET", &polling, "", "").await?.body;
        if !joined.starts_with("40") {
            return Err(format!("not joined: {joined}").into());
        }
        let mut websocket = Self::open(address, &session).await?;
        websocket.send(|out| frame::text(out, "2probe")).await?;
        websocket.until(|packet| (packet == b"3probe").then_some(())).await?;
        websocket.send(|out| frame::text(out, "5")).await?;
        Ok(websocket)
    }

    /// The websocket of a new session, or of the one that `session` names (`&sid=…`).
    async fn open(address: SocketAddr, session: &str) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut websocket = Self { stream, read: Vec::new(), asked: 0 };
        websocket.stream.write_all(session::upgrade_request("localhost", session).as_bytes()).await?;
        let (head, status) = loop {
            if let Some(answer) = session::upgrade_answer(&websocket.read)? {
                break answer;
            }
            websocket.more().await?;
        };
        if status != 101 {
            return Err(format!("no websocket: {}", String::from_utf8_lossy(&websocket.read[..head])).into());
        }
        websocket.read.drain(..head);
        Ok(websocket)
    }

    /// Subscribes to a machine and gives the acknowledgement; ticks that arrive before it are skipped.
    ///
    /// # Errors
    /// When the connection ends.
    pub async fn subscribe(&mut self, idmesin: i64) -> Result<Snapshot, BenchError> {
        let asked = self.asked;
        self.asked += 1;
        self.send(|out| session::subscribe(out, asked, idmesin)).await?;
        self.until(|packet| match message(packet) {
            ServerMessage::Answer { id, snapshot } if id == asked => Some(snapshot),
            _ => None,
        })
        .await
    }

    /// Reads and discards the available bytes; returns their number, 0 at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn skip(&mut self) -> Result<usize, BenchError> {
        let mut waste = [0; 4096];
        Ok(self.stream.read(&mut waste).await?)
    }

    /// Waits for a frame with a wanted payload, and answers heartbeats until then.
    async fn until<T>(&mut self, wanted: impl Fn(&[u8]) -> Option<T>) -> Result<T, BenchError> {
        loop {
            while let Some(frame) = frame::next(&self.read).map_err(|broken| broken.0)? {
                let (found, is_ping, bytes) = (wanted(frame.payload), frame.payload == b"2", frame.bytes);
                self.read.drain(..bytes);
                if is_ping {
                    self.send(|out| frame::text(out, "3")).await?;
                }
                if let Some(found) = found {
                    return Ok(found);
                }
            }
            self.more().await?;
        }
    }

    async fn send(&mut self, frame: impl Fn(&mut Vec<u8>)) -> Result<(), BenchError> {
        let mut out = Vec::new();
        frame(&mut out);
        Ok(self.stream.write_all(&out).await?)
    }

    async fn more(&mut self) -> Result<(), BenchError> {
        if self.stream.read_buf(&mut self.read).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(())
    }
}
