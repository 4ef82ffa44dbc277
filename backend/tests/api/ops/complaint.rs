//! Complaints of customers about purchases, and how staff answer them (docs/money.md).

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::arrange::{Bought, Epay, Outlet, receipt};
use crate::support::helpers::{Answer, Customer, TestApp};

struct Complaints {
    app: TestApp,
    outlet: Outlet,
    siti: Customer,
    epay: Epay,
    /// A supervisor's.
    key: String,
}

impl Complaints {
    async fn open() -> Self {
        Self::at(TestApp::spawn().await).await
    }

    async fn at(app: TestApp) -> Self {
        let outlet = app.outlet("Melati").await;
        let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
        let epay = app.funded(&siti, outlet, 200_000).await;
        let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
        Self { app, outlet, siti, epay, key }
    }

    /// The `n`th purchase, over.
    async fn used(&self, n: u32) -> Bought {
        let machine = self.app.machine(self.outlet, &format!("Cuci {n}")).await;
        self.app.used(self.epay, &machine, &receipt(n)).await
    }

    async fn complain(&self, n: u32) -> Answer {
        complain(&self.app, &self.siti, &json!({"id": receipt(n), "alasan": "hasil"})).await
    }

    /// A new complaint about the `n`th purchase.
    async fn complained(&self, n: u32) -> i64 {
        self.complain(n).await.ok()["idkeluhan"].as_i64().unwrap()
    }

    /// What the customer sees of it.
    async fn detail(&self, n: u32) -> Value {
        let path = format!("/scan/v1/transaksi/get_detail_snap_transaksi/{}", receipt(n));
        self.app.get(&path, Some(&self.siti.token)).await.ok()["keluhan"].clone()
    }

    async fn refund(&self, n: u32, nominal: i64, complaint: i64) -> Answer {
        let body = json!({"idtransaksi": receipt(n), "nominal": nominal, "alasan": "mesin bocor", "idkeluhan": complaint});
        self.app.ops(&self.key, "refund", &body).await
    }

    async fn reject(&self, complaint: i64) -> Answer {
        self.app.ops(&self.key, &format!("keluhan/{complaint}/tolak"), &json!({"kalimat": "Mesin berjalan sampai selesai"})).await
    }
}

async fn complain(app: &TestApp, who: &Customer, body: &Value) -> Answer {
    app.post("/scan/v1/transaksi/masalah", Some(&who.token), body).await
}

