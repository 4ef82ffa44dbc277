//! Boards with a sensor, which see their machine run its own cycle (docs/contract.md §6).

use std::time::Duration;

use futures_util::future::join;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::pulses::CoinShop;
use super::{Device, NIL, standing};
use crate::push::service::PushService;
use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::{PRICE, buy};

const DURATION_S: i64 = 600;

impl CoinShop {
    /// A coin machine whose board has a sensor, which says that it stands.
    async fn with_sensor() -> (Self, Device) {
        Self::with_sensor_in(standing()).await
    }

    async fn with_sensor_in(setup: Setup) -> (Self, Device) {
        let coins = Self::open_in(setup).await;
        coins.change(&json!({"cara": "pulsa"})).await;
        let mut device = coins.board(&json!(["pulse", "sense"])).await;
        coins.sees(&mut device, false).await;
        (coins, device)
    }

    /// The sensor says whether the machine runs, and that is stored.
    async fn sees(&self, device: &mut Device, runs: bool) {
        device.sense = json!(runs);
        device.state().await;
        self.eventually("SELECT sense_sejak IS NOT NULL FROM mesin", runs).await;
    }

    async fn eventually(&self, sql: &str, wanted: bool) {
        for _ in 0..2_000 {
            if self.app.db.query_one(sql, &[]).await.unwrap().get::<_, Option<bool>>(0) == Some(wanted) {
                return;
            }
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{sql} does not become {wanted}");
    }

    /// The customer's `n`th purchase, which the board starts.
    async fn bought(&self, device: &mut Device, n: u32) -> String {
        let order = buy(n, self.shop, &self.order.body["idcustomer"]);
        let pulses = async {
            let cmd = device.order().await;
            device.starts(&cmd).await;
        };
        let (paid, ()) = join(self.app.buy(&self.siti, &order), pulses).await;
        paid.expect(200, "Mesin Berhasil dinyalakan");
        order.receipt
    }

    /// One whose machine does not run.
    async fn bought_in_vain(&self, device: &mut Device, n: u32) -> String {
        let receipt = self.bought(device, n).await;
        self.eventually("SELECT bool_and(sense IS NOT NULL) FROM snap_transaksi", true).await;
        device.waits(DURATION_S).await;
        device.ends("done").await;
        self.app.until(&receipt, "FINISHED").await;
        self.eventually(&format!("SELECT kendala = 'tidak_jalan' FROM snap_transaksi WHERE no_nota = '{receipt}'"), true).await;
        receipt
    }

    /// The customer's `n`th purchase, in whose pulses the power is lost. Returns the machine's closing, or null.
    async fn loses_power(&self, device: &mut Device, n: u32) -> Value {
        let order = buy(n, self.shop, &self.order.body["idcustomer"]);
        let cut = async {
            let cmd = device.order().await;
            device.boot += 1;
            device.was_cut(&cmd).await;
        };
        let (paid, ()) = join(self.app.buy(&self.siti, &order), cut).await;
        paid.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
        assert_eq!(self.app.states(&order.receipt).await, ["REFUSED"]);
        self.tile().await["ditutup"].clone()
    }

    async fn trouble(&self, receipt: &str) -> Value {
        let path = format!("/scan/v1/transaksi/get_detail_snap_transaksi/{receipt}");
        self.app.get(&path, Some(&self.siti.token)).await.ok()["kendala"].clone()
    }

    /// The entries about the machine that need a person: each kind and its receipt.
    pub async fn attention(&self) -> Vec<(String, Value)> {
        let entries = self.app.ops_see(&self.key, "perhatian").await.ok();
        let entries = entries.as_array().unwrap().iter();
        entries.map(|entry| (entry["jenis"].as_str().unwrap().to_owned(), entry["idtransaksi"].clone())).collect()
    }

    pub async fn tile(&self) -> Value {
        self.app.ops_see(&self.key, "mesin").await.ok()["mesin"][0].clone()
    }
}

fn in_s(app: &TestApp, s: i64) -> i64 {
    app.now().plus_ms(s * 1_000).ms()
}

#[actix_web::test]
async fn a_machine_that_runs_on_coins_is_not_sold() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, given, siti, order, .. } = &coins;
    coins.sees(&mut device, true).await;
    let shown = app.until_machine(given, siti, "busy").await;
    assert_eq!(shown["tl"], Value::Null, "nobody knows how long");
    app.buy(siti, order).await.expect(409, "mesin sedang digunakan");
    assert_eq!(app.insert("SELECT count(*) FROM snap_transaksi", &[]).await, 0, "no money was held");
    let tile = coins.tile().await;
    assert_eq!((&tile["keadaan"], &tile["ends_at"]), (&json!("jalan"), &Value::Null));
    // Its board sends nothing in these hours, so there may be an entry `offline`, too.
    let own = async || coins.attention().await.into_iter().filter(|(kind, _)| kind != "offline").collect::<Vec<_>>();
    app.advance_s(4 * 3_600 - 1);
    assert_eq!(own().await, []);
    app.advance_s(1);
    assert_eq!(own().await, [("jalan_sendiri".to_owned(), Value::Null)]);
    let mut device = device.again(&app.clock).await;
    coins.sees(&mut device, false).await;
    app.until_machine(given, siti, "idle").await;
    assert_eq!(own().await, []);
}

