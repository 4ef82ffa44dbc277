//! Machines: what they are, closed and opened, retired, their order and their stickers.

use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use serde_json::{Value, json};

use crate::devices::device_keys::mqtt_machine;
use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;
use crate::support::shop::buy;

#[actix_web::test]
async fn a_closed_machine_is_sold_to_nobody_and_its_run_goes_on() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let (kasir, supervisor) =
        (app.key(Scope::Kasir(shop.outlet.idoutlet)).await, app.key(Scope::Supervisor(shop.outlet.idoutlet)).await);
    let path = format!("mesin/{}", shop.idmesin);
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.ops(&kasir, &format!("{path}/tutup"), &json!({"alasan": "bocor"})).await.ok();
    assert_eq!(app.states(&buy(1, shop, epay).receipt).await, ["RUNNING"], "what is paid goes on");
    app.advance_s(600);
    app.until(&buy(1, shop, epay).receipt, "FINISHED").await;
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, "mesin sedang offline");
    assert_eq!(app.ops_see(&kasir, &path).await.ok()["status"], "offline");
    // Again: the first moment and reason stay.
    app.ops(&supervisor, &format!("{path}/tutup"), &json!({"alasan": "lain"})).await.ok();
    let reason: String = app.insert_id("SELECT ditutup_alasan FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await;
    assert_eq!(reason, "bocor");
    app.ops(&kasir, &format!("{path}/buka"), &json!({})).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    app.ops(&supervisor, &format!("{path}/buka"), &json!({})).await.ok();
    app.ops(&supervisor, &format!("{path}/buka"), &json!({})).await.ok();
    app.buy(&siti, &buy(3, shop, epay)).await.ok();
    assert_eq!(
        (app.audit_of("mesin.tutup").await, app.audit_of("mesin.buka").await.len()),
        (vec![json!({"alasan": "bocor"})], 1)
    );
}

#[actix_web::test]
async fn a_machine_is_retired_when_nobody_uses_it_and_its_sticker_and_keys_end() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("mesin/{}", shop.idmesin);
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.ops(&key, &path, &json!({"aktif": false})).await.expect(409, "mesin sedang digunakan");
    app.advance_s(600);
    app.until(&buy(1, shop, epay).receipt, "FINISHED").await;
    let code: String = app.insert_id("SELECT kode FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await;
    app.ops(&key, &path, &json!({"aktif": false})).await.ok();
    let scanned = async |code: String| {
        let body = json!({"qr": code, "limit": 1, "skip": 0});
        app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await
    };
    scanned(code.clone()).await.expect(404, "Mesin Not found");
    app.buy(&siti, &buy(2, shop, epay)).await.expect(404, "Mesin Not found");
    for (call, body) in [
        ("tutup", json!({"alasan": "uji"})),
        ("buka", json!({})),
        ("servis", json!({})),
        ("stiker", json!({"alasan": "uji"})),
        ("perangkat", json!({})),
    ] {
        app.ops(&key, &format!("{path}/{call}"), &body).await.expect(404, "Mesin Not found");
    }
    app.ops(&key, &path, &json!({"aktif": true})).await.ok();
    scanned(code).await.expect(404, "Mesin Not found");
    app.buy(&siti, &buy(3, shop, epay)).await.ok();

    let washer = mqtt_machine(&app, shop.outlet, "Cuci 2").await;
    app.ops(&key, &format!("mesin/{washer}/perangkat"), &json!({})).await.ok();
    app.ops(&key, &format!("mesin/{washer}"), &json!({"aktif": false})).await.ok();
    let good = "SELECT count(*) FROM device_key WHERE idmesin = $1 AND revoked_at IS NULL";
    assert_eq!(app.insert(good, &[&washer]).await, 0);
}

