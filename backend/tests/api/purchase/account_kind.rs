//! The kind and the expiry of an account, set by top-ups that are not reversed and by refunds (docs/contract.md §4).

use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::Outlet;
use crate::support::counter::{Counter, TELP, and, counter};
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{PRICE, Shop, buy};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

struct KindShop {
    app: TestApp,
    outlet: Outlet,
    boss: String,
    kasir: String,
}

impl KindShop {
    async fn open() -> Self {
        let app = TestApp::spawn().await;
        let outlet = app.outlet("Melati").await;
        let (boss, kasir) = (app.key(Scope::Supervisor(outlet.idoutlet)).await, app.key(Scope::Kasir(outlet.idoutlet)).await);
        app.register_customer(TELP, "Siti", "Rahma").await;
        Self { app, outlet, boss, kasir }
    }

    fn sale(&self, nominal: i64) -> Value {
        json!({"telp": TELP, "idoutlet": self.outlet.idoutlet, "nominal": nominal})
    }

    fn dated(&self, nominal: i64, days: i64) -> Value {
        and(and(self.sale(nominal), "jenis_emoney", json!(1)), "masa_aktif", json!(self.in_days(days)))
    }

    fn in_days(&self, days: i64) -> i64 {
        self.app.now().ms() + days * DAY_MS
    }

    /// Its `idpembelian_emoney`.
    async fn sell(&self, body: &Value) -> String {
        self.app.ops(&self.boss, "topup", body).await.ok()["idpembelian_emoney"].as_str().unwrap().to_owned()
    }

    async fn reverse(&self, id: &str) {
        self.app.ops(&self.boss, &format!("topup/{id}/batal"), &json!({"alasan": "salah"})).await.ok();
    }

    async fn paket(&self, price: i64, days: Option<i64>) -> i64 {
        let body =
            json!({"idoutlet": self.outlet.idoutlet, "nama": "Hemat", "harga": price, "quota": price, "berlaku_hari": days});
        self.app.ops(&self.boss, "paket", &body).await.ok()["idpaket"].as_i64().unwrap()
    }

    /// Kind and expiry.
    async fn kind(&self) -> (i16, Option<i64>) {
        kind(&self.app).await
    }
}

async fn kind(app: &TestApp) -> (i16, Option<i64>) {
    let row = app.db.query_one("SELECT jenis_emoney, masa_aktif FROM quota_emoney", &[]).await.unwrap();
    (row.get(0), row.get::<_, Option<Timestamp>>(1).map(Timestamp::ms))
}

const OTHER_KIND: &str = "rekening E-Pay di outlet itu berjenis lain";
const EXPIRED: &str = "saldo di outlet itu sudah kedaluwarsa, pilih paket yang punya masa berlaku";

