//! Machines that are started by coin pulses (docs/contract.md §6).

use futures_util::future::join;
use serde_json::{Value, json};

use super::{Device, Given, standing};
use crate::ops::operator::Scope;
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

const TOO_LONG: &str = "pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms";

/// A shop whose machine wants coins, with a board that is online and says what it can.
pub(super) struct CoinShop {
    pub app: TestApp,
    pub shop: Shop,
    pub given: Given,
    pub siti: Customer,
    pub order: Order,
    pub key: String,
}

impl CoinShop {
    pub async fn open() -> Self {
        Self::open_in(standing()).await
    }

    pub async fn open_in(setup: Setup) -> Self {
        let app = setup.start().await;
        let (shop, given, siti, epay) = app.device_shop(600).await;
        let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let order = buy(1, shop, epay);
        Self { app, shop, given, siti, order, key }
    }

    pub async fn change(&self, fields: &Value) {
        self.app.ops(&self.key, &format!("mesin/{}", self.shop.idmesin), fields).await.ok();
    }

    /// Connects a board, and waits until what it says is stored.
    pub async fn board(&self, can: &Value) -> Device {
        let mut device = Device::subscribe(&self.app.clock, &self.given, "esp").await;
        device.can = can.clone();
        device.learn_the_time().await;
        self.app.until_stored(self.given.idmesin.get(), "online", true).await;
        self.stored(can).await;
        device
    }

