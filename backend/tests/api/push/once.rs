//! One push per purchase and browser, no matter which process commits the end and which server sends it.

use actix_web::rt::time::sleep;
use futures_util::future::{join, join_all};
use nyala_core::domain::id::MachineId;
use nyala_core::purchase::device::{ReportedRun, Sensor, StateReport};
use nyala_core::purchase::step::Change;
use nyala_ledger::push_queue;
use nyala_machines::device::record::record;
use nyala_machines::device::sim::Mode;
use nyala_store::db::{lock, prune};

use super::service::PushService;
use super::{TELP, Wash, commit};
use crate::support::helpers::{Customer, Setup};
use crate::support::shop::{PRICE, buy};

const MINUTE_MS: i64 = 60_000;

#[actix_web::test]
async fn an_end_that_many_commit_is_pushed_once() {
    let wash = Wash::open().await;
    let app = &wash.app;
    let run = wash.orphan(1).await;
    let later = app.now().plus_ms(30 * MINUTE_MS);
    let ends = [Change::Finish, Change::Stop { ends_at: later }, Change::Finish, Change::Finish];
    let done = join_all(ends.map(|change| commit(app, run.id, change, later))).await;
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    app.advance_s(30 * 60);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    assert_eq!(wash.queued("menunggu").await, 1);
}

#[actix_web::test]
async fn what_a_server_took_and_never_sent_another_one_sends() {
    let wash = Wash::open().await;
    let (service, app) = (&wash.service, &wash.app);
    wash.run(1).await;
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    // A server claims the reminder and dies.
    let client = app.state.store.get().await.unwrap();
    let due = app.now().plus_ms(10 * MINUTE_MS);
    assert_eq!(push_queue::claim(&client, due, 10, due.plus_ms(MINUTE_MS)).await.unwrap().len(), 1);
    assert!(push_queue::claim(&client, due, 10, due.plus_ms(MINUTE_MS)).await.unwrap().is_empty(), "it is that server's");
    drop(client);
    app.advance_s(10 * 60 + 59);
    assert_eq!(wash.sent_titles().await.len(), 1);
    app.advance_s(1);
    service.until(2).await;
    assert_eq!(wash.sent_titles().await, ["Cucian selesai", "Cucian menunggu"]);
}

#[actix_web::test]
async fn of_two_servers_one_sends_each() {
    let service = PushService::start();
    let one_of = |name: &'static str| -> Setup {
        service.setup().running_clock().with(|config| {
            config.cluster.enabled = true;
            config.cluster.name = name.to_owned();
        })
    };
    let first = one_of("n1").start().await;
    let second = one_of("n2").start_beside(&first).await;
    let siti = first.register_customer(TELP, "Siti", "Rahmawati").await;
    let browsers: Vec<_> = (0..10).map(|n| service.browser(&format!("b{n}"))).collect();
    assert_eq!(first.push_key(&siti).await, second.push_key(&siti).await, "one key, of the secrets that they share");
    for browser in &browsers {
        second.subscribe(&siti, browser).await.ok();
    }
    let outlet = first.outlet("Melati").await;
    let epay = first.funded(&siti, outlet, 100 * PRICE).await;
    for n in 1..=10 {
        let machine = first.machine(outlet, &format!("Mesin {n}")).await;
        let run = first.running(epay, &machine, n).await;
        let stop = Change::Stop { ends_at: first.now() };
        assert!(commit(if n % 2 == 0 { &first } else { &second }, run.id, stop, first.now()).await);
    }
    service.until(100).await;
    while first.insert("SELECT count(*) FROM push WHERE sebab = 'selesai'", &[]).await > 0 {
        sleep(std::time::Duration::from_millis(5)).await;
    }
    let given = service.given();
    assert_eq!(given.len(), 100);
    for browser in &browsers {
        let own = given.iter().filter(|one| browser.endpoint.ends_with(&one.path));
        let tags: std::collections::BTreeSet<_> = own.map(|one| browser.open(one)["tanda"].to_string()).collect();
        assert_eq!(tags.len(), 10, "each purchase once");
    }
}

