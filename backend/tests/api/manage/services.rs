//! Services: prices by hour, changes and replacements, and which machine they fit.

use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::{Customer, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

impl TestApp {
    async fn offered(&self, shop: Shop, customer: &Customer) -> Value {
        let qr = self.qr_of(shop).await;
        self.post("/scan/v1/transaksi/get_layanan", Some(&customer.token), &json!({"qr": qr, "limit": 10, "skip": 0})).await.ok()
    }

    async fn qr_of(&self, shop: Shop) -> String {
        self.insert_id("SELECT kode FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await
    }
}

fn priced(order: &Order, price: i64) -> Order {
    let mut order = order.clone();
    order.body["total"] = json!(price);
    order.body["grandtotal"] = json!(price);
    order
}

/// The next Monday at 00:00 in Jakarta, after the tests' clock.
fn monday(app: &TestApp) -> Timestamp {
    const WEEK_MS: i64 = 7 * 86_400_000;
    let some = at("2026-11-23T00:00:00+07:00");
    let weeks = some.ms_until(app.now()).div_euclid(WEEK_MS) + 1;
    some.plus_ms(weeks * WEEK_MS)
}

#[actix_web::test]
async fn a_price_that_changes_while_a_customer_pays_is_refused_and_never_charged() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let rules = json!({"aturan": [{"hari": [1, 2, 3, 4, 5, 6, 7], "dari": "06:00", "sampai": "09:00", "harga": 7_000}]});
    app.ops(&key, &format!("layanan/{}", shop.idlayanan), &rules).await.ok();
    let nine = monday(&app).plus_ms(9 * 3_600_000);
    app.advance_s(app.now().ms_until(nine) / 1000 - 30);

    let seen = app.offered(shop, &siti).await;
    assert_eq!(seen["data_layanan"][0]["harga"], 7_000);
    assert_eq!(seen["data_layanan"][0]["harga_sampai"], nine.ms());
    // At the edge of the hour: the price that was shown is over.
    app.advance_s(30);
    let cheap = priced(&buy(1, shop, epay), 7_000);
    let refused = app.buy(&siti, &cheap).await;
    refused.expect(409, "harga layanan berubah");
    let six = nine.plus_ms(21 * 3_600_000);
    let now_costs = json!({"idlayanan": shop.idlayanan, "harga": PRICE, "harga_sampai": six.ms()});
    assert_eq!(refused.data, now_costs);
    // A repeat is refused too, with the price of that time.
    app.advance_s(21 * 3_600);
    let repeated = app.buy(&siti, &cheap).await;
    repeated.expect(409, "harga layanan berubah");
    assert_eq!(
        repeated.data,
        json!({"idlayanan": shop.idlayanan, "harga": 7_000, "harga_sampai": six.plus_ms(3 * 3_600_000).ms()})
    );
    // A lower price is refused as well as a higher one.
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, "harga layanan berubah");
    assert_eq!(app.balance(epay).await, 100_000, "nothing was charged");
    app.buy(&siti, &priced(&buy(3, shop, epay), 7_000)).await.ok();
    assert_eq!(app.balance(epay).await, 93_000);
    let last = app.get("/scan/v1/transaksi/terakhir", Some(&siti.token)).await.ok();
    assert_eq!(last["harga"], 7_000, "the present price");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn prices_follow_the_zone_of_the_outlet() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let owner = app.key(Scope::Owner(shop.outlet.idowner)).await;
    let rules = json!({"aturan": [{"hari": [1], "dari": "22:00", "sampai": "02:00", "harga": 5_000}]});
    app.ops(&owner, &format!("layanan/{}", shop.idlayanan), &rules).await.ok();
    // 01:30 on Tuesday in Jakarta is 02:30 in Makassar.
    app.advance_s(app.now().ms_until(monday(&app).plus_ms(25 * 3_600_000 + 30 * 60_000)) / 1000);
    assert_eq!(app.offered(shop, &siti).await["data_layanan"][0]["harga"], 5_000);
    app.ops(&owner, &format!("outlet/{}", shop.outlet.idoutlet), &json!({"zona": "Asia/Makassar"})).await.ok();
    assert_eq!(app.offered(shop, &siti).await["data_layanan"][0]["harga"], PRICE);
    app.buy(&siti, &priced(&buy(1, shop, epay), 5_000)).await.expect(409, "harga layanan berubah");
    app.buy(&siti, &buy(2, shop, epay)).await.ok();
}

