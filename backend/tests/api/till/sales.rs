//! Sales at a till: customer, package and shift, and what is refused (docs/till.md).

use futures_util::future::join_all;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::counter::{Counter, TELP, and, counter, counter_without_cap};
use crate::support::helpers::{AROUND_A_CODE, TestApp};
use crate::till::rules::AtTill;

#[actix_web::test]
async fn cash_goes_into_the_drawer_and_other_means_do_not() {
    let counter = counter().await;
    let Counter { app, rina, .. } = &counter;
    let made = app.ask(rina, "topup", &counter.sale(50_000)).await.ok();
    assert_eq!((&made["saldo_akhir"], &made["nama"]), (&json!(50_000), &json!("Siti R.")));
    assert_eq!(made["created_at"], app.now().rfc3339());
    assert_eq!(made["batal_sampai"], app.now().plus_ms(30 * 60_000).rfc3339());
    assert_eq!(app.drawer(&rina.till).await, 150_000);
    for (n, means) in ["qris", "transfer"].into_iter().enumerate() {
        let body = and(counter.sale(10_000 + n as i64), "cara_bayar", json!(means));
        app.ask(rina, "topup", &body).await.ok();
    }
    assert_eq!(app.drawer(&rina.till).await, 150_000);
    app.ask(rina, "topup", &and(counter.sale(5_000), "cara_bayar", json!("tunai"))).await.ok();
    assert_eq!(app.drawer(&rina.till).await, 155_000);
    assert_eq!(app.ask(rina, "topup", &and(counter.sale(5_000), "cara_bayar", json!("utang"))).await.status, 400);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_session_sells_in_an_open_shift_only() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let rina = app.clerk(&till, "Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet)).await;
    let hadi = app.clerk(&till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let body = |nominal: i64| json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": nominal, "cara_bayar": "qris"});
    let shut = "shift belum dibuka";
    for clerk in [&rina, &hadi] {
        // The missing shift is checked before anything else.
        let odd = and(body(2_000_000), "quota", json!(1));
        app.ask(clerk, "topup", &odd).await.expect(409, shut);
        app.ask(clerk, "topup", &body(1_000)).await.expect(409, shut);
    }
    let shift = app.open_shift(&rina, outlet).await;
    app.ask(&hadi, "topup", &body(1_000)).await.ok();
    app.close_shift(shift, &hadi).await;
    app.ask(&rina, "topup", &body(2_000)).await.expect(409, shut);
    // A program has no shift, as before.
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&key, "topup", &body(3_000)).await.ok();
    assert_eq!(app.insert("SELECT count(*) FROM pembelian_emoney WHERE idshift IS NOT NULL", &[]).await, 1);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_bonus_is_a_packages_at_the_price_that_it_has_now() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let other = app.outlet("Mawar").await;
    let new = |idoutlet: i64| json!({"idoutlet": idoutlet, "nama": "Hemat", "harga": 100_000, "quota": 115_000});
    app.ask(rina, "paket", &new(outlet.idoutlet.get())).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    app.ask(&hadi, "paket", &new(other.idoutlet.get())).await.expect(404, "outlet tidak ditemukan");
    let id = app.ask(&hadi, "paket", &new(outlet.idoutlet.get())).await.ok()["idpaket"].clone();
    let key = app.key(Scope::Supervisor(other.idoutlet)).await;
    let foreign = app.ops(&key, "paket", &new(other.idoutlet.get())).await.ok()["idpaket"].clone();

    app.ask(rina, "topup", &and(counter.sale(100_000), "quota", json!(115_000))).await.expect(403, "bonus hanya lewat paket");
    let with = |nominal: i64, id: &Value| and(counter.sale(nominal), "idpaket", id.clone());
    let made = app.ask(rina, "topup", &with(100_000, &id)).await.ok();
    assert_eq!(made["saldo_akhir"], 115_000);
    let detail = format!("/scan/v1/epayment/get_epayment/{}", made["idpembelian_emoney"].as_str().unwrap());
    let detail = app.get(&detail, Some(&counter.siti.token)).await.ok();
    assert_eq!((&detail["nama_paket"], &detail["harga_paket"]), (&json!("Hemat"), &json!(100_000)));

    let changed = "harga paket berubah";
    for (nominal, id) in [(99_000, &id), (100_000, &foreign), (100_000, &json!(4711))] {
        app.ask(rina, "topup", &with(nominal, id)).await.expect(409, changed);
    }
    let path = format!("paket/{id}");
    app.ask(&hadi, &path, &json!({"harga": 90_000})).await.ok();
    app.ask(rina, "topup", &with(100_000, &id)).await.expect(409, changed);
    assert_eq!(app.ask(rina, "topup", &with(90_000, &id)).await.ok()["saldo_akhir"], 230_000);
    app.ask(&hadi, &path, &json!({"aktif": false})).await.ok();
    app.ask(rina, "topup", &with(90_000, &id)).await.expect(409, changed);

    app.ask(&hadi, &format!("paket/{foreign}"), &json!({"harga": 1})).await.expect(404, "paket tidak ditemukan");
    for bad in [json!({"harga": 0}), json!({"quota": 20_000_001}), json!({"nama": " "}), json!({"aktif": "ya"})] {
        assert_eq!(app.ask(&hadi, &path, &bad).await.status, 400, "{bad}");
    }
    assert_eq!(app.see(rina, "paket").await.ok()["baris"], json!([]), "what is not sold is none of a kasir's");
    let row = json!({
        "idpaket": id, "idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 90_000, "quota": 115_000, "berlaku_hari": null, "aktif": false
    });
    assert_eq!(app.see(&hadi, "paket").await.ok(), json!({ "baris": [row], "lanjut": null }));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn above_a_million_a_kasir_needs_a_yes_to_just_that() {
    let counter = counter_without_cap().await;
    let Counter { app, rina, siti, .. } = &counter;
    let hadi = counter.supervisor().await;
    let (needs, not_good) = ("di atas Rp 1.000.000 perlu persetujuan supervisor", "persetujuan tidak berlaku");
    app.ask(rina, "topup", &counter.sale(1_000_000)).await.ok();
    let body = counter.sale(1_000_001);
    app.ask(rina, "topup", &body).await.expect(403, needs);
    let yes = app.approval(rina, hadi.person, "246810", "topup", &format!("{}:1000001", siti.id)).await;
    let more = counter.sale(1_000_002);
    app.ask_with(rina, "a", Some(&yes), "topup", &more).await.expect(403, not_good);
    app.ask_with(rina, "b", Some("nyi_1_x"), "topup", &body).await.expect(403, not_good);
    let first = app.ask_with(rina, "c", Some(&yes), "topup", &body).await.ok();
    assert_eq!(app.ask_with(rina, "c", Some(&yes), "topup", &body).await.ok(), first, "a repeat hears its answer");
    let again = and(body.clone(), "ulang", json!(true));
    app.ask_with(rina, "d", Some(&yes), "topup", &again).await.expect(403, not_good);
    let late = app.yes(rina, &hadi, &Act::top_up(siti.id, 1_000_001)).await;
    app.advance_s(121);
    app.ask_with(rina, "e", Some(&late), "topup", &again).await.expect(403, not_good);
    app.ask(&hadi, "topup", &more).await.ok();
    let audited = "SELECT isi->>'disetujui' FROM audit_log WHERE isi ? 'disetujui'";
    let rows = app.db.query(audited, &[]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get(0)).collect::<Vec<String>>(), [format!("operator:{}", hadi.person)]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_same_within_a_minute_is_asked_about() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let twin = "top-up yang sama baru saja dibuat";
    let body = counter.sale(20_000);
    let made = app.ask(rina, "topup", &body).await.ok();
    // It is the same sale also at another till of the outlet and with other means of payment.
    let dewi = app.seller(*outlet).await;
    app.ask(&dewi, "topup", &and(body.clone(), "cara_bayar", json!("qris"))).await.expect(409, twin);
    app.ask(rina, "topup", &counter.sale(20_001)).await.ok();
    app.ask(rina, "topup", &and(body.clone(), "ulang", json!(false))).await.expect(409, twin);
    let again = app.ask(rina, "topup", &and(body.clone(), "ulang", json!(true))).await.ok();
    let hadi = counter.supervisor().await;
    for made in [&made, &again] {
        app.ask(rina, "topup", &body).await.expect(409, twin);
        let call = format!("topup/{}/batal", made["idpembelian_emoney"].as_str().unwrap());
        app.ask(&hadi, &call, &json!({"alasan": "salah orang"})).await.ok();
    }
    app.ask(rina, "topup", &body).await.ok();
    app.advance_s(59);
    app.ask(rina, "topup", &body).await.expect(409, twin);
    app.advance_s(1);
    app.ask(rina, "topup", &body).await.ok();
    // A program does not repeat a sale by accident, so its sales need no confirmation.
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    for _ in 0..2 {
        app.ops(&key, "topup", &counter.by_number(33_000)).await.ok();
    }
    app.ask(rina, "topup", &counter.sale(33_000)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn of_ten_twins_at_once_one_is_sold_and_one_key_is_one_sale() {
    let counter = counter().await;
    let Counter { app, rina, .. } = &counter;
    let body = counter.sale(20_000);
    let answers = join_all((0..10).map(|_| app.ask(rina, "topup", &body))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 1);
    for answer in answers.iter().filter(|a| a.status != 200) {
        answer.expect(409, "top-up yang sama baru saja dibuat");
    }
    let body = counter.sale(30_000);
    let answers = join_all((0..100).map(|_| app.ask_with(rina, "satu", None, "topup", &body))).await;
    let first = answers[0].clone().ok();
    assert_eq!(first["saldo_akhir"], 50_000);
    assert!(answers.iter().all(|a| a.status == 200 && a.data == first));
    assert_eq!(app.drawer(&rina.till).await, 150_000);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn one_way_to_name_the_customer() {
    let counter = counter().await;
    let Counter { app, outlet, rina, siti } = &counter;
    let qr = nyala_identity::qr::customer::make(&app.state.keyring.get(), siti.id, app.now());
    let named = |fields: Value| {
        let mut body = json!({"idoutlet": outlet.idoutlet, "nominal": 1_000, "ulang": true});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    for good in [json!({"id_customer_global": siti.id.to_string()}), json!({"telp": TELP}), json!({"qr": qr})] {
        assert_eq!(app.ask(rina, "topup", &named(good)).await.ok()["nama"], "Siti R.");
    }
    for bad in [json!({}), json!({"telp": TELP, "qr": qr}), json!({"telp": TELP, "id_customer_global": siti.id})] {
        assert_eq!(app.ask(rina, "topup", &named(bad.clone())).await.status, 400, "{bad}");
    }
    app.ask(rina, "topup", &named(json!({"id_customer_global": 4711}))).await.expect(404, "pelanggan tidak ditemukan");
    let elsewhere = app.outlet("Mawar").await;
    let body = and(counter.sale(1_000), "idoutlet", json!(elsewhere.idoutlet));
    app.ask(rina, "topup", &body).await.expect(404, "outlet tidak ditemukan");
}

#[actix_web::test]
async fn a_looked_up_customer_shows_no_more_than_a_counter_needs() {
    let counter = counter().await;
    let Counter { app, outlet, rina, siti } = &counter;
    let search = async |body: Value| app.ask(rina, "pelanggan/cari", &body).await;
    let unknown = json!({
        "id_customer_global": siti.id, "nama": "Siti R.", "telp": "0812••••7890", "saldo": null, "terakhir": null, "rekening": null,
        "ditolak": []
    });
    assert_eq!(search(json!({"telp": "081234567890"})).await.ok(), unknown);
    let qr = nyala_identity::qr::customer::make(&app.state.keyring.get(), siti.id, app.now());
    assert_eq!(search(json!({"qr": qr})).await.ok(), unknown);
    for (before, after) in AROUND_A_CODE {
        assert_eq!(search(json!({"qr": format!("{before}{qr}{after}")})).await.ok(), unknown, "{before:?} {after:?}");
    }
    app.funded(siti, app.outlet("Mawar").await, 90_000).await;
    assert_eq!(search(json!({"qr": qr})).await.ok(), unknown, "what is elsewhere is not told");

    app.ask(rina, "topup", &counter.sale(20_000)).await.ok();
    let last =
        |nominal: i64, idpaket: Value, at: Timestamp| json!({"nominal": nominal, "idpaket": idpaket, "created_at": at.rfc3339()});
    let found = search(json!({"qr": qr})).await.ok();
    assert_eq!((&found["saldo"], &found["terakhir"]), (&json!(20_000), &last(20_000, Value::Null, app.now())));
    let hadi = counter.supervisor().await;
    let package = json!({"idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 50_000, "quota": 60_000});
    let id = app.ask(&hadi, "paket", &package).await.ok()["idpaket"].clone();
    let made = app.ask(rina, "topup", &and(counter.sale(50_000), "idpaket", id.clone())).await.ok();
    app.ask(&hadi, &format!("paket/{id}"), &json!({"harga": 55_000})).await.ok();
    assert_eq!(search(json!({"qr": qr})).await.ok()["terakhir"], last(55_000, id.clone(), app.now()), "its present price");
    app.ask(&hadi, &format!("paket/{id}"), &json!({"aktif": false})).await.ok();
    assert_eq!(search(json!({"qr": qr})).await.ok()["terakhir"], last(50_000, Value::Null, app.now()));
    let call = format!("topup/{}/batal", made["idpembelian_emoney"].as_str().unwrap());
    app.ask(&hadi, &call, &json!({"alasan": "salah"})).await.ok();
    assert_eq!(search(json!({"qr": qr})).await.ok()["terakhir"], last(20_000, Value::Null, app.now()), "what stands");

    search(json!({"telp": "81299999999"})).await.expect(404, "nomor belum terdaftar");
    for bad in [json!({}), json!({"telp": TELP, "qr": qr}), json!({"telp": "x"})] {
        assert_eq!(search(bad).await.status, 400);
    }
    assert_eq!(search(json!({"qr": "NYM1.x"})).await.status, 422);
    let key = app.key(Scope::Root).await;
    let program = app.ops(&key, "pelanggan/cari", &json!({"telp": TELP})).await;
    program.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
}

#[actix_web::test]
async fn a_till_is_no_telephone_directory() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let unknown = json!({"telp": "81299999999"});
    let sale = json!({"telp": "81299999999", "idoutlet": outlet.idoutlet, "nominal": 1_000});
    for _ in 0..30 {
        app.ask(rina, "pelanggan/cari", &unknown).await.expect(404, "nomor belum terdaftar");
        app.ask(rina, "topup", &sale).await.expect(404, "nomor belum terdaftar");
    }
    assert_eq!(app.ask(rina, "topup", &sale).await.retry_after_s(), 3_600);
    let hadi = counter.supervisor().await;
    assert_eq!(app.ask(&hadi, "pelanggan/cari", &unknown).await.retry_after_s(), 3_600, "the till's, not the person's");
    // A scan does not count as a guess, and another till has its own limit.
    app.ask(rina, "topup", &counter.sale(1_000)).await.ok();
    app.ask(&app.seller(*outlet).await, "pelanggan/cari", &unknown).await.expect(404, "nomor belum terdaftar");
}

#[actix_web::test]
async fn an_id_is_sold_to_where_it_was_found_within_the_hour_and_unknown_otherwise() {
    let counter = counter().await;
    let app = &counter.app;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let sell = async |by: &AtTill, id: i64| {
        let body = json!({"id_customer_global": id, "idoutlet": counter.outlet.idoutlet, "nominal": 10_000, "ulang": true});
        app.ask_as_is(by, &uuid::Uuid::new_v4().to_string(), None, "topup", &body).await
    };
    sell(&counter.rina, budi.id.get()).await.expect(404, "pelanggan tidak ditemukan");
    sell(&counter.rina, 4_711).await.expect(404, "pelanggan tidak ditemukan");
    app.ask(&counter.rina, "pelanggan/cari", &json!({ "telp": budi.telp })).await.ok();
    sell(&counter.rina, budi.id.get()).await.ok();
    let other = app.seller(counter.outlet).await;
    sell(&other, budi.id.get()).await.expect(404, "pelanggan tidak ditemukan");
    // The session stays open, since a request arrives within each half hour.
    for _ in 0..3 {
        app.advance_s(1_200);
        app.ask(&counter.rina, "pelanggan/cari", &json!({ "telp": TELP })).await.ok();
    }
    sell(&counter.rina, budi.id.get()).await.expect(404, "pelanggan tidak ditemukan");
}

#[actix_web::test]
async fn a_kasirs_key_sells_to_the_id_that_it_has_found_and_others_keys_to_any() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let by_id = json!({"id_customer_global": siti.id, "idoutlet": outlet.idoutlet, "nominal": 10_000});
    let by_number = json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 10_000});
    let kasir = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&kasir, "topup", &by_id).await.expect(404, "pelanggan tidak ditemukan");
    app.ops(&kasir, "topup", &by_number).await.ok();
    app.ops(&kasir, "topup", &by_id).await.ok();
    let other = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&other, "topup", &by_id).await.expect(404, "pelanggan tidak ditemukan");
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&supervisor, "topup", &by_id).await.ok();
    app.assert_no_violation().await;
}