#[actix_web::test]
async fn a_reversal_takes_back_the_expiry_too() {
    let shop = KindShop::open().await;
    let first = shop.in_days(1);
    shop.sell(&shop.dated(50_000, 1)).await;
    shop.app.advance_s(2 * DAY_MS / 1000);
    let revived = shop.sell(&shop.dated(1, 365)).await;
    assert_eq!(shop.kind().await, (1, Some(shop.in_days(365))));
    shop.reverse(&revived).await;
    assert_eq!(shop.kind().await, (1, Some(first)));
    // The top-up in between is not reversed and counts.
    let (between, later) = (shop.in_days(30), shop.dated(1_000, 60));
    shop.sell(&shop.dated(1_000, 30)).await;
    let later = shop.sell(&later).await;
    shop.reverse(&later).await;
    assert_eq!(shop.kind().await, (1, Some(between)));
    shop.app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_account_in_which_nothing_stands_takes_the_kind_of_the_next() {
    let shop = KindShop::open().await;
    let wrong = shop.sell(&shop.dated(10_000, 365)).await;
    shop.reverse(&wrong).await;
    let plain = shop.app.ops(&shop.kasir, "topup", &shop.sale(20_000)).await.ok();
    assert_eq!(shop.kind().await, (2, None));
    shop.app.ops(&shop.boss, "topup", &shop.dated(1_000, 1)).await.expect(409, OTHER_KIND);
    shop.reverse(plain["idpembelian_emoney"].as_str().unwrap()).await;
    let until = shop.in_days(3);
    shop.sell(&shop.dated(1_000, 3)).await;
    assert_eq!(shop.kind().await, (1, Some(until)), "nothing is left of the one that was reversed");
    shop.app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_top_ups_of_before_gave_stays() {
    let shop = KindShop::open().await;
    let siti = shop.app.insert("SELECT id FROM customer_global", &[]).await;
    let had = shop.app.now().plus_ms(5 * DAY_MS);
    shop.sell(&shop.dated(50_000, 5)).await;
    // Rows as an older program wrote them.
    shop.app.db.batch_execute("UPDATE pembelian_emoney SET jenis_emoney = NULL, masa_aktif = NULL; UPDATE quota_emoney SET jenis_dulu = NULL, masa_aktif_dulu = NULL, topup_at = NULL").await.unwrap();
    let far = shop.sell(&shop.dated(1_000, 50)).await;
    let farther = shop.sell(&shop.dated(1_000, 90)).await;
    shop.reverse(&farther).await;
    assert_eq!(shop.kind().await, (1, Some(shop.in_days(50))));
    shop.reverse(&far).await;
    assert_eq!(shop.kind().await, (1, Some(had.ms())), "of customer {siti}");
}

#[actix_web::test]
async fn packages_and_outlets_set_the_expiry() {
    let shop = KindShop::open().await;
    let (lasting, month) = (shop.paket(10_000, None).await, shop.paket(20_000, Some(30)).await);
    let sale = |nominal, paket: i64| and(shop.sale(nominal), "idpaket", json!(paket));
    let only = "masa aktif hanya dari paket";
    for body in [
        shop.dated(1_000, 365),
        and(and(sale(20_000, month), "jenis_emoney", json!(1)), "masa_aktif", json!(shop.in_days(30))),
        and(sale(20_000, month), "jenis_emoney", json!(2)),
    ] {
        shop.app.ops(&shop.kasir, "topup", &body).await.expect(403, only);
    }
    let until = shop.in_days(30);
    shop.app.ops(&shop.kasir, "topup", &and(sale(20_000, month), "jenis_emoney", json!(1))).await.ok();
    assert_eq!(shop.kind().await, (1, Some(until)));
    // A plain sale keeps the expiry, in each of the three forms of a plain sale.
    shop.app.advance_s(DAY_MS / 1000);
    for body in [sale(10_000, lasting), shop.sale(5_000), and(shop.sale(6_000), "jenis_emoney", json!(2))] {
        shop.app.ops(&shop.kasir, "topup", &body).await.ok();
        assert_eq!(shop.kind().await, (1, Some(until)));
    }
    shop.app.advance_s(30 * DAY_MS / 1000);
    for key in [&shop.kasir, &shop.boss] {
        shop.app.ops(key, "topup", &shop.sale(7_000)).await.expect(409, EXPIRED);
    }
    let again = shop.in_days(30);
    shop.app.ops(&shop.kasir, "topup", &sale(20_000, month)).await.ok();
    assert_eq!(shop.kind().await, (1, Some(again)));
    let path = format!("paket/{month}");
    shop.app.ops(&shop.boss, &path, &json!({"nama": "Bulanan"})).await.ok();
    assert_eq!(shop.app.insert("SELECT berlaku_hari::BIGINT FROM paket WHERE idpaket = $1", &[&month]).await, 30);
    shop.app.ops(&shop.boss, &path, &json!({"berlaku_hari": null})).await.ok();
    assert_eq!(shop.app.insert("SELECT count(*) FROM paket WHERE berlaku_hari IS NULL", &[]).await, 2);
    for days in [json!(0), json!(-1), json!(3651), json!("7"), json!(1.5)] {
        assert_eq!(shop.app.ops(&shop.boss, &path, &json!({"berlaku_hari": days})).await.status, 400);
    }
    shop.app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_outlet_sets_the_validity_of_a_sale_without_a_package() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let owner = app.ops(&root, "owner", &json!({"nama": "Bu Ani"})).await.ok()["idowner"].clone();
    let place = |days: Value| json!({"idowner": owner, "nama": "Melati", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6, "berlaku_hari": days});
    for days in [json!(0), json!(3651), json!("7")] {
        assert_eq!(app.ops(&root, "outlet", &place(days)).await.status, 400);
    }
    let outlet = app.ops(&root, "outlet", &place(json!(90))).await.ok()["idoutlet"].as_i64().unwrap();
    app.register_customer(TELP, "Siti", "Rahma").await;
    let kasir = app.key(Scope::Kasir(OutletId::new(outlet))).await;
    let sale = json!({"telp": TELP, "idoutlet": outlet, "nominal": 1000});
    app.ops(&kasir, "topup", &and(sale.clone(), "jenis_emoney", json!(2))).await.expect(403, "masa aktif hanya dari paket");
    app.ops(&kasir, "topup", &sale).await.ok();
    assert_eq!(kind(&app).await, (1, Some(app.now().ms() + 90 * DAY_MS)));
}

#[actix_web::test]
async fn a_till_lists_what_it_cannot_sell_before_cash_changes_hands() {
    let counter = counter().await;
    let Counter { app, rina, outlet, .. } = &counter;
    let boss = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let cari = json!({"telp": TELP});
    let none = app.ask(rina, "pelanggan/cari", &cari).await.ok();
    assert_eq!((&none["rekening"], &none["ditolak"]), (&Value::Null, &json!([])));
    let package = |days: Option<i64>| json!({"idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 10_000, "quota": 11_000, "berlaku_hari": days});
    let lasting = app.ops(&boss, "paket", &package(None)).await.ok()["idpaket"].clone();
    let week = app.ops(&boss, "paket", &package(Some(7))).await.ok()["idpaket"].clone();
    let until = app.now().ms() + 7 * DAY_MS;
    app.ask(rina, "topup", &and(counter.sale(10_000), "idpaket", week.clone())).await.ok();
    let found = app.ask(rina, "pelanggan/cari", &cari).await.ok();
    assert_eq!((&found["rekening"]["jenis_emoney"], &found["rekening"]["masa_aktif"]), (&json!(1), &json!(until)));
    assert_eq!(found["ditolak"], json!([]), "an expiring account can be sold into");
    let past = app.now().plus_ms(-1);
    app.db.execute("UPDATE quota_emoney SET masa_aktif = $1", &[&past]).await.unwrap();
    let found = app.ask(rina, "pelanggan/cari", &cari).await.ok();
    let refused = json!([{"idpaket": null, "sebab": EXPIRED}, {"idpaket": lasting, "sebab": EXPIRED}]);
    assert_eq!(found["ditolak"], refused);
    app.ask(rina, "topup", &counter.sale(12_000)).await.expect(409, EXPIRED);
    app.assert_no_violation().await;
    let id = app.insert("SELECT max(id) FROM pembelian_emoney", &[]).await;
    app.db.execute("UPDATE quota_emoney SET jenis_emoney = 2, masa_aktif = NULL", &[]).await.unwrap();
    let found = app.ask(rina, "pelanggan/cari", &cari).await.ok();
    assert_eq!(found["ditolak"], json!([{"idpaket": week, "sebab": OTHER_KIND}]), "after top-up {id}");
}

/// A shop, and a customer whose balance expires after `good_for_ms`.
async fn washing(setup: Setup, good_for_ms: i64) -> (TestApp, Shop, Customer, i64, String) {
    let app = setup.with(|c| (c.mesin.sim_min_ms, c.mesin.sim_max_ms) = (0, 5)).start().await;
    let place = app.shop(600).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let boss = app.key(Scope::Supervisor(place.outlet.idoutlet)).await;
    let body = json!({"telp": TELP, "idoutlet": place.outlet.idoutlet, "nominal": 5 * PRICE, "jenis_emoney": 1, "masa_aktif": app.now().ms() + good_for_ms});
    let epay = app.ops(&boss, "topup", &body).await.ok()["idcustomer"].as_i64().unwrap();
    (app, place, siti, epay, boss)
}

#[actix_web::test]
async fn money_that_comes_back_too_late_is_good_for_a_week_once_after_each_top_up() {
    let (app, place, siti, epay, boss) = washing(Setup::new(), DAY_MS).await;
    let order = buy(1, place, epay);
    app.buy(&siti, &order).await.ok();
    let refund = json!({"idtransaksi": order.receipt, "nominal": 1_000, "alasan": "mesin bocor"});
    let in_time = app.ops(&boss, "refund", &refund).await.ok();
    assert_eq!(in_time["berlaku_sampai"], Value::Null);
    app.advance_s(2 * DAY_MS / 1000);
    let week = app.now().plus_ms(7 * DAY_MS);
    assert_eq!(app.ops(&boss, "refund", &refund).await.ok()["berlaku_sampai"], week.rfc3339());
    assert_eq!(kind(&app).await, (1, Some(week.ms())));
    app.ops(&boss, "topup", &json!({"telp": TELP, "idoutlet": place.outlet.idoutlet, "nominal": 1000, "jenis_emoney": 2}))
        .await
        .expect(409, OTHER_KIND);
    // The week is granted once; a top-up that is reversed does not grant it again.
    app.advance_s(8 * DAY_MS / 1000);
    assert_eq!(app.ops(&boss, "refund", &refund).await.ok()["berlaku_sampai"], Value::Null);
    let dated = |days: i64| json!({"telp": TELP, "idoutlet": place.outlet.idoutlet, "nominal": 1000, "jenis_emoney": 1, "masa_aktif": app.now().ms() + days * DAY_MS});
    let made = app.ops(&boss, "topup", &dated(1)).await.ok();
    let id = made["idpembelian_emoney"].as_str().unwrap();
    app.ops(&boss, &format!("topup/{id}/batal"), &json!({"alasan": "salah"})).await.ok();
    assert_eq!(kind(&app).await, (1, Some(week.ms())), "what came back stays");
    assert_eq!(app.ops(&boss, "refund", &refund).await.ok()["berlaku_sampai"], Value::Null);
    app.ops(&boss, "topup", &dated(1)).await.ok();
    app.advance_s(2 * DAY_MS / 1000);
    let again = app.now().plus_ms(7 * DAY_MS);
    let deletion = json!({"idtransaksi": order.receipt, "alasan": "mesin bocor"});
    assert_eq!(app.ops(&boss, "hapus", &deletion).await.ok()["berlaku_sampai"], again.rfc3339());
    assert_eq!(kind(&app).await, (1, Some(again.ms())));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_hold_released_after_the_expiry_reports_the_new_expiry() {
    let (app, place, siti, epay, _) = washing(Setup::new().running_clock(), 60_000).await;
    app.fault(place, Mode::Silent).await;
    let order = buy(1, place, epay);
    app.buy(&siti, &order).await.expect(504, "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala");
    app.until(&order.receipt, "UNSURE").await;
    app.advance_s(15 * 60);
    app.until(&order.receipt, "EXPIRED").await;
    let (kind, until) = kind(&app).await;
    let until = Timestamp::from_ms(until.unwrap());
    assert!(kind == 1 && until > app.now().plus_ms(7 * DAY_MS - 60_000) && until <= app.now().plus_ms(7 * DAY_MS), "{until:?}");
    let good_until: String = app
        .db
        .query_one("SELECT to_char($1::TIMESTAMPTZ AT TIME ZONE 'Asia/Jakarta', 'DD/MM/YYYY HH24:MI')", &[&until])
        .await
        .unwrap()
        .get(0);
    app.buy(&siti, &order)
        .await
        .expect(409, &format!("mesin gagal dinyalakan, saldo dikembalikan dan berlaku sampai {good_until}"));
    app.assert_no_violation().await;
}
