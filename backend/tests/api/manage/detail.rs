//! `GET mesin/{id}/rincian`: a machine's history, its cycles and its device.

use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::id::MachineId;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use crate::devices::Device;
use crate::ops::operator::Scope;
use crate::support::arrange::column;
use crate::support::helpers::TestApp;
use crate::support::shop::{PRICE, buy};

impl TestApp {
    pub async fn detail(&self, key: &str, id: MachineId) -> Value {
        self.ops_see(key, &format!("mesin/{id}/rincian")).await.ok()
    }

    /// Waits until the device's hours have these sums of boots, connections and seconds without one.
    pub async fn until_hours(&self, id: MachineId, is: [i64; 3]) {
        const SUMS: &str = "SELECT COALESCE(SUM(boot), 0), COALESCE(SUM(sambung), 0), COALESCE(SUM(putus_s), 0) FROM perangkat_jam WHERE idmesin = $1";
        let mut found = [0; 3];
        for _ in 0..2_000 {
            let row = self.db.query_one(SUMS, &[&id]).await.unwrap();
            found = [0, 1, 2].map(|n| row.get(n));
            if found == is {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("{found:?} and not {is:?}");
    }
}

fn what(detail: &Value) -> Vec<(&str, &str)> {
    let events = detail["riwayat"].as_array().unwrap();
    events.iter().map(|event| (event["apa"].as_str().unwrap(), event["teks"].as_str().unwrap())).collect()
}

#[actix_web::test]
async fn a_machines_history_is_told_with_masked_names() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let kasir = app.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    let none = app.detail(&kasir, shop.idmesin).await;
    assert_eq!((&none["riwayat"], &none["perangkat"], &none["keadaan"]), (&json!([]), &Value::Null, &json!("siap")));
    let siklus = json!({"hari_ini": 0, "tujuh_hari": 0, "sejak_servis": 0, "servis_tiap": null, "servis_at": null});
    assert_eq!((&none["siklus"], &none["aksi"]), (&siklus, &json!(["tanya", "tutup", "uji"])));

    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.advance_s(600);
    app.until(&buy(1, shop, epay).receipt, "FINISHED").await;
    app.fault(shop, Mode::Refuse).await;
    app.advance_s(60);
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    app.advance_s(60);
    app.ops(&kasir, &format!("mesin/{}/tutup", shop.idmesin), &json!({"alasan": "bocor"})).await.ok();
    for _ in 0..2_000 {
        if app.insert("SELECT count(*) FROM keadaan_mesin", &[]).await == 1 {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let detail = app.detail(&kasir, shop.idmesin).await;
    let expected = [
        ("ditutup", "Ditutup: bocor"),
        ("kembali", "Uang kembali"),
        ("ditolak", "Mesin menolak"),
        ("dikirim", "Perintah nyala dikirim"),
        ("dibayar", "Dibayar Siti R."),
        ("selesai", "Cuci Kilat selesai"),
        ("mulai", "Cuci Kilat mulai"),
        ("dikirim", "Perintah nyala dikirim"),
        ("dibayar", "Dibayar Siti R."),
    ];
    assert_eq!(what(&detail), expected);
    assert_eq!(detail["riwayat"][0]["at"], json!(app.now().rfc3339()));
    assert_eq!((&detail["ditutup"]["alasan"], &detail["nama"]), (&json!("bocor"), &json!("Mesin 01")));
    app.ops_see(&kasir, "mesin/4711/rincian").await.expect(404, "Mesin Not found");
}

#[actix_web::test]
async fn a_short_closing_is_in_the_history() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let call = |what: &str| format!("mesin/{}/{what}", shop.idmesin);
    for n in 1..=3 {
        app.clock.advance_ms(1);
        app.ops(&key, &call("tutup"), &json!({"alasan": "bocor"})).await.ok();
        app.ops(&key, &call("buka"), &json!({})).await.ok();
        assert_eq!(what(&app.detail(&key, shop.idmesin).await), [("dibuka", "Dibuka"), ("ditutup", "Ditutup")].repeat(n));
    }
}

#[actix_web::test]
async fn cycles_are_counted_by_the_business_day_and_since_the_last_service() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 1_000_000).await;
    let machine = app.machine(outlet, "Cuci 1").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}", machine.idmesin), &json!({"servis_tiap": 500})).await.ok();
    let days = [8, 3, 1, 0];
    for (n, days_before) in (1..).zip(days) {
        app.used(epay, &machine, &crate::support::arrange::receipt(n)).await;
        let back = "UPDATE snap_transaksi SET started_at = started_at - make_interval(days => $2) WHERE no_nota = $1";
        app.db.execute(back, &[&crate::support::arrange::receipt(n), &days_before]).await.unwrap();
    }
    let cycles = app.detail(&key, machine.idmesin).await["siklus"].clone();
    let expected = json!({"hari_ini": 1, "tujuh_hari": 3, "sejak_servis": 4, "servis_tiap": 500, "servis_at": null});
    assert_eq!(cycles, expected);
    app.ops(&key, &format!("mesin/{}/servis", machine.idmesin), &json!({})).await.ok();
    let cycles = app.detail(&key, machine.idmesin).await["siklus"].clone();
    assert_eq!((&cycles["sejak_servis"], &cycles["servis_at"]), (&json!(0), &json!(app.now().rfc3339())));
}

