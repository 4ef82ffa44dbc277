//! Request bodies that begin and do not end. Their total memory is limited, and shared between addresses.

use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::timeout;
use nyala_core::domain::address::Block;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::auth::register::{TELP, login_body};
use crate::support::helpers::{PASSWORD, Setup, TestApp};

const MIB: i64 = 1 << 20;
/// The memory that one body below holds: its announced length.
const HELD: i64 = 64 * 1024;
const BODY: usize = 64 * 1024;
const BUSY: &str = "layanan sedang sibuk, coba lagi";

/// A server with room for 16 such bodies, which takes addresses from a trusted proxy's header.
async fn small() -> TestApp {
    let proxy = Block::parse("127.0.0.1").unwrap();
    Setup::new()
        .with(|c| {
            c.http.unfinished_bodies_mb = 1;
            c.http.trusted_proxies = vec![proxy];
        })
        .start()
        .await
}

/// A body that does not end.
struct Slow(TcpStream);

impl Slow {
    async fn post(app: &TestApp, path: &str, from: &str, bytes: usize) -> Self {
        let mut client = TcpStream::connect(app.address()).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {from}\r\nContent-Length: {BODY}\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&vec![b' '; bytes]).await.unwrap();
        Self(client)
    }

    /// A login from `from`.
    async fn login(app: &TestApp, from: &str) -> Self {
        Self::post(app, "/scan/v1/auth/login", from, BODY - 1).await
    }

    /// Sends the rest and returns the response.
    async fn end(mut self) -> String {
        let _ = self.0.write_all(b" ").await;
        self.answer().await
    }

    async fn answer(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            let read = self.0.read_buf(&mut bytes).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if read == 0 || text.ends_with("\"data\":null}") || text.ends_with("\"code\":10}") {
                return text;
            }
        }
    }
}

/// Waits until all bodies together hold `bytes` and the server has given up `given_up` of them.
async fn until(app: &TestApp, bytes: i64, given_up: u64) {
    let state = || (app.state.bodies.bytes().get(), app.state.bodies.given_up().get());
    for _ in 0..2_000 {
        if state() == (bytes, given_up) {
            return;
        }
        actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{:?} and not {:?}", state(), (bytes, given_up));
}

#[actix_web::test]
async fn bodies_that_do_not_end_hold_no_more_than_the_setting_together() {
    let app = small().await;
    let mut slow = Vec::new();
    for n in 0..40 {
        slow.push(Slow::login(&app, "203.0.113.9").await);
        until(&app, HELD * (n + 1).min(16), u64::try_from(n - 15).unwrap_or(0)).await;
    }
    assert_eq!(app.state.bodies.bytes().get(), MIB);
    let oldest = slow[0].answer().await;
    assert!(oldest.starts_with("HTTP/1.1 503 ") && oldest.to_lowercase().contains("retry-after: 3\r\n"), "{oldest}");
    assert!(oldest.contains(BUSY) && oldest.to_lowercase().contains("x-request-id: "), "{oldest}");
    let youngest = slow.pop().unwrap().end().await;
    assert!(youngest.starts_with("HTTP/1.1 400 ") && youngest.contains("bukan JSON"), "read to its end: {youngest}");
    let text = crate::server::listener::raw(&app, "GET", "/metrics", &[]).await.body;
    assert!(text.contains("nyala_http_bodies_given_up_total 24\n"), "{text}");
    drop(slow);
    until(&app, 0, 24).await;
}

#[actix_web::test]
async fn the_address_that_holds_most_loses_bodies_and_others_are_unaffected() {
    let app = small().await;
    let quiet = Slow::login(&app, "198.51.100.1").await;
    until(&app, HELD, 0).await;
    let mut many = Vec::new();
    for n in 0..30 {
        many.push(Slow::login(&app, "2001:db8:1:2::1").await);
        until(&app, HELD * (n + 2).min(16), u64::try_from(n - 14).unwrap_or(0)).await;
    }
    // Another address in the block of the same provider's customer.
    many.push(Slow::login(&app, "2001:db8:1:2:3::4").await);
    until(&app, MIB, 16).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.post("/scan/v1/auth/login", None, &login_body(TELP, PASSWORD)).await.ok();
    let quiet = quiet.end().await;
    assert!(quiet.starts_with("HTTP/1.1 400 ") && quiet.contains("bukan JSON"), "the oldest of all, and kept: {quiet}");
}

#[actix_web::test]
async fn a_sockets_post_counts_against_the_same_limit() {
    let app = small().await;
    let opened = crate::server::listener::raw(&app, "GET", "/socket.io/?EIO=4&transport=polling", &[]).await.body;
    let sid = opened.split('"').nth(3).unwrap().to_owned();
    let mut post = Slow::post(&app, &format!("/socket.io/?EIO=4&transport=polling&sid={sid}"), "203.0.113.9", BODY - 1).await;
    until(&app, HELD, 0).await;
    let mut slow = Vec::new();
    for n in 0..16 {
        slow.push(Slow::login(&app, "203.0.113.9").await);
        until(&app, HELD * (n + 2).min(16), u64::from(n == 15)).await;
    }
    let answer = post.answer().await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.to_lowercase().contains("retry-after: 1\r\n"), "{answer}");
    assert!(answer.contains(BUSY), "{answer}");
}

