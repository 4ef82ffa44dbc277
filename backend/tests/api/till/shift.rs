//! Shifts: a drawer's cash from its float to its count (docs/till.md).

use futures_util::future::{join, join_all};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::{Setup, TestApp};
use crate::till::rules::AtTill;

const PIN: &str = "135791";

impl TestApp {
    /// A supervisor of an outlet, logged in at another person's till.
    async fn supervisor_at(&self, who: &AtTill, idoutlet: OutletId) -> AtTill {
        let person = self.person("Hadi", Role::Supervisor, WorksFor::Outlet(idoutlet), PIN).await;
        self.at(&who.till, person).await
    }
}

fn cash(jenis: &str, nominal: i64) -> Value {
    json!({ "jenis": jenis, "nominal": nominal, "alasan": "plastik" })
}

#[actix_web::test]
async fn a_drawer_is_counted_blind() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let hadi = app.supervisor_at(&rina, outlet.idoutlet).await;
    app.ask(&rina, "shift/kas", &cash("masuk", 1)).await.expect(409, "shift belum dibuka");
    app.ask(&rina, "shift/tutup", &json!({ "dihitung": 0 })).await.expect(409, "shift belum dibuka");
    assert_eq!(app.see(&rina, "shift").await.ok(), json!({ "shift": null, "diharapkan": null, "gerak": [] }));

    let shift = app.ask(&rina, "shift", &json!({ "modal": 200_000 })).await.ok();
    assert_eq!((&shift["petugas"], &shift["modal"], &shift["ditutup_at"]), (&json!("Rina"), &json!(200_000), &Value::Null));
    app.ask(&hadi, "shift", &json!({ "modal": 0 })).await.expect(409, "shift sudah dibuka");
    app.ask(&rina, "shift/kas", &cash("masuk", 5_000)).await.ok();

    let seen = app.see(&rina, "shift").await.ok();
    assert_eq!((&seen["shift"]["id"], &seen["shift"]["modal"], &seen["diharapkan"]), (&shift["id"], &Value::Null, &Value::Null));
    let kinds = |seen: &Value| crate::support::arrange::column(&seen["gerak"], "jenis").into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(kinds(&seen), ["masuk"]);
    assert_eq!((&seen["gerak"][0]["petugas"], &seen["gerak"][0]["alasan"]), (&json!("Rina"), &json!("plastik")));
    let seen = app.see(&hadi, "shift").await.ok();
    assert_eq!((&seen["shift"], &seen["diharapkan"]), (&shift, &json!(205_000)));
    assert_eq!(kinds(&seen), ["masuk", "modal"]);

    let count = |dihitung: i64| json!({ "dihitung": dihitung, "pecahan": { "100000": 2, "2000": 1, "koin": 2_000 } });
    app.ask(&hadi, "shift/tutup", &count(205_000)).await.expect(422, "pecahan tidak sama dengan uang yang dihitung");
    let closed = app.ask_with(&hadi, "sekali", None, "shift/tutup", &count(204_000)).await.ok();
    let fields = ["id", "diharapkan", "dihitung", "selisih", "baru", "token"].map(|key| closed[key].clone());
    assert_eq!(fields, [shift["id"].clone(), json!(205_000), json!(204_000), json!(-1_000), Value::Null, Value::Null]);
    assert_eq!(app.ask_with(&hadi, "sekali", None, "shift/tutup", &count(204_000)).await.ok(), closed);
    app.ask(&hadi, "shift/tutup", &count(204_000)).await.expect(409, "shift belum dibuka");
    assert_eq!(app.see(&hadi, "shift").await.ok()["shift"], Value::Null);
    let stored: Value = app.db.query_one("SELECT pecahan FROM shift", &[]).await.unwrap().get(0);
    assert_eq!((&stored["100000"], &stored["koin"], &stored["50000"]), (&json!(2), &json!(2_000), &json!(0)));

    let audited: Vec<String> = app.audited().await.into_iter().map(|(action, ..)| action).collect();
    assert_eq!(audited, ["shift.buka", "shift.kas", "shift.tutup"]);
    assert_eq!(app.insert("SELECT count(*) FROM audit_log WHERE idoutlet = $1", &[&outlet.idoutlet]).await, 3);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_note_is_added_once_after_the_count_by_the_person_who_counted() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let hadi = app.supervisor_at(&rina, outlet.idoutlet).await;
    let elsewhere = app.kasir(outlet.idoutlet).await;
    let shift = app.ask(&rina, "shift", &json!({ "modal": 0 })).await.ok();
    let (call, note) = (format!("shift/{}/catatan", shift["id"]), json!({ "catatan": "kurang seribu" }));
    app.ask(&rina, &call, &note).await.expect(409, "shift belum ditutup");
    app.ask(&rina, "shift/tutup", &json!({ "dihitung": 0 })).await.ok();
    app.ask(&hadi, &call, &note).await.expect(403, "catatan hanya dari yang menutup shift itu");
    app.ask(&elsewhere, &call, &note).await.expect(404, "shift tidak ditemukan");
    app.ask(&rina, "shift/99/catatan", &note).await.expect(404, "shift tidak ditemukan");
    for _ in 0..2 {
        app.ask(&rina, &call, &note).await.ok();
    }
    app.ask(&rina, &call, &json!({ "catatan": "lain" })).await.expect(409, "catatan sudah ada");
    assert_eq!(app.audited().await.len(), 3, "opened, closed, noted once");
}