    /// What needs a person, once it is so many entries.
    async fn entries(&self, count: usize) -> Value {
        for _ in 0..1_000 {
            let entries = self.app.ops_see(&self.key, "perhatian").await.ok();
            if entries.as_array().unwrap().len() == count {
                return entries;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("there are not {count} entries");
    }

    async fn stored(&self, can: &Value) {
        let expected: Option<Vec<String>> = serde_json::from_value(can.clone()).unwrap();
        let sql = "SELECT bisa FROM perangkat_kini WHERE idmesin = $1";
        for _ in 0..1_000 {
            let row = self.app.db.query_opt(sql, &[&self.shop.idmesin]).await.unwrap();
            let stored: Option<Vec<String>> = row.and_then(|row| row.get(0));
            if stored.unwrap_or_default() == expected.clone().unwrap_or_default() {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("what the board can is not stored");
    }
}

#[actix_web::test]
async fn a_machine_that_wants_coins_is_started_by_pulses() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, given, siti, order, key } = &coins;
    coins.change(&json!({"cara": "pulsa", "lebar_ms": 40, "jeda_ms": 120, "sense_s": 90})).await;
    app.ops(key, &format!("layanan/{}", shop.idlayanan), &json!({"pulsa": 4})).await.ok();
    let mut device = coins.board(&json!(["pulse", "sense"])).await;
    assert_eq!(app.scanned(given.idmesin.get(), siti).await, "idle");
    let pulses = async {
        let cmd = device.order().await;
        let said = |field: &str| cmd[field].clone();
        assert_eq!((said("op"), said("durasi_s"), said("epoch")), (json!("pulse"), json!(600), json!(1)));
        assert_eq!((said("n"), said("width_ms"), said("gap_ms"), said("sense_s")), (json!(4), json!(40), json!(120), json!(90)));
        device.starts(&cmd).await;
    };
    let (paid, ()) = join(app.buy(siti, order), pulses).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
    let path = format!("mesin/{}", shop.idmesin);
    let now = app.ops_see(key, &path).await.ok();
    assert_eq!((&now["status"], &now["cara"]), (&json!("busy"), &json!("pulsa")));
    // It runs its own cycle: the server cannot stop it, and its way of starting cannot change now.
    app.ops(key, &format!("{path}/stop"), &json!({"alasan": "uji"}))
        .await
        .expect(409, "mesin pulsa tidak bisa dihentikan dari jauh");
    app.ops(key, &path, &json!({"cara": "relai"})).await.expect(409, "mesin sedang digunakan");
    let board = app.ops_see(key, "mesin").await.ok();
    assert_eq!(board["mesin"][0]["aksi"], json!(["tanya", "tutup"]));
    app.advance_s(600);
    device.ends("done").await;
    app.until(&order.receipt, "FINISHED").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_repeat_has_the_pulses_of_the_purchase() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, siti, order, .. } = &coins;
    coins.change(&json!({"cara": "pulsa", "pulsa": 7})).await;
    let mut device = coins.board(&json!(["pulse"])).await;
    let pulses = async {
        let first = device.order().await;
        assert_eq!((&first["op"], &first["n"]), (&json!("pulse"), &json!(7)));
        // The machine's setting counts for the next purchase, whatever becomes of this command.
        app.db.execute("UPDATE mesin SET pulsa = 2, lebar_ms = 99 WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap();
        app.advance_s(3);
        let mut again = device.again(&app.clock).await;
        again.learn_the_time().await;
        let cmd = again.order().await;
        assert_eq!(
            (&cmd["cmd_id"], &cmd["op"], &cmd["n"], &cmd["width_ms"]),
            (&first["cmd_id"], &json!("pulse"), &json!(7), &json!(50))
        );
        again.starts(&cmd).await;
        again
    };
    let (paid, _device) = join(app.buy(siti, order), pulses).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
}

#[actix_web::test]
async fn a_board_that_does_not_know_pulses_is_offline_before_money_is_held() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, given, siti, order, key } = &coins;
    coins.change(&json!({"cara": "pulsa"})).await;
    let mut device = coins.board(&Value::Null).await;
    assert_eq!(app.scanned(given.idmesin.get(), siti).await, "offline");
    app.buy(siti, order).await.expect(409, "mesin sedang offline");
    let path = format!("mesin/{}", shop.idmesin);
    assert_eq!(app.ops_see(key, &path).await.ok()["status"], "offline");
    let board = app.ops_see(key, "mesin").await.ok();
    assert_eq!(board["mesin"][0]["keadaan"], "offline");
    let old = coins.entries(1).await;
    assert_eq!(
        (&old[0]["jenis"], &old[0]["tingkat"], &old[0]["idmesin"]),
        (&json!("papan_lama"), &json!("abu"), &json!(shop.idmesin))
    );
    assert_eq!(old[0]["sejak"], app.now().rfc3339(), "since the board said so");
    app.test_start(key, shop.idmesin, 5).await.expect(409, "mesin sedang offline");
    assert_eq!(app.insert("SELECT count(*) FROM snap_transaksi", &[]).await, 0);
    // The newest boot counts: with new firmware it is sold.
    (device.boot, device.seq, device.can) = (2, 0, json!(["pulse"]));
    device.state().await;
    coins.stored(&json!(["pulse"])).await;
    assert_eq!(app.scanned(given.idmesin.get(), siti).await, "idle");
    coins.entries(0).await;
    // And with the old one it is not.
    (device.boot, device.seq, device.can) = (3, 0, json!([]));
    device.state().await;
    coins.stored(&json!([])).await;
    assert_eq!(app.scanned(given.idmesin.get(), siti).await, "offline");
    assert_eq!(coins.entries(1).await[0]["jenis"], "papan_lama");
    coins.change(&json!({"cara": "relai"})).await;
    assert_eq!(app.scanned(given.idmesin.get(), siti).await, "idle");
    coins.entries(0).await;
}

