//! A top-up that came from a bill is taken back: the balance goes, and the money stays in the outlet's account (docs/qris.md).

use serde_json::{Value, json};

use super::notifications::signed;
use crate::ops::operator::Scope;
use crate::support::arrange::{Epay, receipt};
use crate::support::counter::Counter;
use crate::support::helpers::Answer;
use crate::till::rules::AtTill;

/// A bill of 50,000 rupiah that was paid, and its top-up.
struct PaidBill {
    counter: Counter,
    hadi: AtTill,
    id: String,
    topup: String,
}

impl PaidBill {
    async fn of(counter: Counter) -> Self {
        let hadi = counter.supervisor().await;
        let id = counter.bill(50_000).await;
        counter.app.pay(&id).await;
        let topup = counter.see(&id).await["idpembelian_emoney"].as_str().unwrap().to_owned();
        Self { counter, hadi, id, topup }
    }

    async fn reverse(&self, by: &AtTill) -> Answer {
        self.counter.app.ask(by, &format!("topup/{}/batal", self.topup), &json!({"alasan": "salah orang"})).await
    }

    async fn balance(&self) -> i64 {
        self.counter.app.insert("SELECT saldo FROM quota_emoney", &[]).await
    }

    /// The bill stays paid, and no report of the provider credits it once more.
    async fn stays_paid(&self) {
        let Counter { app, outlet, .. } = &self.counter;
        app.at_provider(&self.id, &json!({"aksi": "bayar", "kali": 3})).await.ok();
        app.notify("simulated", &signed(&self.id, "settlement", "200", "50000.00", "simulated")).await.expect(200, "OK");
        let seen = self.counter.see(&self.id).await;
        assert_eq!((&seen["status"], &seen["idpembelian_emoney"]), (&json!("dibayar"), &json!(self.topup)));
        assert_eq!((app.topups().await, self.balance().await), (1, 0));
        let report = app.ops_see(&app.key(Scope::Owner(outlet.idowner)).await, "laporan/qris").await.ok();
        let row = &report["baris"][0];
        assert_eq!((&row["status"], &row["jumlah_penyedia"]), (&json!("dibayar"), &json!(50_000)));
        app.assert_no_violation().await;
    }
}

#[actix_web::test]
async fn in_an_open_shift_it_leaves_the_drawer_as_it_is() {
    let paid = PaidBill::of(Counter::with_bills().await).await;
    let Counter { app, rina, siti, .. } = &paid.counter;
    assert_eq!(app.see(&paid.hadi, "shift").await.ok()["cara_bayar"]["qris"], 50_000);
    let done = paid.reverse(&paid.hadi).await.ok();
    assert_eq!((&done["saldo_akhir"], paid.balance().await), (&json!(0), 0));
    paid.reverse(&paid.hadi).await.expect(409, "top-up sudah dibatalkan");
    let shift = app.see(&paid.hadi, "shift").await.ok();
    assert_eq!((&shift["diharapkan"], &shift["cara_bayar"]["qris"]), (&json!(100_000), &json!(0)));
    assert_eq!(app.drawer(&rina.till).await, 100_000);
    let detail = app.get(&format!("/scan/v1/epayment/get_detail_batal/{}", paid.topup), Some(&siti.token)).await.ok();
    assert_eq!(detail["nominal_batal"], 50_000);
    let closed = app.ask(rina, "shift/tutup", &json!({"dihitung": 100_000})).await.ok();
    assert_eq!((&closed["diharapkan"], &closed["selisih"]), (&json!(100_000), &json!(0)));
    paid.stays_paid().await;
}

/// Paid in no shift, and taken back at a till without one: no drawer is needed for what never was cash.
#[actix_web::test]
async fn without_a_shift_it_needs_none() {
    let counter = Counter::with_bills().await;
    let hadi = counter.supervisor().await;
    let id = counter.bill(50_000).await;
    counter.app.ask(&counter.rina, "shift/tutup", &json!({"dihitung": 100_000})).await.ok();
    counter.app.pay(&id).await;
    let topup = counter.see(&id).await["idpembelian_emoney"].as_str().unwrap().to_owned();
    assert_eq!(counter.app.insert("SELECT count(*) FROM pembelian_emoney WHERE idshift IS NULL", &[]).await, 1);
    let paid = PaidBill { counter, hadi, id, topup };
    let done = paid.reverse(&paid.hadi).await.ok();
    assert_eq!(done["saldo_akhir"], 0);
    let cash = "SELECT count(*) FROM kas_gerak WHERE idpembelian_emoney IS NOT NULL";
    assert_eq!(paid.counter.app.insert(cash, &[]).await, 0);
    paid.stays_paid().await;
    paid.counter.app.open_shift(&paid.counter.rina, paid.counter.outlet).await;
    assert_eq!(paid.counter.app.drawer(&paid.counter.rina.till).await, 100_000);
}

/// A payment that came in the meantime is not cash either: it pays out what the customer has, and never the drawer's difference.
#[actix_web::test]
async fn what_was_spent_or_paid_out_of_it_is_not_taken_back() {
    let paid = PaidBill::of(Counter::with_bills().await).await;
    let Counter { app, rina, outlet, siti } = &paid.counter;
    let machine = app.machine(*outlet, "Mesin 1").await;
    let epay = Epay {
        idcustomer: app.insert_id("SELECT idcustomer FROM customer", &[]).await,
        id_customer_global: siti.id,
        outlet: *outlet,
        idakun: app.insert("SELECT idakun FROM quota_emoney", &[]).await,
    };
    app.used(epay, &machine, &receipt(1)).await;
    paid.reverse(&paid.hadi).await.expect(422, "saldo sudah terpakai");
    // The money came by QRIS, and leaves in cash.
    let payout = json!({"qr": app.code_of(siti.id), "dibayar": 40_000, "hangus": 0});
    app.ask(&paid.hadi, "tarik", &payout).await.ok();
    assert_eq!((app.drawer(&rina.till).await, paid.balance().await), (60_000, 0));
    paid.reverse(&paid.hadi).await.expect(422, "saldo sudah terpakai");
    assert_eq!(paid.counter.see(&paid.id).await["idpembelian_emoney"], Value::String(paid.topup.clone()));
    app.assert_sound().await;
}
