//! Opening a shop: an outlet is prepared, its items are computed, and its owner opens it when nothing is missing.

use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;

/// Whether each item is there.
fn done(ready: &Value) -> Vec<(&str, bool)> {
    let items = ready["butir"].as_array().unwrap();
    items.iter().map(|item| (item["butir"].as_str().unwrap(), item["beres"].as_bool().unwrap())).collect()
}

#[actix_web::test]
async fn a_prepared_outlet_is_opened_by_its_owner_when_nothing_is_missing() {
    let app = TestApp::spawn().await;
    let idowner = app.owner().await;
    let owner = app.key(Scope::Owner(idowner)).await;
    let premises = json!({
        "idowner": idowner, "nama": "Melati", "kota": "Yogyakarta", "latitude": -7.8, "longitude": 110.4, "hari_mulai": "04:00",
        "persiapan": true,
    });
    let idoutlet = app.ops(&owner, "outlet", &premises).await.ok()["idoutlet"].clone();
    let id = OutletId::new(idoutlet.as_i64().unwrap());
    assert_eq!(app.ops_see(&owner, "outlet").await.ok()[0]["dibuka_at"], Value::Null);
    assert_eq!(app.audit_of("outlet.buat").await[0]["persiapan"], true);
    let ready = async || app.ops_see(&owner, &format!("outlet/{id}/siap")).await.ok();
    let open = format!("outlet/{id}/buka");
    let at_first = ready().await;
    let expected = ["outlet", "layanan", "mesin", "perangkat", "uji", "petugas", "tablet", "sinyal"];
    assert_eq!(done(&at_first), expected.map(|item| (item, matches!(item, "outlet" | "sinyal"))));
    assert_eq!((&at_first["dibuka_at"], &at_first["siap"], &at_first["langkah"]), (&Value::Null, &json!(false), &json!(2)));
    let needed: Vec<bool> = at_first["butir"].as_array().unwrap().iter().map(|item| item["wajib"].as_bool().unwrap()).collect();
    assert_eq!(needed, [true, true, true, true, true, true, true, false]);
    assert_eq!(at_first["butir"][0]["teks"], "Yogyakarta, Asia/Jakarta, hari mulai 04.00");
    app.ops(&owner, &open, &json!({})).await.expect(422, "outlet belum siap");

    // Services: one for each kind of machine.
    let wash = json!({"idoutlet": id, "nama": "Cuci", "durasi": 1800, "harga": 10_000, "jenis": "cuci"});
    let wash = app.ops(&owner, "layanan", &wash).await.ok()["id"].clone();
    assert_eq!(ready().await["langkah"], 3);
    let machine = |name: &str| json!({"idoutlet": id, "nama": name, "driver": "sim"});
    let washer = app.ops(&owner, "mesin", &machine("Cuci 01")).await.ok();
    let washer_id = MachineId::new(washer["id"].as_i64().unwrap());
    app.ops(&owner, "mesin", &machine("Pengering 01")).await.ok();
    let missing = ready().await;
    assert_eq!((&missing["langkah"], &missing["butir"][1]["teks"]), (&json!(2), &json!("Belum ada layanan untuk kering")));
    app.ops(&owner, "layanan", &json!({"idoutlet": id, "nama": "Kering", "durasi": 1800, "harga": 9_000, "jenis": "kering"}))
        .await
        .ok();
    assert_eq!((&ready().await["langkah"], &ready().await["butir"][3]["beres"]), (&json!(4), &json!(true)));
    // Nothing is sold, and nobody is needed.
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    app.ops(&owner, "topup", &json!({"telp": "81234567890", "idoutlet": id, "nominal": 50_000})).await.ok();
    let epay: i64 = app.insert("SELECT idcustomer FROM customer WHERE id_customer_global = $1", &[&siti.id]).await;
    let order = |receipt: &str| {
        json!({
            "id": receipt, "idcustomer": epay, "idmesin": washer_id, "idoutlet": id, "idsnap_layanan": wash, "total": 10_000,
            "grandtotal": 10_000,
        })
    };
    let buy =
        async |receipt: &str| app.post("/scan/v1/transaksi/create_snap_transaksi", Some(&siti.token), &order(receipt)).await;
    buy("SLF000000000000001").await.expect(409, "mesin sedang offline");
    let scanned = json!({"qr": washer["qr"], "limit": 10, "skip": 0});
    let seen = app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &scanned).await.ok();
    assert_eq!(seen["data_mesin"]["status"], "offline");
    app.db.execute("UPDATE mesin SET perlu_petugas = TRUE WHERE idmesin <> $1", &[&washer_id]).await.unwrap();
    for _ in 0..300 {
        if app.insert("SELECT count(*) FROM keadaan_mesin", &[]).await > 0 {
            break;
        }
        actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(app.ops_see(&owner, "perhatian").await.ok(), json!([]));
    app.db.execute("UPDATE mesin SET perlu_petugas = FALSE", &[]).await.unwrap();

    let receipt = app.test_start(&owner, washer_id, 5).await.ok()["idtransaksi"].as_str().unwrap().to_owned();
    app.advance_s(5);
    app.until(&receipt, "FINISHED").await;
    let tested = ready().await;
    assert_eq!((&tested["langkah"], &tested["butir"][4]["teks"]), (&json!(5), &json!("1 dari 2 tes nyala berhasil")));
    // A person with a PIN of the own, and a tablet.
    let hired = app.ops(&owner, "petugas", &json!({"nama": "Rina", "role": "kasir", "idoutlet": id})).await.ok();
    app.till(id).await;
    assert_eq!(done(&ready().await)[5..7], [("petugas", false), ("tablet", true)], "a first PIN is not her own");
    let till = app.till(id).await;
    let body = json!({"idpetugas": hired["id"], "pin": hired["pin_awal"], "pin_baru": "246810"});
    app.log_in(&till, &body).await.ok();
    let all = ready().await;
    assert_eq!((&all["siap"], &all["langkah"]), (&json!(true), &json!(5)), "{all}");

    let supervisor = app.key(Scope::Supervisor(id)).await;
    app.ops(&supervisor, &open, &json!({})).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    app.ops(&owner, &open, &json!({})).await.ok();
    assert_eq!(ready().await["dibuka_at"], app.now().rfc3339());
    buy("SLF000000000000002").await.ok();
    // From then on a supervisor closes and opens it, whatever is missing.
    app.ops(&supervisor, &format!("outlet/{id}/tutup"), &json!({"alasan": "banjir"})).await.ok();
    app.ops(&supervisor, &open, &json!({})).await.ok();
    app.ops(&supervisor, &open, &json!({})).await.ok();
    assert_eq!(app.audit_of("outlet.buka").await, [json!({"pertama": true}), json!({})]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_weak_signal_is_named_and_keeps_no_shop_closed() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let given = app.given(outlet, "Pengering 04").await;
    let hadi = app.clerk(&app.till(outlet.idoutlet).await, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let ready = async || app.see(&hadi, &format!("outlet/{}/siap", outlet.idoutlet)).await.ok();
    assert_eq!(done(&ready().await)[3], ("perangkat", false));
    let mut device = crate::devices::Device::online(&app, &given).await;
    let mut message = device.message();
    message["rssi"] = json!(-84);
    device.send("hb", &message).await;
    let weak = "SELECT count(*) FROM perangkat_kini WHERE rssi = -84";
    while app.insert(weak, &[]).await == 0 {
        actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let seen = ready().await;
    assert_eq!(done(&seen)[3], ("perangkat", true));
    let signal = &seen["butir"][7];
    assert_eq!(
        (&signal["beres"], &signal["wajib"], &signal["teks"]),
        (&json!(false), &json!(false), &json!("Pengering 04 sinyal lemah, -84 dBm"))
    );
}