#[actix_web::test]
async fn a_level_that_only_a_heartbeat_tells_is_asked_for() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, given, siti, .. } = &coins;
    for (runs, status) in [(true, "busy"), (false, "idle")] {
        // The state report with the new level is lost.
        device.sense = json!(runs);
        device.heartbeat().await;
        let asked = device.command().await;
        assert_eq!((&asked["op"], &asked["cmd_id"]), (&json!("query"), &json!(NIL)));
        device.state().await;
        app.until_machine(given, siti, status).await;
    }
}

/// The new board does not know the last purchase, so nothing that it says about runs is taken over until it was asked.
#[actix_web::test]
async fn a_board_without_a_sensor_ends_what_the_one_before_has_seen() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, given, siti, .. } = &coins;
    let receipt = coins.bought(&mut device, 1).await;
    device.waits(DURATION_S).await;
    device.sense = json!(true);
    device.ends("done").await;
    app.until(&receipt, "FINISHED").await;
    app.until_machine(given, siti, "busy").await;
    let mut replaced = Device::subscribe(&app.clock, given, "esp").await;
    (replaced.boot, replaced.can) = (2, json!(["pulse"]));
    replaced.state().await;
    coins.eventually("SELECT sense_sejak IS NULL FROM mesin", true).await;
    assert_ne!(coins.tile().await["keadaan"], "jalan");
}

#[actix_web::test]
async fn the_sensor_moves_the_end_of_a_run() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, given, siti, .. } = &coins;
    let receipt = coins.bought(&mut device, 1).await;
    app.until_described(given, siti, in_s(app, DURATION_S)).await;
    // The machine begins to run 90 s after its pulses: the whole duration is before it then.
    device.waits(90).await;
    device.sense = json!(true);
    device.run["tambah_s"] = json!(90);
    device.state().await;
    let moved = in_s(app, DURATION_S);
    app.until_described(given, siti, moved).await;
    // A report of before that comes late changes nothing.
    app.advance_s(10);
    let newest = device.run.clone();
    device.run = json!({"cmd_id": newest["cmd_id"], "sisa_s": DURATION_S - 100});
    let events = r#"nyala_device_told_total{reason="run"}"#;
    let before = app.metric(events).await;
    device.state().await;
    // It has the time of its arrival, before the clock goes on.
    app.until_counted(events, before + 1.0).await;
    device.run = newest;
    device.waits(500).await;
    // Ten seconds before the end it still runs.
    device.run["sisa_s"] = json!(60 + 90);
    device.run["tambah_s"] = json!(90 + 60);
    device.state().await;
    app.until_described(given, siti, moved + 60_000).await;
    // It ends sooner than that, which is no fault: the machine runs its own cycle.
    device.waits(30).await;
    device.sense = json!(false);
    device.ends("done").await;
    app.until(&receipt, "FINISHED").await;
    let ended: Timestamp =
        app.db.query_one("SELECT ends_at FROM snap_transaksi WHERE no_nota = $1", &[&receipt]).await.unwrap().get(0);
    assert_eq!(ended, app.now());
    app.until_machine(given, siti, "idle").await;
    assert_eq!((coins.trouble(&receipt).await, coins.attention().await), (Value::Null, vec![]));
    app.assert_no_violation().await;
}

/// A board that cannot save anything sends heartbeats only: the report that the machine runs is held back.
#[actix_web::test]
async fn a_machine_that_a_heartbeat_has_seen_running_did_run() {
    for (before_the_end, at_the_end) in [(true, false), (false, true)] {
        let (coins, mut device) = CoinShop::with_sensor().await;
        let CoinShop { app, given, siti, .. } = &coins;
        let receipt = coins.bought(&mut device, 1).await;
        device.sense = json!(before_the_end);
        device.waits(DURATION_S).await;
        device.sense = json!(at_the_end);
        device.ends("done").await;
        app.until(&receipt, "FINISHED").await;
        // A later report is recorded after that one.
        for (sense, status) in [(true, "busy"), (false, "idle")] {
            device.sense = json!(sense);
            device.state().await;
            app.until_machine(given, siti, status).await;
        }
        let attention: Vec<_> = coins.attention().await.into_iter().filter(|(kind, _)| kind != "offline").collect();
        assert_eq!((coins.trouble(&receipt).await, attention), (Value::Null, vec![]), "{before_the_end}");
        app.assert_no_violation().await;
    }
}

