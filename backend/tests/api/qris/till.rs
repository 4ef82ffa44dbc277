//! Bills of a till.

use futures_util::future::{join, join_all};
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::{MINUTE_S, id_of};
use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::counter::{Counter, TELP, and, counter};

#[actix_web::test]
async fn a_bill_that_is_paid_is_a_top_up_in_the_tills_shift() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, siti, outlet, .. } = &counter;
    let made = app.ask(rina, "tagihan", &json!({"telp": TELP, "nominal": 50_000})).await.ok();
    let id = id_of(&made);
    let mut fields: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let expected = [
        "deeplink",
        "idoutlet",
        "idpembelian_emoney",
        "idtagihan",
        "kedaluwarsa_at",
        "nama_paket",
        "nominal",
        "outlet",
        "png",
        "qr",
        "quota",
        "saldo_akhir",
        "server_time",
        "status",
    ];
    assert_eq!(fields, expected);
    assert!(id.starts_with("NYL") && id.len() == 23, "{id}");
    assert_eq!((&made["status"], &made["nominal"], &made["quota"]), (&json!("menunggu"), &json!(50_000), &json!(50_000)));
    assert_eq!(
        (&made["nama_paket"], &made["outlet"], &made["idoutlet"]),
        (&json!("Top-Up"), &json!("Melati"), &json!(outlet.idoutlet))
    );
    assert_eq!(made["kedaluwarsa_at"], app.now().plus_ms(10 * MINUTE_S * 1000).rfc3339());
    assert_eq!(made["server_time"], app.now().ms());
    assert!(made["png"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG in base64");
    assert_eq!([&made["idpembelian_emoney"], &made["saldo_akhir"], &made["deeplink"]], [&Value::Null; 3]);
    assert_eq!(app.topups().await, 0, "nothing is credited yet");
    assert_eq!(counter.see(&id).await["status"], "menunggu");

    app.pay(&id).await;
    let paid = counter.see(&id).await;
    assert_eq!((&paid["status"], &paid["saldo_akhir"], &paid["png"]), (&json!("dibayar"), &json!(50_000), &Value::Null));
    let topup = paid["idpembelian_emoney"].as_str().expect("a decimal string");
    let detail = app.get(&format!("/scan/v1/epayment/get_epayment/{topup}"), Some(&siti.token)).await.ok();
    assert_eq!(detail["quota"], 50_000);
    assert_eq!(app.drawer(&rina.till).await, 100_000, "no cash came");
    let list = app.see(rina, "topup").await.ok();
    assert_eq!((&list["baris"][0]["cara_bayar"], &list["baris"][0]["petugas"]), (&json!("qris"), &Value::Null));
    let hadi = counter.supervisor().await;
    assert_eq!(app.see(&hadi, "shift").await.ok()["cara_bayar"]["qris"], 50_000);
    let audited = app.audited().await;
    let expected = [
        ("tagihan.buat", format!("operator:{}", rina.person), format!("tagihan:{id}")),
        ("topup", "qris:simulated".to_owned(), format!("pembelian_emoney:{topup}")),
    ];
    assert_eq!(audited, expected.map(|(action, by, object)| (action.to_owned(), by, object)));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_payment_that_is_reported_many_times_at_once_is_credited_once() {
    let counter = Counter::with_bills().await;
    let id = counter.bill(50_000).await;
    counter.app.at_provider(&id, &json!({"aksi": "bayar", "kali": 20})).await.ok();
    counter.app.advance_s(3);
    join_all((0..10).map(|_| counter.see(&id))).await;
    counter.app.at_provider(&id, &json!({"aksi": "bayar", "kali": 3})).await.ok();
    assert_eq!(counter.app.topups().await, 1);
    assert_eq!(counter.see(&id).await["saldo_akhir"], 50_000);
    counter.app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_till_asks_for_a_bill_once_and_its_repeat_finds_it() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, siti, .. } = &counter;
    let body = json!({"id_customer_global": siti.id, "nominal": 20_000});
    let first = app.ask_with(rina, "satu", None, "tagihan", &body).await.ok();
    let again = app.ask_with(rina, "satu", None, "tagihan", &body).await.ok();
    assert_eq!(id_of(&first), id_of(&again));
    app.ask_with(rina, "satu", None, "tagihan", &and(body.clone(), "nominal", json!(20_001)))
        .await
        .expect(422, "Idempotency-Key sudah dipakai untuk permintaan lain");
    let other = app.ask_with(rina, "dua", None, "tagihan", &body).await.ok();
    assert_ne!(id_of(&first), id_of(&other), "a bill is no sale: the same amount may come again");
    assert_eq!(app.insert("SELECT count(*) FROM tagihan", &[]).await, 2);
    assert_eq!(app.insert("SELECT count(*) FROM qris_simulasi", &[]).await, 2);
    app.pay(&id_of(&first)).await;
    let paid = app.ask_with(rina, "satu", None, "tagihan", &body).await.ok();
    assert_eq!(paid["status"], "dibayar", "a repeat tells how it is now");
    app.pay(&id_of(&other)).await;
    assert_eq!(counter.see(&id_of(&other)).await["saldo_akhir"], 40_000, "no rule about the same sale holds up a payment");
}

#[actix_web::test]
async fn each_refusal_says_what_is_wrong() {
    let counter = counter().await;
    let Counter { app, rina, siti, outlet } = &counter;
    let by_id = |nominal: i64| json!({"id_customer_global": siti.id, "nominal": nominal});
    let not_here = "QRIS tidak tersedia di outlet ini";
    for mode in ["manual", "off", "midtrans"] {
        app.takes_qris(*outlet, mode).await;
        app.ask(rina, "tagihan", &by_id(1_000)).await.expect(409, not_here);
    }
    app.takes_qris(*outlet, "simulated").await;
    let one = "isi salah satu: nominal atau idpaket";
    let range = "nominal harus 1 sampai 10000000 rupiah";
    for (body, message) in [
        (by_id(0), range),
        (by_id(10_000_001), range),
        (json!({"telp": TELP}), one),
        (json!({"telp": TELP, "nominal": 1, "idpaket": 1}), one),
        (json!({"nominal": 1}), "isi salah satu: telp, qr atau id_customer_global"),
        (json!({"telp": TELP, "id_customer_global": siti.id, "nominal": 1}), "isi salah satu: telp, qr atau id_customer_global"),
    ] {
        app.ask(rina, "tagihan", &body).await.expect(400, message);
    }
    app.ask(rina, "tagihan", &json!({"telp": TELP, "idpaket": 999})).await.expect(404, "paket tidak ditemukan");
    app.ask(rina, "tagihan", &json!({"telp": "81200000077", "nominal": 1_000})).await.expect(404, "nomor belum terdaftar");
    // An id that this till has not found says no more than an unknown one.
    app.ask_as_is(rina, "a", None, "tagihan", &by_id(1_000)).await.ok();
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let unfound = json!({"id_customer_global": budi.id, "nominal": 1_000});
    app.ask_as_is(rina, "b", None, "tagihan", &unfound).await.expect(404, "pelanggan tidak ditemukan");
    let key = app.key(Scope::Owner(outlet.idowner)).await;
    let refused = app.ops(&key, "tagihan", &by_id(1_000)).await;
    refused.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    let other = app.clerk(&app.till(outlet.idoutlet).await, "Dewi", Role::Kasir, WorksFor::Outlet(outlet.idoutlet)).await;
    app.ask(&other, "tagihan", &by_id(1_000)).await.expect(409, "shift belum dibuka");
    // Above a million a sale needs an approval. A bill needs none: the money is there.
    app.ask(rina, "tagihan", &by_id(1_999_000)).await.ok();
    // With what its customer may still pay, the account would have more than it may.
    app.ask(rina, "tagihan", &by_id(1)).await.expect(422, "saldo paling banyak Rp 2.000.000");
}

#[actix_web::test]
async fn a_package_gives_what_it_gave_when_the_bill_was_made() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, siti, outlet } = &counter;
    let package = app
        .insert(
            "INSERT INTO paket (idoutlet, nama, harga, quota, berlaku_hari, created_at) VALUES ($1, 'Hemat', 100000, 110000, 30, $2) RETURNING idpaket",
            &[&outlet.idoutlet, &app.now()],
        )
        .await;
    let made = app.ask(rina, "tagihan", &json!({"id_customer_global": siti.id, "idpaket": package})).await.ok();
    assert_eq!((&made["nominal"], &made["quota"], &made["nama_paket"]), (&json!(100_000), &json!(110_000), &json!("Hemat")));
    app.db.execute("UPDATE paket SET harga = 1, quota = 1, aktif = FALSE", &[]).await.unwrap();
    app.advance_s(5 * MINUTE_S);
    app.pay(&id_of(&made)).await;
    assert_eq!(counter.see(&id_of(&made)).await["saldo_akhir"], 110_000);
    let until = app.now().plus_ms(30 * 86_400_000);
    let kept = "SELECT count(*) FROM quota_emoney WHERE jenis_emoney = 1 AND masa_aktif = $1";
    assert_eq!(app.insert(kept, &[&until]).await, 1, "its days count from the payment on");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_shift_may_close_while_bills_wait() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, outlet, .. } = &counter;
    let (first, second) = (counter.bill(20_000).await, counter.bill(30_000).await);
    let closed = app.ask(rina, "shift/tutup", &json!({"dihitung": 100_000})).await.ok();
    app.pay(&first).await;
    assert_eq!(counter.see(&first).await["status"], "dibayar");
    let shift_of = "SELECT count(*) FROM pembelian_emoney WHERE idshift IS NOT DISTINCT FROM $1";
    assert_eq!(app.insert(shift_of, &[&None::<i64>]).await, 1, "paid in no shift");
    let next = app.open_shift(rina, *outlet).await;
    app.pay(&second).await;
    assert_eq!(app.insert(shift_of, &[&next]).await, 1, "paid in the next one");
    assert_eq!(closed["cara_bayar"]["qris"], 0);
    app.assert_no_violation().await;
}

