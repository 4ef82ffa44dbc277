//! Top-ups at the cashier (docs/contract.md §4).

use futures_util::future::join_all;
use nyala_core::domain::id::{MachineId, OutletId};
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;

const TELP: &str = "81200000001";
const MINUTE_MS: i64 = 60_000;

#[actix_web::test]
async fn the_first_one_opens_the_account_and_the_next_one_adds() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let body = json!({"telp": "+6281200000001", "idoutlet": outlet.idoutlet, "nominal": 50_000});
    let first = app.ops(&key, "topup", &body).await.ok();
    assert_eq!(first["saldo_akhir"], 50_000);
    let body =
        json!({"telp": "081200000001", "idoutlet": outlet.idoutlet, "nominal": 100_000, "quota": 110_000, "nama_paket": "Hemat"});
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let second = app.ops(&owner, "topup", &body).await.ok();
    assert_eq!((&second["saldo_akhir"], &second["idcustomer"]), (&json!(160_000), &first["idcustomer"]));
    let id = second["idpembelian_emoney"].as_str().expect("a decimal string, as in the history");
    let detail = app.get(&format!("/scan/v1/epayment/get_epayment/{id}"), Some(&siti.token)).await.ok();
    let fields = ["idpembelian_emoney", "harga_paket", "quota", "nama_paket", "saldo_akhir"].map(|key| detail[key].clone());
    assert_eq!(fields, [json!(id), json!(100_000), json!(110_000), json!("Hemat"), json!(160_000)]);
    let accounts = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(&siti.token)).await.ok();
    assert_eq!(accounts[0]["quota_emoney"]["saldo"], 160_000);
    assert_eq!(app.audited().await.len(), 2);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_cashier_can_neither_give_nor_reduce_a_bonus() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let (cashier, supervisor) = (app.key(Scope::Kasir(outlet.idoutlet)).await, app.key(Scope::Supervisor(outlet.idoutlet)).await);
    app.register_customer(TELP, "Siti", "Rahma").await;
    let before = app.footprint().await;
    let body = |quota: i64| json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 100_000, "quota": quota});
    for quota in [110_000, 100_001, 99_999, 1] {
        for once in ["satu", "dua"] {
            app.ops_once(&cashier, once, "topup", &body(quota)).await.expect(403, "bonus hanya lewat paket");
        }
    }
    assert_eq!(app.footprint().await, before);
    // A refusal does not use up the idempotency key, and a supervisor may sell the bonus.
    assert_eq!(app.ops_once(&cashier, "satu", "topup", &body(100_000)).await.ok()["saldo_akhir"], 100_000);
    assert_eq!(app.ops(&supervisor, "topup", &body(110_000)).await.ok()["saldo_akhir"], 210_000);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_customers_qr_is_as_good_as_the_number_until_it_expires() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let qr = nyala_identity::qr::customer::make(&app.state.keyring.get(), siti.id, app.now());
    let body = |qr: &str| json!({"qr": qr, "idoutlet": outlet.idoutlet, "nominal": 1000});
    app.advance_s(6 * 60);
    app.ops_once(&key, "satu", "topup", &body(&qr)).await.ok();
    app.advance_s(1);
    let late = app.ops(&key, "topup", &body(&qr)).await;
    assert_eq!(late.status, 422, "{}", late.message);
    app.ops_once(&key, "satu", "topup", &body(&qr)).await.ok();
    let sticker = nyala_identity::qr::machine::make(&app.state.keyring.get(), MachineId::new(1), 1);
    let forged = nyala_identity::qr::customer::make(&nyala_store::secrets::Secrets::random(), siti.id, app.now());
    for bad in [sticker.as_str(), &forged, "", "https://example.com", "\u{0}"] {
        let answer = app.ops(&key, "topup", &body(bad)).await;
        assert_eq!(answer.status, 422, "{bad}: {}", answer.message);
    }
}

#[actix_web::test]
async fn an_unknown_number_is_404() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    let body = json!({"telp": "81299999999", "idoutlet": outlet.idoutlet, "nominal": 1000});
    app.ops(&key, "topup", &body).await.expect(404, "nomor belum terdaftar");
}

