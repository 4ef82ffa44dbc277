//! A drawer is counted blind: before the count, a kasir sees no figures that add up to the expected cash (docs/till.md).

use futures_util::future::join_all;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::column;
use crate::support::counter::{Counter, and, counter};
use crate::support::helpers::{Setup, TestApp};
use crate::till::rules::AtTill;

const PIN: &str = "246810";
const FULL: &str = "laci tidak boleh berisi lebih dari Rp 1.000.000.000";
const MAX_DRAWER: i64 = 1_000_000_000;

fn cash(jenis: &str, nominal: i64) -> Value {
    json!({ "jenis": jenis, "nominal": nominal, "alasan": "uji" })
}

impl TestApp {
    /// How many older sales the kasir has opened in the till's open shift.
    async fn looks(&self, supervisor: &AtTill) -> Value {
        self.see(supervisor, "shift").await.ok()["topup_dilihat"].clone()
    }
}

/// Every number in `value`, at any depth.
fn numbers(value: &Value) -> Vec<i64> {
    match value {
        Value::Number(n) => n.as_i64().into_iter().collect(),
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Object(all) => all.values().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

#[actix_web::test]
async fn a_kasirs_list_has_amounts_of_the_ten_newest_sales() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let package = json!({ "idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 5_000, "quota": 5_500 });
    let package = app.ask(&hadi, "paket", &package).await.ok()["idpaket"].clone();
    app.ask(rina, "topup", &and(counter.sale(5_000), "idpaket", package)).await.ok();
    for n in 1..=12 {
        app.ask(rina, "topup", &counter.sale(10_000 + n)).await.ok();
    }
    // In one page and in several.
    for pages in [vec!["topup?limit=100"], vec!["topup?limit=7", "topup?limit=7&sebelum="]] {
        let (mut rows, mut lanjut) = (Vec::new(), Value::Null);
        for page in pages {
            let page = if page.ends_with('=') { format!("{page}{lanjut}") } else { page.to_owned() };
            let seen = app.see(rina, &page).await.ok();
            rows.extend(seen["baris"].as_array().unwrap().clone());
            lanjut = seen["lanjut"].clone();
        }
        let rows = Value::Array(rows);
        let newest: Vec<Value> = (3..=12).rev().map(|n| json!(10_000 + n)).chain(vec![Value::Null; 3]).collect();
        assert_eq!(column(&rows, "nominal"), newest.iter().collect::<Vec<_>>());
        assert_eq!(column(&rows, "quota"), newest.iter().collect::<Vec<_>>());
        for older in &rows.as_array().unwrap()[10..] {
            assert_eq!(older["nama_paket"], Value::Null, "a package has its price");
            assert_eq!((&older["nama"], &older["cara_bayar"]), (&json!("Siti R."), &json!("tunai")));
        }
    }
    let all = app.see(&hadi, "topup").await.ok();
    assert_eq!(column(&all["baris"], "nominal").len(), 13);
    assert!(column(&all["baris"], "nominal").iter().all(|nominal| nominal.is_i64()), "whoever does not count sees all");
    // A new shift has no older sales yet, so none are hidden.
    app.ask(rina, "shift/tutup", &json!({ "dihitung": 0 })).await.ok();
    app.ask(rina, "shift", &json!({ "modal": 0 })).await.ok();
    app.ask(rina, "topup", &counter.sale(1_000)).await.ok();
    assert_eq!(column(&app.see(rina, "topup").await.ok()["baris"], "nominal"), [&json!(1_000)]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_older_sale_is_opened_alone_and_each_look_is_counted() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let mut ids = Vec::new();
    for n in 1..=12 {
        let made = app.ask(rina, "topup", &counter.sale(10_000 + n)).await.ok();
        ids.push(made["idpembelian_emoney"].as_str().unwrap().to_owned());
    }
    let open = async |who: &AtTill, id: &str| app.see(who, &format!("topup/{id}")).await;
    let listed = app.see(&hadi, "topup").await.ok();
    assert_eq!(open(&hadi, &ids[0]).await.ok(), listed["baris"][11]);
    assert_eq!(open(rina, &ids[11]).await.ok()["nominal"], 10_012);
    assert_eq!(open(rina, &ids[2]).await.ok()["nominal"], 10_003);
    assert_eq!(app.looks(&hadi).await, 0, "a supervisor's looks, and those at what is listed, are none");
    let seen = open(rina, &ids[0]).await.ok();
    assert_eq!((&seen["nominal"], &seen["quota"], &seen["nama"]), (&json!(10_001), &json!(10_001), &json!("Siti R.")));
    open(rina, &ids[1]).await.ok();
    join_all((0..4).map(|_| open(rina, &ids[0]))).await;
    assert_eq!(app.looks(&hadi).await, 6);
    assert_eq!(app.see(rina, "shift").await.ok()["topup_dilihat"], Value::Null);
    let audited = app.audited().await;
    let looks: Vec<_> = audited.iter().filter(|(action, ..)| action == "shift.topup_dilihat").collect();
    assert_eq!(looks.len(), 6);
    assert!(looks.iter().all(|(_, actor, _)| *actor == format!("operator:{}", rina.person)));

    // Only sales of this shift, and of an outlet that the person may see.
    let dewi = app.seller(*outlet).await;
    open(&dewi, &ids[0]).await.expect(404, "top-up tidak ditemukan");
    let elsewhere = app.outlet("Mawar").await;
    let ani = app.clerk(&app.till(elsewhere.idoutlet).await, "Ani", Role::Supervisor, WorksFor::Outlet(elsewhere.idoutlet)).await;
    for id in [&*ids[0], "999", "x", "0"] {
        open(&ani, id).await.expect(404, "top-up tidak ditemukan");
    }
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.get(&format!("/ops/v1/topup/{}", ids[0]), Some(&key))
        .await
        .expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    assert_eq!(app.get(&format!("/ops/v1/topup/{}", ids[0]), Some(&owner)).await.ok()["nominal"], 10_001);
    let closed = app.ask(rina, "shift/tutup", &json!({ "dihitung": 220_078 })).await.ok();
    assert_eq!((&closed["selisih"], &closed["topup_dilihat"]), (&json!(0), &json!(6)));
    open(rina, &ids[11]).await.expect(404, "top-up tidak ditemukan");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn neither_float_nor_movements_have_amounts_for_a_kasir() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 123_457).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    app.ask(&rina, "shift/kas", &cash("masuk", 54_321)).await.ok();
    app.ask(&hadi, "shift/kas", &cash("keluar", 4_323)).await.ok();
    let secrets = [123_457, 54_321, 4_323];
    let seen = app.see(&rina, "shift").await.ok();
    assert_eq!(column(&seen["gerak"], "jenis"), ["keluar", "masuk"]);
    let device = app.call("GET", "/ops/v1/perangkat/saya", None, &[("Cookie", &rina.till.cookie)], None).await.ok();
    let logged_in = app.log_in(&rina.till, &json!({ "idpetugas": rina.person, "pin": PIN })).await.ok();
    for document in [&seen, &device, &logged_in] {
        let shift = if document["shift"].is_null() { panic!("no shift in {document}") } else { &document["shift"] };
        assert_eq!(shift["modal"], Value::Null, "{document}");
        assert!(numbers(document).iter().all(|n| !secrets.contains(n)), "{document}");
    }
    let seen = app.see(&hadi, "shift").await.ok();
    assert_eq!(seen["shift"]["modal"], 123_457);
    assert_eq!(column(&seen["gerak"], "nominal"), [&json!(4_323), &json!(54_321), &json!(123_457)]);
    let hadi = app.log_in(&rina.till, &json!({ "idpetugas": hadi.person, "pin": PIN })).await.ok();
    assert_eq!(hadi["shift"]["modal"], 123_457);
}

#[actix_web::test]
async fn nothing_brings_a_drawer_above_what_can_be_counted() {
    let counter = counter().await;
    let Counter { app, outlet, rina, siti } = &counter;
    let hadi = counter.supervisor().await;
    // The drawer holds 100,000.
    app.ask(&hadi, "shift/kas", &cash("masuk", MAX_DRAWER - 100_000 + 1)).await.expect(422, FULL);
    app.ask(&hadi, "shift/kas", &cash("masuk", MAX_DRAWER - 100_000 - 5_000)).await.ok();
    app.ask(rina, "shift/kas", &cash("masuk", 5_001)).await.expect(422, FULL);
    app.ask(rina, "topup", &counter.sale(5_001)).await.expect(422, FULL);
    app.ask(&hadi, "topup", &counter.sale(20_000_000)).await.expect(422, FULL);
    assert_eq!(app.insert("SELECT count(*) FROM customer WHERE id_customer_global = $1", &[&siti.id]).await, 0, "no money moved");
    // A sale that is not in cash does not count against the drawer's limit.
    app.ask(rina, "topup", &and(counter.sale(5_002), "cara_bayar", json!("qris"))).await.ok();
    // Of five at once, only one still fits.
    let (sale, put) = (and(counter.sale(3_000), "ulang", json!(true)), cash("masuk", 1_500));
    let answers = join_all((0..5).map(|_| app.ask(rina, "topup", &sale))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    let answers = join_all((0..5).map(|_| app.ask(&hadi, "shift/kas", &put))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    app.ask(rina, "shift/kas", &cash("masuk", 500)).await.ok();
    assert_eq!(app.drawer(&rina.till).await, MAX_DRAWER);
    // A full drawer can be counted and handed over, and is still full afterwards.
    let dewi = app.person("Dewi", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864209").await;
    let lanjut = json!({ "idpetugas": dewi, "pin": "864209" });
    app.ask(rina, "shift/tutup", &json!({ "dihitung": MAX_DRAWER + 1, "lanjut": lanjut }))
        .await
        .expect(400, "dihitung harus 0 sampai 1000000000 rupiah");
    let done = app.ask(rina, "shift/tutup", &json!({ "dihitung": MAX_DRAWER, "lanjut": lanjut })).await.ok();
    assert_eq!(done["selisih"], 0);
    let dewi = AtTill { person: dewi, token: done["token"].as_str().unwrap().to_owned(), ..rina.clone() };
    app.ask(&dewi, "topup", &counter.sale(1)).await.expect(422, FULL);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn probing_the_drawers_limit_reveals_little_to_a_kasir() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 123_456).await;
    let answers = join_all((0..20).map(|i| {
        let (app, rina) = (&app, &rina);
        async move { app.ask(rina, "shift/kas", &cash("masuk", MAX_DRAWER - i)).await }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 422).count(), 3);
    assert!(answers.iter().all(|answer| [403, 422].contains(&answer.status)), "{answers:?}");
    for nominal in [MAX_DRAWER, MAX_DRAWER - 123_456, 20_000_001] {
        app.ask(&rina, "shift/kas", &cash("masuk", nominal)).await.expect(403, "perlu persetujuan supervisor");
    }
    app.ask(&rina, "shift/kas", &cash("masuk", 20_000_000)).await.ok();
    let hadi = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let izin = app.approval(&rina, hadi, PIN, "kas", "masuk:20000001").await;
    app.ask_with(&rina, "a", Some(&izin), "shift/kas", &cash("masuk", 20_000_001)).await.ok();
    assert_eq!(app.drawer(&rina.till).await, 40_123_457);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_count_that_looks_wrong_is_asked_about_once_and_tells_no_figure() {
    const AGAIN: &str = "hitung sekali lagi";
    let app = Setup::new().start().await;
    let outlet = app.outlet("Melati").await;
    let count = |dihitung: i64, yakin: Option<bool>| match yakin {
        Some(yakin) => json!({ "dihitung": dihitung, "yakin": yakin }),
        None => json!({ "dihitung": dihitung }),
    };
    // Wrong by half below, by half above, and zero; also where the drawer should be empty.
    for (modal, wrong) in [(200_000, 100_000), (200_000, 300_000), (200_000, 0), (0, 0), (0, 1), (1_000, 900_000_000)] {
        let rina = app.selling(outlet.idoutlet, modal).await;
        let first = app.ask_with(&rina, "satu", None, "shift/tutup", &count(wrong, Some(false))).await;
        first.expect(409, AGAIN);
        assert_eq!(first.data, Value::Null);
        app.ask_with(&rina, "satu", None, "shift/tutup", &count(wrong, Some(false))).await.expect(409, AGAIN);
        assert_ne!(app.see(&rina, "shift").await.ok()["shift"], Value::Null, "it is open still");
        // The next count is accepted as it is: a second question would reveal more of the expected amount.
        let closed = app.ask(&rina, "shift/tutup", &count(wrong + 1, Some(false))).await.ok();
        assert_eq!((&closed["diharapkan"], &closed["dihitung"]), (&json!(modal), &json!(wrong + 1)));
        let asked: Value = app
            .db
            .query_one("SELECT isi FROM audit_log WHERE aksi = 'shift.hitung_ulang' ORDER BY id DESC LIMIT 1", &[])
            .await
            .unwrap()
            .get(0);
        assert_eq!(asked, json!({ "dihitung": wrong }));
    }
    for (modal, counted, yakin) in [
        (200_000, 100_001, Some(false)),
        (200_000, 299_999, Some(false)),
        (200_000, 200_000, Some(false)),
        (200_000, 0, Some(true)),
        (200_000, 0, None),
    ] {
        let rina = app.selling(outlet.idoutlet, modal).await;
        app.ask(&rina, "shift/tutup", &count(counted, yakin)).await.ok();
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_handover_with_a_wrong_looking_count_is_asked_about_once() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 70_000).await;
    let dewi = app.person("Dewi", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864209").await;
    let body = |pin: &str| json!({ "dihitung": 7_000, "yakin": false, "lanjut": { "idpetugas": dewi, "pin": pin } });
    app.ask(&rina, "shift/tutup", &body("111222")).await.expect(401, "PIN salah, sisa 4 percobaan");
    app.ask(&rina, "shift/tutup", &body("864209")).await.expect(409, "hitung sekali lagi");
    app.see(&rina, "shift").await.ok();
    let done = app.ask(&rina, "shift/tutup", &body("864209")).await.ok();
    assert_eq!((&done["selisih"], &done["baru"]["modal"]), (&json!(-63_000), &json!(7_000)));
    app.assert_no_violation().await;
}
