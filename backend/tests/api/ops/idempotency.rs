//! `Idempotency-Key` (docs/contract.md §4): the same key and body gives the same answer, once.

use futures_util::future::join_all;
use nyala_core::domain::id::WalletId;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::{Outlet, receipt};
use crate::support::helpers::{Answer, TestApp};

const TELP: &str = "81200000001";

struct Desk {
    app: TestApp,
    outlet: Outlet,
    key: String,
    idcustomer: WalletId,
}

/// A customer with 40,000 left after a running purchase of 10,000 with receipt 1.
async fn desk() -> Desk {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    app.running(epay, &app.machine(outlet, "Mesin 1").await, 1).await;
    Desk { app, outlet, key, idcustomer: epay.idcustomer }
}

impl Desk {
    fn calls(&self) -> [(&'static str, Value); 3] {
        [
            ("topup", json!({"telp": TELP, "idoutlet": self.outlet.idoutlet, "nominal": 1000})),
            ("refund", json!({"idtransaksi": receipt(1), "nominal": 100, "alasan": "uji"})),
            ("hapus", json!({"idtransaksi": receipt(1), "alasan": "uji"})),
        ]
    }

    async fn send(&self, once: &str, call: &str, body: &Value) -> Answer {
        self.app.ops_once(&self.key, once, call, body).await
    }
}

#[actix_web::test]
async fn a_hundred_at_once_move_money_once_and_get_the_same_answer() {
    let desk = desk().await;
    let expected = [41_000, 41_100, 51_000];
    for ((call, body), balance) in desk.calls().into_iter().zip(expected) {
        let answers = join_all((0..100).map(|_| desk.send(call, call, &body))).await;
        let first = answers[0].clone().ok();
        assert_eq!(first["saldo_akhir"], balance, "{call}");
        assert!(answers.iter().all(|a| a.status == 200 && a.data == first), "{call}");
        assert_eq!(desk.app.balance(desk.idcustomer).await, balance, "{call}");
    }
    assert_eq!(desk.app.audited().await.len(), 3, "one line each");
    desk.app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_repeat_gets_the_same_bytes_for_any_spelling_of_the_body() {
    let desk = desk().await;
    let path = format!("{}/ops/v1/topup", desk.app.base_url);
    let spellings = [
        format!(r#"{{"telp":"{TELP}","idoutlet":{},"nominal":1000}}"#, desk.outlet.idoutlet),
        format!(r#"{{"nominal": 1000, "idoutlet": "{}", "telp": "+62{TELP}", "quota": null}}"#, desk.outlet.idoutlet),
    ];
    let mut bodies = Vec::new();
    for body in spellings {
        let request = desk.app.http.post(&path).bearer_auth(&desk.key).insert_header(("Idempotency-Key", "k"));
        bodies.push(request.send_body(body).await.unwrap().body().await.unwrap());
    }
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(desk.app.balance(desk.idcustomer).await, 41_000);
}

#[actix_web::test]
async fn the_same_key_for_another_request_is_422() {
    let desk = desk().await;
    let [(_, topup), (_, refund), _] = desk.calls();
    desk.send("k", "topup", &topup).await.ok();
    let mut other = topup.clone();
    other["nominal"] = json!(1001);
    desk.send("k", "topup", &other).await.expect(422, "Idempotency-Key sudah dipakai untuk permintaan lain");
    desk.send("k", "refund", &refund).await.expect(422, "Idempotency-Key sudah dipakai untuk permintaan lain");
    desk.send("k", "topup", &topup).await.ok();
    assert_eq!(desk.app.balance(desk.idcustomer).await, 41_000);
    let colleague = desk.app.key(Scope::Supervisor(desk.outlet.idoutlet)).await;
    desk.app.ops_once(&colleague, "k", "topup", &other).await.ok();
    assert_eq!(desk.app.balance(desk.idcustomer).await, 42_001, "keys of two operators are two keys");
}

#[actix_web::test]
async fn without_a_sane_key_it_is_400() {
    let desk = desk().await;
    let before = desk.app.footprint().await;
    let long = "k".repeat(201);
    for (call, body) in desk.calls() {
        let (path, body) = (format!("/ops/v1/{call}"), body.to_string().into_bytes());
        for once in [None, Some(""), Some("   "), Some("a b"), Some("kunci\u{e9}"), Some(long.as_str())] {
            let header = once.map(|k| ("Idempotency-Key", k));
            let answer = desk.app.call("POST", &path, Some(&desk.key), header.as_slice(), Some(body.clone())).await;
            assert_eq!(answer.status, 400, "{call} {once:?}: {}", answer.message);
            assert!(answer.message.contains("Idempotency-Key"), "{}", answer.message);
        }
    }
    assert_eq!(desk.app.footprint().await, before);
}

#[actix_web::test]
async fn a_refusal_is_remembered_but_a_400_is_not() {
    let desk = desk().await;
    let app = &desk.app;
    let stranger = json!({"telp": "81299999999", "idoutlet": desk.outlet.idoutlet, "nominal": 1000});
    desk.send("a", "topup", &stranger).await.expect(404, "nomor belum terdaftar");
    app.register_customer("81299999999", "Budi", "Santoso").await;
    desk.send("a", "topup", &stranger).await.expect(404, "nomor belum terdaftar");
    desk.send("b", "topup", &stranger).await.ok();
    let bad = json!({"telp": TELP, "idoutlet": desk.outlet.idoutlet, "nominal": 0});
    assert_eq!(desk.send("c", "topup", &bad).await.status, 400);
    desk.send("c", "topup", &desk.calls()[0].1).await.ok();
    app.assert_no_violation().await;
}
