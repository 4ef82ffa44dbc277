//! A phone that breaks the rules ends its own session, and no other.

use actix_web::rt::net::TcpStream;
use serde_json::json;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;

use super::phone::Phone;
use super::setup;
use super::wire::{frame, text_frame};

/// A subscribe of exactly `bytes` bytes.
fn subscribe_of(bytes: usize) -> String {
    let (head, tail) = (r#"420["subscribe","heartbeat/"#, r#""]"#);
    format!("{head}{}{tail}", "7".repeat(bytes - head.len() - tail.len()))
}

#[actix_web::test]
async fn sixty_four_kib_are_read_and_a_byte_more_ends_the_session() {
    let app = setup().start().await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    for _ in 0..20 {
        phone.send(&subscribe_of(65_536)).await;
        assert_eq!(phone.answer().await.1["status"], 404);
    }
    phone.send(&subscribe_of(65_537)).await;
    assert_eq!(phone.closed().await, []);
    app.until_metric("nyala_sessions", 0.0).await;
    app.until_metric("nyala_socket_violations_total", 1.0).await;
}

#[actix_web::test]
async fn garbage_ends_its_own_session_and_no_other() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut watching = Phone::join(&app, &siti.token).await;
    watching.watch(shop.idmesin, None).await;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = |bytes: usize| -> Vec<u8> {
        (0..bytes / 8)
            .flat_map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed.to_le_bytes()
            })
            .collect()
    };
    let garbage = [
        noise(4_000),
        frame(0x82, &noise(4_000)),
        frame(0x81, &noise(4_000)),
        frame(0xf1, b"4"),
        // A payload length that would exceed all memory.
        [&[0x81, 0xff][..], &[0xff; 12]].concat(),
        text_frame(""),
        text_frame("9"),
        text_frame("42"),
        text_frame("42{}"),
        text_frame(r#"42["subscribe""#),
        text_frame(r#"42[7,"heartbeat/1"]"#),
        text_frame(r#"42["disconnect"]"#),
        text_frame(r#"451-["subscribe",{"_placeholder":true,"num":0}]"#).repeat(2),
        text_frame(r#"4299999999999999999999["subscribe","heartbeat/1"]"#),
        text_frame(&format!("42{}", "[".repeat(60_000))),
    ];
    for bytes in &garbage {
        let mut phone = Phone::join(&app, &budi.token).await;
        // The server may close the connection before it has read all of it.
        let _ = phone.stream.write_all(bytes).await;
        let _ = phone.stream.shutdown().await;
        assert_eq!(phone.closed().await, [], "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
    }
    app.until_metric("nyala_sessions", 1.0).await;
    app.run(shop, 600, 1).await;
    assert_eq!(watching.tick().await.tl, 600_000);
}

#[actix_web::test]
async fn a_phone_that_writes_byte_by_byte_is_answered() {
    let app = setup().start().await;
    let siti = app.customer(1).await;
    let mut phone = Phone::dial(app.address()).await;
    phone.stream.set_nodelay(true).unwrap();
    for byte in text_frame(&format!("40{}", json!({"token": siti.token}))) {
        phone.send_raw(&[byte]).await;
    }
    assert!(phone.packet().await.starts_with("40{"));
    for byte in text_frame(r#"421["subscribe","heartbeat/4711"]"#) {
        phone.send_raw(&[byte]).await;
    }
    assert_eq!(phone.answer().await.1["status"], 404);
}

/// The connection is reset without a close, like that of a phone that lost its network and reconnected on another one.
#[actix_web::test]
async fn a_phone_that_breaks_off_leaves_nothing_behind() {
    let app = setup().with(|c| c.mesin.idle_s = 1).start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    for _ in 0..10 {
        let mut phone = Phone::join(&app, &siti.token).await;
        phone.watch(shop.idmesin, None).await;
        SockRef::from(&phone.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }
    // Half a handshake, half a frame, half a connect.
    let mut half = TcpStream::connect(app.address()).await.unwrap();
    half.write_all(b"GET /socket.io/?EIO=4&transp").await.unwrap();
    let mut phone = Phone::join(&app, &siti.token).await;
    phone.send_raw(&text_frame(r#"42["subscribe","heartbeat/1"]"#)[..9]).await;
    drop((half, phone));
    for series in ["nyala_sessions", "nyala_subscriptions", "nyala_machine_actors"] {
        app.until_metric(series, 0.0).await;
    }
}

/// A phone that is connected and silent: unanswered heartbeats end its session.
#[actix_web::test]
async fn a_silent_phone_is_closed_and_the_others_continue() {
    let app = setup().with(|c| (c.realtime.ping_interval_s, c.realtime.ping_timeout_s) = (1, 1)).start().await;
    let shop = app.shop(600).await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut silent = Phone::join(&app, &siti.token).await;
    let mut other = Phone::join(&app, &budi.token).await;
    for phone in [&mut silent, &mut other] {
        phone.watch(shop.idmesin, None).await;
    }
    silent.answers_heartbeats = false;
    {
        // No tick is sent while the clock is stopped. A phone answers heartbeats only while it reads.
        let (gone, reading) = (std::pin::pin!(silent.closed()), std::pin::pin!(other.tick()));
        match futures_util::future::select(gone, reading).await {
            futures_util::future::Either::Left((ticks, _)) => assert_eq!(ticks, []),
            futures_util::future::Either::Right((tick, _)) => panic!("{tick:?} on a machine that is idle"),
        }
    }
    app.until_metric("nyala_socket_heartbeats_missed_total", 1.0).await;
    app.until_metric("nyala_subscriptions", 1.0).await;
    app.run(shop, 600, 1).await;
    assert_eq!(other.tick().await.tl, 600_000);
}
