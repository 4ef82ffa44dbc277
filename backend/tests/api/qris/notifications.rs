//! What a provider notifies: only the signature counts.

use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use crate::support::counter::Counter;
use crate::support::helpers::{Answer, TestApp};

/// A notification, signed with the key of the simulated provider.
pub fn signed(order: &str, status: &str, code: &str, amount: &str, key: &str) -> Value {
    let signature: String = Sha512::digest(format!("{order}{code}{amount}{key}")).iter().map(|b| format!("{b:02x}")).collect();
    json!({
        "order_id": order, "status_code": code, "gross_amount": amount, "transaction_status": status, "currency": "IDR",
        "signature_key": signature, "transaction_id": format!("ref-{order}"), "payment_type": "qris", "merchant_id": "G1",
    })
}

fn paid(order: &str, amount: &str) -> Value {
    signed(order, "settlement", "200", amount, "simulated")
}

impl TestApp {
    pub async fn notify(&self, provider: &str, body: &Value) -> Answer {
        self.post(&format!("/qris/{provider}"), None, body).await
    }
}

#[actix_web::test]
async fn a_signed_payment_is_credited_and_a_forged_one_is_not() {
    let counter = Counter::with_bills().await;
    let (app, id) = (&counter.app, counter.bill(50_000).await);
    let wrong = "tanda tangan salah";
    let good = paid(&id, "50000.00");
    for (field, value) in [
        ("signature_key", json!("")),
        ("signature_key", json!("0".repeat(128))),
        ("gross_amount", json!("1.00")),
        ("status_code", json!("201")),
        ("order_id", json!("NYL00000000000000000000")),
        ("order_id", json!(7)),
    ] {
        let mut forged = good.clone();
        forged[field] = value;
        app.notify("simulated", &forged).await.expect(403, wrong);
    }
    app.notify("simulated", &signed(&id, "settlement", "200", "50000.00", "other")).await.expect(403, wrong);
    app.call("POST", "/qris/simulated", None, &[], Some(b"not json".to_vec())).await.expect(403, wrong);
    assert_eq!(app.topups().await, 0);
    app.notify("simulated", &good).await.expect(200, "OK");
    app.notify("simulated", &good).await.expect(200, "OK");
    assert_eq!(counter.see(&id).await["saldo_akhir"], 50_000);
    assert_eq!(app.topups().await, 1);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_the_signature_does_not_cover_is_asked_back() {
    let counter = Counter::with_bills().await;
    let (app, id) = (&counter.app, counter.bill(50_000).await);
    // Signatures of notifications that are no payment, behind a status that claims one.
    for (status, code) in [("settlement", "201"), ("settlement", "202"), ("capture", "200"), ("", "200"), ("pending", "201")] {
        app.notify("simulated", &signed(&id, status, code, "50000.00", "simulated")).await.expect(200, "OK");
        assert_eq!(app.bill(&id, "status").await.as_deref(), Some("menunggu"), "{status} {code}");
    }
    let mut dollars = paid(&id, "50000.00");
    dollars["currency"] = json!("USD");
    app.notify("simulated", &dollars).await.expect(200, "OK");
    assert_eq!(app.bill(&id, "status").await.as_deref(), Some("menunggu"), "the provider knows of no payment");
    // The same when it was paid: the answer to the question counts.
    app.at_provider(&id, &json!({"aksi": "bayar", "diam": true})).await.ok();
    app.notify("simulated", &signed(&id, "settlement", "201", "50000.00", "simulated")).await.expect(200, "OK");
    assert_eq!(app.bill(&id, "status").await.as_deref(), Some("dibayar"));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_address_that_forges_waits_and_right_ones_are_taken_all_the_same() {
    let counter = Counter::with_bills().await;
    let (app, id) = (&counter.app, counter.bill(50_000).await);
    let forged = signed(&id, "settlement", "200", "50000.00", "other");
    for _ in 0..30 {
        app.notify("simulated", &forged).await.expect(403, "tanda tangan salah");
    }
    assert_eq!(app.notify("simulated", &forged).await.retry_after_s(), 60);
    app.notify("simulated", &paid(&id, "50000.00")).await.expect(200, "OK");
    assert_eq!(counter.see(&id).await["status"], "dibayar");
    app.advance_s(60);
    app.notify("simulated", &forged).await.expect(403, "tanda tangan salah");
}

#[actix_web::test]
async fn a_body_has_sixteen_kibibytes_at_most() {
    let counter = Counter::with_bills().await;
    let id = counter.bill(50_000).await;
    let padded = |bytes: usize| {
        let mut body = paid(&id, "50000.00");
        body["custom_field1"] = json!("");
        let room = bytes - body.to_string().len();
        body["custom_field1"] = json!("x".repeat(room));
        body
    };
    counter.app.notify("simulated", &padded(16 * 1024 + 1)).await.expect(413, "isi permintaan lebih dari 16384 byte");
    counter.app.notify("simulated", &padded(16 * 1024)).await.expect(200, "OK");
    assert_eq!(counter.see(&id).await["status"], "dibayar");
}

#[actix_web::test]
async fn only_the_provider_in_use_is_listened_to() {
    let counter = Counter::with_bills().await;
    let id = counter.bill(50_000).await;
    let none = counter.app.notify("midtrans", &signed(&id, "settlement", "200", "50000.00", "simulated")).await;
    none.expect(403, "tanda tangan salah");
    counter.app.notify("doku", &paid(&id, "50000.00")).await.expect(404, "alamat tidak ditemukan");
}

#[actix_web::test]
async fn a_payment_without_a_bill_is_kept_for_the_owner() {
    let counter = Counter::with_bills().await;
    let (app, outlet) = (&counter.app, counter.outlet);
    let lost = "NYL0123456789ABCDEFGHIJ";
    app.notify("simulated", &signed(lost, "expire", "407", "50000.00", "simulated")).await.expect(200, "OK");
    app.notify("simulated", &paid("ORDER-OF-ANOTHER-SHOP", "50000.00")).await.expect(200, "OK");
    assert_eq!(app.insert("SELECT count(*) FROM pembayaran_asing", &[]).await, 0, "of no interest");
    let same = paid(lost, "50000.00");
    let notified = join_all((0..5).map(|_| app.notify("simulated", &same))).await;
    notified.iter().for_each(|answer| _ = answer.expect(200, "OK"));
    assert_eq!(
        app.insert("SELECT count(*) FROM pembayaran_asing WHERE order_id = $1 AND idowner = $2", &[&lost, &outlet.idowner]).await,
        1
    );
    let entries = app.see(&counter.rina, "perhatian").await.ok();
    assert_eq!((&entries[0]["jenis"], &entries[0]["tingkat"]), (&json!("qris"), &json!("kuning")));
    assert_eq!(app.topups().await, 0);
}