/// It is in the shift that was counted, or in none.
#[actix_web::test]
async fn a_payment_that_meets_the_count_is_reported_where_it_is() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, outlet, .. } = &counter;
    for n in 1..=6 {
        let id = counter.bill(10_000).await;
        let counted = json!({"dihitung": 100_000});
        let (closed, ()) = join(app.ask(rina, "shift/tutup", &counted), app.pay(&id)).await;
        let closed = closed.ok();
        assert_eq!((&closed["diharapkan"], &closed["selisih"]), (&json!(100_000), &json!(0)));
        let of_shift =
            "SELECT COALESCE(SUM(harga_paket), 0)::BIGINT FROM pembelian_emoney WHERE idshift = (SELECT max(id) FROM shift)";
        assert_eq!(closed["cara_bayar"]["qris"], app.insert(of_shift, &[]).await, "round {n}");
        assert_eq!((app.bill(&id, "status").await.as_deref(), app.topups().await), (Some("dibayar"), n));
        app.open_shift(rina, *outlet).await;
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_bill_that_is_paid_late_is_credited_too() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let [expired, cancelled, late] = [counter.bill(10_000).await, counter.bill(20_000).await, counter.bill(40_000).await];
    app.at_provider(&expired, &json!({"aksi": "kedaluwarsa"})).await.ok();
    assert_eq!(counter.see(&expired).await["status"], "kedaluwarsa");
    let gone = app.ask(&counter.rina, &format!("tagihan/{cancelled}/batal"), &json!({})).await.ok();
    assert_eq!(gone["status"], "batal");
    let again = app.ask(&counter.rina, &format!("tagihan/{cancelled}/batal"), &json!({})).await.ok();
    assert_eq!(again["status"], "batal", "it has ended already");
    assert_eq!(app.topups().await, 0);
    for id in [&expired, &cancelled] {
        app.pay(id).await;
        assert_eq!(counter.see(id).await["status"], "dibayar", "{id}");
    }
    app.at_provider(&late, &json!({"aksi": "terlambat", "kali": 3})).await.ok();
    assert_eq!(counter.see(&late).await["saldo_akhir"], 70_000);
    let refused = app.ask(&counter.rina, &format!("tagihan/{late}/batal"), &json!({})).await;
    refused.expect(409, "tagihan sudah dibayar");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_payment_that_nobody_reports_is_found_by_asking() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let (watched, left) = (counter.bill(10_000).await, counter.bill(20_000).await);
    let silent = json!({"aksi": "bayar", "diam": true});
    app.at_provider(&watched, &silent).await.ok();
    assert_eq!(counter.see(&watched).await["status"], "menunggu", "it was made a moment ago");
    app.advance_s(3);
    assert_eq!(counter.see(&watched).await["status"], "dibayar");
    // The other one is not viewed, and is paid after its expiry.
    app.advance_s(15 * MINUTE_S);
    app.until_bill(&left, "kedaluwarsa").await;
    app.at_provider(&left, &silent).await.ok();
    app.advance_s(MINUTE_S);
    app.until_bill(&left, "dibayar").await;
    assert_eq!(app.bill(&left, "tanya_at").await, None, "and it is not asked about any more");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_quarter_of_an_hour_after_its_expiry_a_bill_is_left_alone() {
    let counter = Counter::with_bills().await;
    let id = counter.bill(10_000).await;
    counter.app.advance_s(25 * MINUTE_S);
    counter.app.until_bill(&id, "kedaluwarsa").await;
    counter.app.until_left_alone(&id).await;
}

#[actix_web::test]
async fn a_kasir_sees_the_bills_of_the_till_and_a_supervisor_those_of_the_outlet() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, siti, outlet } = &counter;
    let mut ids = Vec::new();
    for nominal in [10_000, 20_000, 30_000] {
        ids.push(counter.bill(nominal).await);
        app.advance_s(1);
    }
    let other = app.seller(*outlet).await;
    let theirs = id_of(&app.ask(&other, "tagihan", &json!({"id_customer_global": siti.id, "nominal": 5_000})).await.ok());
    app.advance_s(1);
    app.pay(&ids[1]).await;
    let listed = |answer: &Value| -> Vec<String> { answer["baris"].as_array().unwrap().iter().map(id_of).collect() };
    let own = app.see(rina, "tagihan").await.ok();
    assert_eq!((listed(&own), &own["lanjut"]), (vec![ids[2].clone(), ids[1].clone(), ids[0].clone()], &Value::Null));
    app.see(rina, &format!("tagihan/{theirs}")).await.expect(404, "tagihan tidak ditemukan");
    app.ask(rina, &format!("tagihan/{theirs}/batal"), &json!({})).await.expect(404, "tagihan tidak ditemukan");
    let hadi = counter.supervisor().await;
    assert_eq!(listed(&app.see(&hadi, "tagihan").await.ok()).len(), 4);
    assert_eq!(app.see(&hadi, &format!("tagihan/{theirs}")).await.ok()["nominal"], 5_000);
    assert_eq!(listed(&app.see(rina, "tagihan?status=dibayar").await.ok()), [ids[1].clone()]);
    let first = app.see(rina, "tagihan?limit=2").await.ok();
    assert_eq!((listed(&first), &first["lanjut"]), (vec![ids[2].clone(), ids[1].clone()], &json!(ids[1])));
    let next = app.see(rina, &format!("tagihan?limit=2&sebelum={}", ids[1])).await.ok();
    assert_eq!((listed(&next), &next["lanjut"]), (vec![ids[0].clone()], &Value::Null));
    for (query, message) in [
        ("limit=0", "limit harus 1 sampai 100"),
        ("sebelum=7", "sebelum harus idtagihan"),
        ("status=lunas", "status harus salah satu dari: dibuat, menunggu, dibayar, kedaluwarsa, batal, tertahan"),
    ] {
        app.see(rina, &format!("tagihan?{query}")).await.expect(400, message);
    }
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    app.get("/ops/v1/tagihan", Some(&owner)).await.ok();
    app.outlet_of(outlet.idowner, "Mawar").await;
    app.get("/ops/v1/tagihan", Some(&owner)).await.expect(422, "idoutlet wajib diisi");
}

