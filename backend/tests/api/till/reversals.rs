//! Top-ups that are reversed, and refunds at a till (docs/till.md).

use futures_util::future::join_all;
use nyala_core::domain::id::{ShiftId, TopUpId, WalletId};
use nyala_core::domain::role::Role;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::{Outlet, receipt};
use crate::support::helpers::{Answer, Customer, TestApp};
use crate::till::rules::AtTill;

struct ReversalTill {
    app: TestApp,
    outlet: Outlet,
    rina: AtTill,
    hadi: AtTill,
    siti: Customer,
}

async fn counter() -> ReversalTill {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.seller(outlet).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    ReversalTill { app, outlet, rina, hadi, siti }
}

impl ReversalTill {
    /// Sells a top-up and returns its number.
    async fn sold(&self, nominal: i64, means: &str) -> i64 {
        let body = json!({
            "id_customer_global": self.siti.id, "idoutlet": self.outlet.idoutlet, "nominal": nominal, "cara_bayar": means, "ulang": true,
        });
        number(&self.app.ask(&self.rina, "topup", &body).await.ok())
    }

    async fn balance(&self) -> i64 {
        self.app.insert("SELECT COALESCE(SUM(saldo), 0)::BIGINT FROM quota_emoney", &[]).await
    }

    async fn reverse(&self, by: &AtTill, id: i64) -> Answer {
        self.app.ask(by, &batal(id), &why()).await
    }
}

fn number(made: &Value) -> i64 {
    made["idpembelian_emoney"].as_str().unwrap().parse().unwrap()
}

fn batal(id: i64) -> String {
    format!("topup/{id}/batal")
}

fn why() -> Value {
    json!({"alasan": "salah orang"})
}

