//! Troubles that need staff: the machine takes no purchase, the trouble is recorded once, and a report that nothing runs frees the
//! machine.

use futures_util::future::{join, select};
use nyala_core::machine::Input;
use serde_json::{Value, json};

use super::pulses::CoinShop;
use super::{Device, Given, standing};
use crate::support::helpers::TestApp;
use crate::support::shop::{PRICE, buy};

impl TestApp {
    pub async fn audit_details(&self, action: &str) -> Vec<Value> {
        let sql = "SELECT isi FROM audit_log WHERE aksi = $1 AND aktor = 'perangkat' ORDER BY id";
        self.db.query(sql, &[&action]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Queries the device as the reaper does every quarter of a minute.
    fn ask_for_staff(&self, given: &Given) {
        self.state.machines.send(&given.at(), Input::QueryDevice).unwrap();
    }

    async fn until_free(&self, device: &mut Device) {
        self.ask_for_staff(&device.given);
        self.asked_until_free(device).await;
    }

    /// The device answers queries until the machine no longer waits for staff.
    pub async fn asked_until_free(&self, device: &mut Device) {
        let idmesin = device.given.idmesin;
        let answers = async {
            loop {
                let cmd = device.command().await;
                assert_eq!(cmd["op"], "query");
                device.epoch = device.epoch.max(cmd["epoch"].as_i64().unwrap());
                device.state().await;
            }
        };
        let free = self.until_stored(idmesin.get(), "perlu_petugas", false);
        futures_util::pin_mut!(answers, free);
        select(answers, free).await;
    }

    /// Another device uses the key of this one, and they throw each other out.
    async fn takes_turns_with_another(&self, device: &mut Device) {
        for boot in [2, 1, 2, 1, 2, 1] {
            let connection = Device::subscribe(&self.clock, &device.given, "esp").await.connection;
            (device.connection, device.boot) = (connection, boot);
            self.advance_s(5);
            device.state().await;
            device.connection.ping().await;
        }
    }
}

#[actix_web::test]
async fn a_device_that_has_lost_its_memory_waits_for_staff() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.epoch = 7;
    device.state().await;
    for n in 0..2 {
        device.epoch = 3;
        device.state().await;
        app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
        assert_eq!(app.audit_details("mesin.perangkat_lupa").await, [json!({"epoch_dulu": 7, "epoch": 3})], "once, {n}");
        assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "offline");
        app.buy(&siti, &buy(n, shop, epay)).await.expect(409, "mesin sedang offline");
        app.until_free(&mut device).await;
        app.advance_s(40);
        device.epoch = 7;
        device.state().await;
    }
    assert_eq!(app.metric("nyala_device_troubles_total{kind=\"memory_lost\"}").await, 2.0);
    // The trouble is recorded again after an hour.
    app.advance_s(40);
    for _ in 0..90 {
        device.heartbeat().await;
        device.connection.ping().await;
        app.advance_s(40);
    }
    device.heartbeat().await;
    device.epoch = 3;
    device.state().await;
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    assert_eq!(app.audit_details("mesin.perangkat_lupa").await.len(), 2);
}

/// After a restore the device is ahead of the database by the sales that were lost.
#[actix_web::test]
async fn an_epoch_ahead_of_what_is_stored_is_taken_over_before_the_next_purchase() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.epoch = 9;
    device.state().await;
    let bought = async {
        app.buy(&siti, &buy(0, shop, epay)).await.ok();
    };
    let starts = async {
        loop {
            let cmd = device.command().await;
            if cmd["op"] == "start" {
                assert_eq!(cmd["epoch"], 10);
                device.ack(&cmd, "started").await;
                return;
            }
            device.state().await;
        }
    };
    join(bought, starts).await;
    assert_eq!(app.audit_details("mesin.epoch_naik").await, [json!({"dulu": 0, "sekarang": 9, "selisih": 9})]);
}

#[actix_web::test]
async fn an_epoch_that_no_restore_explains_is_not_taken_over_and_closes_its_machine() {
    let app = standing().start().await;
    let (.., given, _, _) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.epoch = 1_000_001;
    device.state().await;
    app.until_stored(given.idmesin.get(), "ditutup_sejak IS NOT NULL", true).await;
    // A report of no run, which clears the flag, opens no closed machine.
    device.state().await;
    device.connection.ping().await;
    let sql = "SELECT perlu_petugas, ditutup_oleh IS NULL, ditutup_alasan FROM mesin WHERE idmesin = $1";
    let row = app.db.query_one(sql, &[&given.idmesin]).await.unwrap();
    let closed = (false, true, "perangkat menyebut nomor perintah yang tidak mungkin, ganti perangkatnya");
    assert_eq!((row.get(0), row.get(1), row.get(2)), closed);
    assert_eq!(app.audit_of("mesin.tutup").await, [json!({"alasan": closed.2})]);
    let known = json!({"dulu": 0, "sekarang": 1_000_001, "selisih": 1_000_001});
    assert_eq!(app.audit_details("mesin.epoch_aneh").await, [known]);
    assert_eq!(app.audit_details("mesin.epoch_naik").await, [Value::Null; 0]);
    let stored: i64 = app.db.query_one("SELECT epoch FROM mesin WHERE idmesin = $1", &[&given.idmesin]).await.unwrap().get(0);
    assert_eq!(stored, 0);
}

