//! Balance that is paid out in cash (docs/money.md, Paying out).

use futures_util::future::{join, join_all};
use nyala_core::domain::id::{CustomerId, WalletId};
use nyala_core::domain::role::Role;
use nyala_identity::qr::customer;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::people::WorksFor;
use nyala_ledger::paid;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::arrange::{Epay, Outlet, receipt};
use crate::support::helpers::{Answer, Customer, Setup, TestApp};
use crate::support::shop::{PRICE, Shop, buy};
use crate::till::rules::AtTill;

impl TestApp {
    /// The text of a customer's code.
    pub fn code_of(&self, customer: CustomerId) -> String {
        customer::make(&self.state.keyring.get(), customer, self.now())
    }

    /// No rule of the ledger is broken, and no payout or move took anything but what its account's replay says.
    pub async fn assert_sound(&self) {
        self.assert_no_violation().await;
        assert_eq!(paid::broken(&self.db).await.unwrap(), []);
    }
}

struct PayoutTill {
    app: TestApp,
    outlet: Outlet,
    rina: AtTill,
    hadi: AtTill,
    siti: Customer,
}

/// A kasir and a supervisor at one till with 100,000 rupiah in its drawer.
async fn counter() -> PayoutTill {
    counter_of(TestApp::spawn().await).await
}

async fn counter_of(app: TestApp) -> PayoutTill {
    let outlet = app.outlet("Melati").await;
    let rina = app.seller(outlet).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    PayoutTill { app, outlet, rina, hadi, siti }
}

impl PayoutTill {
    fn code(&self) -> String {
        self.app.code_of(self.siti.id)
    }

    /// Sells `quota` rupiah of balance for `price`, in cash. Gives the account.
    async fn sold(&self, price: i64, quota: i64) -> i64 {
        let package = json!({"idoutlet": self.outlet.idoutlet, "nama": "Paket", "harga": price, "quota": quota});
        let idpaket = self.app.ask(&self.hadi, "paket", &package).await.ok()["idpaket"].clone();
        let sale = json!({"id_customer_global": self.siti.id, "idoutlet": self.outlet.idoutlet, "nominal": price, "idpaket": idpaket, "ulang": true});
        self.app.ask(&self.hadi, "topup", &sale).await.ok()["idcustomer"].as_i64().unwrap()
    }