#[actix_web::test]
async fn a_body_that_comes_in_pieces_is_read_whole() {
    let app = small().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let body = login_body(TELP, PASSWORD).to_string();
    let mut client = TcpStream::connect(app.address()).await.unwrap();
    client.set_nodelay(true).unwrap();
    let head =
        format!("POST /scan/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).await.unwrap();
    let (first, rest) = body.split_at(7);
    client.write_all(first.as_bytes()).await.unwrap();
    until(&app, i64::try_from(body.len()).unwrap(), 0).await;
    client.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    until(&app, 0, 0).await;
}

/// A timeout longer than any of the server's own.
const PATIENCE: Duration = Duration::from_secs(20);

async fn send(app: &TestApp, bytes: &[u8]) -> TcpStream {
    let mut client = TcpStream::connect(app.address()).await.unwrap();
    client.write_all(bytes).await.unwrap();
    client
}

/// What the client receives until the server closes.
async fn to_the_end(mut client: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, client.read_to_end(&mut bytes)).await.expect("the connection's end");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A connection whose first request was answered.
async fn kept_alive(app: &TestApp) -> TcpStream {
    let mut client = send(app, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"}") {
        assert!(client.read_buf(&mut bytes).await.unwrap() > 0, "{}", String::from_utf8_lossy(&bytes));
    }
    client
}

#[actix_web::test]
async fn a_body_that_the_route_does_not_read_is_refused_with_get_and_head() {
    let app = TestApp::spawn().await;
    let opened = crate::server::listener::raw(&app, "GET", "/socket.io/?EIO=4&transport=polling", &[]).await.body;
    let poll = format!("/socket.io/?EIO=4&transport=polling&sid={}", opened.split('"').nth(3).unwrap());
    for path in [poll.as_str(), "/healthz", "/scan/v1/dashboard/get_dashboard", "/nothing"] {
        for (method, length) in
            [("GET", "Content-Length: 90000"), ("HEAD", "Content-Length: 1"), ("GET", "Transfer-Encoding: chunked")]
        {
            let client = send(&app, format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n").as_bytes()).await;
            let answer = to_the_end(client).await;
            assert!(answer.starts_with("HTTP/1.1 400 "), "{method} {path} {length}: {answer}");
            let refusal = format!("permintaan {method} tidak boleh membawa isi");
            assert!(method == "HEAD" || answer.contains(&refusal), "{method} {path} {length}: {answer}");
            assert!(answer.to_lowercase().contains("connection: close\r\n"), "{method} {path} {length}: {answer}");
        }
    }
    let post = "/scan/v1/auth/login";
    let answer =
        to_the_end(send(&app, format!("GET {post} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n").as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.1 405 "), "a route that takes no GET says that: {answer}");
    drop(kept_alive(&app).await);
}

#[actix_web::test]
async fn a_later_head_ends_in_time_too() {
    let app = TestApp::spawn().await;
    let mut client = kept_alive(&app).await;
    client.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
    assert!(to_the_end(client).await.starts_with("HTTP/1.1 408 "));
}

#[actix_web::test]
async fn a_head_is_bounded_on_a_connection_of_any_age() {
    let app = TestApp::spawn().await;
    let endless = [b"GET / HTTP/1.1\r\nHost: x\r\nX: ".to_vec(), vec![b'x'; 40 * 1024]].concat();
    let first = to_the_end(send(&app, &endless).await).await;
    assert!(first.starts_with("HTTP/1.1 431 "), "{first}");
    let mut client = kept_alive(&app).await;
    client.write_all(&endless).await.unwrap();
    let later = to_the_end(client).await;
    assert!(later.starts_with("HTTP/1.1 431 "), "{later}");
}

#[actix_web::test]
async fn what_is_answered_before_its_body_ends_closes() {
    let app = TestApp::spawn().await;
    for length in ["Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "Content-Length: 90000\r\n\r\nx"] {
        let head = format!("POST /scan/v1/auth/logout HTTP/1.1\r\nHost: x\r\n{length}");
        let answer = to_the_end(send(&app, head.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 401 ") && answer.to_lowercase().contains("connection: close\r\n"), "{answer}");
    }
}

#[actix_web::test]
async fn requests_that_come_together_are_answered_one_after_the_other() {
    let app = TestApp::spawn().await;
    let head = "POST /scan/v1/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    // More bytes than the server reads ahead, and more requests than fit in the parser's queue.
    let padding = "x".repeat(1_000);
    let gets = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX: {padding}\r\n\r\n").repeat(99);
    let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answers = to_the_end(send(&app, format!("{head}{gets}{last}").as_bytes()).await).await;
    assert!(answers.starts_with("HTTP/1.1 401 "), "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 100);
}