#[actix_web::test]
async fn an_account_keeps_its_kind_and_its_expiry_only_moves_on() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let key = app.key(Scope::Root).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let now_ms = app.now().ms();
    let body = |idoutlet: OutletId, kind: Value, masa_aktif: Value| json!({"telp": TELP, "idoutlet": idoutlet, "nominal": 1000, "jenis_emoney": kind, "masa_aktif": masa_aktif});
    let kind_one = |after_ms: i64| body(outlet.idoutlet, json!(1), json!(now_ms + after_ms));
    app.ops(&key, "topup", &kind_one(MINUTE_MS)).await.ok();
    app.ops(&key, "topup", &body(outlet.idoutlet, json!(2), Value::Null))
        .await
        .expect(409, "rekening E-Pay di outlet itu berjenis lain");
    app.ops(&key, "topup", &body(outlet.idoutlet, Value::Null, Value::Null)).await.ok();
    app.ops(&key, "topup", &kind_one(10 * MINUTE_MS)).await.ok();
    app.ops(&key, "topup", &kind_one(2 * MINUTE_MS)).await.ok();
    let until: nyala_core::domain::timestamp::Timestamp =
        app.db.query_one("SELECT masa_aktif FROM quota_emoney", &[]).await.unwrap().get(0);
    assert_eq!(until.ms(), now_ms + 10 * MINUTE_MS);
    app.ops(&key, "topup", &body(other.idoutlet, Value::Null, Value::Null)).await.ok();
    app.ops(&key, "topup", &body(other.idoutlet, json!(1), json!(now_ms + MINUTE_MS)))
        .await
        .expect(409, "rekening E-Pay di outlet itu berjenis lain");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_out_of_range_is_400_and_changes_nothing() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let before = app.footprint().await;
    let now_ms = app.now().ms();
    let bad = [
        (
            "nominal",
            vec![json!(0), json!(-1), json!(20_000_001), json!(1.5), json!("1000"), Value::Null, json!(1e300), json!(i64::MAX)],
        ),
        ("quota", vec![json!(0), json!(-1), json!(20_000_001), json!("x")]),
        ("nama_paket", vec![json!(""), json!("x".repeat(101)), json!("a\u{0}"), json!(7)]),
        ("jenis_emoney", vec![json!(0), json!(3), json!("2"), json!(1), json!(i64::MIN)]),
        ("masa_aktif", vec![json!(now_ms + 1), json!(0), json!("besok")]),
        ("telp", vec![json!(""), json!("x"), json!("+1555"), Value::Null, json!("8".repeat(60_000))]),
        ("qr", vec![json!("NYC1"), json!("")]),
        ("idoutlet", vec![json!(0), json!("a"), Value::Null]),
    ];
    for (field, values) in bad {
        for value in values {
            let mut body = json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 1000});
            body[field] = value;
            let answer = app.ops(&key, "topup", &body).await;
            assert_eq!(answer.status, 400, "{field}: {}", answer.message);
        }
    }
    for masa_aktif in [json!(now_ms), json!(now_ms - 1), json!(-1), json!(i64::MAX), json!(253_402_300_800_000_i64), Value::Null]
    {
        let body =
            json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 1000, "jenis_emoney": 1, "masa_aktif": masa_aktif});
        let answer = app.ops(&key, "topup", &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.message);
    }
    assert_eq!(app.footprint().await, before);
}

#[actix_web::test]
async fn many_first_top_ups_at_once_open_one_account() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let body = json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 1000});
    let answers = join_all((0..50).map(|_| app.ops(&key, "topup", &body))).await;
    let mut balance: Vec<i64> = answers.into_iter().map(|a| a.ok()["saldo_akhir"].as_i64().unwrap()).collect();
    balance.sort_unstable();
    assert_eq!(balance, (1..=50).map(|n| n * 1000).collect::<Vec<i64>>());
    assert_eq!(app.insert("SELECT count(*) FROM customer", &[]).await, 1);
    app.assert_no_violation().await;
}