#[actix_web::test]
async fn a_run_that_takes_longer_while_its_board_is_away_runs_again() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, given, siti, .. } = &coins;
    let receipt = coins.bought(&mut device, 1).await;
    // It says nothing any more.
    app.advance_s(DURATION_S + 5);
    app.until(&receipt, "FINISHED").await;
    let mut again = device.again(&app.clock).await;
    (again.sense, again.run["sisa_s"], again.run["tambah_s"]) = (json!(true), json!(55), json!(60));
    again.state().await;
    app.until(&receipt, "RUNNING").await;
    app.until_described(given, siti, in_s(app, 55)).await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_customer_is_told_to_shut_the_door_and_press_start() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let app = &coins.app;
    let receipt = coins.bought(&mut device, 1).await;
    coins.eventually("SELECT sense FROM snap_transaksi", false).await;
    let dashboard = app.get("/scan/v1/dashboard/get_dashboard", Some(&coins.siti.token)).await.ok();
    assert_eq!(dashboard["list_snap_transaksi"][0]["tanya_lagi_at"], in_s(app, 120));
    device.waits(119).await;
    assert_eq!(coins.trouble(&receipt).await, Value::Null);
    app.advance_s(1);
    assert_eq!(coins.trouble(&receipt).await, "belum_jalan");
    let dashboard = app.get("/scan/v1/dashboard/get_dashboard", Some(&coins.siti.token)).await.ok();
    assert_eq!(dashboard["list_snap_transaksi"][0]["kendala"], "belum_jalan");
    (device.sense, device.run["tambah_s"]) = (json!(true), json!(120));
    device.state().await;
    coins.eventually("SELECT sense FROM snap_transaksi", true).await;
    assert_eq!(coins.trouble(&receipt).await, Value::Null);
    // A pause in the cycle is no reason to say it again.
    device.sense = json!(false);
    device.state().await;
    coins.eventually("SELECT sense_sejak IS NULL FROM mesin", true).await;
    device.waits(130).await;
    assert_eq!(coins.trouble(&receipt).await, Value::Null);
}

#[actix_web::test]
async fn a_machine_that_never_ran_is_told_and_closed_at_the_third_time() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, key, shop, siti, .. } = &coins;
    app.db.execute("UPDATE quota_emoney SET credits_posted = credits_posted + $1", &[&(9 * PRICE)]).await.unwrap();
    let first = coins.bought_in_vain(&mut device, 1).await;
    assert_eq!(coins.trouble(&first).await, "tidak_jalan");
    let dashboard = app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok();
    assert_eq!(dashboard["menunggu"][0]["kendala"], "tidak_jalan");
    assert_eq!(app.states(&first).await, ["FINISHED"], "nothing comes back by itself");
    assert_eq!(coins.attention().await, [("tidak_jalan".to_owned(), json!(first))]);
    let second = coins.bought_in_vain(&mut device, 2).await;
    for nominal in [1, PRICE - 1] {
        assert_eq!(coins.attention().await[0].1, json!(first), "until all of it is back");
        app.ops(key, "refund", &json!({"idtransaksi": first, "nominal": nominal, "alasan": "mesin tidak jalan"})).await.ok();
    }
    assert_eq!(coins.attention().await, [("tidak_jalan".to_owned(), json!(second))]);
    assert_eq!(coins.tile().await["ditutup"], Value::Null);
    let third = coins.bought_in_vain(&mut device, 3).await;
    let closed = coins.tile().await["ditutup"].clone();
    assert_eq!((&closed["oleh"], &closed["alasan"]), (&json!("sistem"), &json!("tiga kali berturut-turut tidak jalan")));
    assert_eq!(coins.attention().await[0].0, "ditutup_sistem");
    app.buy(siti, &buy(4, *shop, &coins.order.body["idcustomer"])).await.expect(409, "mesin sedang offline");
    for receipt in [second, third] {
        app.ops(key, "refund", &json!({"idtransaksi": receipt, "nominal": PRICE, "alasan": "mesin tidak jalan"})).await.ok();
    }
    // What staff have mended counts from the beginning.
    app.ops(key, &format!("mesin/{}/buka", shop.idmesin), &json!({})).await.ok();
    assert_eq!(coins.attention().await, []);
    app.advance_s(1);
    coins.bought_in_vain(&mut device, 5).await;
    assert_eq!(coins.tile().await["ditutup"], Value::Null);
    assert_eq!(app.audit_of("mesin.tutup").await.len(), 1);
}

