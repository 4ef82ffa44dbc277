//! One request on a connection of its own: as little of HTTP/1.1 as is needed to be refused, cut off and answered.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than the server itself takes for its slowest answer.
const TIME_LIMIT: Duration = Duration::from_secs(12);
/// An answer of the server is never near this.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// An answer in the server's envelope.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub message: String,
    pub data: Value,
}

/// Asks; an error when the server died under it, was not there, or answered something that is no envelope.
pub async fn ask(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> io::Result<Answer> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !body.is_empty() {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let request = format!("{head}\r\n{body}");
    timeout(TIME_LIMIT, exchange(to, request.as_bytes())).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

async fn exchange(to: SocketAddr, request: &[u8]) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes).await?;
    parse(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "cut off, or no envelope"))
}

/// Only a whole answer counts: its body has the length that was announced.
fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let body = bytes.get(end + 4..)?;
    let length =
        head.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    if length?.1.trim().parse::<usize>().ok()? != body.len() {
        return None;
    }
    let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
    let mut envelope: Value = serde_json::from_slice(body).ok()?;
    let message = envelope.get("message")?.as_str()?.to_owned();
    Some(Answer { status, message, data: envelope.get_mut("data")?.take() })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_answer_that_was_cut_off_is_none() {
        let whole = "HTTP/1.1 409 Conflict\r\nContent-Length: 46\r\n\r\n{\"status\":409,\"message\":\"penuh\",\"data\":null}  ";
        let answer = parse(whole.as_bytes()).unwrap();
        assert_eq!((answer.status, answer.message.as_str()), (409, "penuh"));
        for cut in [0, 10, 40, 60, whole.len() - 1] {
            assert!(parse(&whole.as_bytes()[..cut]).is_none(), "{cut}");
        }
    }
}
