//! The message about a till's move, over the WhatsApp Cloud API (docs/money.md, Moving to a new number).

use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::Profile;
use serde_json::{Value, json};

use super::meta::{Cloud, MetaReply, refused, taken, temporary_refusals};
use super::number_move::{DAY_S, MoveShop, NEW, OLD};

const AGAIN_S: i64 = 60;

/// A shop whose messages go to the Cloud API.
struct Messages {
    cloud: Cloud,
    shop: MoveShop,
}

impl Messages {
    async fn open() -> Self {
        let cloud = Cloud::start();
        let app = cloud.setup().with(|c| c.whatsapp.meta_template_move = "pindah_nomor".to_owned()).start().await;
        Self { shop: MoveShop::on(app).await, cloud }
    }

    fn sent(&self) -> usize {
        self.cloud.seen.lock().unwrap().len()
    }

    /// Lets the next message be due, and waits until the cloud has received it.
    async fn next(&self) {
        let before = self.sent();
        self.shop.app.advance_s(AGAIN_S);
        self.until("the next message", async || self.sent() > before).await;
    }

    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        for _ in 0..2_000 {
            if holds().await {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("{what} never came");
    }

    async fn until_notified(&self) {
        self.until("the notice", async || self.shop.app.insert_id("SELECT kabar_at IS NULL FROM pindah", &[]).await).await;
    }

    async fn happens_at(&self) -> Timestamp {
        self.shop.app.insert_id("SELECT terjadi_at FROM pindah", &[]).await
    }

    /// The move waits, and both customers have what they had.
    async fn waits(&self) {
        assert!(self.shop.waits().await.is_object());
        assert_eq!((self.shop.telp_of(&self.shop.siti).await, self.shop.telp_of(&self.shop.new).await), (OLD.into(), NEW.into()));
    }
}

#[actix_web::test]
async fn the_message_has_what_the_template_wants_and_no_other_number() {
    let messages = Messages::open().await;
    let Messages { cloud, shop } = &messages;
    shop.at_the_till().await.ok();
    let sent = cloud.last();
    let when = "SELECT to_char(terjadi_at AT TIME ZONE 'Asia/Jakarta', 'DD/MM/YYYY HH24:MI') FROM pindah";
    let when: String = shop.app.insert_id(when, &[]).await;
    let secret = sent["template"]["components"][1]["parameters"][0]["text"].as_str().unwrap().to_owned();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        sent,
        json!({"messaging_product": "whatsapp", "recipient_type": "individual", "to": format!("62{OLD}"), "type": "template",
               "template": {"name": "pindah_nomor", "language": {"code": "id"}, "components": [
                   {"type": "body", "parameters": [text("0813••••9001"), text(&when)]},
                   {"type": "button", "sub_type": "url", "index": "0", "parameters": [text(&secret)]}]}})
    );
    assert!(!sent.to_string().contains(NEW), "{sent}");
    assert_eq!(messages.sent(), 1, "nobody else is told");
    let link = format!("/pindah/{secret}");
    let (status, page) = shop.page("GET", &link).await;
    assert!(status == 200 && page.contains("0813••••9001") && page.contains(&when), "{page}");
    let (_, page) = shop.page("POST", &link).await;
    assert!(page.contains("dibatalkan"), "{page}");
    assert_eq!(shop.waits().await, Value::Null);
}

#[actix_web::test]
async fn what_is_refused_or_unanswered_is_sent_again_and_until_then_nothing_moves() {
    let messages = Messages::open().await;
    let Messages { cloud, shop } = &messages;
    let epay = shop.app.funded(&shop.new, shop.outlet, 20_000).await;
    cloud.answer(MetaReply::Never);
    shop.at_the_till().await.ok();
    assert_eq!(messages.sent(), 1, "the till's own attempt");
    for reply in temporary_refusals().into_iter().chain([MetaReply::Raw(503, "")]) {
        cloud.answer(reply);
        messages.next().await;
    }
    // Its time has come. The second message is a later pass than the first one, in which the move would have happened.
    shop.app.advance_s(DAY_S);
    messages.next().await;
    messages.next().await;
    messages.waits().await;
    assert_eq!(shop.app.balance(epay.idcustomer).await, 20_000);
    let secrets: Vec<String> = cloud.seen.lock().unwrap().iter().map(|m| m["template"]["components"][1].to_string()).collect();
    assert!(secrets.windows(2).all(|two| two[0] != two[1]), "each message has its own link");

    cloud.answer(taken());
    messages.next().await;
    messages.until_notified().await;
    assert_eq!(messages.happens_at().await, shop.app.now().plus_ms(DAY_S * 1000), "the whole time to say no");
    let count = messages.sent();
    shop.app.advance_s(DAY_S);
    shop.until_over().await;
    assert_eq!((shop.telp_of(&shop.siti).await, messages.sent()), (NEW.to_owned(), count));
    shop.app.assert_sound().await;
}

#[actix_web::test]
async fn a_number_that_whatsapp_does_not_reach_counts_as_notified() {
    let messages = Messages::open().await;
    let Messages { cloud, shop } = &messages;
    cloud.answer(refused(400, 131_026, "Message undeliverable"));
    shop.at_the_till().await.ok();
    messages.until_notified().await;
    assert!(shop.waits().await.is_object(), "the app shows it");
    shop.app.advance_s(DAY_S);
    shop.until_over().await;
    assert_eq!((shop.telp_of(&shop.siti).await, messages.sent()), (NEW.to_owned(), 1));
}

#[actix_web::test]
async fn after_seven_days_without_a_message_the_move_ends() {
    let messages = Messages::open().await;
    let Messages { cloud, shop } = &messages;
    cloud.answer(MetaReply::Raw(500, "oops"));
    shop.at_the_till().await.ok();
    shop.app.advance_s(8 * DAY_S - AGAIN_S);
    messages.next().await;
    messages.waits().await;
    shop.app.advance_s(1);
    shop.until_over().await;
    assert_eq!(shop.waits().await, Value::Null);
    assert_eq!((shop.telp_of(&shop.siti).await, shop.telp_of(&shop.new).await), (OLD.into(), NEW.into()));
    let why: String = shop.app.insert_id("SELECT sebab FROM pindah", &[]).await;
    assert_eq!(why, "tidak dapat dipindah");
    // It was no refusal: a till may ask again, and that leaves the whole time.
    cloud.answer(taken());
    let hadi = shop.app.at(&shop.hadi.till, shop.hadi.person).await;
    let body = json!({"qr": shop.app.code_of(shop.new.id), "telp": OLD});
    let asked = shop.app.ask(&hadi, "pindah", &body).await.ok();
    assert_eq!(asked["terjadi_at"], shop.app.now().plus_ms(DAY_S * 1000).rfc3339());
}

#[actix_web::test]
async fn without_a_template_production_moves_nothing_at_a_till() {
    let cloud = Cloud::start();
    let shop = MoveShop::on(cloud.setup().with(|c| c.profile = Profile::Production).start().await).await;
    shop.at_the_till().await.expect(422, "pindah lewat kasir belum diaktifkan");
    assert_eq!(shop.app.insert("SELECT count(*) FROM pindah", &[]).await, 0);
    assert!(cloud.seen.lock().unwrap().is_empty());
}