#[actix_web::test]
async fn only_a_session_at_an_outlets_till_has_a_shift() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let ani = app.person("Ani", Role::Owner, WorksFor::Owner(outlet.idowner), PIN).await;
    let ani = app.at(&app.own_browser(ani).await, ani).await;
    let calls = [
        ("shift", json!({ "modal": 0 })),
        ("shift/kas", cash("masuk", 1)),
        ("shift/tutup", json!({ "dihitung": 0 })),
        ("shift/1/catatan", json!({ "catatan": "x" })),
    ];
    for (call, body) in calls {
        assert_eq!(app.ops(&key, call, &body).await.status, 403, "{call}");
        app.ask(&ani, call, &body).await.expect(409, "shift hanya di perangkat outlet");
    }
    assert_eq!(app.get("/ops/v1/shift", Some(&key)).await.status, 403);
    assert_eq!(app.see(&ani, "shift").await.ok()["shift"], Value::Null);
}

#[actix_web::test]
async fn what_no_drawer_holds_is_400() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let bad = [
        ("shift", json!({ "modal": -1 })),
        ("shift", json!({ "modal": 1_000_000_001 })),
        ("shift", json!({})),
        ("shift/kas", cash("masuk", 0)),
        ("shift/kas", cash("modal", 1)),
        ("shift/kas", json!({ "jenis": "masuk", "nominal": 1, "alasan": " " })),
        ("shift/tutup", json!({ "dihitung": -1 })),
        ("shift/tutup", json!({ "dihitung": 0, "pecahan": { "1000": -1 } })),
        ("shift/tutup", json!({ "dihitung": 0, "lanjut": { "idpetugas": 1, "pin": "12" } })),
        ("shift/1/catatan", json!({ "catatan": "" })),
    ];
    for (call, body) in bad {
        let answer = app.ask(&rina, call, &body).await;
        assert_eq!(answer.status, 400, "{call} {body}: {}", answer.message);
    }
}