#[actix_web::test]
async fn a_customer_complains_once_about_a_purchase_that_started_until_a_day_after_its_end() {
    let c = Complaints::open().await;
    let (app, siti) = (&c.app, &c.siti);
    let machine = app.machine(c.outlet, "Cuci 1").await;
    let held = app.hold(c.epay, &machine, &receipt(1)).await;
    let gone = "Transaksi ini gagal dibuat";
    c.complain(1).await.expect(404, gone);
    app.started(&held).await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    complain(app, &budi, &json!({"id": receipt(1), "alasan": "hasil"})).await.expect(404, gone);
    complain(app, siti, &json!({"id": receipt(9), "alasan": "hasil"})).await.expect(404, gone);
    let asked = json!({"id": receipt(1), "alasan": "tidak_jalan", "catatan": " Lampu menyala, air tidak masuk "});
    let complaint = complain(app, siti, &asked).await.ok()["idkeluhan"].as_i64().unwrap();
    let seen = json!({
        "status": "terbuka", "alasan": "tidak_jalan", "catatan": "Lampu menyala, air tidak masuk", "nominal": null, "jawaban": null,
        "dijawab_at": null,
    });
    assert_eq!(c.detail(1).await, seen, "of a running one");
    complain(app, siti, &asked).await.expect(409, "masalah ini sudah dilaporkan");
    c.reject(complaint).await.ok();
    complain(app, siti, &asked).await.expect(409, "masalah ini sudah dilaporkan");

    c.used(2).await;
    c.used(3).await;
    app.advance_s(24 * 3_600);
    c.complain(2).await.ok();
    app.advance_s(1);
    c.complain(3).await.expect(422, "sudah lewat 24 jam");
    let (refunded, deleted) = (c.used(4).await, c.used(5).await);
    app.refund(&refunded, 10_000).await;
    app.delete(&deleted, 10_000).await;
    for n in [4, 5] {
        c.complain(n).await.expect(422, "uang transaksi ini sudah kembali");
        assert_eq!(c.detail(n).await, Value::Null);
    }
    for (field, bad) in
        [("alasan", json!("rusak")), ("alasan", json!(1)), ("catatan", json!("x".repeat(201))), ("catatan", json!("a\nb"))]
    {
        let mut body = json!({"id": receipt(4), "alasan": "lain"});
        body[field] = bad;
        assert_eq!(complain(app, siti, &body).await.status, 400, "{body}");
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn three_complaints_a_day_and_the_fourth_waits() {
    let c = Complaints::open().await;
    for n in 1..=5 {
        c.used(n).await;
    }
    for n in 1..=3 {
        c.app.advance_s(60);
        c.complained(n).await;
    }
    let wait_s = c.complain(4).await.retry_after_s();
    assert_eq!(wait_s, 24 * 3_600 - 120, "until the first one is a day old");
    let budi = c.app.register_customer("81200000002", "Budi", "Santoso").await;
    let epay = c.app.funded(&budi, c.outlet, 50_000).await;
    c.app.used(epay, &c.app.machine(c.outlet, "Cuci 9").await, &receipt(9)).await;
    complain(&c.app, &budi, &json!({"id": receipt(9), "alasan": "lain"})).await.ok();
    // At once they are no more than one after another.
    c.app.advance_s(wait_s);
    let more = c.app.machine(c.outlet, "Cuci 6").await;
    for n in 6..=9 {
        c.app.used(c.epay, &more, &receipt(n + 10)).await;
    }
    let at_once = futures_util::future::join_all((16..=19).map(|n| c.complain(n))).await;
    assert_eq!(at_once.iter().filter(|answer| answer.status == 200).count(), 1, "two count still");
}

#[actix_web::test]
async fn a_refund_or_a_deletion_answers_a_complaint_and_a_rejection_gives_a_sentence() {
    let service = PushService::start();
    let c = Complaints::at(service.setup().start().await).await;
    let app = &c.app;
    let phone = service.browser("phone");
    app.subscribe(&c.siti, &phone).await.ok();
    for n in 1..=4 {
        c.used(n).await;
    }
    let (first, second, third) = (c.complained(1).await, c.complained(2).await, c.complained(3).await);
    c.refund(2, 1_000, first).await.expect(422, "laporan ini milik transaksi lain");
    c.refund(4, 1_000, 999).await.expect(404, "laporan tidak ditemukan");
    assert_eq!(c.refund(1, 4_000, first).await.ok()["jumlah"], 4_000);
    c.refund(1, 1_000, first).await.expect(409, "laporan sudah dijawab");
    c.reject(first).await.expect(409, "laporan sudah dijawab");
    let answered = json!(app.now());
    let accepted = json!({
        "status": "diterima", "alasan": "hasil", "catatan": null, "nominal": 4_000, "jawaban": null, "dijawab_at": answered,
    });
    assert_eq!(c.detail(1).await, accepted);

    app.ops(&c.key, "refund", &json!({"idtransaksi": receipt(2), "nominal": 500, "alasan": "uji"})).await.ok();
    assert_eq!(c.detail(2).await["status"], "terbuka", "a refund that does not name it answers nothing");
    app.ops(&c.key, "hapus", &json!({"idtransaksi": receipt(2), "alasan": "uji"})).await.ok();
    assert_eq!((&c.detail(2).await["status"], &c.detail(2).await["nominal"]), (&json!("diterima"), &json!(9_500)));
    c.refund(2, 1, second).await.expect(409, "laporan sudah dijawab");

    assert_eq!(c.reject(third).await.ok(), Value::Null);
    let rejected = c.detail(3).await;
    assert_eq!((&rejected["status"], &rejected["nominal"]), (&json!("ditolak"), &Value::Null));
    assert_eq!((&rejected["jawaban"], &rejected["dijawab_at"]), (&json!("Mesin berjalan sampai selesai"), &answered));
    c.reject(999).await.expect(404, "laporan tidak ditemukan");
    let without = app.ops(&c.key, &format!("keluhan/{third}/tolak"), &json!({"kalimat": " "})).await;
    assert_eq!(without.status, 400);

    app.all_pushed().await;
    let pushed: Vec<_> = service.given().iter().map(|given| phone.open(given)).collect();
    assert_eq!(pushed.len(), 3, "one for each answer");
    assert_eq!((&pushed[0]["judul"], &pushed[0]["tuju"]), (&json!("Laporan Anda dijawab"), &json!("/riwayatPage")));
    let audited = app.audit_of("refund").await;
    assert!(audited.iter().any(|content| content["idkeluhan"] == first), "{audited:?}");
    assert_eq!(app.audit_of("keluhan.tolak").await.len(), 1);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_list_has_each_complaint_with_its_evidence() {
    let c = Complaints::open().await;
    let (app, key) = (&c.app, &c.key);
    let other = app.used(c.epay, &app.machine(c.outlet, "Cuci 9").await, &receipt(9)).await;
    app.refund(&other, 1_000).await;
    for n in 1..=3 {
        c.used(n).await;
    }
    let (first, second) = (c.complained(1).await, c.complained(2).await);
    c.refund(1, 2_500, first).await.ok();
    let list = app.ops_see(key, "keluhan").await.ok();
    let ids: Vec<_> = list["baris"].as_array().unwrap().iter().map(|row| row["idkeluhan"].as_i64().unwrap()).collect();
    assert_eq!((ids, &list["lanjut"]), (vec![second, first], &Value::Null));
    let mut row = list["baris"][1].clone();
    let steps = row["bukti"]["riwayat"].take();
    let steps: Vec<_> = steps.as_array().unwrap().iter().map(|step| step["apa"].as_str().unwrap()).collect();
    assert_eq!(steps, ["selesai", "mulai", "dikirim", "dibayar"]);
    let expected = json!({
        "idkeluhan": first, "idtransaksi": receipt(1), "idcustomer": c.epay.idcustomer, "created_at": app.now(), "alasan": "hasil",
        "catatan": null, "mesin": "Cuci 1", "grandtotal": 10_000, "dikembalikan": 2_500,
        "bukti": {"riwayat": null, "perangkat": null, "bulan_ini": {"pelanggan": 2, "mesin": 1}},
    });
    assert_eq!(row, expected);
    let one = app.ops_see(key, "keluhan?status=terbuka").await.ok();
    assert_eq!((one["baris"].as_array().unwrap().len(), &one["baris"][0]["idkeluhan"]), (1, &json!(second)));
    let page = app.ops_see(key, "keluhan?limit=1").await.ok();
    let next = app.ops_see(key, &format!("keluhan?limit=1&sebelum={}", page["lanjut"])).await.ok();
    assert_eq!((&next["baris"][0]["idkeluhan"], &next["lanjut"]), (&json!(first), &Value::Null));
    assert_eq!(app.ops_see(key, "keluhan?status=baru").await.status, 400);

    let elsewhere = app.outlet("Mawar").await;
    let foreign = app.key(Scope::Supervisor(elsewhere.idoutlet)).await;
    assert_eq!(app.ops_see(&foreign, "keluhan").await.ok()["baris"], json!([]));
    let named = format!("keluhan?idoutlet={}", c.outlet.idoutlet);
    app.ops_see(&foreign, &named).await.expect(404, "outlet tidak ditemukan");
    app.ops(&foreign, &format!("keluhan/{second}/tolak"), &json!({"kalimat": "Tidak"}))
        .await
        .expect(404, "laporan tidak ditemukan");
    let owner = app.key(Scope::Owner(c.outlet.idowner)).await;
    assert_eq!(app.ops_see(&owner, &named).await.ok()["baris"].as_array().unwrap().len(), 2);
}

#[actix_web::test]
async fn the_device_of_a_complaint_is_evidence_too() {
    let c = Complaints::open().await;
    let used = c.used(1).await;
    c.app
        .db
        .execute(
            "UPDATE mesin SET driver = 'mqtt' WHERE idmesin = (SELECT idmesin FROM snap_transaksi WHERE id = $1)",
            &[&used.id],
        )
        .await
        .unwrap();
    c.complained(1).await;
    let list = c.app.ops_see(&c.key, "keluhan").await.ok();
    let device = &list["baris"][0]["bukti"]["perangkat"];
    assert_eq!((&device["driver"], device["sinyal"].as_array().unwrap().len()), (&json!("mqtt"), 24));
}

#[actix_web::test]
async fn a_complaint_needs_a_person_and_is_urgent_after_two_hours() {
    let c = Complaints::open().await;
    let app = &c.app;
    c.used(1).await;
    let complaint = c.complained(1).await;
    let since = json!(app.now());
    let entries = async || app.board(&c.key, c.outlet).await["perhatian"].clone();
    let seen = entries().await;
    let expected = json!({
        "jenis": "keluhan", "tingkat": "kuning", "idoutlet": c.outlet.idoutlet, "outlet": "Melati", "idmesin": seen[0]["idmesin"], "idshift": null,
        "idkeluhan": complaint, "nama": "Cuci 1", "sejak": since, "idtransaksi": receipt(1), "jumlah": null, "kembali_at": null, "ditangani": null,
    });
    assert_eq!(seen, json!([expected]));
    app.advance_s(2 * 3_600);
    assert_eq!(entries().await[0]["tingkat"], "merah");
    let person = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(c.outlet.idoutlet), "246810").await;
    let hadi = app.at(&app.till(c.outlet.idoutlet).await, person).await;
    let which = json!({"jenis": "keluhan", "idmesin": seen[0]["idmesin"], "sejak": since});
    assert_eq!(app.ask(&hadi, "perhatian/tangani", &which).await.ok()["nama"], "Hadi");
    assert_eq!(entries().await[0]["ditangani"]["nama"], "Hadi");
    c.reject(complaint).await.ok();
    assert_eq!(entries().await, json!([]));
}

#[actix_web::test]
async fn nobody_complains_while_an_older_server_is_alive() {
    let c = Complaints::open().await;
    c.used(1).await;
    c.app.older_server_is_alive(true).await;
    c.complain(1).await.expect(503, "layanan sedang sibuk, coba lagi");
    assert_eq!(c.app.insert("SELECT count(*) FROM keluhan", &[]).await, 0);
    c.app.older_server_is_alive(false).await;
    c.complained(1).await;
}
