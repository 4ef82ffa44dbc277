//! Responses that the client does not read, and idle connections.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{sleep, timeout};
use nyala_core::domain::address::Block;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::server::listener::{Raw, raw};
use crate::support::helpers::{Setup, TestApp};

/// A limit for what takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);
const LONG: &str = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
const SHORT: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

async fn count(app: &TestApp, series: &str) -> u64 {
    let page = raw(app, "GET", "/metrics", &[]).await.body;
    page.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok()).unwrap_or(0)
}

const LONG_ANSWERS: &str = "nyala_http_requests_total{route=\"/openapi.json\",method=\"GET\",status=\"200\"}";

/// A client with a small receive buffer, connected from address `from` of this machine.
async fn client(app: &TestApp, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    socket.connect(app.address().parse::<SocketAddr>().unwrap()).await.unwrap()
}

#[actix_web::test]
async fn no_next_response_is_built_while_one_is_unsent() {
    let app = Setup::new().send_buffer(4096).start().await;
    let mut client = client(&app, "127.0.0.1").await;
    client.write_all(LONG.repeat(16).as_bytes()).await.unwrap();
    until("the first is answered", async || count(&app, LONG_ANSWERS).await == 1).await;
    for _ in 0..50 {
        assert_eq!(count(&app, LONG_ANSWERS).await, 1);
    }
    // A client that reads gets all responses, complete and in order.
    let body = nyala::app::openapi::document().unwrap();
    let mut bytes = Vec::new();
    for _ in 0..16 {
        let end = loop {
            let head = bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4 + body.len());
            match head {
                Some(end) if bytes.len() >= end => break end,
                _ => assert!(timeout(PATIENCE, client.read_buf(&mut bytes)).await.unwrap().unwrap() > 0),
            }
        };
        assert!(bytes.starts_with(b"HTTP/1.1 200 ") && bytes[..end].ends_with(body.as_bytes()));
        bytes.drain(..end);
    }
    assert_eq!(count(&app, LONG_ANSWERS).await, 16);
}

#[actix_web::test]
async fn a_client_that_reads_nothing_is_disconnected_and_a_slow_reader_is_not() {
    let app = Setup::new().send_buffer(4096).start().await;
    let mut deaf = client(&app, "127.0.0.1").await;
    deaf.write_all(LONG.as_bytes()).await.unwrap();
    let mut slow = client(&app, "127.0.0.1").await;
    slow.write_all(LONG.as_bytes()).await.unwrap();
    let mut some = [0; 256];
    let mut read = 0;
    let body = nyala::app::openapi::document().unwrap();
    until("the deaf one is closed", async || {
        if read + some.len() < body.len() {
            read += timeout(PATIENCE, slow.read(&mut some)).await.unwrap().unwrap();
        }
        count(&app, "nyala_http_slow_closed_total").await == 1
    })
    .await;
    let mut rest = Vec::new();
    while read + rest.len() < body.len() {
        assert!(timeout(PATIENCE, slow.read_buf(&mut rest)).await.unwrap().unwrap() > 0, "this one is still served");
    }
}

#[actix_web::test]
async fn the_document_is_compressed_once_and_has_an_etag() {
    let (app, other) = (TestApp::spawn().await, TestApp::spawn().await);
    let tag = |answer: &Raw| answer.header("etag").to_owned();
    let plain = raw(&app, "GET", "/openapi.json", &[]).await;
    assert_eq!((plain.status.as_u16(), plain.header("content-encoding")), (200, ""));
    assert!(plain.header("vary").to_lowercase().contains("accept-encoding"));
    let packed = [("accept-encoding", "gzip, br")];
    let gzip = raw(&app, "GET", "/openapi.json", &packed).await;
    assert_eq!(gzip.header("content-encoding"), "gzip");
    let length = |answer: &Raw| answer.header("content-length").parse::<usize>().unwrap();
    assert!(length(&gzip) * 4 < length(&plain), "{} of {}", length(&gzip), length(&plain));
    assert_ne!(tag(&plain), tag(&gzip));
    let request = app.http.get(format!("{}/openapi.json", app.base_url)).no_decompress().insert_header(packed[0]);
    let bytes = request.send().await.unwrap().body().limit(1 << 24).await.unwrap();
    let mut decoded = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut decoded).unwrap();
    assert!(decoded == nyala::app::openapi::document().unwrap());
    assert_eq!(tag(&raw(&other, "GET", "/openapi.json", &[]).await), tag(&plain), "two servers agree");
    for (known, status) in
        [(tag(&plain), 304), (format!("\"x\", W/{}", tag(&plain)), 304), ("*".to_owned(), 304), (tag(&gzip), 200)]
    {
        let again = raw(&app, "GET", "/openapi.json", &[("if-none-match", &known)]).await;
        assert_eq!(again.status, status, "{known}");
        assert_eq!(again.body.is_empty(), status == 304);
        assert_eq!(tag(&again), tag(&plain));
    }
}

/// Whether the server has closed the client's idle connection.
async fn has_ended(client: &mut TcpStream) -> bool {
    matches!(timeout(Duration::from_millis(20), client.read(&mut [0; 1])).await, Ok(Ok(0) | Err(_)))
}

/// Connects and reads one response, so that the connection is idle.
async fn idle(app: &TestApp, from: &str) -> TcpStream {
    let mut client = client(app, from).await;
    client.write_all(SHORT.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\"data\":null}") {
        assert!(timeout(PATIENCE, client.read_buf(&mut answer)).await.unwrap().unwrap() > 0, "{from} is answered");
    }
    client
}

#[actix_web::test]
async fn near_the_connection_limit_the_address_with_most_idle_connections_loses_its_oldest() {
    let app = Setup::new().with(|c| c.http.max_connections = 12).start().await;
    let mut few = vec![idle(&app, "127.0.0.2").await, idle(&app, "127.0.0.2").await];
    let mut many = Vec::new();
    for _ in 0..7 {
        many.push(idle(&app, "127.0.0.3").await);
    }
    for one in few.iter_mut().chain(&mut many) {
        assert!(!has_ended(one).await, "nine of twelve are no reason");
    }
    for n in 0..5 {
        let _more = idle(&app, "127.0.0.4").await;
        until("the next oldest of the largest is ended", async || has_ended(&mut many[n]).await).await;
        assert!(!has_ended(&mut many[n + 1]).await);
        drop(_more);
        many.push(idle(&app, "127.0.0.3").await);
    }
    for one in &mut few {
        assert!(!has_ended(one).await, "who holds few keeps them");
    }
}

#[actix_web::test]
async fn a_trusted_proxy_loses_no_connection_to_others() {
    let proxy = Block::parse("127.0.0.3").unwrap();
    let settings = |c: &mut nyala_store::config::ServerSettings| {
        c.http.max_connections = 12;
        c.http.trusted_proxies = vec![proxy];
    };
    let app = Setup::new().with(settings).start().await;
    let mut of_proxy = Vec::new();
    for _ in 0..8 {
        of_proxy.push(idle(&app, "127.0.0.3").await);
    }
    let mut one = idle(&app, "127.0.0.2").await;
    let _next = idle(&app, "127.0.0.4").await;
    until("the stranger's is ended", async || has_ended(&mut one).await).await;
    for one in &mut of_proxy {
        assert!(!has_ended(one).await);
    }
}
