//! A phone's connection to the server that the load balancer chose: a websocket, or polling requests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::engine::frame::{self, Opcode};
use crate::engine::session::{upgrade_answer, upgrade_request};
use crate::http::KeptConnection;

/// A server may be silent for the time between two pings and the time for the answer.
const SILENT_FOR: Duration = Duration::from_secs(45);
const SEND_WITHIN: Duration = Duration::from_secs(10);
const PATH: &str = "/socket.io/?EIO=4&transport=polling";
/// Separator of the packets in one polling response.
const BETWEEN: char = '\u{1e}';

pub enum PhoneConnection {
    Web { stream: TcpStream, read: Vec<u8> },
    Polling { path: String, requests: KeptConnection, sends: KeptConnection },
}

fn broken(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

impl PhoneConnection {
    /// Opens a new session. On a websocket the first packets are still to be received.
    pub async fn open(to: SocketAddr, polls: bool) -> io::Result<Self> {
        if polls { Self::poll(to).await } else { Self::web(to).await }
    }

    async fn web(to: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        stream.write_all(upgrade_request(&to.to_string(), "").as_bytes()).await?;
        let mut read = Vec::new();
        loop {
            if let Some((head, status)) = upgrade_answer(&read).map_err(broken)? {
                if status != 101 {
                    return Err(broken(format!("the websocket was answered {status}")));
                }
                read.drain(..head);
                return Ok(Self::Web { stream, read });
            }
            if stream.read_buf(&mut read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn poll(to: SocketAddr) -> io::Result<Self> {
        let (mut requests, sends) = (KeptConnection::open(to).await?, KeptConnection::open(to).await?);
        let first = good(requests.ask_for_long("GET", PATH, "", SEND_WITHIN).await?)?;
        let open: Value = first.strip_prefix('0').and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let sid = open["sid"].as_str().ok_or_else(|| broken(format!("no session: {first}")))?;
        Ok(Self::Polling { path: format!("{PATH}&sid={sid}"), requests, sends })
    }

    pub async fn send(&mut self, packet: &str) -> io::Result<()> {
        match self {
            Self::Web { stream, .. } => {
                let mut out = Vec::new();
                frame::text(&mut out, packet);
                tokio::time::timeout(SEND_WITHIN, stream.write_all(&out))
                    .await
                    .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
            }
            Self::Polling { path, sends, .. } => good(sends.ask_for_long("POST", path, packet, SEND_WITHIN).await?).map(drop),
        }
    }

    /// Receives the next packets, at least one.
    pub async fn receive(&mut self) -> io::Result<Vec<String>> {
        match self {
            Self::Web { stream, read } => loop {
                let mut packets = Vec::new();
                while let Some(frame) = frame::next(read).map_err(|e| broken(e.0))? {
                    let used = frame.bytes;
                    match frame.opcode {
                        Opcode::Text => packets.push(String::from_utf8_lossy(frame.payload).into_owned()),
                        Opcode::Close => return Err(io::ErrorKind::ConnectionReset.into()),
                        Opcode::Ping => {
                            let mut out = Vec::new();
                            frame::pong(&mut out, frame.payload);
                            stream.write_all(&out).await?;
                        }
                        Opcode::Binary | Opcode::Pong => {}
                    }
                    read.drain(..used);
                }
                if !packets.is_empty() {
                    return Ok(packets);
                }
                let got = tokio::time::timeout(SILENT_FOR, stream.read_buf(read)).await;
                if got.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            },
            Self::Polling { path, requests, .. } => {
                let packets = good(requests.ask_for_long("GET", path, "", SILENT_FOR).await?)?;
                Ok(packets.split(BETWEEN).map(str::to_owned).collect())
            }
        }
    }
}

fn good(answer: crate::http::RawAnswer) -> io::Result<String> {
    if answer.status == 200 { Ok(answer.body) } else { Err(broken(format!("a poll was answered {}", answer.status))) }
}
