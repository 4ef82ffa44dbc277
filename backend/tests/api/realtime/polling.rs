//! Long polling through the whole server: its middleware must not change the transport, and must wrap its refusals in the envelope.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::phone::{Tick, tick_of};
use super::wire::text_frame;
use super::{Phone, setup};
use crate::support::helpers::TestApp;

/// A phone that polls.
struct Polling<'a> {
    app: &'a TestApp,
    sid: String,
    packets: VecDeque<String>,
}

impl<'a> Polling<'a> {
    async fn join(app: &'a TestApp, token: &str) -> Self {
        let mut phone = Self { app, sid: String::new(), packets: VecDeque::new() };
        let opened = phone.packet().await;
        let handshake: Value = serde_json::from_str(opened.strip_prefix('0').expect("a handshake")).unwrap();
        assert_eq!(handshake["upgrades"], json!(["websocket"]));
        handshake["sid"].as_str().unwrap().clone_into(&mut phone.sid);
        phone.post(&format!("40{}", json!({ "token": token }))).await;
        assert!(phone.packet().await.starts_with("40{"));
        phone
    }

    fn url(&self, transport: &str) -> String {
        let sid = if self.sid.is_empty() { String::new() } else { format!("&sid={}", self.sid) };
        format!("{}/socket.io/?EIO=4&transport={transport}{sid}", self.app.base_url)
    }

    async fn post(&self, packets: &str) {
        let mut res = self.app.http.post(self.url("polling")).send_body(packets.to_owned()).await.unwrap();
        let body = res.body().await.unwrap();
        assert_eq!((res.status().as_u16(), &body[..]), (200, &b"ok"[..]));
    }

    async fn packet(&mut self) -> String {
        while self.packets.is_empty() {
            let mut res = self.app.http.get(self.url("polling")).send().await.unwrap();
            let body = String::from_utf8(res.body().await.unwrap().to_vec()).unwrap();
            assert_eq!(res.status().as_u16(), 200, "{body}");
            self.packets.extend(body.split('\u{1e}').map(str::to_owned));
        }
        self.packets.pop_front().unwrap()
    }

    async fn tick(&mut self) -> Tick {
        let packet = self.packet().await;
        tick_of(&packet).unwrap_or_else(|| panic!("{packet} is no tick"))
    }
}

#[actix_web::test]
async fn a_phone_that_polls_counts_down_as_well() {
    let app = setup().start().await;
    let shop = app.shop(2).await;
    let siti = app.customer(1).await;
    let mut phone = Polling::join(&app, &siti.token).await;
    let subscribe = format!(r#"["subscribe","heartbeat/{}"]"#, shop.idmesin);
    phone.post(&format!("421{subscribe}\u{1e}422{subscribe}")).await;
    let idle = format!(r#"[{{"status":200,"tl":null,"ends_at":null,"server_time":{}}}]"#, app.now().ms());
    assert_eq!([phone.packet().await, phone.packet().await], [format!("431{idle}"), format!("432{idle}")]);
    let ends_at = app.run(shop, 2, 1).await;
    assert_eq!(phone.tick().await.tl, 2_000);
    app.clock.advance_ms(1_200);
    assert_eq!(phone.tick().await.tl, 800);
    app.set_ms(ends_at);
    let over = Tick { idmesin: shop.idmesin, tl: 0, ends_at: Some(ends_at), server_time: ends_at };
    assert_eq!(phone.tick().await, over);
    phone.post("1").await;
    app.until_metric("nyala_subscriptions", 0.0).await;
}

/// Nothing is lost between two polls: events that may not be dropped wait for the next poll.
#[actix_web::test]
async fn the_end_of_a_run_waits_for_the_next_poll() {
    let app = setup().start().await;
    let shop = app.shop(2).await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut phone = Polling::join(&app, &siti.token).await;
    phone.post(&format!(r#"421["subscribe","heartbeat/{}"]"#, shop.idmesin)).await;
    assert!(phone.packet().await.starts_with("431"));
    let mut other = Phone::join(&app, &budi.token).await;
    other.watch(shop.idmesin, None).await;
    let ends_at = app.run(shop, 2, 1).await;
    app.set_ms(ends_at);
    assert_eq!([other.tick().await.tl, other.tick().await.tl], [2_000, 0], "it is over");
    assert_eq!([phone.tick().await.tl, phone.tick().await.tl], [2_000, 0]);
}

#[actix_web::test]
async fn refusals_of_the_transport_have_the_envelope() {
    let app = setup().start().await;
    for (query, message) in [
        ("EIO=4&transport=pigeon", "Transport unknown"),
        ("EIO=4", "Transport unknown"),
        ("EIO=3&transport=polling", "Unsupported protocol version"),
        ("EIO=4&transport=polling&sid=AAAAAAAAAAAAAAAAAAAAAA", "Session ID unknown"),
    ] {
        app.get(&format!("/socket.io/?{query}"), None).await.expect(400, message);
    }
    let post = app.call("POST", "/socket.io/?EIO=4&transport=polling", None, &[], Some(b"40".to_vec())).await;
    post.expect(400, "Bad handshake method");
    let foreign = [("origin", "https://evil.example")];
    let strange = app.call("GET", "/socket.io/?EIO=4&transport=polling", None, &foreign, None).await;
    assert_eq!(strange.status, 403, "{}", strange.message);
}

/// The default client polls first, and then upgrades to a websocket with its subscriptions.
#[actix_web::test]
async fn a_phone_that_upgrades_keeps_what_it_watches() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    let mut polling = Polling::join(&app, &siti.token).await;
    polling.post(&format!(r#"421["subscribe","heartbeat/{}"]"#, shop.idmesin)).await;
    assert!(polling.packet().await.starts_with("431"));
    let target = polling.url("websocket");
    let mut phone = Phone::open(app.address(), target.strip_prefix(&app.base_url).unwrap()).await;
    phone.send("2probe").await;
    assert_eq!(phone.packet().await, "3probe");
    phone.send_raw(&text_frame("5")).await;
    app.run(shop, 600, 1).await;
    assert_eq!(phone.tick().await.tl, 600_000);
    app.until_metric("nyala_sessions", 1.0).await;
    drop(phone);
    app.until_metric("nyala_sessions", 0.0).await;
}
