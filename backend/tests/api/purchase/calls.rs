//! Outlets with free machines, and 'Panggil saya': the customer who waits is called to a machine.

use std::time::Duration;

use nyala_core::domain::id::MachineId;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use crate::cluster::two_of;
use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::arrange::Outlet;
use crate::support::helpers::{Answer, Customer, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

impl TestApp {
    async fn wait_for(&self, customer: &Customer, outlet: Outlet, kind: &str) -> Answer {
        let path = format!("/scan/v1/outlet/{}/panggil", outlet.idoutlet);
        self.post(&path, Some(&customer.token), &json!({"jenis": kind})).await
    }

    async fn call_of(&self, customer: &Customer) -> Value {
        self.get("/scan/v1/panggil", Some(&customer.token)).await.ok()
    }

    /// Waits until a customer's call is as it should be; the server decides every second.
    async fn call_until(&self, customer: &Customer, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..2_000 {
            let call = self.call_of(customer).await;
            if is_so(&call) {
                return call;
            }
            actix_web::rt::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the call stays {}", self.call_of(customer).await);
    }

    /// The machine to which a customer is called.
    async fn called(&self, customer: &Customer) -> MachineId {
        let call = self.call_until(customer, |call| call["dipanggil"].is_object()).await;
        MachineId::new(call["dipanggil"]["idmesin"].as_i64().unwrap())
    }

    async fn machines_of(&self, customer: &Customer, outlet: Outlet) -> Value {
        self.get(&format!("/scan/v1/outlet/{}/mesin", outlet.idoutlet), Some(&customer.token)).await.ok()["mesin"].clone()
    }

    /// The run of a machine's open purchase ends.
    async fn ends(&self, receipt: &str) {
        self.advance_s(601);
        self.until(receipt, "FINISHED").await;
    }
}

/// A shop of one washer that runs for a customer, and two who want it.
struct Queue {
    app: TestApp,
    shop: Shop,
    running: Order,
    siti: Customer,
    budi: Customer,
}

impl Queue {
    async fn at(app: TestApp) -> Self {
        let shop = app.shop(600).await;
        let first = app.register_customer("81200000001", "Ani", "Rahmawati").await;
        let epay = app.balance_of(&first, shop, 10 * PRICE).await;
        let running = buy(1, shop, epay);
        app.buy(&first, &running).await.ok();
        let siti = app.register_customer("81200000002", "Siti", "Rahmawati").await;
        let budi = app.register_customer("81200000003", "Budi", "Santoso").await;
        for (customer, balance) in [(&siti, 10 * PRICE), (&budi, 10 * PRICE)] {
            app.balance_of(customer, shop, balance).await;
        }
        Self { app, shop, running, siti, budi }
    }

    fn order(&self, n: u32, wallet: i64) -> Order {
        buy(n, self.shop, wallet)
    }

    async fn wallet(&self, customer: &Customer) -> i64 {
        self.app.insert("SELECT idcustomer FROM customer WHERE id_customer_global = $1", &[&customer.id]).await
    }
}

#[actix_web::test]
async fn a_customer_sees_free_machines_of_own_outlets_and_of_any_that_was_opened() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let dryer = app.machine(outlet, "Pengering 1").await;
    app.db.execute("UPDATE mesin SET jenis = 'kering' WHERE idmesin = $1", &[&dryer.idmesin]).await.unwrap();
    let gone = app.machine(outlet, "Mesin 02").await;
    app.db.execute("UPDATE mesin SET online = FALSE WHERE idmesin = $1", &[&gone.idmesin]).await.unwrap();
    let silent = app.machine(outlet, "Mesin 03").await;
    app.db.execute("UPDATE mesin SET driver = 'mqtt' WHERE idmesin = $1", &[&silent.idmesin]).await.unwrap();
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let ends_at: nyala_core::domain::timestamp::Timestamp = app.insert_id("SELECT ends_at FROM snap_transaksi", &[]).await;
    let seen = app.machines_of(&siti, outlet).await;
    let machine = |id: MachineId, name: &str, kind: &str, status: &str, ends_at: Value| json!({"id": id, "nama": name, "jenis": kind, "status": status, "ends_at": ends_at, "dipanggil_sampai": null});
    let expected = json!([
        machine(shop.idmesin, "Mesin 01", "cuci", "busy", json!(ends_at.ms())),
        machine(gone.idmesin, "Mesin 02", "cuci", "offline", Value::Null),
        machine(silent.idmesin, "Mesin 03", "cuci", "diam", Value::Null),
        machine(dryer.idmesin, "Pengering 1", "kering", "idle", Value::Null),
    ]);
    assert_eq!(seen, expected);
    let mine = app.get("/scan/v1/outlet", Some(&siti.token)).await.ok();
    let kinds = json!([
        {"jenis": "cuci", "siap": 0, "jalan": 1, "berikutnya_at": ends_at},
        {"jenis": "kering", "siap": 1, "jalan": 0, "berikutnya_at": null},
    ]);
    let expected = json!([{"idoutlet": outlet.idoutlet, "nama": "Laundry Melati", "kota": "Bandung", "alamat": "", "tutup": null, "jenis": kinds}]);
    assert_eq!(mine, expected);

    let stranger = app.register_customer("81200000002", "Budi", "Santoso").await;
    assert_eq!(app.get("/scan/v1/outlet", Some(&stranger.token)).await.ok(), json!([]));
    assert_eq!(app.machines_of(&stranger, outlet).await, seen, "any outlet that was opened");
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&key, &format!("outlet/{}/tutup", outlet.idoutlet), &json!({"alasan": "banjir"})).await.ok();
    let path = format!("/scan/v1/outlet/{}/mesin", outlet.idoutlet);
    let closed = app.get(&path, Some(&siti.token)).await.ok();
    assert_eq!(closed["outlet"]["tutup"], json!({"alasan": "banjir", "sampai": null}));
    assert_eq!(closed["mesin"][3]["status"], "offline");
    app.db.execute("UPDATE outlet SET dibuka_at = NULL", &[]).await.unwrap();
    app.get(&path, Some(&siti.token)).await.expect(404, "outlet tidak ditemukan");
    assert_eq!(app.get("/scan/v1/outlet", Some(&siti.token)).await.ok(), json!([]), "nobody sees one that is being prepared");
    app.wait_for(&siti, outlet, "cuci").await.expect(404, "outlet tidak ditemukan");
    app.get("/scan/v1/outlet/4711/mesin", Some(&siti.token)).await.expect(404, "outlet tidak ditemukan");
}