#[actix_web::test]
async fn a_device_is_shown_with_its_signal_boots_and_gaps() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let given = app.given(outlet, "Cuci 1").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    let never = app.detail(&key, given.idmesin).await["perangkat"].clone();
    assert_eq!((&never["driver"], &never["terdengar_at"], &never["rssi"]), (&json!("mqtt"), &Value::Null, &Value::Null));
    assert_eq!((never["sinyal"].as_array().unwrap().len(), &never["kunci_sejak"]), (24, &json!(app.now().rfc3339())));

    let mut device = Device::online(&app, &given).await;
    let message = {
        let mut message = device.message();
        message["rssi"] = json!(-61);
        message
    };
    device.send("hb", &message).await;
    device.connection.ping().await;
    app.until_hours(given.idmesin, [1, 1, 0]).await;
    let seen = app.detail(&key, given.idmesin).await["perangkat"].clone();
    assert_eq!(
        (&seen["rssi"], &seen["fw"], &seen["hw"], &seen["menyala_s"]),
        (&json!(-61), &json!("uji"), &Value::Null, &json!(60))
    );
    assert_eq!(seen["terdengar_at"], json!(app.now().rfc3339()));
    let counts = ["boot_hari_ini", "sambung_hari_ini", "boot_tujuh_hari"].map(|field| seen[field].clone());
    assert_eq!(counts, [1, 1, 1].map(|n| json!(n)));
    let hour = seen["sinyal"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&hour["rssi"], &hour["putus"]), (&json!(-61), &json!(0)));

    // Away for 40 seconds, back after another boot.
    let writes = "SELECT count(*) FROM perangkat_kini WHERE putus_sejak IS NOT NULL";
    drop(std::mem::replace(&mut device.connection, crate::devices::MqttConnection::connect(given.port).await));
    while app.insert(writes, &[]).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    app.advance_s(40);
    let away = app.detail(&key, given.idmesin).await["perangkat"]["sinyal"].clone();
    let gone: i64 = column(&away, "putus").into_iter().filter_map(Value::as_i64).sum();
    assert_eq!(gone, 40, "as long as it has been away so far");
    device = device.again(&app.clock).await;
    device.boot = 2;
    device.state().await;
    app.until_hours(given.idmesin, [2, 2, 40]).await;
    let back = app.detail(&key, given.idmesin).await["perangkat"].clone();
    let gone: i64 = column(&back["sinyal"], "putus").into_iter().filter_map(Value::as_i64).sum();
    assert_eq!((&back["boot_hari_ini"], gone), (&json!(2), 40));
}

#[actix_web::test]
async fn a_devices_diagnosis_says_why_it_booted_and_refused_and_what_was_lost() {
    let app = TestApp::spawn().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let key = app.key(Scope::Technician(shop.outlet.idoutlet)).await;
    let shown = async || app.detail(&key, given.idmesin).await["perangkat"].clone();
    let never = shown().await;
    for field in ["bisa", "sebab_boot", "jawab_ms", "ditolak_at", "sebab_tolak"] {
        assert_eq!(never[field], Value::Null, "{field}");
    }
    for field in ["hilang_hari_ini", "hilang_tujuh_hari", "ditolak_tujuh_hari", "kedaluwarsa_tujuh_hari"] {
        assert_eq!(never[field], 0, "{field}");
    }
    let until = async |field: &str, is: Value| {
        let mut seen = Value::Null;
        for _ in 0..1_000 {
            seen = shown().await;
            if seen[field] == is {
                return seen;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{field} does not become {is}: {seen}");
    };
    let mut device = Device::subscribe(&app.clock, &given, "esp").await;
    (device.can, device.reset) = (json!(["pulse", "coin"]), json!("brownout"));
    device.learn_the_time().await;
    let seen = until("sebab_boot", json!("brownout")).await;
    assert_eq!((&seen["bisa"], &seen["hilang_hari_ini"]), (&json!(["pulse", "coin"]), &json!(0)));
    app.until_stored(given.idmesin.get(), "online", true).await;

    // First three messages are lost, then two. The numbers of a new connection begin at one again, which is no loss.
    device.seq += 3;
    device.heartbeat().await;
    device.seq += 2;
    device.heartbeat().await;
    let seen = until("hilang_hari_ini", json!(5)).await;
    assert_eq!(seen["hilang_tujuh_hari"], 5);
    let mut device = device.again(&app.clock).await;
    device.learn_the_time().await;

    // The second start is refused, with a reason.
    let order = buy(1, shop, epay);
    app.buy_at(&siti, &order, &mut device).await.ok();
    app.advance_s(600);
    device.ends("done").await;
    app.until(&order.receipt, "FINISHED").await;
    let refuses = async {
        let start = device.order().await;
        let mut message = device.message();
        (message["cmd_id"], message["result"], message["why"]) = (start["cmd_id"].clone(), json!("refused"), json!("cut"));
        device.send("ack", &message).await;
    };
    let sale = json!({"telp": "81211112222", "idoutlet": shop.outlet.idoutlet, "nominal": PRICE});
    app.ops(&app.key(Scope::Supervisor(shop.outlet.idoutlet)).await, "topup", &sale).await.ok();
    let (refused, ()) = futures_util::future::join(app.buy(&siti, &buy(2, shop, epay)), refuses).await;
    refused.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    let seen = until("sebab_tolak", json!("terputus")).await;
    assert_eq!((&seen["ditolak_tujuh_hari"], &seen["ditolak_at"]), (&json!(1), &json!(app.now().rfc3339())));
    assert_eq!((&seen["jawab_ms"], &seen["kedaluwarsa_tujuh_hari"], &seen["hilang_hari_ini"]), (&json!(0), &json!(0), &json!(5)));
    // The next boot has another reason, and an older firmware none.
    (device.boot, device.seq, device.reset) = (2, 0, json!("watchdog"));
    device.state().await;
    let seen = until("sebab_boot", json!("watchdog")).await;
    assert_eq!(seen["sebab_tolak"], "terputus", "the last refusal stays");
    (device.boot, device.seq, device.reset) = (3, 0, Value::Null);
    device.state().await;
    until("sebab_boot", Value::Null).await;
}
