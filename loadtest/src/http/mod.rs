//! The part of HTTP/1.1 that a load test needs.

mod pool;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

pub use pool::Pool;

/// Time limit of an answer; the server's own limit is shorter.
pub const TIME_LIMIT: Duration = Duration::from_secs(12);
/// Greatest size of an answer; those of the server are much smaller.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// Header in which a load balancer names the server of an answer.
pub const SERVED_BY: &str = "x-served-by";
/// Greatest size of the buffer that a kept connection keeps.
const KEPT_BYTES: usize = 4096;

/// Answer without interpretation of its body.
#[derive(Debug)]
pub struct RawAnswer {
    pub status: u16,
    pub body: String,
    /// Cookie that it sets, as the value of a `Cookie` header.
    pub cookie: Option<String>,
    /// Server that answered, when a load balancer names it.
    pub server: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// An answer in the server's envelope.
#[derive(Debug, Clone)]
pub struct ServerAnswer {
    pub status: u16,
    pub message: String,
    pub data: Value,
    /// Cookie that it sets, as the value of a `Cookie` header.
    pub cookie: Option<String>,
    /// Server that answered, when a load balancer names it.
    pub server: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// The server's sentence when it refuses a call because of overload.
const OVERLOADED: &str = "sedang ramai, mencoba lagi";

impl ServerAnswer {
    /// Time after which the same call may be sent again, when the overloaded server has refused it.
    pub fn refused_for(&self) -> Option<Duration> {
        (self.status == 503 && self.message == OVERLOADED).then(|| self.retry_after.unwrap_or(Duration::from_secs(1)))
    }

    /// Kind of error of this answer to `call`. All 429 are one kind, whatever time they ask to wait.
    pub fn refusal_of(&self, call: &str) -> String {
        match self.status {
            429 => format!("{call} answered 429"),
            status => format!("{call} answered {status} {}", self.message),
        }
    }
}

/// Sends a request on a new connection. An error: the server cannot be reached, dies before its answer, or sends no envelope.
pub async fn ask(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> io::Result<ServerAnswer> {
    let request = request(to, method, path, &[headers, &[("connection", "close")]].concat(), &written(body));
    timeout(TIME_LIMIT, exchange(to, request.as_bytes())).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// Null: no body.
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

/// Connection that is kept for further requests.
pub struct KeptConnection {
    to: SocketAddr,
    stream: TcpStream,
    read: Vec<u8>,
}

impl KeptConnection {
    /// # Errors
    /// When no server listens.
    pub async fn open(to: SocketAddr) -> io::Result<Self> {
        Self::over(to, TcpStream::connect(to)).await
    }

    /// Connects from another loopback address, so that the server counts it as another client.
    ///
    /// # Errors
    /// Those of [`KeptConnection::open`], and an address that the system does not have.
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

    /// Sends one request. After an error the connection cannot be used any more.
    ///
    /// # Errors
    /// As [`ask`]; `limit` is the time limit of the answer.
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

    /// Sends one request and returns the answer without parsing its envelope. An empty `token`: without a login.
    ///
    /// # Errors
    /// When no answer comes, or it is no HTTP.
    pub async fn ask_raw(&mut self, method: &str, path: &str, token: &str, body: &str) -> io::Result<RawAnswer> {
        let auth = format!("Bearer {token}");
        let all = [("authorization", auth.as_str())];
        self.exchange(method, path, if token.is_empty() { &[] } else { &all }, body, TIME_LIMIT).await
    }

    /// Sends one request without a login, with its own time limit.
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

/// Parses the first answer in `bytes` and returns it with its length; `None` when it is not complete yet, by its `Content-Length`.
fn parse(bytes: &[u8]) -> io::Result<Option<(usize, RawAnswer)>> {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return Ok(None) };
    let Head { status, length, cookie, server, retry_after } = head(&bytes[..end]).ok_or_else(cut_off)?;
    let Some(body) = bytes.get(end + 4..end + 4 + length) else { return Ok(None) };
    let body = String::from_utf8(body.to_vec()).map_err(|_| cut_off())?;
    Ok(Some((end + 4 + length, RawAnswer { status, body, cookie, server, retry_after })))
}

/// Parses the envelope.
fn opened(answer: &RawAnswer) -> io::Result<ServerAnswer> {
    let envelope = |mut envelope: Value| {
        let message = envelope.get("message")?.as_str()?.to_owned();
        Some(ServerAnswer {
            status: answer.status,
            message,
            data: envelope.get_mut("data")?.take(),
            cookie: answer.cookie.clone(),
            server: answer.server.clone(),
            retry_after: answer.retry_after,
        })
    };
    serde_json::from_str(&answer.body).ok().and_then(envelope).ok_or_else(cut_off)
}

struct Head {
    status: u16,
    length: usize,
    cookie: Option<String>,
    server: Option<String>,
    retry_after: Option<Duration>,
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
        retry_after: value("retry-after").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs),
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