#[actix_web::test]
async fn the_first_who_waits_is_called_and_pushed_and_the_next_after_three_minutes() {
    let service = PushService::start();
    let Queue { app, shop, running, siti, budi } = Queue::at(service.setup().start().await).await;
    let phone = service.browser("phone");
    app.subscribe(&siti, &phone).await.ok();
    let outlet = shop.outlet;
    app.wait_for(&siti, outlet, "kering").await.expect(404, "jenis mesin tidak ada");
    assert_eq!(app.wait_for(&siti, outlet, "setrika").await.status, 400);
    let call = app.wait_for(&siti, outlet, "cuci").await.ok();
    let until = app.now().plus_ms(2 * 3_600_000);
    let expected =
        json!({"id": call["id"], "idoutlet": outlet.idoutlet, "jenis": "cuci", "urutan": 1, "sampai": until, "dipanggil": null});
    assert_eq!((&call, &app.call_of(&siti).await), (&expected, &expected));
    app.advance_s(1);
    assert_eq!(app.wait_for(&siti, outlet, "cuci").await.ok(), expected, "the same again");
    assert_eq!(app.wait_for(&budi, outlet, "cuci").await.ok()["urutan"], 2);
    let elsewhere = app.outlet_of(outlet.idowner, "Mawar").await;
    app.machine(elsewhere, "M1").await;
    app.wait_for(&siti, elsewhere, "cuci").await.expect(409, "masih ada panggilan lain");

    app.ends(&running.receipt).await;
    assert_eq!(app.called(&siti).await, shop.idmesin);
    let call = app.call_of(&siti).await;
    let until = app.now().plus_ms(3 * 60_000);
    assert_eq!(call["dipanggil"], json!({"idmesin": shop.idmesin, "mesin": "Mesin 01", "sampai": until}));
    let given = service.until(1).await;
    let pushed = phone.open(&given);
    assert_eq!(
        (&pushed["judul"], &pushed["isi"], &pushed["tuju"]),
        (
            &json!("Mesin siap"),
            &json!("Mesin 01 di Laundry Melati, 3 menit untuk Anda"),
            &json!(format!("/outlet/{}", outlet.idoutlet))
        )
    );
    assert_eq!(given.header("ttl"), "180");
    let seen = app.machines_of(&budi, outlet).await;
    assert_eq!((&seen[0]["status"], &seen[0]["dipanggil_sampai"]), (&json!("idle"), &json!(until)));
    assert_eq!(app.call_of(&budi).await["dipanggil"], Value::Null);

    app.advance_s(180);
    assert_eq!(app.call_of(&siti).await, Value::Null, "unused: over");
    assert_eq!(app.called(&budi).await, shop.idmesin);
    app.wait_for(&siti, outlet, "cuci").await.ok();
    app.post("/scan/v1/panggil/berhenti", Some(&budi.token), &json!({})).await.ok();
    app.post("/scan/v1/panggil/berhenti", Some(&budi.token), &json!({})).await.ok();
    assert_eq!(app.call_of(&budi).await, Value::Null);
    assert_eq!(app.called(&siti).await, shop.idmesin, "the next one is called");
    app.post("/scan/v1/panggil/berhenti", Some(&siti.token), &json!({})).await.ok();
    app.wait_for(&siti, outlet, "cuci").await.expect(409, "ada mesin yang siap");
    assert_eq!(app.insert("SELECT count(*) FROM panggilan WHERE selesai_at IS NULL", &[]).await, 0);
}