#[actix_web::test]
async fn a_trouble_that_is_reported_repeatedly_is_written_at_intervals() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let (mut device, mut beside) = (Device::online(&app, &given).await, Device::online(&app, &other).await);
    let forgets = async |device: &mut Device| {
        for epoch in [7, 3] {
            device.epoch = epoch;
            device.state().await;
        }
        device.connection.ping().await;
    };
    forgets(&mut device).await;
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    app.db.execute("UPDATE mesin SET perlu_petugas = FALSE", &[]).await.unwrap();
    for _ in 0..20 {
        forgets(&mut device).await;
    }
    // The other device reports after them, so it is recorded after them.
    forgets(&mut beside).await;
    app.until_stored(other.idmesin.get(), "perlu_petugas", true).await;
    assert!(!app.stored(given.idmesin.get(), "perlu_petugas").await, "it was written just now");
    app.until_counted("nyala_device_troubles_total{kind=\"memory_lost\"}", 22.0).await;
    // The last of the reports is not lost.
    app.advance_s(5);
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    assert_eq!(app.audit_details("mesin.perangkat_lupa").await.len(), 2, "once of each machine");
}

#[actix_web::test]
async fn two_devices_with_one_key_wait_for_staff() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    app.takes_turns_with_another(&mut device).await;
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    assert_eq!(app.audit_details("mesin.perangkat_ganda").await, [json!({})]);
    app.until_counted("nyala_device_troubles_total{kind=\"clone\"}", 2.0).await;
}

#[actix_web::test]
async fn a_run_that_ends_early_moves_no_money_and_waits_for_staff() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    let order = buy(1, shop, epay);
    app.buy_at(&siti, &order, &mut device).await.ok();
    app.advance_s(30);
    let cmd_id = device.run["cmd_id"].clone();
    device.ends("done").await;
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    assert_eq!(app.audit_details("mesin.berhenti_lebih_awal").await, [json!({"cmd_id": cmd_id, "sisa_s": 570})]);
    assert_eq!(app.balance(epay).await, 0, "what becomes of the money, staff decide");
    assert!(app.balance(epay).await < PRICE);
    app.assert_no_violation().await;
}

/// The device of a coin machine reports at once that nothing runs, and the flag would be gone before a person has seen it.
#[actix_web::test]
async fn a_coin_machine_whose_device_is_in_trouble_is_closed() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, given, siti, order, key } = &coins;
    coins.change(&json!({"cara": "pulsa"})).await;
    let mut device = coins.board(&json!(["pulse"])).await;
    let is_closed = async |reason: &str| {
        app.until_stored(given.idmesin.get(), "ditutup_sejak IS NOT NULL", true).await;
        let tile = coins.tile().await;
        assert_eq!((&tile["keadaan"], &tile["ditutup"]["oleh"]), (&json!("ditutup"), &json!("sistem")));
        assert_eq!(tile["ditutup"]["alasan"], reason);
        assert_eq!(coins.attention().await, [("ditutup_sistem".to_owned(), Value::Null)]);
        assert_eq!(app.audit_of("mesin.tutup").await.last().unwrap(), &json!({"alasan": reason}));
        app.buy(siti, order).await.expect(409, "mesin sedang offline");
    };
    for epoch in [7, 3] {
        device.epoch = epoch;
        device.state().await;
    }
    is_closed("perangkat lupa apa yang dijalankannya, periksa perangkatnya").await;
    assert_eq!(app.audit_details("mesin.perangkat_lupa").await, [json!({"epoch_dulu": 7, "epoch": 3})]);
    app.ops(key, &format!("mesin/{}/buka", shop.idmesin), &json!({})).await.ok();
    assert_eq!(coins.attention().await, []);
    app.takes_turns_with_another(&mut device).await;
    is_closed("dua perangkat memakai kunci yang sama, periksa perangkatnya").await;
    assert_eq!(app.audit_details("mesin.perangkat_ganda").await, [json!({})]);
}

#[actix_web::test]
async fn a_coin_machine_whose_device_is_silent_after_its_pulses_is_closed() {
    const QUARTER_S: i64 = 15 * 60;
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, siti, order, key, .. } = &coins;
    coins.change(&json!({"cara": "pulsa"})).await;
    let mut device = coins.board(&json!(["pulse"])).await;
    let balance = async || app.insert("SELECT saldo FROM quota_emoney", &[]).await;
    let silence = async {
        assert_eq!(device.order().await["op"], "pulse");
        // Its start expires, and it is asked what became of it.
        app.advance_s(11);
        app.until(&order.receipt, "UNSURE").await;
        app.advance_s(QUARTER_S - 12);
        app.until_counted("nyala_devices_online", 0.0).await;
        assert_eq!((app.states(&order.receipt).await, balance().await), (vec!["UNSURE".to_owned()], 0));
        assert_eq!(coins.tile().await["ditutup"], Value::Null);
        app.advance_s(1);
        app.until(&order.receipt, "EXPIRED").await;
    };
    let (unanswered, ()) = join(app.buy(siti, order), silence).await;
    assert_ne!(unanswered.status, 200);
    assert_eq!(balance().await, PRICE);
    // Its device comes back and says that nothing runs, which takes the staff flag off and opens nothing.
    let mut device = device.again(&app.clock).await;
    device.state().await;
    app.asked_until_free(&mut device).await;
    let (tile, reason) = (coins.tile().await, "tidak menjawab sesudah dikirimi koin");
    assert_eq!((&tile["keadaan"], &tile["ditutup"]["oleh"]), (&json!("ditutup"), &json!("sistem")));
    assert_eq!(tile["ditutup"]["alasan"], reason);
    assert_eq!(app.audit_of("mesin.tutup").await, [json!({"alasan": reason})]);
    let again = buy(2, *shop, &order.body["idcustomer"]);
    app.buy(siti, &again).await.expect(409, "mesin sedang offline");
    app.ops(key, &format!("mesin/{}/buka", shop.idmesin), &json!({})).await.ok();
    assert_eq!(coins.tile().await["keadaan"], "siap");
    app.assert_no_violation().await;
}