#[actix_web::test]
async fn a_purchase_waits_for_nobody_who_subscribes_or_logs_out() {
    let wash = Wash::open().await;
    let (other, _) = lock::connect(wash.app.state.store.db.config()).await.unwrap();
    other.batch_execute("BEGIN; SELECT FROM customer_global FOR NO KEY UPDATE; DELETE FROM langganan_push").await.unwrap();
    wash.run(1).await;
    assert_eq!(wash.queued("menunggu").await, 1);
    wash.app.fault(wash.shop, Mode::Refuse).await;
    let refused = buy(2, wash.shop, wash.epay);
    wash.app.buy(&wash.siti, &refused).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    other.batch_execute("COMMIT").await.unwrap();
}

/// One of two phones with the same token logs out while the other subscribes.
#[actix_web::test]
async fn a_logout_leaves_no_subscription_in_either_order() {
    let wash = Wash::open().await;
    let Wash { app, siti, phone, .. } = &wash;
    for _ in 0..20 {
        let token = app.state.auth.tokens.mint(siti.id, 1, app.now()).unwrap();
        let login = Customer { token, ..siti.clone() };
        let (subscribed, left) = join(app.subscribe(&login, phone), app.log_out(&login.token)).await;
        left.expect(200, "Berhasil Logout!");
        assert!([200, 401].contains(&subscribed.status), "{subscribed:?}");
        let by = "SELECT count(*) FROM langganan_push p JOIN ended_token e USING (token)";
        assert_eq!(app.insert(by, &[]).await, 0);
    }
}

#[actix_web::test]
async fn sent_pushes_and_expired_subscriptions_are_deleted() {
    let wash = Wash::open().await;
    wash.run(1).await;
    wash.app.advance_s(600);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai", "Cucian menunggu"]);
    assert_eq!(wash.app.insert("SELECT count(*) FROM push", &[]).await, 0);
    // The subscription is deleted with the login that made it.
    wash.app.advance_s(30 * 86_400);
    prune::prune(&wash.app.state.store).await.unwrap();
    assert_eq!(wash.app.insert("SELECT count(*) FROM langganan_push", &[]).await, 0);
}

/// A device that had lost power reports a cycle as still running after the clock has ended it.
#[actix_web::test]
async fn each_end_of_a_run_is_pushed_once() {
    let wash = Wash::open().await;
    let run = wash.orphan(1).await;
    let cmd_id = wash.app.db.query_one("SELECT cmd_id FROM snap_transaksi WHERE id = $1", &[&run.id]).await.unwrap().get(0);
    let idmesin: MachineId = wash.app.insert_id("SELECT idmesin FROM snap_transaksi WHERE id = $1", &[&run.id]).await;
    let says = async |boot: i64, foreign: bool| {
        let client = wash.app.state.store.get().await.unwrap();
        let now = wash.app.now();
        let run = ReportedRun { cmd_id, ends_at: now.plus_ms(50_000), added_s: 0, boot: Some(boot), before_boot: None };
        let report = StateReport { online: true, run: Some(run), sensor: Sensor::default() };
        record(&client, idmesin, report, foreign, now, None).await.unwrap()
    };
    assert!(!says(1, false).await);
    let ends = |at| commit(&wash.app, run.id, Change::Finish, at);
    wash.app.advance_s(3_600);
    assert!(ends(wash.app.now()).await);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    assert_eq!(wash.queued("menunggu").await, 1);
    assert!(says(2, true).await, "it runs again");
    assert!(!says(2, true).await, "once");
    assert_eq!(wash.queued("menunggu").await, 0, "nobody is reminded of what runs");
    wash.app.advance_s(51);
    assert!(ends(wash.app.now()).await);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai", "Cucian selesai"]);
    let [first, second] = &wash.service.given()[..] else { panic!("two") };
    assert_eq!(wash.phone.open(first)["tanda"], wash.phone.open(second)["tanda"]);
    wash.app.advance_s(600);
    wash.service.until(3).await;
    assert_eq!(wash.sent_titles().await.last().unwrap(), "Cucian menunggu");
}