#[actix_web::test]
async fn another_duration_makes_a_new_service_and_what_is_paid_goes_on() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("layanan/{}", shop.idlayanan);
    let rule = json!([{"hari": [6, 7], "dari": "00:00", "sampai": "24:00", "harga": PRICE}]);
    app.ops(&key, &path, &json!({"durasi": 600, "aturan": rule})).await.ok();
    app.buy(&siti, &buy(1, shop, epay)).await.ok();

    let changed = app.ops(&key, &path, &json!({"durasi": 300, "nama": "Cuci Cepat"})).await.ok();
    let new = changed["id"].as_i64().unwrap();
    assert_eq!(changed, json!({"id": new, "lama": shop.idlayanan}));
    let list = app.ops_see(&key, &format!("layanan?idoutlet={}", shop.outlet.idoutlet)).await.ok();
    let [sold, retired] = list.as_array().unwrap().as_slice() else { panic!("{list}") };
    assert_eq!(
        (&sold["id"], &sold["durasi"], &sold["nama"], &sold["aturan"]),
        (&json!(new), &json!(300), &json!("Cuci Cepat"), &rule)
    );
    assert_eq!((&sold["aktif"], &sold["berjalan"], &sold["berhenti_at"]), (&json!(true), &json!(0), &Value::Null));
    assert_eq!((&retired["aktif"], &retired["berjalan"], &retired["nama"]), (&json!(false), &json!(1), &json!("Cuci Kilat")));
    assert!(retired["berhenti_at"].is_string());
    let kasir = app.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    let seen = app.ops_see(&kasir, "layanan").await.ok();
    assert_eq!(seen.as_array().unwrap().len(), 1, "retired ones are for a supervisor: {seen}");

    let ends: i32 = app.insert_id("SELECT durasi_s FROM snap_transaksi", &[]).await;
    assert_eq!(ends, 600, "what is paid runs as long as it was paid");
    assert_eq!(app.get("/scan/v1/transaksi/terakhir", Some(&siti.token)).await.ok(), Value::Null);
    app.ops(&key, &path, &json!({"nama": "Cuci"})).await.expect(409, "layanan sudah diganti");
    app.ops(&key, &format!("layanan/{new}"), &json!({"durasi": 300, "harga": 9_000})).await.ok();
    let same = app.ops_see(&kasir, "layanan").await.ok();
    assert_eq!((&same[0]["id"], &same[0]["harga"]), (&json!(new), &json!(9_000)), "the same duration makes no new one");
    let audited = app.audit_of("layanan.ganti").await;
    assert_eq!(audited[0]["menggantikan"], json!(shop.idlayanan));
}

#[actix_web::test]
async fn who_pays_while_a_service_is_retired_or_replaced_is_refused() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("layanan/{}", shop.idlayanan);
    app.ops(&key, &path, &json!({"aktif": false})).await.ok();
    app.buy(&siti, &buy(1, shop, epay)).await.expect(404, "layanan tidak ditemukan");
    app.ops(&key, &path, &json!({"aktif": true})).await.ok();
    app.buy(&siti, &buy(1, shop, epay)).await.expect(404, "layanan tidak ditemukan");
    app.ops(&key, &path, &json!({"durasi": 60})).await.ok();
    app.buy(&siti, &buy(2, shop, epay)).await.expect(404, "layanan tidak ditemukan");
    assert_eq!(app.balance(epay).await, 100_000);
}

#[actix_web::test]
async fn a_service_is_sold_at_the_machines_that_it_fits() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("layanan/{}", shop.idlayanan);
    let count = async || app.offered(shop, &siti).await["data_layanan"].as_array().unwrap().len();
    for (fit, sold) in [
        (json!({"jenis": "cuci"}), 1),
        (json!({"jenis": "kering"}), 0),
        (json!({"jenis": null, "ukuran": "14 kg"}), 0),
        (json!({"ukuran": null}), 1),
    ] {
        app.ops(&key, &path, &fit).await.ok();
        assert_eq!(count().await, sold, "{fit}");
    }
    app.ops(&key, &path, &json!({"jenis": "kering"})).await.ok();
    app.buy(&siti, &buy(1, shop, epay)).await.expect(404, "layanan tidak ditemukan");
    app.ops(&key, &path, &json!({"jenis": "cuci"})).await.ok();
    app.buy(&siti, &buy(2, shop, epay)).await.ok();
}

#[actix_web::test]
async fn rules_that_cannot_stand_are_refused_and_change_nothing() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let rule = |days: Value, from: &str, until: &str| json!({"hari": days, "dari": from, "sampai": until, "harga": 1_000});
    let seven = json!((1..=7).map(|day| rule(json!([day]), "06:00", "07:00")).collect::<Vec<_>>());
    let before = app.footprint().await;
    for (rules, status, told) in [
        (seven, 400, "aturan paling banyak 6"),
        (json!([rule(json!([]), "06:00", "07:00")]), 400, "aturan.hari harus memuat hari 1 (Senin) sampai 7"),
        (json!([rule(json!([8]), "06:00", "07:00")]), 400, "aturan.hari harus memuat hari 1 (Senin) sampai 7"),
        (json!([rule(json!([1]), "06:00", "06:00")]), 400, "aturan.sampai harus lain dari aturan.dari"),
        (json!([rule(json!([1]), "24:00", "06:00")]), 400, "aturan.dari harus jam 00:00 sampai 23:59"),
        (json!([rule(json!([1]), "6:00", "07:00")]), 400, "aturan.dari harus jam 00:00 sampai 23:59"),
        (json!([rule(json!([1]), "06:00", "24:01")]), 400, "aturan.sampai harus jam 00:00 sampai 24:00"),
        (json!([rule(json!([7]), "22:00", "06:00"), rule(json!([1]), "05:59", "07:00")]), 422, "jam harga bertumpuk"),
    ] {
        let new = json!({"idoutlet": shop.outlet.idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000, "aturan": rules});
        app.call("POST", "/ops/v1/layanan", Some(&key), &[], Some(new.to_string().into_bytes())).await.expect(status, told);
        app.ops(&key, &format!("layanan/{}", shop.idlayanan), &json!({"aturan": rules})).await.expect(status, told);
    }
    assert_eq!(app.footprint().await, before);
}