#[actix_web::test]
async fn a_walk_in_takes_no_turn_and_a_start_ends_the_call() {
    let queue = Queue::at(TestApp::spawn().await).await;
    let Queue { app, shop, running, siti, budi } = &queue;
    app.wait_for(siti, shop.outlet, "cuci").await.ok();
    app.wait_for(budi, shop.outlet, "cuci").await.ok();
    app.ends(&running.receipt).await;
    app.called(siti).await;
    // Somebody else starts it within the three minutes.
    let walk_in = app.register_customer("81200000009", "Tono", "Wijaya").await;
    let wallet = app.balance_of(&walk_in, *shop, PRICE).await;
    let order = buy(2, *shop, wallet);
    app.buy(&walk_in, &order).await.ok();
    app.call_until(siti, |call| call["dipanggil"].is_null()).await;
    assert_eq!((&app.call_of(siti).await["urutan"], &app.call_of(budi).await["urutan"]), (&json!(1), &json!(2)));
    app.ends(&order.receipt).await;
    assert_eq!(app.called(siti).await, shop.idmesin, "the first again");
    assert_eq!(app.call_of(budi).await["dipanggil"], Value::Null);
    // The called customer starts it.
    let order = queue.order(3, queue.wallet(siti).await);
    app.buy(siti, &order).await.ok();
    app.call_until(siti, Value::is_null).await;
    assert_eq!(app.call_of(budi).await["urutan"], 1);
    // A device that refuses gives the turn to nobody.
    app.ends(&order.receipt).await;
    app.called(budi).await;
    app.fault(*shop, Mode::Refuse).await;
    let order = queue.order(4, queue.wallet(budi).await);
    app.buy(budi, &order).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    assert_ne!(app.call_of(budi).await, Value::Null);
}

#[actix_web::test]
async fn a_call_lasts_while_the_own_purchase_is_not_decided() {
    let queue = Queue::at(TestApp::spawn().await).await;
    let Queue { app, shop, running, siti, budi } = &queue;
    app.wait_for(siti, shop.outlet, "cuci").await.ok();
    app.wait_for(budi, shop.outlet, "cuci").await.ok();
    app.ends(&running.receipt).await;
    app.called(siti).await;
    let call = app.call_of(siti).await;
    app.fault(*shop, Mode::Silent).await;
    let order = queue.order(2, queue.wallet(siti).await);
    let silent = "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala";
    app.buy(siti, &order).await.expect(504, silent);
    app.advance_s(200);
    assert_eq!(app.call_of(siti).await, call, "the three minutes are over, and the queue keeps it");
    assert_eq!(app.wait_for(siti, shop.outlet, "cuci").await.ok(), call);
    assert_eq!(app.call_of(budi).await["urutan"], 2);
}