#[actix_web::test]
async fn a_customer_races_with_a_retirement_and_nobody_pays_for_a_machine_that_is_gone() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let (path, body) = (format!("mesin/{}", shop.idmesin), json!({"aktif": false}));
    let order = buy(1, shop, epay);
    let (retired, bought) = futures_util::future::join(app.ops(&key, &path, &body), app.buy(&siti, &order)).await;
    match bought.status {
        200 => assert_eq!(retired.status, 409, "{}", retired.message),
        _ => assert_eq!((bought.status, retired.status), (404, 200), "{}", bought.message),
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn machines_are_named_sized_ordered_and_serviced() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let made = app
        .ops(&key, "mesin/bulk", &json!({"idoutlet": shop.outlet.idoutlet, "jumlah": 2, "awalan": "Pengering", "mulai": 9, "angka": 2, "ukuran": "10 kg"}))
        .await
        .ok();
    let ids: Vec<i64> = made["mesin"].as_array().unwrap().iter().map(|machine| machine["id"].as_i64().unwrap()).collect();
    let row = app.db.query_one("SELECT nama, jenis, ukuran FROM mesin WHERE idmesin = $1", &[&ids[1]]).await.unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2)), ("Pengering 10", "kering", "10 kg"));
    app.ops(&key, &format!("mesin/{}", ids[1]), &json!({"nama": "Setrika", "jenis": "lain", "ukuran": null, "servis_tiap": 500}))
        .await
        .ok();
    let row =
        app.db.query_one("SELECT nama, jenis, ukuran, servis_tiap FROM mesin WHERE idmesin = $1", &[&ids[1]]).await.unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2), row.get(3)), ("Setrika", "lain", None::<&str>, 500));
    assert_eq!(
        app.audit_of("mesin.ubah").await,
        [json!({"nama": "Setrika", "jenis": "lain", "ukuran": null, "servis_tiap": 500})]
    );

    let path = format!("outlet/{}/urut", shop.outlet.idoutlet);
    let first = shop.idmesin.get();
    app.ops(&key, &path, &json!({"mesin": [ids[1], first, ids[0]]})).await.ok();
    for wrong in [json!([ids[1], first]), json!([ids[1], first, first]), json!([ids[1], first, ids[0], 4711])] {
        app.ops(&key, &path, &json!({"mesin": wrong})).await.expect(422, "urutan harus memuat semua mesin");
    }
    let order = app.db.query("SELECT idmesin FROM mesin ORDER BY urut", &[]).await.unwrap();
    assert_eq!(order.iter().map(|row| row.get(0)).collect::<Vec<i64>>(), [ids[1], first, ids[0]]);

    app.ops(&key, &format!("mesin/{first}/servis"), &json!({"catatan": "ganti karet"})).await.ok();
    assert_eq!(app.audit_of("mesin.servis").await, [json!({"catatan": "ganti karet"})]);
    for (field, value) in
        [("servis_tiap", json!(0)), ("ukuran", json!("x".repeat(21))), ("jenis", json!("setrika")), ("nama", json!(""))]
    {
        let answer = app.ops(&key, &format!("mesin/{first}"), &json!({field: value})).await;
        assert_eq!(answer.status, 400, "{field}: {}", answer.message);
    }
    for (field, value) in [("mulai", json!(0)), ("mulai", json!(900_001)), ("angka", json!(7))] {
        let body = json!({"idoutlet": shop.outlet.idoutlet, "jumlah": 1, "awalan": "M", field: value});
        let answer = app.ops(&key, "mesin/bulk", &body).await;
        assert_eq!(answer.status, 400, "{field}: {}", answer.message);
    }
}

#[actix_web::test]
async fn a_rotated_sticker_leads_nowhere_but_who_scanned_it_may_pay() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let scanned = async |code: String| {
        let body = json!({"qr": code, "limit": 1, "skip": 0});
        app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await
    };
    let list = format!("stiker?id={}", shop.idmesin);
    let old = app.ops_see(&key, &list).await.ok()[0].clone();
    let [old_qr, old_code] = ["qr", "kode"].map(|field| old[field].as_str().unwrap().to_owned());
    scanned(old_qr.clone()).await.ok();
    let new = app.ops(&key, &format!("mesin/{}/stiker", shop.idmesin), &json!({"alasan": "sobek"})).await.ok();
    for dead in [old_qr, old_code] {
        scanned(dead).await.expect(404, "Mesin Not found");
    }
    for live in ["qr", "kode"] {
        scanned(new[live].as_str().unwrap().to_owned()).await.ok();
    }
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let listed = app.ops_see(&key, &list).await.ok();
    assert_eq!((&listed[0]["qr"], &listed[0]["kode"], &listed[0]["nama"]), (&new["qr"], &new["kode"], &json!("Mesin 01")));
    assert!(listed[0]["png"].as_str().unwrap().starts_with("iVBOR"), "a PNG in base64");
}

#[actix_web::test]
async fn stickers_are_listed_in_the_order_that_was_asked_for_and_one_foreign_hides_all() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let second = app.machine(shop.outlet, "Mesin 02").await;
    let foreign = app.machine(app.outlet("Mawar").await, "Lain").await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let list = app.ops_see(&key, &format!("stiker?id={},{}", second.idmesin, shop.idmesin)).await.ok();
    let names: Vec<&Value> = list.as_array().unwrap().iter().map(|sticker| &sticker["nama"]).collect();
    assert_eq!(names, ["Mesin 02", "Mesin 01"]);
    app.ops_see(&key, &format!("stiker?id={},{}", shop.idmesin, foreign.idmesin)).await.expect(404, "Mesin Not found");
    let eleven = ["1"; 11].join(",");
    for bad in ["", "0", "1,", "x", eleven.as_str()] {
        app.ops_see(&key, &format!("stiker?id={bad}")).await.expect(400, "id harus 1 sampai 10 nomor mesin dengan koma");
    }
}

#[actix_web::test]
async fn who_calls_hears_what_they_may_do() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let sibling = app.outlet_of(outlet.idowner, "Mawar").await;
    app.outlet("Kenanga").await;
    for (scope, role, sees) in [
        (Scope::Technician(outlet.idoutlet), Role::Technician, vec![outlet.idoutlet]),
        (Scope::Kasir(outlet.idoutlet), Role::Kasir, vec![outlet.idoutlet]),
        (Scope::Supervisor(sibling.idoutlet), Role::Supervisor, vec![sibling.idoutlet]),
        (Scope::Owner(outlet.idowner), Role::Owner, vec![outlet.idoutlet, sibling.idoutlet]),
    ] {
        let key = app.key(scope).await;
        let me = app.ops_see(&key, "saya").await.ok();
        assert_eq!(me["role"], role.as_str());
        let rights: Vec<&str> = Right::of(role).map(Right::as_str).collect();
        assert_eq!(me["hak"], json!(rights));
        let outlets: Vec<&Value> = me["outlet"].as_array().unwrap().iter().map(|outlet| &outlet["idoutlet"]).collect();
        assert_eq!(json!(outlets), json!(sees));
        assert_eq!(me["outlet"][0]["zona"], "Asia/Jakarta");
    }
}
