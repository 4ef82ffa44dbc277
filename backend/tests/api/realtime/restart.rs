//! A server that ends closes its sockets; its successor knows what runs.

use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use nix::sys::signal::Signal;
use nyala_core::domain::id::MachineId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::phone::{Phone, soon};
use super::time::ReceivedTime;
use crate::process::Site;

/// `http.drain_s`.
const DRAIN: Duration = Duration::from_secs(20);

/// A request that was in progress when the stop came is answered to the end.
#[actix_web::test]
async fn a_stop_waits_for_a_request_that_is_under_way() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(600).await;
    let mut phone = Phone::join_at(site.address(), &shop.token).await;
    let body = r#"{"country_code":"62","telp":"81234567890","password":"Rahasia123"}"#;
    let head = format!(
        "POST /scan/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut request = TcpStream::connect(site.address()).await.unwrap();
    request.write_all(head.as_bytes()).await.unwrap();
    // Asked for the rest, so the request is in progress.
    let mut more = [0; 25];
    soon("100 Continue", request.read_exact(&mut more)).await.unwrap();
    assert_eq!(&more, b"HTTP/1.1 100 Continue\r\n\r\n");
    site.signal(Signal::SIGTERM);
    phone.closed().await;
    request.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("the answer", request.read_to_string(&mut answer)).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.starts_with("HTTP/1.1 404 ") && head.to_ascii_lowercase().contains("connection: close"), "{head}");
    assert_eq!(body, r#"{"status":404,"message":"record not found","data":null}"#);
    assert!(site.ended().await.success());
}

#[actix_web::test]
async fn the_countdown_continues_after_a_stop_and_after_a_crash() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(600).await;
    let mut phone = Phone::join_at(site.address(), &shop.token).await;
    phone.watch(MachineId::new(shop.idmesin), None).await;
    site.buy(&shop).await.unwrap().ok();
    let ends_at = phone.tick().await.ends_at;
    let before = ReceivedTime::now(&mut phone, MachineId::new(shop.idmesin)).await;
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let stopping = Instant::now();
        site.signal(signal);
        assert!(phone.closed().await.iter().all(|tick| tick.tl > 0), "the run is not over");
        let ended = site.ended().await;
        assert_eq!(ended.success(), signal == Signal::SIGTERM, "{ended}");
        // The connections of the test's requests are still open.
        assert!(stopping.elapsed() < DRAIN, "the stop waited for connections that nobody uses");
        site.start("").await;
        phone = Phone::join_at(site.address(), &shop.token).await;
        before.assert_goes_on(&ReceivedTime::now(&mut phone, MachineId::new(shop.idmesin)).await);
        let tick = phone.tick().await;
        assert_eq!((tick.ends_at, tick.tl), (ends_at, ends_at.unwrap() - tick.server_time));
    }
}