#[actix_web::test]
async fn cash_above_the_drawer_is_refused_before_a_supervisor_is_asked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    app.ask(&rina, "shift/kas", &cash("keluar", 1)).await.expect(409, "shift belum dibuka");
    app.ask(&rina, "shift", &json!({ "modal": 50_000 })).await.ok();
    let once = async || app.ask_with(&rina, "a", None, "shift/kas", &cash("setor", 50_001)).await;
    once().await.expect(422, "uang di laci tidak cukup");
    once().await.expect(422, "uang di laci tidak cukup");
    app.ask(&rina, "shift/kas", &cash("keluar", 50_000)).await.expect(403, "perlu persetujuan supervisor");
    // A request with an invalid approval learns nothing of the drawer.
    app.ask_with(&rina, "b", Some("nyi_1_x"), "shift/kas", &cash("keluar", 50_001))
        .await
        .expect(403, "persetujuan tidak berlaku");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_kasir_who_tries_amounts_learns_of_the_drawer_three_times_in_a_shift() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 123_456).await;
    let tries = (1..=20).map(|i| {
        let body = cash("keluar", 123_456 + i);
        let (app, rina) = (&app, &rina);
        async move { app.ask(rina, "shift/kas", &body).await }
    });
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|one| one.status == 422).count(), 3, "whatever comes at once");
    for nominal in [1, 123_455, 123_456, 123_457, 1_000_000, 1_000_000_000] {
        app.ask(&rina, "shift/kas", &cash("setor", nominal)).await.expect(403, "perlu persetujuan supervisor");
    }
    assert_eq!(app.audited().await.iter().filter(|(action, ..)| action == "shift.laci_ditanya").count(), 3);
    let closed = app.ask(&rina, "shift/tutup", &json!({ "dihitung": 123_456 })).await.ok();
    assert_eq!((&closed["selisih"], &closed["laci_ditanya"]), (&json!(0), &json!(3)), "beside the count");
    app.ask(&rina, "shift", &json!({ "modal": 10 })).await.ok();
    app.ask(&rina, "shift/kas", &cash("keluar", 11)).await.expect(422, "uang di laci tidak cukup");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_shift_that_closes_after_the_clock_was_put_back_ends_after_its_sales() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 50_000).await;
    app.ask(&rina, "shift/kas", &cash("masuk", 1_000)).await.ok();
    app.advance_s(-60);
    app.ask(&rina, "shift/tutup", &json!({ "dihitung": 51_000 })).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_kasir_takes_cash_out_with_an_approval_of_just_that() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 50_000).await;
    let hadi = app.supervisor_at(&rina, outlet.idoutlet).await;
    app.ask(&rina, "shift/kas", &cash("keluar", 20_000)).await.expect(403, "perlu persetujuan supervisor");
    let izin = app.approval(&rina, hadi.person, PIN, "kas", "keluar:20000").await;
    let with = async |once: &str, jenis: &str, nominal: i64| {
        app.ask_with(&rina, once, Some(&izin), "shift/kas", &cash(jenis, nominal)).await
    };
    with("a", "setor", 20_000).await.expect(403, "persetujuan tidak berlaku");
    with("b", "keluar", 20_001).await.expect(403, "persetujuan tidak berlaku");
    let moved = with("c", "keluar", 20_000).await.ok();
    assert_eq!(with("c", "keluar", 20_000).await.ok(), moved, "a repeat hears the same");
    with("d", "keluar", 20_000).await.expect(403, "persetujuan tidak berlaku");
    let content: Value = app.db.query_one("SELECT isi FROM audit_log WHERE aksi = 'shift.kas'", &[]).await.unwrap().get(0);
    assert_eq!(content["disetujui"], format!("operator:{}", hadi.person));

    app.ask(&hadi, "shift/kas", &cash("setor", 30_001)).await.expect(422, "uang di laci tidak cukup");
    // A refused request does not use up its approval.
    let izin = app.approval(&rina, hadi.person, PIN, "kas", "setor:30001").await;
    let ask = async |once: &str| app.ask_with(&rina, once, Some(&izin), "shift/kas", &cash("setor", 30_001)).await;
    ask("e").await.expect(422, "uang di laci tidak cukup");
    app.ask(&rina, "shift/kas", &cash("masuk", 1)).await.ok();
    ask("f").await.ok();
    assert_eq!(app.ask(&rina, "shift/tutup", &json!({ "dihitung": 0 })).await.ok()["diharapkan"], 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_handover_counts_once_closes_and_opens() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 70_000).await;
    let dewi = app.person("Dewi", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864209").await;
    let elsewhere = app.person("Joko", Role::Kasir, WorksFor::Outlet(app.outlet("Mawar").await.idoutlet), "864209").await;
    let count = |person: i64, pin: &str| json!({ "dihitung": 69_000, "lanjut": { "idpetugas": person, "pin": pin } });
    app.ask(&rina, "shift/tutup", &count(dewi.get(), "111222")).await.expect(401, "PIN salah, sisa 4 percobaan");
    app.ask(&rina, "shift/tutup", &count(elsewhere.get(), "864209")).await.expect(404, "petugas tidak ditemukan");
    assert_eq!(app.see(&rina, "shift").await.ok()["shift"]["petugas"], "Rina");

    let done = app.ask(&rina, "shift/tutup", &count(dewi.get(), "864209")).await;
    assert!(done.headers.contains_key("set-cookie"), "the cookie's life begins anew");
    let done = done.ok();
    assert_eq!((&done["diharapkan"], &done["selisih"]), (&json!(70_000), &json!(-1_000)));
    assert_eq!((&done["baru"]["petugas"], &done["baru"]["modal"]), (&json!("Dewi"), &json!(69_000)));
    assert_eq!(done["petugas"], json!({ "id": dewi, "nama": "Dewi", "role": "kasir" }));
    app.see(&rina, "shift").await.expect(401, "sesi berakhir");
    let first = rina.person;
    let dewi = AtTill { person: dewi, token: done["token"].as_str().unwrap().to_owned(), ..rina };
    assert_eq!(app.see(&dewi, "shift").await.ok()["shift"]["id"], done["baru"]["id"]);
    let kept = "SELECT count(*) FROM idempotensi WHERE strpos(jawaban::TEXT, 'nys_') > 0";
    assert_eq!(app.insert(kept, &[]).await, 0, "no token is stored");
    assert_eq!(app.ask(&dewi, "shift/tutup", &json!({ "dihitung": 69_000 })).await.ok()["selisih"], 0);
    let log: Vec<(String, String)> = app.audited().await.into_iter().map(|(action, actor, _)| (action, actor)).collect();
    let by = |action: &str, person: i64| (action.to_owned(), format!("operator:{person}"));
    let expected = [("shift.buka", first), ("shift.tutup", first), ("shift.buka", dewi.person), ("shift.tutup", dewi.person)];
    assert_eq!(log, expected.map(|(action, person)| by(action, person.get())));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_handover_ends_every_session_at_that_till() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 70_000).await;
    let dewi = app.person("Dewi", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864209").await;
    let (second, elsewhere) =
        (app.at(&rina.till, rina.person).await, app.at(&app.till(outlet.idoutlet).await, rina.person).await);
    let body = json!({ "dihitung": 70_000, "lanjut": { "idpetugas": dewi, "pin": "864209" } });
    app.ask(&rina, "shift/tutup", &body).await.ok();
    app.ask(&second, "shift/kas", &cash("masuk", 500)).await.expect(401, "sesi berakhir");
    app.see(&elsewhere, "shift").await.ok();
}