#[actix_web::test]
async fn the_whole_quota_goes_back_once_and_the_cash_with_it() {
    let counter = counter().await;
    let ReversalTill { app, outlet, rina, hadi, siti } = &counter;
    let package = json!({"idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 100_000, "quota": 115_000});
    let idpaket = app.ask(hadi, "paket", &package).await.ok()["idpaket"].clone();
    let body = json!({"id_customer_global": siti.id, "idoutlet": outlet.idoutlet, "nominal": 100_000, "idpaket": idpaket});
    let id = number(&app.ask(rina, "topup", &body).await.ok());
    let other = counter.sold(20_000, "qris").await;
    assert_eq!((app.drawer(&rina.till).await, counter.balance().await), (200_000, 135_000));
    let answers = join_all((0..20).map(|_| counter.reverse(hadi, id))).await;
    let done: Vec<_> = answers.iter().filter(|a| a.status == 200).collect();
    assert_eq!(done.len(), 1);
    assert_eq!((&done[0].data["saldo_akhir"], &done[0].data["idpembelian_emoney"]), (&json!(20_000), &json!(id.to_string())));
    for answer in answers.iter().filter(|a| a.status != 200) {
        answer.expect(409, "top-up sudah dibatalkan");
    }
    assert_eq!((app.drawer(&rina.till).await, counter.balance().await), (100_000, 20_000));
    counter.reverse(hadi, other).await.ok();
    assert_eq!((app.drawer(&rina.till).await, counter.balance().await), (100_000, 0), "what was not cash leaves no drawer");

    let detail = app.get(&format!("/scan/v1/epayment/get_detail_batal/{id}"), Some(&siti.token)).await.ok();
    assert_eq!(
        detail,
        json!({
            "idpembelian_emoney": id.to_string(), "waktu_batal": app.now().rfc3339(), "nominal_batal": 115_000, "alasan": "salah orang",
            "outlet": {"nama": "Melati", "kota": "Bandung"},
        })
    );
    let stands = counter.sold(1_000, "tunai").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    for (id, token) in [(stands, &siti.token), (id, &budi.token), (4711, &siti.token)] {
        let answer = app.get(&format!("/scan/v1/epayment/get_detail_batal/{id}"), Some(token)).await;
        answer.expect(404, "Transaksi ini tidak ditemukan");
    }
    let reversals = app.audited().await.into_iter().filter(|(action, ..)| action == "batal").collect::<Vec<_>>();
    assert_eq!(reversals[0], ("batal".to_owned(), format!("operator:{}", hadi.person), format!("pembelian_emoney:{id}")));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_spent_or_held_stays() {
    let counter = counter().await;
    let ReversalTill { app, outlet, hadi, siti, .. } = &counter;
    let id = counter.sold(15_000, "tunai").await;
    let idcustomer = app.insert("SELECT idcustomer FROM customer", &[]).await;
    let idakun = app.insert("SELECT idakun FROM quota_emoney", &[]).await;
    let epay = crate::support::arrange::Epay {
        idcustomer: WalletId::new(idcustomer),
        id_customer_global: siti.id,
        outlet: *outlet,
        idakun,
    };
    let machine = app.machine(*outlet, "Mesin 1").await;
    let held = app.hold(epay, &machine, &receipt(1)).await;
    counter.reverse(hadi, id).await.expect(422, "saldo sudah terpakai");
    app.started(&held).await;
    counter.reverse(hadi, id).await.expect(422, "saldo sudah terpakai");
    app.refund(&held, 10_000).await;
    assert_eq!(counter.reverse(hadi, id).await.ok()["saldo_akhir"], 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn after_half_an_hour_only_the_owner_may_reverse() {
    let counter = counter().await;
    let ReversalTill { app, outlet, rina, hadi, siti } = &counter;
    let owner = app.clerk(&rina.till, "Bu Ani", Role::Owner, WorksFor::Owner(outlet.idowner)).await;
    let (first, second, third) =
        (counter.sold(1_000, "tunai").await, counter.sold(2_000, "tunai").await, counter.sold(3_000, "tunai").await);
    let log_in = async |clerk: &AtTill| app.at(&clerk.till, clerk.person).await;
    app.advance_s(30 * 60);
    counter.reverse(&log_in(hadi).await, first).await.ok();
    app.advance_s(1);
    let (rina, hadi, owner) = (log_in(rina).await, log_in(hadi).await, log_in(&owner).await);
    let late = "lewat 30 menit, minta pemilik";
    counter.reverse(&hadi, second).await.expect(422, late);
    counter.reverse(&owner, second).await.ok();
    // An approval permits what its giver may do.
    let yes = app.yes(&rina, &hadi, &Act::reversal(TopUpId::new(third))).await;
    app.ask_with(&rina, "a", Some(&yes), &batal(third), &why()).await.expect(422, late);
    let yes = app.yes(&rina, &owner, &Act::reversal(TopUpId::new(third))).await;
    app.ask_with(&rina, "b", Some(&yes), &batal(third), &why()).await.ok();
    assert_eq!(counter.balance().await, 0);
    // An owner cannot reverse a top-up that is spent, either.
    let spent = counter.app.funded(siti, app.outlet_of(outlet.idowner, "Mawar").await, 5_000).await;
    let id = app.insert("SELECT MAX(id) FROM pembelian_emoney", &[]).await;
    app.db.execute("UPDATE quota_emoney SET debits_pending = 1 WHERE idcustomer = $1", &[&spent.idcustomer]).await.unwrap();
    app.ops(&app.key(Scope::Root).await, &batal(id), &why()).await.expect(422, "saldo sudah terpakai");
}

#[actix_web::test]
async fn a_kasir_needs_a_yes_and_a_program_of_that_role_gets_none() {
    let counter = counter().await;
    let ReversalTill { app, outlet, rina, hadi, .. } = &counter;
    let (id, other) = (counter.sold(1_000, "tunai").await, counter.sold(2_000, "tunai").await);
    counter.reverse(rina, id).await.expect(403, "perlu persetujuan supervisor");
    let yes = app.yes(rina, hadi, &Act::reversal(TopUpId::new(id))).await;
    app.ask_with(rina, "a", Some(&yes), &batal(other), &why()).await.expect(403, "persetujuan tidak berlaku");
    let first = app.ask_with(rina, "b", Some(&yes), &batal(id), &why()).await.ok();
    assert_eq!(app.ask_with(rina, "b", Some(&yes), &batal(id), &why()).await.ok(), first);
    assert_eq!(app.ask_with(rina, "b", None, &batal(id), &why()).await.ok(), first, "it was decided");
    let another = app.at(&rina.till, rina.person).await;
    let yes = app.yes(&another, hadi, &Act::reversal(TopUpId::new(other))).await;
    app.ask_with(rina, "c", Some(&yes), &batal(other), &why()).await.expect(403, "persetujuan tidak berlaku");
    let gone = app.person("Wati", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    let yes = app.approval(rina, gone, "135791", "batal", &other.to_string()).await;
    app.db.execute("UPDATE kunci_operator SET revoked_at = $2 WHERE id = $1", &[&gone, &app.now()]).await.unwrap();
    app.ask_with(rina, "d", Some(&yes), &batal(other), &why()).await.expect(403, "persetujuan tidak berlaku");
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&key, &batal(other), &why()).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    let elsewhere = app.key(Scope::Supervisor(app.outlet("Mawar").await.idoutlet)).await;
    app.ops(&elsewhere, &batal(other), &why()).await.expect(404, "top-up tidak ditemukan");
    app.ops(&elsewhere, &batal(4711), &why()).await.expect(404, "top-up tidak ditemukan");
    assert_eq!(app.ask(hadi, &batal(other), &json!({"alasan": " "})).await.status, 400);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn cash_leaves_the_drawer_that_is_open_now() {
    let counter = counter().await;
    let ReversalTill { app, outlet, rina, hadi, .. } = &counter;
    let shut = "shift belum dibuka";
    let (cash, more, qris) =
        (counter.sold(1_000, "tunai").await, counter.sold(2_000, "tunai").await, counter.sold(3_000, "qris").await);
    let program = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&program, &batal(cash), &why()).await.expect(409, shut);
    app.ops(&program, &batal(qris), &why()).await.ok();
    let shift = app.insert("SELECT id FROM shift", &[]).await;
    app.close_shift(ShiftId::new(shift), hadi).await;
    counter.reverse(hadi, cash).await.expect(409, shut);
    let next = app.open_shift(rina, *outlet).await;
    counter.reverse(hadi, cash).await.ok();
    assert_eq!(app.drawer(&rina.till).await, 99_000);
    // A reversal at another till of the outlet takes the cash from that till's drawer.
    let dewi = app.seller(*outlet).await;
    let there = app.at(&dewi.till, hadi.person).await;
    counter.reverse(&there, more).await.ok();
    assert_eq!((app.drawer(&rina.till).await, app.drawer(&dewi.till).await), (99_000, 98_000));
    let rows = app.db.query("SELECT idshift FROM kas_gerak WHERE jenis = 'batal' ORDER BY id", &[]).await.unwrap();
    assert_eq!(rows[0].get::<_, ShiftId>(0), next);
    // A program's sale has no drawer.
    let body = json!({"telp": "81234567890", "idoutlet": outlet.idoutlet, "nominal": 5_000, "cara_bayar": "tunai"});
    let id = number(&app.ops(&program, "topup", &body).await.ok());
    app.ops(&program, &batal(id), &why()).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_reversal_without_cash_waits_for_the_count_of_its_till_too() {
    let counter = counter().await;
    let ReversalTill { app, rina, hadi, .. } = &counter;
    let id = counter.sold(3_000, "qris").await;
    let mut client = app.state.store.get().await.unwrap();
    let tx = client.transaction().await.unwrap();
    nyala_ledger::shift::hold_alone(&tx, rina.till.id).await.unwrap();
    let counted = async {
        app.lock_waiter().await;
        assert_eq!(counter.balance().await, 3_000);
        tx.rollback().await.unwrap();
    };
    let (reversed, ()) = futures_util::future::join(counter.reverse(hadi, id), counted).await;
    assert_eq!(reversed.ok()["saldo_akhir"], 0);
}

#[actix_web::test]
async fn a_kasir_refunds_with_an_approval_and_sees_how_often() {
    let counter = counter().await;
    let ReversalTill { app, outlet, rina, hadi, siti } = &counter;
    let epay = app.funded(siti, *outlet, 100_000).await;
    let (one, two) = (app.machine(*outlet, "Mesin 1").await, app.machine(*outlet, "Mesin 2").await);
    for (n, machine) in [(1, &one), (2, &two), (3, &one)] {
        app.used(epay, machine, &receipt(n)).await;
    }
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    app.used(app.funded(&budi, *outlet, 10_000).await, &one, &receipt(4)).await;

    let refund = json!({"idtransaksi": receipt(1), "nominal": 4_000, "alasan": "bocor", "idcustomer": epay.idcustomer});
    let deletion = json!({"idtransaksi": receipt(2), "alasan": "salah", "idcustomer": epay.idcustomer});
    let (needs, not_good) = ("perlu persetujuan supervisor", "persetujuan tidak berlaku");
    app.ask(rina, "refund", &refund).await.expect(403, needs);
    app.ask(rina, "hapus", &deletion).await.expect(403, needs);
    let yes = app.yes(rina, hadi, &Act::refund(&receipt(1), epay.idcustomer, 4_000)).await;
    let mut other = refund.clone();
    other["nominal"] = json!(4_001);
    app.ask_with(rina, "a", Some(&yes), "refund", &other).await.expect(403, not_good);
    app.ask_with(rina, "b", Some(&yes), "hapus", &deletion).await.expect(403, not_good);
    let mut nobodys = refund.clone();
    nobodys.as_object_mut().unwrap().remove("idcustomer");
    app.ask_with(rina, "c", Some(&yes), "refund", &nobodys).await.expect(422, "idcustomer wajib diisi");
    let back = app.ask_with(rina, "d", Some(&yes), "refund", &refund).await.ok();
    assert_eq!((&back["jumlah"], &back["ke"]), (&json!(4_000), &json!({"pelanggan": 1, "mesin": 1})));
    assert_eq!(app.ask_with(rina, "d", Some(&yes), "refund", &refund).await.ok(), back);
    let yes = app.yes(rina, hadi, &Act::delete(&receipt(2), epay.idcustomer)).await;
    let back = app.ask_with(rina, "e", Some(&yes), "hapus", &deletion).await.ok();
    assert_eq!(back["ke"], json!({"pelanggan": 2, "mesin": 1}));
    let of_budi = json!({"idtransaksi": receipt(4), "nominal": 1_000, "alasan": "bocor"});
    assert_eq!(app.ask(hadi, "refund", &of_budi).await.ok()["ke"], json!({"pelanggan": 1, "mesin": 2}));
    let seen = app.see(rina, "pemakaian").await.ok();
    let reversed_rows: Vec<_> =
        seen["baris"].as_array().unwrap().iter().map(|row| (&row["idtransaksi"], &row["sudah"])).collect();
    let so_far = |pelanggan: i64, mesin: i64| json!({ "pelanggan": pelanggan, "mesin": mesin });
    let expected = [(4, so_far(1, 2)), (3, so_far(2, 2)), (2, so_far(2, 1)), (1, so_far(2, 2))];
    let expected: Vec<_> = expected.into_iter().map(|(n, sudah)| (json!(receipt(n)), sudah)).collect();
    assert_eq!(reversed_rows, expected.iter().map(|(n, sudah)| (n, sudah)).collect::<Vec<_>>());
    let audited = "SELECT count(*) FROM audit_log WHERE isi->>'disetujui' = $1";
    assert_eq!(app.insert(audited, &[&format!("operator:{}", hadi.person)]).await, 2);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_month_is_the_outlets() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    app.db.execute("UPDATE outlet SET zona = 'Asia/Jayapura'", &[]).await.unwrap();
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 100_000).await;
    let machine = app.machine(outlet, "Mesin 1").await;
    app.used(epay, &machine, &receipt(1)).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let body = json!({"idtransaksi": receipt(1), "nominal": 1, "alasan": "bocor"});
    let often = async || app.ops(&key, "refund", &body).await.ok()["ke"]["pelanggan"].clone();
    // The outlet's month begins nine hours before the month in UTC.
    let begins = 1_798_729_200_000; // 2027-01-01T00:00:00+09:00
    let mut counts = Vec::new();
    for ms in [begins - 2, begins - 1, begins, begins + 1] {
        app.clock.set(nyala_core::domain::timestamp::Timestamp::from_ms(ms));
        counts.push(often().await);
    }
    assert_eq!(counts, [1, 2, 1, 2]);
}
