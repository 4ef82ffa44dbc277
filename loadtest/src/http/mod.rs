//! As little of HTTP/1.1 as is needed to be refused, cut off and answered.

mod pool;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

pub use pool::Pool;

/// Longer than the server itself takes for its slowest answer.
pub const TIME_LIMIT: Duration = Duration::from_secs(12);
/// An answer of the server is never near this.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// The header by which a load balancer may tell which server answered.
pub const SERVED_BY: &str = "x-served-by";
/// What a kept connection keeps of its buffer.
const KEPT_BYTES: usize = 4096;

/// An answer as it came.
#[derive(Debug)]
pub struct RawAnswer {
    pub status: u16,
    pub body: String,
    /// A cookie that it sets, as a `Cookie` line.
    pub cookie: Option<String>,
    /// The server that said it, where a load balancer tells.
    pub server: Option<String>,
}

/// An answer in the server's envelope.
#[derive(Debug, Clone)]
pub struct ServerAnswer {
    pub status: u16,
    pub message: String,
    pub data: Value,
    /// A cookie that it sets, as a `Cookie` line.
    pub cookie: Option<String>,
    /// The server that said it, where a load balancer tells.
    pub server: Option<String>,
}

impl ServerAnswer {
    /// The kind of error that this answer to `call` is. One 429 is like the other: how many seconds each says to wait makes no kind.
    pub fn refusal_of(&self, call: &str) -> String {
        match self.status {
            429 => format!("{call} answered 429"),
            status => format!("{call} answered {status} {}", self.message),
        }
    }
}

/// Asks on a connection of its own; an error when the server died under it, was not there, or answered something that is no
/// envelope.
pub async fn ask(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> io::Result<ServerAnswer> {
    let request = request(to, method, path, &[headers, &[("connection", "close")]].concat(), &written(body));
    timeout(TIME_LIMIT, exchange(to, request.as_bytes())).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// No body for null.
fn written(body: &Value) -> String {
    if body.is_null() { String::new() } else { body.to_string() }
}

fn request(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\ncontent-length: {}\r\n", body.len());
    if !body.is_empty() {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}\r\n{body}")
}

async fn exchange(to: SocketAddr, request: &[u8]) -> io::Result<ServerAnswer> {
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes).await?;
    let (_, answer) = parse(&bytes)?.filter(|(used, _)| *used == bytes.len()).ok_or_else(cut_off)?;
    opened(&answer)
}

/// A connection that is kept for the next request.
pub struct KeptConnection {
    to: SocketAddr,
    stream: TcpStream,
    read: Vec<u8>,
}

impl KeptConnection {
    /// # Errors
    /// When nobody listens.
    pub async fn open(to: SocketAddr) -> io::Result<Self> {
        Self::over(to, TcpStream::connect(to)).await
    }

    /// From an address of the loopback, so that the server takes it for somebody else.
    ///
    /// # Errors
    /// Also when the system has no such address.
    pub async fn open_from(from: IpAddr, to: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from, 0))?;
        Self::over(to, socket.connect(to)).await
    }

    async fn over(to: SocketAddr, connecting: impl Future<Output = io::Result<TcpStream>>) -> io::Result<Self> {
        let stream = timeout(TIME_LIMIT, connecting).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        stream.set_nodelay(true)?;
        Ok(Self { to, stream, read: Vec::new() })
    }

    pub fn address(&self) -> SocketAddr {
        self.to
    }

    /// One request; after an error the connection is of no use any more.
    ///
    /// # Errors
    /// As [`ask`]; `limit` is how long the answer may take.
    pub async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
        limit: Duration,
    ) -> io::Result<ServerAnswer> {
        opened(&self.exchange(method, path, headers, &written(body), limit).await?)
    }

    /// The same for what has no envelope, or is not to be looked into. Nobody's request when `token` is empty.
    ///
    /// # Errors
    /// When no answer came, or it is no HTTP.
    pub async fn ask_raw(&mut self, method: &str, path: &str, token: &str, body: &str) -> io::Result<RawAnswer> {
        let auth = format!("Bearer {token}");
        let all = [("authorization", auth.as_str())];
        self.exchange(method, path, if token.is_empty() { &[] } else { &all }, body, TIME_LIMIT).await
    }

    /// Nobody's request for what may be long in coming.
    ///
    /// # Errors
    /// As [`KeptConnection::ask_raw`].
    pub async fn ask_for_long(&mut self, method: &str, path: &str, body: &str, limit: Duration) -> io::Result<RawAnswer> {
        self.exchange(method, path, &[], body, limit).await
    }

    async fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
        limit: Duration,
    ) -> io::Result<RawAnswer> {
        let request = request(self.to, method, path, headers, body);
        let answer = async {
            self.stream.write_all(request.as_bytes()).await?;
            self.answer().await
        };
        timeout(limit, answer).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn answer(&mut self) -> io::Result<RawAnswer> {
        loop {
            if let Some((used, answer)) = parse(&self.read)? {
                self.read.drain(..used);
                self.read.shrink_to(KEPT_BYTES);
                return Ok(answer);
            }
            if self.read.len() as u64 > MAX_ANSWER_BYTES || self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(cut_off());
            }
        }
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "cut off, or no envelope")
}

/// The first answer in `bytes`, and how long it is; `None` when it is not whole yet: its body has the length that was announced.
fn parse(bytes: &[u8]) -> io::Result<Option<(usize, RawAnswer)>> {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return Ok(None) };
    let Head { status, length, cookie, server } = head(&bytes[..end]).ok_or_else(cut_off)?;
    let Some(body) = bytes.get(end + 4..end + 4 + length) else { return Ok(None) };
    let body = String::from_utf8(body.to_vec()).map_err(|_| cut_off())?;
    Ok(Some((end + 4 + length, RawAnswer { status, body, cookie, server })))
}

/// What is in the envelope.
fn opened(answer: &RawAnswer) -> io::Result<ServerAnswer> {
    let envelope = |mut envelope: Value| {
        let message = envelope.get("message")?.as_str()?.to_owned();
        Some(ServerAnswer {
            status: answer.status,
            message,
            data: envelope.get_mut("data")?.take(),
            cookie: answer.cookie.clone(),
            server: answer.server.clone(),
        })
    };
    serde_json::from_str(&answer.body).ok().and_then(envelope).ok_or_else(cut_off)
}

struct Head {
    status: u16,
    length: usize,
    cookie: Option<String>,
    server: Option<String>,
}

fn head(bytes: &[u8]) -> Option<Head> {
    let head = std::str::from_utf8(bytes).ok()?;
    let value = |wanted: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let cookie = value("set-cookie").and_then(|set| set.split(';').next()).map(str::to_owned);
    Some(Head {
        status: head.split(' ').nth(1)?.parse().ok()?,
        length: value("content-length")?.parse().ok()?,
        cookie,
        server: value(SERVED_BY).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::{opened, parse};

    #[test]
    fn an_answer_is_whole_or_none() {
        let whole = "HTTP/1.1 409 Conflict\r\nContent-Length: 46\r\n\r\n{\"status\":409,\"message\":\"penuh\",\"data\":null}  ";
        let (used, answer) = parse(whole.as_bytes()).unwrap().unwrap();
        assert_eq!(used, whole.len());
        let answer = opened(&answer).unwrap();
        assert_eq!((answer.status, answer.message.as_str()), (409, "penuh"));
        for cut in [0, 10, 40, 60, whole.len() - 1] {
            assert!(parse(&whole.as_bytes()[..cut]).unwrap().is_none(), "{cut}");
        }
    }
}