    async fn epay(&self, idcustomer: i64) -> Epay {
        let idakun = self.app.insert("SELECT idakun FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await;
        Epay { idcustomer: WalletId::new(idcustomer), id_customer_global: self.siti.id, outlet: self.outlet, idakun }
    }

    async fn count(&self) -> Answer {
        self.app.ask(&self.rina, "tarik/hitung", &json!({"qr": self.code()})).await
    }

    fn body(&self, paid: i64, bonus: i64) -> Value {
        json!({"qr": self.code(), "dibayar": paid, "hangus": bonus})
    }

    async fn pay(&self, by: &AtTill, paid: i64, bonus: i64) -> Answer {
        self.app.ask(by, "tarik", &self.body(paid, bonus)).await
    }
}

#[actix_web::test]
async fn all_that_was_paid_leaves_the_drawer_and_the_bonus_ends() {
    let counter = counter().await;
    let PayoutTill { app, outlet, rina, hadi, siti } = &counter;
    let idcustomer = counter.sold(40_000, 50_000).await;
    let counted = counter.count().await.ok();
    assert_eq!(
        counted,
        json!({"id_customer_global": siti.id, "idcustomer": idcustomer, "nama": "Siti R.", "saldo": 50_000, "dibayar": 40_000, "hangus": 10_000})
    );
    let body = counter.body(40_000, 10_000);
    let paid = app.ask_with(hadi, "satu-kali", None, "tarik", &body).await.ok();
    let id = paid["idpenarikan"].as_i64().unwrap();
    assert_eq!(paid, json!({"idpenarikan": id, "idcustomer": idcustomer, "dibayar": 40_000, "hangus": 10_000, "saldo_akhir": 0}));
    assert_eq!(app.ask_with(hadi, "satu-kali", None, "tarik", &body).await.ok(), paid, "a repeat gets the answer again");
    assert_eq!((app.drawer(&rina.till).await, app.balance(idcustomer).await), (100_000, 0));
    counter.count().await.expect(422, "tidak ada saldo yang bisa ditarik");

    let movements = app.see(hadi, "shift").await.ok()["gerak"].clone();
    assert_eq!((&movements[0]["jenis"], &movements[0]["nominal"]), (&json!("tarik"), &json!(40_000)));
    let page = json!({"skip": 0, "limit": 10, "jenis": "pembelian_emoney", "outlet": ""});
    let history =
        async |token| app.post("/scan/v1/transaksi/list_history", Some(token), &page).await.ok()["history_data"].clone();
    let rows = history(&siti.token).await;
    let row = |n: usize| json!([rows[n]["ref_type"], rows[n]["ref_id"], rows[n]["value"], rows[n]["outlet"]]);
    assert_eq!(row(0), json!(["saldo_hangus", id.to_string(), -10_000, "Melati"]));
    assert_eq!(row(1), json!(["penarikan", id.to_string(), -40_000, "Melati"]));
    let uses = json!({"skip": 0, "limit": 10, "jenis": "snap_transaksi", "outlet": ""});
    let uses = app.post("/scan/v1/transaksi/list_history", Some(&siti.token), &uses).await.ok();
    assert_eq!(uses["history_data"], json!(null));
    let seen =
        app.ops_see(&app.key(Scope::Supervisor(outlet.idoutlet)).await, &format!("pelanggan/{}/riwayat", siti.id)).await.ok();
    assert_eq!((&seen["baris"][0]["ref_type"], &seen["baris"][1]["nominal"]), (&json!("saldo_hangus"), &json!(-40_000)));

    let detail = format!("/scan/v1/epayment/get_detail_penarikan/{id}");
    assert_eq!(
        app.get(&detail, Some(&siti.token)).await.ok(),
        json!({"idpenarikan": id, "waktu": app.now().rfc3339(), "dibayar": 40_000, "hangus": 10_000, "outlet": {"nama": "Melati", "kota": "Bandung"}})
    );
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    app.get(&detail, Some(&budi.token)).await.expect(404, "Transaksi ini tidak ditemukan");

    let done = app.audited().await.into_iter().rfind(|(action, ..)| action == "tarik").unwrap();
    assert_eq!(done, ("tarik".to_owned(), format!("operator:{}", hadi.person), format!("penarikan:{id}")));
    let closed = app.ask(rina, "shift/tutup", &json!({"dihitung": 100_000})).await.ok();
    assert_eq!((&closed["diharapkan"], &closed["selisih"]), (&json!(100_000), &json!(0)));
    app.assert_sound().await;
}

#[actix_web::test]
async fn reports_have_payouts_apart() {
    let counter = counter().await;
    let PayoutTill { app, outlet, hadi, .. } = &counter;
    counter.sold(40_000, 50_000).await;
    counter.pay(hadi, 40_000, 10_000).await.ok();
    counter.sold(20_000, 20_000).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let saldo = app.ops_see(&key, &format!("laporan/saldo?idoutlet={}", outlet.idoutlet)).await.ok()["baris"][0].clone();
    let of = |field: &str| saldo[field].as_i64().unwrap();
    assert_eq!(
        (of("topup"), of("penarikan"), of("hangus"), of("saldo_awal"), of("saldo_akhir")),
        (70_000, 40_000, 10_000, 0, 20_000)
    );
    assert_eq!((of("batal"), of("terpakai"), of("dikembalikan")), (0, 0, 0));
    let summary = app.ops_see(&key, &format!("ringkasan?idoutlet={}", outlet.idoutlet)).await.ok();
    assert_eq!(
        (&summary["saldo_beredar"], &summary["saldo"]["perubahan"], &summary["batal"]),
        (&json!(20_000), &json!(20_000), &json!(0))
    );
}

#[actix_web::test]
async fn each_refusal_has_its_place() {
    let counter = counter().await;
    let PayoutTill { app, outlet, rina, hadi, siti } = &counter;
    let without_shift =
        app.clerk(&app.till(outlet.idoutlet).await, "Dewi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    counter.pay(rina, 1, 1).await.expect(403, "perlu persetujuan supervisor");
    counter.pay(&without_shift, 1, 1).await.expect(409, "shift belum dibuka");
    app.ask(&without_shift, "tarik/hitung", &json!({"qr": counter.code()})).await.expect(409, "shift belum dibuka");
    counter.pay(hadi, 1, 1).await.expect(404, "E-Pay tidak ditemukan");
    counter.count().await.expect(404, "E-Pay tidak ditemukan");
    let by_number = json!({"telp": siti.telp, "dibayar": 1, "hangus": 0});
    let negative = json!({"qr": counter.code(), "dibayar": -1, "hangus": 0});
    for body in [by_number, negative] {
        assert_eq!(app.ask(hadi, "tarik", &body).await.status, 400, "{body}");
    }
    app.ask(hadi, "tarik", &json!({"qr": "NYC1.salah", "dibayar": 1, "hangus": 0}))
        .await
        .expect(422, "itu bukan kode QR pelanggan Nyala");
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&key, "tarik", &counter.body(1, 0)).await.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");

    // The account of another outlet, of the same owner too, is not paid out here.
    let other = app.outlet_of(outlet.idowner, "Kenanga").await;
    app.funded(siti, other, 70_000).await;
    counter.count().await.expect(404, "E-Pay tidak ditemukan");

    let idcustomer = counter.sold(60_000, 60_000).await;
    let epay = counter.epay(idcustomer).await;
    let machine = app.machine(*outlet, "Mesin 1").await;
    let held = app.hold(epay, &machine, &receipt(1)).await;
    for _ in 0..2 {
        counter.count().await.expect(409, "masih ada mesin yang belum selesai");
        counter.pay(hadi, 50_000, 0).await.expect(409, "masih ada mesin yang belum selesai");
        app.db.execute("UPDATE snap_transaksi SET state = 'UNSURE'", &[]).await.unwrap();
    }
    app.started(&held).await;
    counter.pay(hadi, 50_000, 0).await.expect(409, "masih ada mesin yang belum selesai");
    app.finished(&held).await;
    counter.pay(hadi, 60_000, 0).await.expect(409, "jumlah berubah, hitung lagi");
    counter.pay(hadi, 50_000, 1).await.expect(409, "jumlah berubah, hitung lagi");
    app.ask(hadi, "shift/kas", &json!({"jenis": "setor", "nominal": 150_000, "alasan": "bank"})).await.ok();
    counter.pay(hadi, 50_000, 0).await.expect(422, "uang di laci tidak cukup");
    assert_eq!(counter.count().await.ok()["dibayar"], 50_000, "the drawer is not asked");

    let past = app.now().plus_ms(-1);
    app.db
        .execute("UPDATE quota_emoney SET jenis_emoney = 1, masa_aktif = $1 WHERE idcustomer = $2", &[&past, &idcustomer])
        .await
        .unwrap();
    counter.pay(hadi, 50_000, 0).await.expect(422, "saldo ini sudah kedaluwarsa");
    let bonus_only = app.register_customer("81234567891", "Budi", "Santoso").await;
    let free = app.funded(&bonus_only, *outlet, 15_000).await;
    app.db.execute("UPDATE pembelian_emoney SET harga_paket = 10000 WHERE idcustomer = $1", &[&free.idcustomer]).await.unwrap();
    app.used(free, &machine, &receipt(2)).await;
    let body = json!({"qr": app.code_of(bonus_only.id), "dibayar": 0, "hangus": 5_000});
    app.ask(hadi, "tarik", &body).await.expect(422, "tidak ada saldo yang bisa ditarik");
    assert_eq!(app.balance(free.idcustomer).await, 5_000, "nothing is forfeited");
    app.assert_sound().await;
}

#[actix_web::test]
async fn a_kasir_needs_an_approval_of_just_that_amount() {
    let counter = counter().await;
    let PayoutTill { app, rina, hadi, .. } = &counter;
    let idcustomer = counter.sold(40_000, 50_000).await;
    let pay = async |izin: &str| {
        app.ask_with(rina, &uuid::Uuid::new_v4().to_string(), Some(izin), "tarik", &counter.body(40_000, 10_000)).await
    };
    let other = app.yes(rina, hadi, &Act::payout(WalletId::new(idcustomer), 50_000)).await;
    pay(&other).await.expect(403, "persetujuan tidak berlaku");
    let izin = app.approval(rina, hadi.person, "246810", "tarik", &format!("{idcustomer}:40000")).await;
    pay(&izin).await.ok();
    pay(&izin).await.expect(403, "persetujuan tidak berlaku");
    let sql = "SELECT isi ->> 'disetujui' FROM audit_log WHERE aksi = 'tarik'";
    assert_eq!(app.db.query_one(sql, &[]).await.unwrap().get::<_, String>(0), format!("operator:{}", hadi.person));
    app.assert_sound().await;
}

#[actix_web::test]
async fn a_refund_after_a_payout_is_balance_again() {
    let counter = counter().await;
    let PayoutTill { app, outlet, hadi, .. } = &counter;
    let idcustomer = counter.sold(30_000, 40_000).await;
    let used = app.used(counter.epay(idcustomer).await, &app.machine(*outlet, "Mesin 1").await, &receipt(1)).await;
    counter.pay(hadi, 20_000, 10_000).await.ok();
    app.ask(hadi, "refund", &json!({"idtransaksi": used.receipt, "idcustomer": idcustomer, "nominal": 4_000, "alasan": "bocor"}))
        .await
        .ok();
    let counted = counter.count().await.ok();
    assert_eq!((&counted["dibayar"], &counted["hangus"]), (&json!(4_000), &json!(0)));
    counter.pay(hadi, 4_000, 0).await.ok();
    app.assert_sound().await;
}

/// What was paid out decides nothing any more: the next top-up gives the account its kind, and a later reversal does not bring the old one back.
#[actix_web::test]
async fn an_emptied_account_takes_the_kind_of_the_next_top_up() {
    let counter = counter().await;
    let PayoutTill { app, outlet, hadi, siti, .. } = &counter;
    let until = app.now().plus_ms(30 * 86_400_000).ms();
    let dated = |nominal: i64| json!({"id_customer_global": siti.id, "idoutlet": outlet.idoutlet, "nominal": nominal, "jenis_emoney": 1, "masa_aktif": until, "ulang": true});
    app.ask(hadi, "topup", &dated(10_000)).await.ok();
    counter.pay(hadi, 10_000, 0).await.ok();
    let kind = async || -> (i16, bool) {
        let row = app.db.query_one("SELECT jenis_emoney, masa_aktif IS NULL FROM quota_emoney", &[]).await.unwrap();
        (row.get(0), row.get(1))
    };
    assert_eq!(kind().await, (1, false), "nothing changes before the next top-up");
    counter.sold(20_000, 20_000).await;
    assert_eq!(kind().await, (2, true));
    let wrong = json!({"id_customer_global": siti.id, "idoutlet": outlet.idoutlet, "nominal": 5_000});
    let wrong = app.ask(hadi, "topup", &wrong).await.ok()["idpembelian_emoney"].as_str().unwrap().to_owned();
    app.ask(hadi, &format!("topup/{wrong}/batal"), &json!({"alasan": "salah"})).await.ok();
    assert_eq!(kind().await, (2, true));
    app.assert_sound().await;
}

#[actix_web::test]
async fn payouts_at_once_pay_once() {
    let counter = counter().await;
    let PayoutTill { app, outlet, rina, hadi, .. } = &counter;
    let elsewhere = app.seller(*outlet).await;
    let there = app.at(&elsewhere.till, hadi.person).await;
    let idcustomer = counter.sold(40_000, 50_000).await;
    let answers = join_all((0..20).map(|n| counter.pay(if n % 2 == 0 { hadi } else { &there }, 40_000, 10_000))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.expect(422, "tidak ada saldo yang bisa ditarik");
    }
    let drawers = app.drawer(&rina.till).await + app.drawer(&elsewhere.till).await;
    assert_eq!((drawers, app.balance(idcustomer).await), (200_000, 0));
    app.assert_sound().await;
}

/// The customer pays with the balance, or gets it in cash, and never both.
#[actix_web::test]
async fn a_payout_and_a_purchase_at_once_move_the_balance_once() {
    let app = Setup::new().running_clock().start().await;
    let shop = app.shop(1_800).await;
    let rina = app.seller(shop.outlet).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let idcustomer = app.epay(&siti, shop.outlet, None).await.idcustomer;
    let sale = json!({"id_customer_global": siti.id, "idoutlet": shop.outlet.idoutlet, "nominal": PRICE, "ulang": true});
    let (mut sold, mut paid) = (0, 0);
    for n in 1..=12 {
        app.ask(&hadi, "topup", &sale).await.ok();
        sold += 1;
        let machine = app.machine(shop.outlet, &format!("Mesin {n}")).await;
        let order = buy(n, Shop { idmesin: machine.idmesin, ..shop }, idcustomer);
        let body = json!({"qr": app.code_of(siti.id), "dibayar": PRICE, "hangus": 0});
        let (payout, purchase) = join(app.ask(&hadi, "tarik", &body), app.buy(&siti, &order)).await;
        let outcome = format!("{payout:?} {purchase:?}");
        assert_eq!(usize::from(payout.status == 200) + usize::from(purchase.status == 200), 1, "{outcome}");
        assert_eq!(app.balance(idcustomer).await, 0, "{outcome}");
        paid += i64::from(payout.status == 200);
        // The next round finds no open purchase.
        app.db.execute("UPDATE snap_transaksi SET ends_at = started_at WHERE state = 'RUNNING'", &[]).await.unwrap();
        if purchase.status == 200 {
            app.until(&order.receipt, "FINISHED").await;
        }
    }
    assert_eq!(app.drawer(&rina.till).await, 100_000 + (sold - paid) * PRICE);
    app.assert_sound().await;
}

/// The cash belongs to the shift that was counted with it, or there was none.
#[actix_web::test]
async fn a_payout_that_meets_the_count_is_counted_or_refused() {
    let counter = counter().await;
    let PayoutTill { app, outlet, rina, hadi, .. } = &counter;
    for _ in 0..6 {
        counter.sold(10_000, 10_000).await;
        let (payout, closed) =
            join(counter.pay(hadi, 10_000, 0), app.ask(rina, "shift/tutup", &json!({"dihitung": 100_000}))).await;
        let expected = closed.ok()["diharapkan"].as_i64().unwrap();
        if payout.status == 200 {
            assert_eq!(expected, 100_000);
        } else {
            payout.expect(409, "shift belum dibuka");
            assert_eq!(expected, 110_000);
        }
        app.open_shift(rina, *outlet).await;
        if payout.status != 200 {
            counter.pay(hadi, 10_000, 0).await.ok();
            app.ask(rina, "shift/kas", &json!({"jenis": "masuk", "nominal": 10_000, "alasan": "koin"})).await.ok();
        }
    }
    app.assert_sound().await;
}

#[actix_web::test]
async fn nothing_is_paid_out_while_an_older_server_is_alive() {
    let counter = counter().await;
    let PayoutTill { app, hadi, .. } = &counter;
    counter.sold(10_000, 10_000).await;
    app.older_server_is_alive(true).await;
    counter.count().await.expect(503, "layanan sedang sibuk, coba lagi");
    counter.pay(hadi, 10_000, 0).await.expect(503, "layanan sedang sibuk, coba lagi");
    app.older_server_is_alive(false).await;
    counter.pay(hadi, 10_000, 0).await.ok();
    let knows: i32 = app.db.query_one("SELECT knows FROM oldest_program", &[]).await.unwrap().get(0);
    assert_eq!(knows, 20_270_104, "a program that cannot read it does not start any more");
}

#[actix_web::test]
async fn the_customers_phone_gets_one_push_of_a_payout() {
    let service = PushService::start();
    let counter = counter_of(service.setup().start().await).await;
    let PayoutTill { app, hadi, siti, .. } = &counter;
    let phone = service.browser("phone");
    app.subscribe(siti, &phone).await.ok();
    counter.sold(40_000, 50_000).await;
    counter.pay(hadi, 40_000, 9_999).await.expect(409, "jumlah berubah, hitung lagi");
    counter.pay(hadi, 40_000, 10_000).await.ok();
    let message = phone.open(&service.until(1).await);
    let fields = ["judul", "isi", "tuju"].map(|key| message[key].clone());
    assert_eq!(fields, [json!("Saldo ditarik di kasir"), json!("Lihat Riwayat"), json!("/riwayatPage")]);
    app.all_pushed().await;
    assert_eq!(service.given().len(), 1, "once, and nothing of the bonus or of the refusal");
}

#[actix_web::test]
async fn the_audit_finds_a_payout_of_bonus() {
    let counter = counter().await;
    let PayoutTill { app, hadi, .. } = &counter;
    counter.sold(40_000, 50_000).await;
    let id = counter.pay(hadi, 40_000, 10_000).await.ok()["idpenarikan"].as_i64().unwrap();
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    let broken = async |sql: &str| {
        app.db.batch_execute("BEGIN").await.unwrap();
        app.db.batch_execute(sql).await.unwrap();
        let replayed = paid::broken(&app.db).await.unwrap();
        let rules = app.db.query("SELECT aturan || ': ' || kunci FROM pelanggaran", &[]).await.unwrap();
        app.db.batch_execute("ROLLBACK").await.unwrap();
        let rules = rules.iter().map(|row| row.get::<_, String>(0));
        rules.chain(replayed.into_iter().map(|(rule, id)| format!("{rule}: {id}"))).collect::<Vec<_>>()
    };
    let more = "UPDATE penarikan SET dibayar = 45000, hangus = 5000; UPDATE kas_gerak SET nominal = 45000 WHERE jenis = 'tarik';
        UPDATE ledger_transfer SET jumlah = 45000 WHERE kind = 'penarikan'; UPDATE ledger_transfer SET jumlah = 5000 WHERE kind = 'hangus'";
    assert_eq!(broken(more).await, [format!("penarikan melebihi yang dibayar: {id}")]);
    for sql in [
        "UPDATE kas_gerak SET nominal = 39999 WHERE jenis = 'tarik'",
        "DELETE FROM kas_gerak WHERE jenis = 'tarik'",
        "UPDATE penarikan SET hangus = 9999",
    ] {
        assert!(broken(sql).await.contains(&format!("penarikan tidak sesuai kas: {id}")), "{sql}");
    }
}
