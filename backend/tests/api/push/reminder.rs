//! Laundry that waits: one reminder after ten minutes, shown in the app for thirty.

use nyala_core::purchase::step::Change;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use super::{Wash, commit};
use crate::support::helpers::Answer;
use crate::support::shop::{Order, PRICE, buy};

const BOTH: [&str; 2] = ["Cucian selesai", "Cucian menunggu"];

impl Wash {
    async fn waiting(&self) -> Value {
        self.app.get("/scan/v1/dashboard/get_dashboard", Some(&self.siti.token)).await.ok()["menunggu"].clone()
    }

    async fn fetch(&self, order: &Order) -> Answer {
        self.app.post("/scan/v1/transaksi/ambil", Some(&self.siti.token), &json!({"id": order.receipt})).await
    }
}

#[actix_web::test]
async fn ten_minutes_after_the_end_its_customer_is_reminded_once() {
    let wash = Wash::open().await;
    wash.run(1).await;
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    wash.app.advance_s(599);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    wash.app.advance_s(1);
    let given = wash.service.until(2).await;
    let (notification, first) = (wash.phone.open(&given), wash.phone.open(&wash.service.given()[0]));
    assert_eq!((&notification["judul"], &notification["isi"]), (&json!("Cucian menunggu"), &json!("Sudah 10 menit di Mesin 01")));
    assert_eq!(notification["tanda"], first["tanda"], "it takes the place of the first one");
    assert_eq!(wash.sent_titles().await, BOTH);
    wash.app.advance_s(3_600);
    assert_eq!(wash.sent_titles().await, BOTH);
}

#[actix_web::test]
async fn a_customer_who_has_fetched_the_laundry_is_not_reminded() {
    let wash = Wash::open().await;
    let order = wash.run(1).await;
    let ended = wash.app.now();
    assert_eq!(
        wash.waiting().await,
        json!([{"id": order.receipt, "finished_at": ended.rfc3339(), "mesin": "Mesin 01", "layanan": "Cuci Kilat", "outlet": "Laundry Melati"}])
    );
    for _ in 0..2 {
        wash.fetch(&order).await.expect(200, "Cucian sudah diambil");
    }
    assert_eq!(wash.waiting().await, json!([]));
    wash.app.advance_s(600);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
}

#[actix_web::test]
async fn a_machine_that_is_paid_for_again_is_empty() {
    let wash = Wash::open().await;
    wash.run(1).await;
    assert_eq!(wash.waiting().await.as_array().unwrap().len(), 1);
    let budi = wash.app.register_customer("81200000002", "Budi", "Santoso").await;
    let epay = wash.app.balance_of(&budi, wash.shop, PRICE).await;
    wash.app.buy(&budi, &buy(2, wash.shop, epay)).await.ok();
    assert_eq!(wash.waiting().await, json!([]));
    wash.app.advance_s(599);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    wash.app.advance_s(1);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
}

#[actix_web::test]
async fn a_payment_that_was_refunded_takes_no_laundry_out() {
    let wash = Wash::open().await;
    wash.run(1).await;
    let budi = wash.app.register_customer("81200000002", "Budi", "Santoso").await;
    let epay = wash.app.balance_of(&budi, wash.shop, PRICE).await;
    wash.app.fault(wash.shop, Mode::Refuse).await;
    wash.app.buy(&budi, &buy(2, wash.shop, epay)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    assert_eq!(wash.waiting().await.as_array().unwrap().len(), 1);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    wash.app.advance_s(600);
    wash.service.until(2).await;
    assert_eq!(wash.sent_titles().await, BOTH);
}

#[actix_web::test]
async fn it_is_shown_for_thirty_minutes() {
    let wash = Wash::open().await;
    wash.run(1).await;
    wash.app.advance_s(1_799);
    assert_eq!(wash.waiting().await.as_array().unwrap().len(), 1);
    wash.app.advance_s(1);
    assert_eq!(wash.waiting().await, json!([]));
}

/// The server was down while the push was still useful.
#[actix_web::test]
async fn what_comes_too_late_is_not_sent() {
    let wash = Wash::open().await;
    let run = wash.orphan(1).await;
    let ended = wash.app.now().plus_ms(1_800_000);
    assert!(commit(&wash.app, run.id, Change::Finish, ended).await);
    wash.app.advance_s(1_800 + 1_201);
    wash.app.all_pushed().await;
    assert_eq!(wash.titles(), [""; 0]);
}

#[actix_web::test]
async fn only_what_is_over_and_ones_own_can_be_fetched() {
    let wash = Wash::open().await;
    let order = wash.begun(1).await;
    wash.fetch(&order).await.expect(409, "cucian belum selesai");
    let budi = wash.app.register_customer("81200000002", "Budi", "Santoso").await;
    wash.app.advance_s(601);
    wash.app.until(&order.receipt, "FINISHED").await;
    for receipt in [order.receipt.as_str(), "SLF000000000000099"] {
        let answer = wash.app.post("/scan/v1/transaksi/ambil", Some(&budi.token), &json!({"id": receipt})).await;
        answer.expect(404, "Transaksi ini gagal dibuat");
    }
    assert_eq!(wash.waiting().await.as_array().unwrap().len(), 1);
    let answer = wash.app.post("/scan/v1/transaksi/ambil", Some(&wash.siti.token), &json!({"id": "1"})).await;
    assert_eq!(answer.status, 400);
    wash.app.fault(wash.shop, Mode::Refuse).await;
    let refused = buy(2, wash.shop, wash.epay);
    wash.app.buy(&wash.siti, &refused).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    wash.fetch(&refused).await.expect(404, "Transaksi ini gagal dibuat");
}