#[actix_web::test]
async fn a_machine_that_becomes_another_kind_holds_up_nobody() {
    let queue = Queue::at(TestApp::spawn().await).await;
    let Queue { app, shop, siti, budi, .. } = &queue;
    let dryer = app.machine(shop.outlet, "Mesin 2").await;
    app.db.execute("UPDATE mesin SET jenis = 'kering', online = FALSE WHERE idmesin = $1", &[&dryer.idmesin]).await.unwrap();
    app.wait_for(siti, shop.outlet, "kering").await.ok();
    app.wait_for(budi, shop.outlet, "cuci").await.ok();
    app.db.execute("UPDATE mesin SET online = TRUE WHERE idmesin = $1", &[&dryer.idmesin]).await.unwrap();
    assert_eq!(app.called(siti).await, dryer.idmesin);
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}", dryer.idmesin), &json!({"jenis": "cuci"})).await.ok();
    assert_eq!(app.called(budi).await, dryer.idmesin);
    assert_eq!(app.call_of(siti).await["dipanggil"], Value::Null, "she waits again");
}

#[actix_web::test]
async fn a_machine_that_is_not_heard_is_no_free_one() {
    let queue = Queue::at(TestApp::spawn().await).await;
    let Queue { app, shop, siti, .. } = &queue;
    let silent = app.machine(shop.outlet, "Mesin 2").await;
    app.db.execute("UPDATE mesin SET driver = 'mqtt' WHERE idmesin = $1", &[&silent.idmesin]).await.unwrap();
    let status = |machines: Value| machines.as_array().unwrap().iter().map(|m| m["status"].clone()).collect::<Vec<_>>();
    assert_eq!(status(app.machines_of(siti, shop.outlet).await), ["busy", "diam"]);
    app.wait_for(siti, shop.outlet, "cuci").await.ok();
    queue.app.ends(&queue.running.receipt).await;
    assert_eq!(app.called(siti).await, shop.idmesin, "the one that is heard");
}

#[actix_web::test]
async fn a_call_ends_after_two_hours_and_when_the_outlet_closes() {
    let Queue { app, shop, siti, budi, .. } = Queue::at(TestApp::spawn().await).await;
    // Nobody can use the machine any more.
    app.db.execute("UPDATE mesin SET online = FALSE", &[]).await.unwrap();
    app.wait_for(&siti, shop.outlet, "cuci").await.ok();
    app.advance_s(2 * 3_600 - 1);
    assert_ne!(app.call_of(&siti).await, Value::Null);
    app.wait_for(&budi, shop.outlet, "cuci").await.ok();
    app.advance_s(1);
    assert_eq!(app.call_of(&siti).await, Value::Null);
    app.wait_for(&siti, shop.outlet, "cuci").await.ok();
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("outlet/{}/tutup", shop.outlet.idoutlet), &json!({"alasan": "banjir"})).await.ok();
    for customer in [&siti, &budi] {
        assert_eq!(app.call_of(customer).await, Value::Null);
        app.wait_for(customer, shop.outlet, "cuci").await.expect(409, "outlet sedang tutup");
    }
    app.ops(&key, &format!("outlet/{}/buka", shop.outlet.idoutlet), &json!({})).await.ok();
    app.advance_s(1);
    app.call_until(&siti, Value::is_null).await;
}

#[actix_web::test]
async fn of_two_servers_one_calls_and_the_other_goes_on_when_it_ends() {
    let service = PushService::start();
    let one_of = |name: &'static str| {
        service.setup().running_clock().with(|config| {
            config.cluster.enabled = true;
            config.cluster.name = name.to_owned();
        })
    };
    let (first, second) = two_of(one_of).await;
    let shop = first.shop(600).await;
    let waits = async |wait: bool| {
        first.db.execute("UPDATE mesin SET perlu_petugas = $1", &[&wait]).await.unwrap();
    };
    waits(true).await;
    let siti = first.register_customer("81200000002", "Siti", "Rahmawati").await;
    let budi = first.register_customer("81200000003", "Budi", "Santoso").await;
    second.subscribe(&siti, &service.browser("phone")).await.ok();
    first.wait_for(&siti, shop.outlet, "cuci").await.ok();
    assert_eq!(second.wait_for(&budi, shop.outlet, "cuci").await.ok()["urutan"], 2);
    waits(false).await;
    for app in [&first, &second] {
        assert_eq!(app.called(&siti).await, shop.idmesin);
    }
    service.until(1).await;
    first.all_pushed().await;
    assert_eq!(service.given().len(), 1, "two servers, one call");
    drop(first);
    assert_eq!(second.call_of(&siti).await["dipanggil"]["idmesin"], json!(shop.idmesin));
    second.post("/scan/v1/panggil/berhenti", Some(&siti.token), &json!({})).await.ok();
    assert_eq!(second.called(&budi).await, shop.idmesin);
}
