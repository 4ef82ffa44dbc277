//! Bills of a customer's phone.

use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{MINUTE_S, id_of};
use crate::support::arrange::{Outlet, column};
use crate::support::helpers::{Answer, Customer, PASSWORD, TestApp};

const BILLS: &str = "/scan/v1/epayment/tagihan";

async fn opened() -> (TestApp, Outlet, Customer) {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    app.takes_qris(outlet, "simulated").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    (app, outlet, siti)
}

impl TestApp {
    async fn ask_for(&self, customer: &Customer, body: &Value) -> Answer {
        self.post(BILLS, Some(&customer.token), body).await
    }

    async fn own_bill(&self, customer: &Customer, id: &str) -> Answer {
        self.get(&format!("{BILLS}/{id}"), Some(&customer.token)).await
    }
}

fn new_bill(outlet: Outlet, nominal: i64) -> Value {
    json!({"id": Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": nominal})
}

#[actix_web::test]
async fn outlets_that_take_qris_are_listed_with_their_packages() {
    let (app, outlet, siti) = opened().await;
    for (mode, name) in [("manual", "Mawar"), ("off", "Dahlia"), ("midtrans", "Kenanga")] {
        let other = app.outlet(name).await;
        app.takes_qris(other, mode).await;
    }
    let preparing = app.outlet("Anggrek").await;
    app.takes_qris(preparing, "simulated").await;
    app.db.execute("UPDATE outlet SET dibuka_at = NULL WHERE idoutlet = $1", &[&preparing.idoutlet]).await.unwrap();
    for (name, price, active) in
        [("Hemat", 100_000, true), ("Lama", 50_000, false), ("Kecil", 9_999, true), ("Besar", 10_000_001, true)]
    {
        app.db
            .execute(
                "INSERT INTO paket (idoutlet, nama, harga, quota, aktif, created_at) VALUES ($1, $2, $3, 110000, $4, $5)",
                &[&outlet.idoutlet, &name, &i64::from(price), &active, &app.now()],
            )
            .await
            .unwrap();
    }
    let listed = app.get("/scan/v1/epayment/qris", Some(&siti.token)).await.ok();
    assert_eq!(column(&listed, "nama"), ["Melati"]);
    let only = &listed[0];
    assert_eq!((&only["kota"], &only["nominal"]), (&json!("Bandung"), &json!([20_000, 50_000, 100_000, 200_000])));
    let package = &only["paket"][0];
    assert_eq!((&package["nama"], &package["harga"], &package["quota"]), (&json!("Hemat"), &json!(100_000), &json!(110_000)));
    assert_eq!(only["paket"].as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn a_customer_pays_and_has_the_balance_in_no_shift() {
    let (app, outlet, siti) = opened().await;
    app.seller(outlet).await;
    let made = app.ask_for(&siti, &new_bill(outlet, 50_000)).await.ok();
    assert_eq!(made["kedaluwarsa_at"], app.now().plus_ms(30 * MINUTE_S * 1000).rfc3339());
    assert_eq!(made["status"], "menunggu");
    let id = id_of(&made);
    app.pay(&id).await;
    let paid = app.own_bill(&siti, &id).await.ok();
    assert_eq!((&paid["status"], &paid["saldo_akhir"]), (&json!("dibayar"), &json!(50_000)));
    assert_eq!(app.insert("SELECT count(*) FROM pembelian_emoney WHERE idshift IS NULL", &[]).await, 1);
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    app.own_bill(&budi, &id).await.expect(404, "tagihan tidak ditemukan");
    app.post(&format!("{BILLS}/{id}/batal"), Some(&budi.token), &json!({})).await.expect(404, "tagihan tidak ditemukan");
    app.post(&format!("{BILLS}/{id}/batal"), Some(&siti.token), &json!({})).await.expect(409, "tagihan sudah dibayar");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_same_request_gives_the_same_bill() {
    let (app, outlet, siti) = opened().await;
    let body = new_bill(outlet, 50_000);
    let answers = join_all((0..8).map(|_| app.ask_for(&siti, &body))).await;
    let ids: Vec<_> = answers.into_iter().map(|answer| id_of(&answer.ok())).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let mut other = body.clone();
    other["nominal"] = json!(50_001);
    app.ask_for(&siti, &other).await.expect(422, "id sudah dipakai untuk permintaan lain");
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    assert_ne!(id_of(&app.ask_for(&budi, &body).await.ok()), ids[0], "an id is the customer's own");
    assert_eq!(app.insert("SELECT count(*) FROM tagihan", &[]).await, 2);
}

#[actix_web::test]
async fn three_bills_may_be_open_and_ten_made_in_an_hour() {
    let (app, outlet, siti) = opened().await;
    let mut last = String::new();
    for nominal in [10_000, 20_000, 30_000] {
        last = id_of(&app.ask_for(&siti, &new_bill(outlet, nominal)).await.ok());
    }
    let fourth = app.ask_for(&siti, &new_bill(outlet, 40_000)).await;
    assert_eq!(fourth.retry_after_s(), 30 * MINUTE_S);
    for _ in 3..10 {
        app.post(&format!("{BILLS}/{last}/batal"), Some(&siti.token), &json!({})).await.ok();
        last = id_of(&app.ask_for(&siti, &new_bill(outlet, 40_000)).await.ok());
        app.advance_s(1);
    }
    app.post(&format!("{BILLS}/{last}/batal"), Some(&siti.token), &json!({})).await.ok();
    let eleventh = app.ask_for(&siti, &new_bill(outlet, 40_000)).await;
    assert_eq!(eleventh.retry_after_s(), 3_600 - 7);
    // What was made at a till does not count, and an hour later there is room.
    app.advance_s(3_600 - 7);
    app.ask_for(&siti, &new_bill(outlet, 40_000)).await.ok();
}

#[actix_web::test]
async fn five_phones_at_once_open_no_more_than_three() {
    let (app, outlet, siti) = opened().await;
    let bodies: Vec<_> = (0..5).map(|n| new_bill(outlet, 10_000 + n)).collect();
    let answers = join_all(bodies.iter().map(|body| app.ask_for(&siti, body))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
}

#[actix_web::test]
async fn a_bill_that_is_cancelled_ends_and_one_that_was_paid_meanwhile_is_credited() {
    let (app, outlet, siti) = opened().await;
    let cancel = async |id: &str| app.post(&format!("{BILLS}/{id}/batal"), Some(&siti.token), &json!({})).await;
    let first = id_of(&app.ask_for(&siti, &new_bill(outlet, 10_000)).await.ok());
    assert_eq!(cancel(&first).await.ok()["status"], "batal");
    assert_eq!(cancel(&first).await.ok()["status"], "batal", "it has ended already");
    let second = id_of(&app.ask_for(&siti, &new_bill(outlet, 20_000)).await.ok());
    app.at_provider(&second, &json!({"aksi": "bayar", "diam": true})).await.ok();
    cancel(&second).await.expect(409, "tagihan sudah dibayar");
    assert_eq!(app.own_bill(&siti, &second).await.ok()["saldo_akhir"], 20_000);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn each_refusal_says_what_is_wrong() {
    let (app, outlet, siti) = opened().await;
    let with = |field: &str, value: Value| {
        let mut body = new_bill(outlet, 50_000);
        body[field] = value;
        body
    };
    let range = "nominal harus 10000 sampai 10000000 rupiah";
    for (body, status, message) in [
        (with("id", json!("7")), 400, "id harus UUID"),
        (with("id", json!(Uuid::new_v4().simple().to_string())), 400, "id harus UUID"),
        (with("nominal", json!(9_999)), 400, range),
        (with("nominal", json!(10_000_001)), 400, range),
        (with("idpaket", json!(1)), 400, "isi salah satu: nominal atau idpaket"),
        (with("nominal", Value::Null), 400, "isi salah satu: nominal atau idpaket"),
        (with("idoutlet", json!(999)), 404, "outlet tidak ditemukan"),
    ] {
        app.ask_for(&siti, &body).await.expect(status, message);
    }
    app.takes_qris(outlet, "manual").await;
    app.ask_for(&siti, &new_bill(outlet, 50_000)).await.expect(409, "QRIS tidak tersedia di outlet ini");
    app.takes_qris(outlet, "simulated").await;
    let id = id_of(&app.ask_for(&siti, &new_bill(outlet, 50_000)).await.ok());
    for bad in ["7", "NYL", &format!("{id}0")] {
        app.own_bill(&siti, bad).await.expect(404, "tagihan tidak ditemukan");
    }
}

#[actix_web::test]
async fn who_is_deleted_leaves_no_bill_that_could_be_paid() {
    let (app, outlet, siti) = opened().await;
    let id = id_of(&app.ask_for(&siti, &new_bill(outlet, 50_000)).await.ok());
    app.post("/scan/v1/akun/hapus", Some(&siti.token), &json!({"password": PASSWORD})).await.ok();
    assert_eq!(app.bill(&id, "status").await.as_deref(), Some("batal"));
}