#[actix_web::test]
async fn simulated_machines_take_coins() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}", shop.idmesin), &json!({"cara": "pulsa"})).await.ok();
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).await.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
    app.advance_s(600);
    app.until(&order.receipt, "FINISHED").await;
    let detail = app.detail(&key, shop.idmesin).await;
    assert_eq!((&detail["siklus"]["hari_ini"], &detail["siklus"]["sejak_servis"]), (&json!(1), &json!(1)));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn numbers_that_no_coin_input_takes_are_refused() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, key, .. } = &coins;
    let path = format!("mesin/{}", shop.idmesin);
    for (fields, message) in [
        (json!({"pulsa": 0}), "pulsa harus 1 sampai 20"),
        (json!({"pulsa": 21}), "pulsa harus 1 sampai 20"),
        (json!({"lebar_ms": 0}), "lebar_ms harus 1 sampai 5999"),
        (json!({"jeda_ms": 6_000}), "jeda_ms harus 1 sampai 5999"),
        (json!({"sense_s": 3_601}), "sense_s harus 1 sampai 3600"),
        (json!({"cara": "koin"}), "`cara` tidak dikenal, pilihannya: relai atau pulsa"),
    ] {
        app.ops(key, &path, &fields).await.expect(400, message);
    }
    // Of a machine with a relay they are only kept.
    coins.change(&json!({"pulsa": 20, "lebar_ms": 100, "jeda_ms": 201})).await;
    app.ops(key, &path, &json!({"cara": "pulsa"})).await.expect(422, TOO_LONG);
    coins.change(&json!({"cara": "pulsa", "pulsa": 20, "lebar_ms": 100, "jeda_ms": 200})).await;
    // When the machine has no number of pulses, the service's number counts.
    coins.change(&json!({"pulsa": null})).await;
    coins.change(&json!({"jeda_ms": 1_000})).await;
    let service = format!("layanan/{}", shop.idlayanan);
    app.ops(key, &service, &json!({"pulsa": 6})).await.expect(422, TOO_LONG);
    app.ops(key, &service, &json!({"pulsa": 5})).await.ok();
    coins.change(&json!({"cara": "pulsa", "jeda_ms": 1_100})).await;
    app.ops(key, &path, &json!({"jeda_ms": 1_101})).await.expect(422, TOO_LONG);
    // Services may have more while the machine is retired.
    coins.change(&json!({"aktif": false})).await;
    app.ops(key, &service, &json!({"pulsa": 6})).await.ok();
    coins.change(&json!({"nama": "Cuci lama"})).await;
    app.ops(key, &path, &json!({"aktif": true})).await.expect(422, TOO_LONG);
    app.ops(key, &service, &json!({"pulsa": 5})).await.ok();
    coins.change(&json!({"aktif": true})).await;
    let services = app.ops_see(key, &format!("layanan?idoutlet={}", shop.outlet.idoutlet)).await.ok();
    assert_eq!(services[0]["pulsa"], 5);
    let made =
        app.ops(key, "mesin", &json!({"idoutlet": shop.outlet.idoutlet, "nama": "Koin", "cara": "pulsa", "pulsa": 3})).await.ok();
    let now = app.ops_see(key, &format!("mesin/{}", made["id"])).await.ok();
    assert_eq!(now["cara"], "pulsa");
    assert_eq!(app.audit_of("mesin.buat").await.last().unwrap()["cara"], "pulsa");
}

#[actix_web::test]
async fn a_new_service_has_its_pulses_and_keeps_them_with_another_duration() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, key, .. } = &coins;
    let offer = async |pulses: i64| {
        let new = json!({"idoutlet": shop.outlet.idoutlet, "nama": "Cuci Besar", "durasi": 600, "harga": PRICE, "pulsa": pulses});
        app.ops(key, "layanan", &new).await
    };
    let stored = async |id: &Value| {
        let services = app.ops_see(key, &format!("layanan?idoutlet={}", shop.outlet.idoutlet)).await.ok();
        services.as_array().unwrap().iter().find(|service| service["id"] == *id).expect("it is listed")["pulsa"].clone()
    };
    coins.change(&json!({"cara": "pulsa", "lebar_ms": 100, "jeda_ms": 900})).await;
    for (pulses, status, message) in
        [(0, 400, "pulsa harus 1 sampai 20"), (21, 400, "pulsa harus 1 sampai 20"), (7, 422, TOO_LONG)]
    {
        offer(pulses).await.expect(status, message);
    }
    assert_eq!(app.audit_of("layanan.buat").await, [Value::Null; 0]);
    let made = offer(6).await.ok()["id"].clone();
    assert_eq!((stored(&made).await, &app.audit_of("layanan.buat").await[0]["pulsa"]), (json!(6), &json!(6)));
    let path = format!("layanan/{made}");
    app.ops(key, &path, &json!({"durasi": 900, "pulsa": 7})).await.expect(422, TOO_LONG);
    let longer = app.ops(key, &path, &json!({"durasi": 900})).await.ok();
    assert_eq!(longer["lama"], made);
    assert_eq!((stored(&longer["id"]).await, &app.audit_of("layanan.ganti").await[0]["pulsa"]), (json!(6), &json!(6)));
    let fewer = app.ops(key, &format!("layanan/{}", longer["id"]), &json!({"durasi": 300, "pulsa": 2})).await.ok();
    assert_eq!((stored(&fewer["id"]).await, stored(&longer["id"]).await), (json!(2), json!(6)), "the replaced one keeps its own");
}

