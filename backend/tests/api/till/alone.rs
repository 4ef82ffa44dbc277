//! Sales to one customer without an approval: the limit within an hour, over all tills of an outlet (docs/till.md).

use futures_util::future::join_all;
use nyala_core::domain::role::Role;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::counter::{Counter, and, counter, counter_without_cap};
use crate::support::helpers::{Answer, TestApp};
use crate::till::rules::AtTill;

const NEEDS: &str = "di atas Rp 1.000.000 perlu persetujuan supervisor";

impl Counter {
    /// A sale by QRIS, confirmed as an intended repeat.
    fn qris(&self, nominal: i64) -> Value {
        and(and(self.sale(nominal), "cara_bayar", json!("qris")), "ulang", json!(true))
    }
}

/// Lets time pass without any session becoming idle.
async fn minutes(app: &TestApp, clerks: &[&AtTill], minutes: i64) {
    for _ in 0..minutes / 10 {
        app.advance_s(600);
        for clerk in clerks {
            app.see(clerk, "shift").await.ok();
        }
    }
}

fn id_of(made: &Answer) -> String {
    made.clone().ok()["idpembelian_emoney"].as_str().unwrap().to_owned()
}

#[actix_web::test]
async fn what_one_customer_is_sold_within_an_hour_counts_together() {
    let counter = counter_without_cap().await;
    let Counter { app, outlet, rina, siti } = &counter;
    let hadi = counter.supervisor().await;
    app.ask(rina, "topup", &counter.qris(600_000)).await.ok();
    app.advance_s(600);
    // Another kasir, another till, other means.
    let dewi = app.seller(*outlet).await;
    app.ask(&dewi, "topup", &counter.sale(400_001)).await.expect(403, NEEDS);
    app.ask(&dewi, "topup", &counter.sale(400_000)).await.ok();
    app.ask(rina, "topup", &counter.qris(1)).await.expect(403, NEEDS);
    // An approval is for this sale only, which does not count towards the limit.
    let yes = app.yes(rina, &hadi, &Act::top_up(siti.id, 900_000)).await;
    app.ask_with(rina, "a", None, "topup", &counter.qris(900_000)).await.expect(403, NEEDS);
    app.ask_with(rina, "a", Some(&yes), "topup", &counter.qris(900_000)).await.ok();
    app.ask(&hadi, "topup", &counter.qris(5_000_000)).await.ok();
    // The first one is an hour old.
    minutes(app, &[rina], 50).await;
    app.ask(rina, "topup", &counter.qris(600_001)).await.expect(403, NEEDS);
    app.ask(rina, "topup", &counter.qris(600_000)).await.ok();
    app.ask(rina, "topup", &counter.qris(1)).await.expect(403, NEEDS);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn other_customers_and_other_outlets_count_for_themselves() {
    let counter = counter().await;
    let Counter { app, rina, .. } = &counter;
    let elsewhere = app.outlet("Mawar").await;
    let joko = app.seller(elsewhere).await;
    let budi = app.register_customer("81234567899", "Budi", "Santoso").await;
    app.ask(rina, "topup", &counter.qris(1_000_000)).await.ok();
    app.ask(rina, "topup", &and(counter.qris(1_000_000), "id_customer_global", json!(budi.id))).await.ok();
    app.ask(&joko, "topup", &and(counter.qris(1_000_000), "idoutlet", json!(elsewhere.idoutlet))).await.ok();
    app.ask(rina, "topup", &counter.qris(1)).await.expect(403, NEEDS);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_was_reversed_does_not_count_and_what_a_program_sold_does() {
    let counter = counter_without_cap().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let made = app.ask(rina, "topup", &counter.qris(1_000_000)).await;
    app.ask(rina, "topup", &counter.qris(1_000)).await.expect(403, NEEDS);
    app.ask(&hadi, &format!("topup/{}/batal", id_of(&made)), &json!({ "alasan": "salah orang" })).await.ok();
    app.ask(rina, "topup", &counter.qris(400_000)).await.ok();
    // A kasir's API key has no such limit, but its sales count: they had no approval.
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    for _ in 0..2 {
        app.ops(&key, "topup", &counter.by_number(2_000_000)).await.ok();
    }
    app.ask(rina, "topup", &counter.qris(1_000)).await.expect(403, NEEDS);
    let supervisors = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    minutes(app, &[rina], 60).await;
    app.ops(&supervisors, "topup", &counter.sale(2_000_000)).await.ok();
    app.ask(rina, "topup", &counter.qris(1_000_000)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn five_tills_at_once_sell_a_million_once() {
    let counter = counter().await;
    let Counter { app, outlet, .. } = &counter;
    let tills = join_all((0..5).map(|_| app.seller(*outlet))).await;
    // The first sales also open the account.
    let million = counter.qris(1_000_000);
    let answers = join_all(tills.iter().map(|till| app.ask(till, "topup", &million))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.expect(403, NEEDS);
    }
    let cash = and(counter.sale(200_000), "ulang", json!(true));
    minutes(app, &tills.iter().collect::<Vec<_>>(), 60).await;
    let answers = join_all(tills.iter().chain(&tills).map(|till| app.ask(till, "topup", &cash))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 5);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn no_approval_is_asked_for_what_is_refused_anyway() {
    let counter = counter().await;
    let Counter { app, rina, .. } = &counter;
    let body = counter.sale(600_000);
    app.ask(rina, "topup", &body).await.ok();
    app.ask(rina, "topup", &body).await.expect(409, "top-up yang sama baru saja dibuat");
    app.ask(rina, "topup", &and(counter.sale(2_000_000), "idpaket", json!(4711))).await.expect(409, "harga paket berubah");
}

#[actix_web::test]
async fn a_shifts_sums_by_means_of_payment_are_shown_with_the_count() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let sold =
        async |means: &str, nominal: i64| app.ask(rina, "topup", &and(counter.sale(nominal), "cara_bayar", json!(means))).await;
    for (means, nominal) in [("tunai", 10_000), ("tunai", 20_000), ("qris", 300_000), ("qris", 1_000), ("transfer", 7_000)] {
        sold(means, nominal).await.ok();
    }
    let reversed = sold("transfer", 8_000).await;
    app.ask(&hadi, &format!("topup/{}/batal", id_of(&reversed)), &json!({ "alasan": "salah" })).await.ok();
    // Another till has another shift, which does not count.
    let dewi = app.seller(*outlet).await;
    app.ask(&dewi, "topup", &counter.qris(99_000)).await.ok();
    let sums = json!({ "tunai": 30_000, "qris": 301_000, "transfer": 7_000 });
    assert_eq!(app.see(&hadi, "shift").await.ok()["cara_bayar"], sums);
    assert_eq!(app.see(rina, "shift").await.ok()["cara_bayar"], Value::Null, "the count is blind");
    let ani = app.clerk(&rina.till, "Ani", Role::Owner, WorksFor::Owner(outlet.idowner)).await;
    assert_eq!(app.see(&ani, "shift").await.ok()["cara_bayar"], sums);
    let closed = app.ask(rina, "shift/tutup", &json!({ "dihitung": 130_000 })).await.ok();
    assert_eq!((&closed["selisih"], &closed["cara_bayar"]), (&json!(0), &sums));
    let empty = app.ask(&dewi, "shift/tutup", &json!({ "dihitung": 100_000 })).await.ok();
    assert_eq!(empty["cara_bayar"], json!({ "tunai": 0, "qris": 99_000, "transfer": 0 }));
    app.assert_no_violation().await;
}
