//! `POST mesin/{id}/uji`: a machine is started for a moment by staff. It costs nothing, and counts nowhere.

use futures_util::future::join;
use nyala_core::domain::id::MachineId;
use nyala_core::figures::calendar::Day;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use super::figures::file;
use crate::devices::Device;
use crate::ops::operator::Scope;
use crate::support::helpers::{Answer, TestApp};
use crate::support::shop::buy;

impl TestApp {
    pub async fn test_start(&self, key: &str, id: MachineId, seconds: i64) -> Answer {
        self.ops(key, &format!("mesin/{id}/uji"), &json!({"durasi": seconds})).await
    }
}

/// What the house account of the only outlet has moved, by kind.
async fn moved(app: &TestApp) -> Vec<(String, i64)> {
    let sql = "SELECT kind, jumlah FROM ledger_transfer l JOIN customer_global c ON c.id = l.id_customer_global WHERE c.internal ORDER BY l.id";
    app.db.query(sql, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[actix_web::test]
async fn a_test_start_runs_and_ends_without_money_and_is_in_no_list() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let started = app.test_start(&key, shop.idmesin, 60).await.ok();
    let receipt = started["idtransaksi"].as_str().unwrap().to_owned();
    assert!(receipt.starts_with("SLF") && receipt.len() == 18, "{receipt}");
    let left_ms = started["ends_at"].as_i64().unwrap() - app.now().ms();
    assert!((55_000..=60_000).contains(&left_ms), "{left_ms}");
    let tile = app.ops_see(&key, "mesin").await.ok()["mesin"][0].clone();
    assert_eq!((&tile["keadaan"], &tile["layanan"], &tile["idtransaksi"]), (&json!("jalan"), &json!("Uji"), &json!(receipt)));
    app.buy(&siti, &buy(1, shop, epay)).await.expect(409, "mesin sedang digunakan");
    app.test_start(&key, shop.idmesin, 60).await.expect(409, "mesin sedang digunakan");
    assert_eq!(app.audit_of("mesin.uji").await, [json!({"durasi": 60, "idtransaksi": receipt})], "what was refused is no start");
    app.advance_s(60);
    app.until(&receipt, "FINISHED").await;
    app.buy(&siti, &buy(2, shop, epay)).await.ok();

    assert_eq!(moved(&app).await, [("pending".to_owned(), 0), ("post".to_owned(), 0)]);
    let used = app.ops_see(&key, "pemakaian").await.ok();
    assert_eq!(used["baris"].as_array().unwrap().len(), 1, "the customer's only: {used}");
    let detail = app.ops_see(&key, &format!("mesin/{}/rincian", shop.idmesin)).await.ok();
    assert_eq!(detail["siklus"]["hari_ini"], 1);
    let told: Vec<&str> = detail["riwayat"].as_array().unwrap().iter().map(|event| event["teks"].as_str().unwrap()).collect();
    assert!(told.contains(&"Tes nyala mulai") && told.contains(&"Tes nyala selesai"), "{told:?}");
    let seen = |list: Value| list.to_string().contains("Uji");
    assert!(!seen(app.ops_see(&key, "layanan").await.ok()), "a service that nobody buys");
    let qr: String = app.insert_id("SELECT kode FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await;
    let scanned = json!({"qr": qr, "limit": 100, "skip": 0});
    assert!(!seen(app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &scanned).await.ok()));
    let body = json!({"idtransaksi": receipt, "alasan": "uji"});
    app.ops(&key, "hapus", &body).await.expect(404, "transaksi tidak ditemukan");
    let internal: i64 = app.insert("SELECT id FROM customer_global WHERE internal", &[]).await;
    for call in ["", "/riwayat"] {
        app.ops_see(&key, &format!("pelanggan/{internal}{call}")).await.expect(404, "pelanggan tidak ditemukan");
    }
    let sale = json!({"id_customer_global": internal, "idoutlet": shop.outlet.idoutlet, "nominal": 1_000});
    app.ops(&key, "topup", &sale).await.expect(404, "pelanggan tidak ditemukan");
    let service: i64 = app.insert("SELECT idlayanan FROM layanan WHERE internal", &[]).await;
    app.ops(&key, &format!("layanan/{service}"), &json!({"aktif": true})).await.expect(404, "layanan tidak ditemukan");
    // A customer cannot buy it, either.
    let mut order = buy(3, shop, epay);
    (order.body["idsnap_layanan"], order.body["total"], order.body["grandtotal"]) = (json!(service), json!(0), json!(0));
    app.buy(&siti, &order).await.expect(404, "layanan tidak ditemukan");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_repeat_of_the_key_is_the_same_test_start() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let path = format!("mesin/{}/uji", shop.idmesin);
    let body = json!({"durasi": 5});
    let (first, second) = join(app.ops_once(&key, "satu", &path, &body), app.ops_once(&key, "satu", &path, &body)).await;
    let first = first.ok();
    assert_eq!(second.ok(), first);
    app.advance_s(5);
    app.until(first["idtransaksi"].as_str().unwrap(), "FINISHED").await;
    assert_eq!(app.ops_once(&key, "satu", &path, &body).await.ok()["idtransaksi"], first["idtransaksi"]);
    assert_eq!(app.insert("SELECT count(*) FROM snap_transaksi", &[]).await, 1);
    let other = app.ops_once(&key, "satu", &path, &json!({"durasi": 6})).await;
    other.expect(422, "Idempotency-Key sudah dipakai untuk permintaan lain");
    let none = app.post(&format!("/ops/v1/{path}"), Some(&key), &body).await;
    assert_eq!(none.status, 400, "{}", none.message);
    for bad in [json!({"durasi": 0}), json!({"durasi": 121})] {
        let answer = app.ops(&key, &path, &bad).await;
        assert_eq!(answer.status, 400, "{bad}: {}", answer.message);
    }
    for bad in [json!({}), json!({"durasi": 5, "pulsa": 1})] {
        app.ops(&key, &path, &bad).await.expect(422, "isi salah satu: durasi atau pulsa");
    }
    assert_eq!(app.test_start(&key, shop.idmesin, 120).await.status, 200);
}

#[actix_web::test]
async fn what_is_closed_is_tested_and_what_is_away_or_waits_for_staff_is_not() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}/tutup", shop.idmesin), &json!({"alasan": "bocor"})).await.ok();
    app.ops(&key, &format!("outlet/{}/tutup", shop.outlet.idoutlet), &json!({"alasan": "banjir"})).await.ok();
    let tile = app.ops_see(&key, "mesin").await.ok()["mesin"][0].clone();
    assert_eq!((&tile["keadaan"], &tile["aksi"]), (&json!("ditutup"), &json!(["tanya", "buka", "uji"])));
    let receipt = app.test_start(&key, shop.idmesin, 5).await.ok()["idtransaksi"].as_str().unwrap().to_owned();
    app.advance_s(5);
    app.until(&receipt, "FINISHED").await;
    for (change, status, message) in [
        ("online = FALSE", 409, "mesin sedang offline"),
        ("online = TRUE, perlu_petugas = TRUE", 409, "mesin perlu petugas"),
        ("perlu_petugas = FALSE, aktif = FALSE", 404, "Mesin Not found"),
    ] {
        app.db.execute(&format!("UPDATE mesin SET {change} WHERE idmesin = $1"), &[&shop.idmesin]).await.unwrap();
        app.test_start(&key, shop.idmesin, 5).await.expect(status, message);
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_that_refuses_or_says_nothing_is_answered_as_for_a_purchase_and_needs_no_attention() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.fault(shop, Mode::Refuse).await;
    for _ in 0..2 {
        app.test_start(&key, shop.idmesin, 5).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    }
    assert_eq!(app.ops_see(&key, "perhatian").await.ok(), json!([]), "two refusals of customers would be an entry");
    app.fault(shop, Mode::Silent).await;
    let silent = "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala";
    app.test_start(&key, shop.idmesin, 5).await.expect(504, silent);
    let receipt: String = app.insert_id("SELECT no_nota FROM snap_transaksi ORDER BY id DESC LIMIT 1", &[]).await;
    app.advance_s(11);
    app.until(&receipt, "UNSURE").await;
    assert_eq!(app.ops_see(&key, "mesin").await.ok()["mesin"][0]["keadaan"], "belum_pasti");
    assert_eq!(app.ops_see(&key, "perhatian").await.ok(), json!([]));
    app.fault(shop, Mode::Ok).await;
    app.advance_s(5);
    app.until(&receipt, "EXPIRED").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_over_mqtt_is_tested_in_the_same_way() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let given = app.given(outlet, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let starts = async {
        let start = device.order().await;
        assert_eq!(start["durasi_s"], 7);
        device.starts(&start).await;
    };
    let (tested, ()) = join(app.test_start(&key, given.idmesin, 7), starts).await;
    let receipt = tested.ok()["idtransaksi"].as_str().unwrap().to_owned();
    // A second later the run is looked for, whatever its device says.
    app.advance_s(8);
    device.ends("done").await;
    app.until(&receipt, "FINISHED").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn coin_pulses_are_tested_on_a_closed_machine_and_run_nothing() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet.idoutlet;
    let (key, technician) = (app.key(Scope::Supervisor(outlet)).await, app.key(Scope::Technician(outlet)).await);
    let path = format!("mesin/{}", shop.idmesin);
    let test = async |body: Value| app.ops(&technician, &format!("{path}/uji"), &body).await;
    test(json!({"pulsa": 1})).await.expect(409, "mesin relai dites dengan durasi");
    app.ops(&key, &path, &json!({"cara": "pulsa", "lebar_ms": 30, "jeda_ms": 30})).await.ok();
    test(json!({"durasi": 5})).await.expect(409, "mesin pulsa dites dengan pulsa");
    test(json!({"pulsa": 1})).await.expect(409, "mesin harus ditutup dulu");
    let aksi = async || app.ops_see(&key, "mesin").await.ok()["mesin"][0]["aksi"].clone();
    assert_eq!(aksi().await, json!(["tanya", "tutup"]));
    app.ops(&technician, &format!("{path}/tutup"), &json!({"alasan": "koin macet"})).await.ok();
    assert_eq!(aksi().await, json!(["tanya", "buka", "uji"]));
    for bad in [0, 6, -1] {
        test(json!({"pulsa": bad})).await.expect(400, "pulsa harus 1 sampai 5");
    }
    test(json!({})).await.expect(422, "isi salah satu: durasi atau pulsa");

    let started = app.ops_once(&technician, "satu", &format!("{path}/uji"), &json!({"pulsa": 3})).await.ok();
    let receipt = started["idtransaksi"].clone();
    assert_eq!(app.states(receipt.as_str().unwrap()).await, ["FINISHED"], "it is over with its answer");
    assert_eq!(app.ops_see(&key, "mesin").await.ok()["mesin"][0]["keadaan"], "ditutup");
    assert_eq!(app.audit_of("mesin.uji").await, [json!({"pulsa": 3, "idtransaksi": receipt})]);
    assert_eq!(moved(&app).await, [("pending".to_owned(), 0), ("post".to_owned(), 0)]);
    let detail = app.ops_see(&key, &format!("{path}/rincian")).await.ok();
    assert_eq!((&detail["siklus"]["hari_ini"], &detail["siklus"]["sejak_servis"]), (&json!(0), &json!(0)));
    let told: Vec<&str> = detail["riwayat"].as_array().unwrap().iter().map(|event| event["teks"].as_str().unwrap()).collect();
    assert!(told.contains(&"Tes 3 pulsa mulai") && told.contains(&"Tes 3 pulsa selesai"), "{told:?}");

    // All staff together have ten test pulses a business day. A repeat with the same key is the same test.
    app.ops(&key, &format!("{path}/uji"), &json!({"pulsa": 5})).await.ok();
    test(json!({"pulsa": 3})).await.expect(409, "paling banyak 10 pulsa tes sehari");
    let again = app.ops_once(&technician, "satu", &format!("{path}/uji"), &json!({"pulsa": 3})).await.ok();
    assert_eq!(again["idtransaksi"], receipt);
    test(json!({"pulsa": 2})).await.ok();
    test(json!({"pulsa": 1})).await.expect(409, "paling banyak 10 pulsa tes sehari");
    app.advance_s(24 * 3_600);
    test(json!({"pulsa": 5})).await.ok();

    let report = app.ops_see(&key, "laporan/mesin").await.ok();
    let (row, today) = (&report["baris"][0], Day::parse(report["dari"].as_str().unwrap()).unwrap());
    assert_eq!((&row["tes_pulsa"], &row["siklus"]), (&json!(5), &json!(0)));
    let (_, _, text) = file(&app, &key, &format!("laporan/mesin?dari={}", today.plus(-1))).await;
    let (head, rows) = text.split_once("\r\n").unwrap();
    assert!(head.ends_with(";menit_mati;tes_pulsa") && rows.ends_with(";15\r\n"), "{text}");
    app.assert_no_violation().await;
}