#[actix_web::test]
async fn what_a_board_did_not_see_is_not_called_a_failure() {
    let service = PushService::start();
    let (coins, mut device) = CoinShop::with_sensor_in(service.setup()).await;
    let app = &coins.app;
    let phone = service.browser("phone");
    app.subscribe(&coins.siti, &phone).await.ok();
    let receipt = coins.bought(&mut device, 1).await;
    coins.eventually("SELECT sense IS NOT NULL FROM snap_transaksi", true).await;
    // Its connection breaks: it may have run since, and only its end is told.
    let mut again = device.again(&app.clock).await;
    again.waits(DURATION_S).await;
    again.ends("done").await;
    app.until(&receipt, "FINISHED").await;
    again.connection.ping().await;
    assert_eq!(coins.trouble(&receipt).await, Value::Null);
    assert_eq!(coins.attention().await, []);
    app.advance_s(10);
    assert_eq!(phone.open(&service.until(1).await)["judul"], "Cucian selesai");
}

#[actix_web::test]
async fn power_that_is_lost_twice_in_the_pulses_closes_the_machine() {
    let (coins, mut device) = CoinShop::with_sensor().await;
    let CoinShop { app, key, shop, .. } = &coins;
    for (n, closed) in [(1, false), (2, true), (3, false)] {
        let shown = coins.loses_power(&mut device, n).await;
        assert_eq!(shown != Value::Null, closed, "{n}: {shown}");
        if closed {
            assert_eq!(
                (&shown["oleh"], &shown["alasan"]),
                (&json!("sistem"), &json!("listrik putus dua kali saat mengirim koin"))
            );
            assert!(coins.attention().await.iter().any(|(kind, _)| kind == "ditutup_sistem"));
            app.ops(key, &format!("mesin/{}/buka", shop.idmesin), &json!({})).await.ok();
            app.advance_s(1);
        }
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn losses_of_power_in_the_pulses_a_day_apart_do_not_close_the_machine() {
    const DAY_S: i64 = 86_400;
    let (coins, mut device) = CoinShop::with_sensor().await;
    let (app, idmesin) = (&coins.app, coins.shop.idmesin.get());
    assert_eq!(coins.loses_power(&mut device, 1).await, Value::Null);
    for (n, later_s, closed) in [(2, DAY_S, false), (3, DAY_S - 1, true)] {
        app.advance_s(later_s - 5);
        app.until_counted("nyala_devices_online", 0.0).await;
        app.advance_s(5);
        app.until_stored(idmesin, "online", false).await;
        device = device.again(&app.clock).await;
        device.learn_the_time().await;
        app.until_stored(idmesin, "online", true).await;
        let shown = coins.loses_power(&mut device, n).await;
        assert_eq!(shown != Value::Null, closed, "{n}: {shown}");
    }
    app.assert_no_violation().await;
}

/// The clock ends the purchase a moment before its board says that the machine has not run.
#[actix_web::test]
async fn a_customer_is_told_once_that_the_machine_has_not_run_and_not_that_it_is_done() {
    let service = PushService::start();
    let (coins, mut device) = CoinShop::with_sensor_in(service.setup()).await;
    let CoinShop { app, siti, .. } = &coins;
    let phone = service.browser("phone");
    app.subscribe(siti, &phone).await.ok();
    let receipt = coins.bought(&mut device, 1).await;
    coins.eventually("SELECT sense FROM snap_transaksi", false).await;
    device.waits(DURATION_S).await;
    app.until(&receipt, "FINISHED").await;
    app.advance_s(9);
    app.all_pushed().await;
    assert!(service.given().is_empty(), "its board may say that it has not run");
    device.ends("done").await;
    let told = phone.open(&service.until(1).await);
    assert_eq!(
        (&told["judul"], &told["isi"]),
        (&json!("Mesin tidak jalan"), &json!("Mesin 01 di Laundry Melati. Hubungi petugas"))
    );
    device.state().await;
    device.connection.ping().await;
    for later_s in [10, 600] {
        app.advance_s(later_s);
        app.all_pushed().await;
    }
    assert_eq!(service.given().len(), 1);
}
