//! Outlets: the list, changes, and the whole outlet closed and opened.

use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;
use crate::support::shop::buy;

#[actix_web::test]
async fn a_closed_outlet_sells_nothing_says_why_and_opens_by_itself() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let other = app.outlet_of(shop.outlet.idowner, "Lain").await;
    let elsewhere = app.machine(other, "M2").await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let id = shop.outlet.idoutlet;
    let machine = app.machine(shop.outlet, "M1").await;
    let scanned = async || {
        let body = json!({"qr": machine.code, "limit": 10, "skip": 0});
        app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await.ok()["data_mesin"].clone()
    };
    assert_eq!((scanned().await["status"].clone(), scanned().await["outlet"]["tutup"].clone()), (json!("idle"), Value::Null));

    let since = app.now();
    app.ops(&key, &format!("outlet/{id}/tutup"), &json!({"alasan": "banjir"})).await.ok();
    app.advance_s(60);
    let until = app.now().plus_ms(3_600_000);
    app.ops(&key, &format!("outlet/{id}/tutup"), &json!({"alasan": "mati lampu", "sampai": until.rfc3339()})).await.ok();
    let told = json!({"alasan": "mati lampu", "sejak": since.rfc3339(), "sampai": until.rfc3339()});
    let list = app.ops_see(&key, "outlet").await.ok();
    assert_eq!((&list[0]["idoutlet"], &list[0]["tutup"]), (&json!(id), &told), "a new reason and time, the first moment");
    let closed = scanned().await;
    assert_eq!(
        (&closed["status"], &closed["outlet"]["tutup"]),
        (&json!("offline"), &json!({"alasan": "mati lampu", "sampai": until.rfc3339()}))
    );
    let mut order = buy(2, shop, epay);
    order.body["idmesin"] = json!(machine.idmesin);
    order.body["idsnap_layanan"] = json!(machine.idlayanan);
    app.buy(&siti, &order).await.expect(409, "mesin sedang offline");
    assert_eq!(app.states(&buy(1, shop, epay).receipt).await, ["RUNNING"], "what runs goes on");
    let other_key = app.key(Scope::Kasir(other.idoutlet)).await;
    assert_eq!(app.ops_see(&other_key, &format!("mesin/{}", elsewhere.idmesin)).await.ok()["status"], "idle", "the others sell");

    app.advance_s(3_600);
    assert_eq!((scanned().await["status"].clone(), scanned().await["outlet"]["tutup"].clone()), (json!("idle"), Value::Null));
    assert_eq!(app.ops_see(&key, "outlet").await.ok()[0]["tutup"], Value::Null);
    let mut order = buy(3, shop, epay);
    order.body["idmesin"] = json!(machine.idmesin);
    order.body["idsnap_layanan"] = json!(machine.idlayanan);
    app.buy(&siti, &order).await.ok();
    // It was open, so this is another closing.
    let again = app.now();
    app.ops(&key, &format!("outlet/{id}/tutup"), &json!({"alasan": "libur"})).await.ok();
    assert_eq!(app.ops_see(&key, "outlet").await.ok()[0]["tutup"]["sejak"], again.rfc3339());
    let closed = scanned().await;
    assert_eq!(
        (&closed["status"], &closed["outlet"]["tutup"]),
        (&json!("offline"), &json!({"alasan": "libur", "sampai": null})),
        "nobody knows until when"
    );
    app.ops(&key, &format!("outlet/{id}/buka"), &json!({})).await.ok();
    app.ops(&key, &format!("outlet/{id}/buka"), &json!({})).await.ok();
    assert_eq!(app.ops_see(&key, "outlet").await.ok()[0]["tutup"], Value::Null);
    assert_eq!(app.audit_of("outlet.tutup").await.len(), 3);
    assert_eq!(app.audit_of("outlet.buka").await.len(), 1, "opening what is open changes nothing");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_closing_that_cannot_be_is_refused() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("outlet/{}/tutup", shop.outlet.idoutlet);
    let past = app.now().plus_ms(-1).rfc3339();
    app.ops(&key, &path, &json!({"alasan": "libur", "sampai": past})).await.expect(422, "waktu buka sudah lewat");
    app.ops(&key, &path, &json!({"alasan": "libur", "sampai": "besok"}))
        .await
        .expect(400, "sampai harus waktu RFC 3339 dengan zona");
    assert_eq!(app.ops(&key, &path, &json!({"alasan": ""})).await.status, 400);
    assert_eq!(app.ops(&key, &path, &json!({"alasan": "x".repeat(501)})).await.status, 400);
    assert_eq!(app.ops_see(&key, "outlet").await.ok()[0]["tutup"], Value::Null);
}

#[actix_web::test]
async fn an_owner_changes_what_an_outlet_is() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let owner = app.key(Scope::Owner(shop.outlet.idowner)).await;
    let path = format!("outlet/{}", shop.outlet.idoutlet);
    let change = json!({
        "nama": "Melati Dago", "alamat": "Jalan Dago 12", "zona": "Asia/Jayapura", "hari_mulai": "04:00", "jam_buka": "06:30", "jam_tutup": "24:00",
    });
    app.ops(&owner, &path, &change).await.ok();
    let seen = app.ops_see(&owner, "outlet").await.ok()[0].clone();
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&seen[field], value, "{field}");
    }
    app.ops(&owner, &path, &json!({"jam_buka": null, "alamat": ""})).await.ok();
    let seen = app.ops_see(&owner, "outlet").await.ok()[0].clone();
    assert_eq!((&seen["jam_buka"], &seen["jam_tutup"], &seen["alamat"]), (&Value::Null, &json!("24:00"), &json!("")));
    for (field, value, told) in [
        ("zona", json!("WIB"), "zona tidak dikenal"),
        ("hari_mulai", json!("12:01"), "hari_mulai harus 00:00 sampai 12:00"),
        ("jam_buka", json!("24:00"), "jam_buka harus 00:00 sampai 23:59"),
        ("jam_tutup", json!("24:30"), "jam_tutup harus 00:00 sampai 24:00"),
    ] {
        app.ops(&owner, &path, &json!({field: value})).await.expect(400, told);
    }
    let audited = app.audit_of("outlet.ubah").await;
    assert_eq!(audited, [change, json!({"jam_buka": null, "alamat": ""})], "what was asked for");
}

#[actix_web::test]
async fn a_new_outlet_says_when_its_day_begins_and_once_for_one_key() {
    let app = TestApp::spawn().await;
    let owner_id = app.owner().await;
    let owner = app.key(Scope::Owner(owner_id)).await;
    let body = json!({
        "idowner": owner_id, "nama": "Dago", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6, "zona": "Asia/Makassar",
        "hari_mulai": "05:00", "jam_buka": "07:00", "jam_tutup": "22:00", "alamat": "Jalan Dago 1",
    });
    let made = app.ops_once(&owner, "once", "outlet", &body).await.ok();
    assert_eq!(app.ops_once(&owner, "once", "outlet", &body).await.ok(), made);
    let list = app.ops_see(&owner, "outlet").await.ok();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let seen = &list[0];
    assert_eq!(
        (&seen["zona"], &seen["hari_mulai"], &seen["jam_tutup"]),
        (&json!("Asia/Makassar"), &json!("05:00"), &json!("22:00"))
    );
    assert_eq!(seen["dibuka_at"].as_str().and_then(Timestamp::parse_rfc3339), Some(app.now()), "open at once");
}