#[actix_web::test]
async fn cash_that_meets_the_count_is_counted_or_refused() {
    let app = Setup::new().running_clock().start().await;
    let outlet = app.outlet("Melati").await;
    let tills = join_all((0..12).map(|_| app.selling(outlet.idoutlet, 10_000))).await;
    join_all(tills.iter().enumerate().map(async |(i, till)| {
        let put = async || app.ask(till, "shift/kas", &cash("masuk", 500)).await;
        let body = json!({ "dihitung": 10_000 });
        let count = app.ask(till, "shift/tutup", &body);
        let (puts, closed) = if i % 2 == 0 {
            join(join(put(), put()), count).await
        } else {
            let (closed, puts) = join(count, join(put(), put())).await;
            (puts, closed)
        };
        let taken = [puts.0, puts.1].iter().filter(|put| put.status == 200).count();
        assert_eq!(closed.ok()["diharapkan"], json!(10_000 + 500 * i64::try_from(taken).unwrap()));
        put().await.expect(409, "shift belum dibuka");
    }))
    .await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_sale_that_meets_the_count_is_counted_or_refused() {
    let app = Setup::new().running_clock().start().await;
    let outlet = app.outlet("Melati").await;
    let mut tills = Vec::new();
    for i in 0..10 {
        let customer = app.register_customer(&format!("8120000000{i}"), "Siti", "Rahma").await;
        tills.push((app.selling(outlet.idoutlet, 0).await, app.epay(&customer, outlet, None).await));
    }
    join_all(tills.iter().map(async |(till, epay)| {
        let body = json!({ "id_customer_global": epay.id_customer_global, "idoutlet": outlet.idoutlet, "nominal": 7_000, "ulang": true });
        let count = json!({ "dihitung": 0 });
        let sales = join_all((0..3).map(|_| app.ask(till, "topup", &body)));
        let (sales, closed) = join(sales, app.ask(till, "shift/tutup", &count)).await;
        let sold = sales.iter().filter(|sale| sale.status == 200).count();
        assert!(sales.iter().all(|sale| sale.status == 200 || sale.message == "shift belum dibuka"), "{sales:?}");
        let expected = 7_000 * i64::try_from(sold).unwrap();
        assert_eq!(closed.ok()["diharapkan"], expected);
        assert_eq!(app.balance(epay.idcustomer).await, expected);
        app.ask(till, "topup", &body).await.expect(409, "shift belum dibuka");
    }))
    .await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_count_waits_for_what_is_being_sold_and_ends_after_it() {
    let app = Setup::new().running_clock().with(|c| c.database.lock_ms = 20_000).start().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 0).await;
    let mut client = app.state.store.get().await.unwrap();
    let tx = client.transaction().await.unwrap();
    let shift = nyala_ledger::shift::hold_open(&tx, rina.till.id).await.unwrap();
    let sell = async {
        app.lock_waiter().await;
        let kind = nyala_ledger::cash::CashKind::In { reason: "plastik" };
        nyala_ledger::cash::record(&tx, shift, kind, 700, "operator:1", app.now()).await.unwrap();
        tx.commit().await.unwrap();
    };
    let body = json!({ "dihitung": 700 });
    let (closed, ()) = join(app.ask(&rina, "shift/tutup", &body), sell).await;
    assert_eq!(closed.ok()["selisih"], 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_drawer_pays_out_what_is_in_it_and_no_more() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 100_000).await;
    let hadi = app.supervisor_at(&rina, outlet.idoutlet).await;
    let body = cash("keluar", 30_000);
    let answers = join_all((0..10).map(|_| app.ask(&hadi, "shift/kas", &body))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 3);
    assert_eq!(answers.iter().filter(|a| a.message == "uang di laci tidak cukup").count(), 7);
    app.assert_no_violation().await;
}