#[actix_web::test]
async fn by_hand_a_sale_by_qris_needs_the_end_of_its_reference() {
    let counter = counter().await;
    let Counter { app, rina, outlet, .. } = &counter;
    let sale = |reference: Value| and(and(counter.sale(10_000), "cara_bayar", json!("qris")), "ref_bayar", reference);
    for bad in [Value::Null, json!(""), json!("abcd"), json!("ABC"), json!("ABCDE"), json!("AB D")] {
        app.ask(rina, "topup", &sale(bad)).await.expect(422, "empat huruf terakhir nomor referensi wajib diisi");
    }
    app.ask(rina, "topup", &sale(json!("4Z9Q"))).await.ok();
    assert_eq!(app.insert("SELECT count(*) FROM pembelian_emoney WHERE ref_bayar = '4Z9Q'", &[]).await, 1);
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&key, "topup", &and(counter.by_number(10_001), "cara_bayar", json!("qris"))).await.ok();
    app.takes_qris(*outlet, "off").await;
    app.ask(rina, "topup", &sale(json!("4Z9Q"))).await.expect(409, "QRIS tidak dipakai di outlet ini");
    app.takes_qris(*outlet, "simulated").await;
    app.ask(rina, "topup", &sale(json!("4Z9Q"))).await.expect(409, "QRIS di outlet ini lewat tagihan");
    app.ask(rina, "topup", &and(counter.sale(10_002), "cara_bayar", json!("transfer"))).await.ok();
}

#[actix_web::test]
async fn the_phone_gets_a_push_when_the_balance_is_there() {
    let service = PushService::start();
    let app = service.setup().start().await;
    let outlet = app.outlet("Melati").await;
    app.takes_qris(outlet, "simulated").await;
    let rina = app.seller(outlet).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let phone = service.browser("phone");
    app.subscribe(&siti, &phone).await.ok();
    let bill = app.ask(&rina, "tagihan", &json!({"id_customer_global": siti.id, "nominal": 50_000})).await.ok();
    app.at_provider(&id_of(&bill), &json!({"aksi": "bayar", "kali": 5})).await.ok();
    let message = phone.open(&service.until(1).await);
    let [title, text, page] = ["judul", "isi", "tuju"].map(|key| message[key].clone());
    assert_eq!([title, text, page], [json!("Pembayaran QRIS diterima"), json!("Lihat Riwayat"), json!("/riwayatPage")]);
    app.all_pushed().await;
    assert_eq!(service.given().len(), 1, "once");
}