#[actix_web::test]
async fn a_new_machine_has_its_timings() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, key, .. } = &coins;
    let add = async |fields: Value| {
        let mut new = json!({"idoutlet": shop.outlet.idoutlet, "nama": "Koin 2", "cara": "pulsa"});
        new.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        app.ops(key, "mesin", &new).await
    };
    app.ops(key, &format!("layanan/{}", shop.idlayanan), &json!({"pulsa": 6})).await.ok();
    for (fields, status, message) in [
        (json!({"lebar_ms": 0}), 400, "lebar_ms harus 1 sampai 5999"),
        (json!({"jeda_ms": 6_000}), 400, "jeda_ms harus 1 sampai 5999"),
        (json!({"sense_s": 0}), 400, "sense_s harus 1 sampai 3600"),
        (json!({"sense_s": 3_601}), 400, "sense_s harus 1 sampai 3600"),
        (json!({"pulsa": 20, "lebar_ms": 100, "jeda_ms": 201}), 422, TOO_LONG),
        (json!({"lebar_ms": 100, "jeda_ms": 901}), 422, TOO_LONG),
    ] {
        add(fields).await.expect(status, message);
    }
    assert_eq!(app.insert("SELECT count(*) FROM mesin", &[]).await, 1, "none was made");
    let made = add(json!({"lebar_ms": 100, "jeda_ms": 900, "sense_s": 90})).await.ok();
    let detail = app.ops_see(key, &format!("mesin/{}/rincian", made["id"])).await.ok();
    let starts = json!({"cara": "pulsa", "lebar_ms": 100, "jeda_ms": 900, "sense_s": 90, "pulsa": null});
    assert_eq!(detail["menyala"], starts);
    let audited = app.audit_of("mesin.buat").await.last().unwrap().clone();
    let of = |field: &str| audited[field].clone();
    assert_eq!((of("lebar_ms"), of("jeda_ms"), of("sense_s")), (json!(100), json!(900), json!(90)));
}

#[actix_web::test]
async fn no_machine_takes_coins_while_an_older_server_is_alive() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, key, .. } = &coins;
    let path = format!("mesin/{}", shop.idmesin);
    app.older_server_is_alive(true).await;
    app.ops(key, &path, &json!({"cara": "pulsa"})).await.expect(503, "layanan sedang sibuk, coba lagi");
    app.older_server_is_alive(false).await;
    app.ops(key, &path, &json!({"cara": "pulsa"})).await.ok();
    let knows: i32 = app.db.query_one("SELECT knows FROM oldest_program", &[]).await.unwrap().get(0);
    assert_eq!(knows, 20_270_108, "an older program would start it by its relay");
}

#[actix_web::test]
async fn a_test_of_pulses_is_sent_once_and_then_asked_about() {
    let coins = CoinShop::open().await;
    let CoinShop { app, shop, key, .. } = &coins;
    coins.change(&json!({"cara": "pulsa", "lebar_ms": 40})).await;
    let path = format!("mesin/{}", shop.idmesin);
    let mut device = coins.board(&json!(["pulse"])).await;
    app.ops(key, &format!("{path}/tutup"), &json!({"alasan": "koin macet"})).await.ok();
    let answers = async {
        let cmd = device.order().await;
        let said = |field: &str| cmd[field].clone();
        assert_eq!((said("op"), said("durasi_s"), said("n"), said("width_ms")), (json!("pulse"), json!(0), json!(2), json!(40)));
        // The answer is lost, and then the connection: the pulses are not sent again.
        app.advance_s(1);
        let mut again = device.again(&app.clock).await;
        again.learn_the_time().await;
        app.advance_s(3);
        let question = again.order().await;
        assert_eq!((&question["op"], &question["cmd_id"], &question["durasi_s"]), (&json!("query"), &said("cmd_id"), &json!(0)));
        again.last = json!({"cmd_id": question["cmd_id"], "result": "done"});
        again.state().await;
        again.ack(&question, "done").await;
        again
    };
    let (tested, _device) = join(app.ops(key, &format!("{path}/uji"), &json!({"pulsa": 2})), answers).await;
    let receipt = tested.ok()["idtransaksi"].as_str().unwrap().to_owned();
    assert_eq!(app.states(&receipt).await, ["FINISHED"]);
    assert_eq!(app.ops_see(key, "mesin").await.ok()["mesin"][0]["keadaan"], "ditutup");
    app.assert_no_violation().await;
}
