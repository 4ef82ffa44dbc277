//! One keep-alive HTTP/1.1 connection to a server on the loopback: as little work as possible beside what is measured.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::Error;

/// More than any answer here has: 20,000 customers with their tokens are about 6 MB.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// A connection and what was read of it.
pub struct Http {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A status and the body as text.
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Http {
    /// # Errors
    /// When nobody listens.
    pub async fn connect(address: SocketAddr) -> Result<Self, Error> {
        Self::over(TcpStream::connect(address).await?)
    }

    /// From an address of the loopback, so that the server takes it for somebody else.
    ///
    /// # Errors
    /// Also when the system has no such address.
    pub async fn connect_from(from: IpAddr, address: SocketAddr) -> Result<Self, Error> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from, 0))?;
        Self::over(socket.connect(address).await?)
    }

    fn over(stream: TcpStream) -> Result<Self, Error> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(4096) })
    }

    /// # Errors
    /// As [`Http::post`].
    pub async fn get(&mut self, path: &str) -> Result<Answer, Error> {
        self.call("GET", path, "", "").await
    }

    /// Sends `body` with `Authorization: Bearer <token>` and waits for the answer, whatever its status.
    ///
    /// # Errors
    /// When the connection breaks or the answer is no HTTP with a `content-length`.
    pub async fn post(&mut self, path: &str, token: &str, body: &str) -> Result<Answer, Error> {
        self.call("POST", path, token, body).await
    }

    /// As [`Http::post`], for calls that have to succeed: gives the envelope's `data`.
    ///
    /// # Errors
    /// Also an answer other than 200, with its text.
    pub async fn data(&mut self, path: &str, token: &str, body: &Value) -> Result<Value, Error> {
        let answer = self.post(path, token, &body.to_string()).await?;
        if answer.status != 200 {
            return Err(format!("{path}: {} {}", answer.status, answer.body).into());
        }
        let mut envelope: Value = serde_json::from_str(&answer.body)?;
        Ok(envelope["data"].take())
    }

    async fn call(&mut self, method: &str, path: &str, token: &str, body: &str) -> Result<Answer, Error> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> Result<Answer, Error> {
        let head = loop {
            if let Some(at) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let (status, length) = parse(std::str::from_utf8(&self.read[..head])?)?;
        while self.read.len() < head + length {
            self.more().await?;
        }
        let body = String::from_utf8(self.read[head..head + length].to_vec())?;
        self.read.drain(..head + length);
        Ok(Answer { status, body })
    }

    async fn more(&mut self) -> Result<(), Error> {
        if self.stream.read_buf(&mut self.read).await? == 0 {
            return Err("the server closed the connection".into());
        }
        if self.read.len() > MAX_ANSWER_BYTES { Err("the answer is too long".into()) } else { Ok(()) }
    }
}

/// Status and content length of an answer's head.
fn parse(head: &str) -> Result<(u16, usize), Error> {
    let status = head.split(' ').nth(1).ok_or("no HTTP answer")?.parse()?;
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .ok_or("an answer without content-length")?;
    Ok((status, length.1.trim().parse()?))
}
