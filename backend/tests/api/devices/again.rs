//! A reported run counts, also without an open purchase, and after a power cut.

use futures_util::future::join;
use serde_json::{Value, json};

use super::{Device, Given, NIL, standing};
use crate::ops::operator::Scope;
use crate::realtime::phone::Phone;
use crate::support::helpers::{Customer, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

const BUSY: &str = "mesin sedang digunakan";
const UNKNOWN: &str = "6f1d6c1e-0000-4000-8000-000000000001";

impl TestApp {
    pub(super) async fn described(&self, given: &Given, by: &Customer) -> Value {
        let qr = nyala_identity::qr::machine::make(&self.state.keyring.get(), given.idmesin, 1);
        let body = json!({"qr": qr, "limit": 10, "skip": 0});
        self.post("/scan/v1/transaksi/get_layanan", Some(&by.token), &body).await.ok()["data_mesin"].clone()
    }

    pub(super) async fn until_described(&self, given: &Given, by: &Customer, ends_at: i64) {
        for _ in 0..2_000 {
            if self.described(given, by).await["ends_at"] == json!(ends_at) {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{} does not end at {ends_at}", self.described(given, by).await);
    }

    pub(super) async fn until_machine(&self, given: &Given, by: &Customer, status: &str) -> Value {
        for _ in 0..2_000 {
            let shown = self.described(given, by).await;
            if shown["status"] == status {
                return shown;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{} does not become {status}", given.idmesin);
    }
}

#[actix_web::test]
async fn a_run_that_no_purchase_says_keeps_its_machine_in_use_until_nothing_runs() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.run = json!({"cmd_id": UNKNOWN, "sisa_s": 1_500});
    device.state().await;
    let shown = app.until_machine(&given, &siti, "busy").await;
    assert_eq!((&shown["tl"], &shown["ends_at"]), (&json!(1_500_000), &json!(app.now().ms() + 1_500_000)));
    let key = app.key(Scope::Root).await;
    let now = app.get(&format!("/ops/v1/mesin/{}", given.idmesin), Some(&key)).await.ok();
    assert_eq!((&now["status"], &now["tl"], &now["idtransaksi"]), (&json!("busy"), &json!(1_500_000), &Value::Null));
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).await.expect(409, BUSY);
    assert_eq!((app.states(&order.receipt).await, app.balance(epay).await), (vec![], PRICE), "nothing was held");
    // When its time is over, the device is queried, and nothing is sold until it has answered.
    device.run["sisa_s"] = json!(60);
    device.state().await;
    app.until_described(&given, &siti, app.now().ms() + 60_000).await;
    for _ in 0..3 {
        app.advance_s(21);
        device.heartbeat().await;
        device.connection.ping().await;
    }
    let asked = device.command().await;
    assert_eq!((&asked["op"], &asked["cmd_id"]), (&json!("query"), &json!(NIL)));
    assert_eq!(app.described(&given, &siti).await["tl"], json!(0));
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, BUSY);
    device.run = Value::Null;
    device.state().await;
    app.until_machine(&given, &siti, "idle").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn staff_stop_an_unpaid_cycle() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.run = json!({"cmd_id": UNKNOWN, "sisa_s": 1_500});
    device.state().await;
    app.until_machine(&given, &siti, "busy").await;
    let key = app.key(Scope::Root).await;
    let stops = async {
        let stop = device.order().await;
        assert_eq!((&stop["op"], &stop["cmd_id"]), (&json!("stop"), &json!(UNKNOWN)));
        device.ends("done").await;
    };
    let body = json!({"alasan": "tidak dibayar"});
    let path = format!("mesin/{}/stop", given.idmesin);
    let (stopped, ()) = join(app.ops(&key, &path, &body), stops).await;
    stopped.expect(200, "mesin dihentikan");
    app.until_machine(&given, &siti, "idle").await;
}

/// A run of ten minutes whose board has lost its power after a minute.
async fn cut() -> (TestApp, Given, Customer, Order, Device) {
    let (app, _, given, siti, order, device) = cut_at().await;
    (app, given, siti, order, device)
}

async fn cut_at() -> (TestApp, Shop, Given, Customer, Order, Device) {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    let order = buy(1, shop, epay);
    let paid = app.buy_at(&siti, &order, &mut device).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
    device.connection.ping().await;
    app.advance_s(60);
    device.heartbeat().await;
    device.connection.ping().await;
    (app, shop, given, siti, order, device)
}

impl Device {
    async fn boots(mut self, app: &TestApp, left_s: i64) -> Self {
        self.run["sisa_s"] = json!(left_s);
        let mut device = self.again(&app.clock).await;
        device.boot += 1;
        device.state().await;
        device.connection.ping().await;
        device
    }

    /// Answers queries until this has happened. A report that came while the clock's finish was being committed is asked for again.
    async fn answers_until<T>(&mut self, happened: impl Future<Output = T>) -> T {
        tokio::select! {
            happened = happened => happened,
            order = self.order() => panic!("{order} was not expected"),
        }
    }
}

#[actix_web::test]
async fn after_a_power_cut_the_run_ends_later_and_by_a_minute_at_most() {
    for (left_s, ends_in_s) in [(540, 540), (600, 600), (570, 570)] {
        let (app, given, siti, order, device) = cut().await;
        app.advance_s(300);
        let mut device = device.boots(&app, left_s).await;
        let ends_at = app.now().ms() + ends_in_s * 1_000;
        app.until_described(&given, &siti, ends_at).await;
        // In the same boot a longer remaining time only means a slow message.
        app.advance_s(30);
        device.state().await;
        device.connection.ping().await;
        assert_eq!(app.described(&given, &siti).await["ends_at"], json!(ends_at));
        assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
        app.assert_no_violation().await;
    }
}

/// Only the ack of the start arrived: it does not say in which boot the run began.
#[actix_web::test]
async fn after_a_power_cut_the_run_ends_later_though_its_first_report_was_lost() {
    for finished in [false, true] {
        let app = standing().start().await;
        let (shop, given, siti, epay) = app.device_shop(600).await;
        let mut device = Device::online(&app, &given).await;
        let order = buy(1, shop, epay);
        let starts = async {
            let start = device.order().await;
            device.run = json!({"cmd_id": start["cmd_id"], "sisa_s": 600});
            device.ack(&start, "started").await;
        };
        let (paid, ()) = join(app.buy(&siti, &order), starts).await;
        paid.expect(200, "Mesin Berhasil dinyalakan");
        app.advance_s(60);
        device.heartbeat().await;
        device.connection.ping().await;
        for _ in 0..if finished { 60 } else { 30 } {
            app.advance_s(10);
        }
        app.until(&order.receipt, if finished { "FINISHED" } else { "RUNNING" }).await;
        let mut device = device.boots(&app, 540).await;
        device.answers_until(app.until_described(&given, &siti, app.now().ms() + 540_000)).await;
        app.until(&order.receipt, "RUNNING").await;
        app.assert_no_violation().await;
    }
}

#[actix_web::test]
async fn a_purchase_that_the_clock_has_finished_runs_again() {
    let (app, given, siti, order, device) = cut().await;
    for _ in 0..60 {
        app.advance_s(10);
    }
    app.until(&order.receipt, "FINISHED").await;
    let waiting = async || app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok()["menunggu"].clone();
    assert_eq!(waiting().await.as_array().unwrap().len(), 1);
    let mut device = device.boots(&app, 50).await;
    device.answers_until(app.until(&order.receipt, "RUNNING")).await;
    assert_eq!(waiting().await, json!([]));
    let shown = app.until_machine(&given, &siti, "busy").await;
    assert_eq!(shown["tl"], json!(50_000));
    device.ends("done").await;
    device.connection.ping().await;
    app.until_described(&given, &siti, app.now().ms()).await;
    app.advance_s(1);
    app.until(&order.receipt, "FINISHED").await;
    assert_eq!(waiting().await.as_array().unwrap().len(), 1);
    app.until_machine(&given, &siti, "idle").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn watchers_are_notified_at_once_that_a_run_continues() {
    let (app, given, siti, order, device) = cut().await;
    let mut phone = Phone::join(&app, &siti.token).await;
    phone.watch(given.idmesin, Some(app.now().ms() + 540_000)).await;
    for _ in 0..54 {
        app.advance_s(10);
    }
    let mut last = phone.tick().await;
    while last.tl > 0 {
        last = phone.tick().await;
    }
    app.until(&order.receipt, "FINISHED").await;
    let mut device = device.boots(&app, 120).await;
    let shown = device.answers_until(phone.tick()).await;
    assert_eq!((shown.tl, shown.ends_at), (120_000, Some(app.now().ms() + 120_000)));
    let again = phone.subscribe(given.idmesin).await;
    assert_eq!(again["ends_at"], json!(app.now().ms() + 120_000));
}

#[actix_web::test]
async fn a_stopped_purchase_stays_stopped_and_its_machine_is_in_use_while_it_runs() {
    let (app, given, siti, order, mut device) = cut().await;
    let key = app.key(Scope::Root).await;
    let stops = async {
        assert_eq!(device.order().await["op"], "stop");
        let run = device.run.clone();
        device.ends("done").await;
        run
    };
    let (path, body) = (format!("mesin/{}/stop", given.idmesin), json!({"alasan": "uji"}));
    let (stopped, run) = join(app.ops(&key, &path, &body), stops).await;
    stopped.expect(200, "mesin dihentikan");
    app.until_machine(&given, &siti, "idle").await;
    device.run = run;
    let _device = device.boots(&app, 500).await;
    let shown = app.until_machine(&given, &siti, "busy").await;
    assert_eq!(shown["tl"], json!(500_000));
    assert_eq!(app.states(&order.receipt).await, ["STOPPED"]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_purchase_after_which_another_one_has_started_stays_finished() {
    let (app, shop, given, siti, order, mut device) = cut_at().await;
    device.waits(540).await;
    app.until(&order.receipt, "FINISHED").await;
    let before = std::mem::take(&mut device.run);
    device.state().await;
    app.until_machine(&given, &siti, "idle").await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    let epay = app.balance_of(&budi, shop, PRICE).await;
    let second = buy(2, shop, epay);
    app.buy_at(&budi, &second, &mut device).await.expect(200, "Mesin Berhasil dinyalakan");
    device.connection.ping().await;
    for _ in 0..61 {
        app.advance_s(10);
    }
    app.until(&second.receipt, "FINISHED").await;
    device.run = before;
    let mut device = device.boots(&app, 50).await;
    let shown = device.answers_until(app.until_machine(&given, &siti, "busy")).await;
    assert_eq!(shown["tl"], json!(50_000));
    assert_eq!(
        (app.states(&order.receipt).await, app.states(&second.receipt).await),
        (vec!["FINISHED".into()], vec!["FINISHED".into()])
    );
    app.assert_no_violation().await;
}
