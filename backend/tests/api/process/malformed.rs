//! Input that is no valid request is refused. It is no error of the server, so it causes no alarm and does not fill the disk.

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::timeout;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{PATIENCE, Site};

/// What is sent, and the answer's first line.
fn hostile() -> Vec<(Vec<u8>, &'static str)> {
    let head = |rest: &str| format!("POST /scan/v1/auth/login HTTP/1.1\r\nHost: x\r\n{rest}").into_bytes();
    let endless = [b"GET / HTTP/1.1\r\nx: ".to_vec(), b"x".repeat(200_000)].concat();
    vec![
        (b"nonsense\r\n\r\n".to_vec(), "HTTP/1.1 400 "),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), "HTTP/1.1 400 "),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n".to_vec(), "HTTP/1.1 400 "),
        (b"GET / HTTP/9.9\r\n\r\n".to_vec(), "HTTP/1.1 400 "),
        (head("Content-Length: many\r\n\r\n"), "HTTP/1.1 400 "),
        (head("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), "HTTP/1.1 400 "),
        (head("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "HTTP/1.1 400 "),
        (endless, "HTTP/1.1 431 "),
        // The end of this request never comes.
        (b"GET / HTTP/1.1\r\nHost: x\r\n".to_vec(), "HTTP/1.1 408 "),
    ]
}

/// The answer to `bytes`, until the end of the connection.
async fn answered(address: &str, bytes: &[u8]) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything.
    let _ = client.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, client.read_to_end(&mut answer)).await.expect("the connection's end");
    String::from_utf8_lossy(&answer).into_owned()
}

#[actix_web::test]
async fn what_is_no_request_is_refused_and_no_error_of_ours() {
    let mut site = Site::new().await;
    site.start_with(&[("NYALA__LOG__FORMAT", "json")]).await;
    let (address, hostile) = (site.address().to_owned(), hostile());
    let answers = join_all(hostile.iter().map(|(bytes, _)| answered(&address, bytes))).await;
    for ((bytes, first), answer) in hostile.iter().zip(&answers) {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
        assert!(answer.starts_with(first), "{shown:?}: {answer:?}");
    }
    let mut cut = TcpStream::connect(&address).await.unwrap();
    cut.write_all(b"POST /scan/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{").await.unwrap();
    cut.shutdown().await.unwrap();
    let _ = timeout(PATIENCE, cut.read_to_end(&mut Vec::new())).await.expect("the connection's end");
    let log = site.log();
    assert!(log.contains(r#""level":"INFO""#), "a log: {log}");
    assert!(!log.contains(r#""level":"ERROR""#), "{log}");
}
