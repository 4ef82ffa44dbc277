//! The technician: the machines of an outlet, without money and without customers. Who may make which call is in
//! `backend/tests/api/till/rights.rs`.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::receipt;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn supervisors_and_owners_make_technicians_who_log_in_without_a_shift() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let (supervisor, owner) = (app.key(Scope::Supervisor(outlet.idoutlet)).await, app.key(Scope::Owner(outlet.idowner)).await);
    let rina = app.selling(outlet.idoutlet, 100_000).await;
    let new = json!({"nama": "Budi", "role": "teknisi", "idoutlet": outlet.idoutlet});
    let made = app.ops(&supervisor, "petugas", &new).await.ok();
    let pins = json!({"idpetugas": made["id"], "pin": made["pin_awal"], "pin_baru": "135791"});
    let here = app.log_in(&rina.till, &pins).await.ok();
    assert_eq!((&here["petugas"]["role"], &here["shift"]), (&json!("teknisi"), &Value::Null));
    let listed = app.ops_see(&supervisor, "petugas").await.ok();
    assert_eq!((&listed["baris"][0]["nama"], &listed["baris"][0]["role"]), (&json!("Budi"), &json!("teknisi")));
    // A technician cannot take over a drawer.
    let count = json!({"dihitung": 100_000, "lanjut": {"idpetugas": made["id"], "pin": "135791"}});
    assert_eq!(app.ask(&rina, "shift/tutup", &count).await.status, 403);
    for key in [&supervisor, &owner] {
        let secret = app.ops(key, "kunci", &new).await.ok()["secret"].as_str().unwrap().to_owned();
        assert_eq!(app.ops_see(&secret, "saya").await.ok()["role"], "teknisi");
    }
    for (body, status, message) in [
        (
            json!({"nama": "Budi", "role": "teknisi", "idowner": outlet.idowner}),
            400,
            "kasir, teknisi dan supervisor perlu idoutlet, owner perlu idowner; isi salah satu saja",
        ),
        (
            json!({"nama": "Budi", "role": "tukang", "idoutlet": outlet.idoutlet}),
            400,
            "role harus kasir, teknisi, supervisor atau owner",
        ),
    ] {
        app.ops(&owner, "petugas", &body).await.expect(status, message);
        app.ops(&owner, "kunci", &body).await.expect(status, message);
    }
}

#[actix_web::test]
async fn the_board_has_no_money_and_no_names_for_a_technician() {
    let app = TestApp::spawn().await;
    let shop = app.outlet("Melati").await;
    let outlet = shop.idoutlet;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, shop, 50_000).await;
    let machine = app.machine(shop, "Cuci 1").await;
    let (supervisor, technician) = (app.key(Scope::Supervisor(outlet)).await, app.key(Scope::Technician(outlet)).await);
    app.selling(outlet, 100_000).await;
    app.advance_s(17 * 3_600); // the shift needs a person
    app.hold(epay, &machine, &receipt(1)).await;
    let of = async |key: &str| app.ops_see(key, "mesin").await.ok();
    let (all, seen) = (of(&supervisor).await, of(&technician).await);
    let mut expected = all["mesin"][0].clone();
    assert!(expected["jumlah"].is_i64() && expected["kembali_at"].is_string(), "{expected}");
    (expected["jumlah"], expected["kembali_at"]) = (Value::Null, Value::Null);
    assert_eq!(seen["mesin"], json!([expected]));
    let kinds = |board: &Value| board["perhatian"].as_array().unwrap().iter().map(|one| one["jenis"].clone()).collect::<Vec<_>>();
    assert!(kinds(&all).contains(&json!("shift")), "{all}");
    assert!(!kinds(&seen).contains(&json!("shift")), "{seen}");
    let detail = async |key: &str| app.ops_see(key, &format!("mesin/{}/rincian", machine.idmesin)).await.ok();
    let texts =
        |detail: &Value| detail["riwayat"].as_array().unwrap().iter().map(|event| event["teks"].clone()).collect::<Vec<_>>();
    let (all, seen) = (detail(&supervisor).await, detail(&technician).await);
    assert!(texts(&all).iter().any(|text| text.as_str().unwrap().starts_with("Dibayar S")), "{all}");
    assert!(texts(&seen).contains(&json!("Dibayar")), "{seen}");
    assert_eq!((&seen["jumlah"], &seen["kembali_at"]), (&Value::Null, &Value::Null));
    assert_eq!((&all["nilai_koin"], &seen["nilai_koin"], &seen["koin"]), (&json!(0), &Value::Null, &Value::Null));
    assert!(!seen.to_string().contains("Siti"), "{seen}");
}

#[actix_web::test]
async fn a_technician_changes_the_timings_of_a_closed_machine_and_nothing_else() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet.idoutlet;
    let budi = app.person("Budi", Role::Technician, WorksFor::Outlet(outlet), "135791").await;
    let budi = app.at(&app.till(outlet).await, budi).await;
    let path = format!("mesin/{}", shop.idmesin);
    let timings = json!({"lebar_ms": 60, "jeda_ms": 150, "sense_s": 30});
    app.ask(&budi, &path, &timings).await.expect(409, "mesin harus ditutup dulu");
    app.ask(&budi, &format!("{path}/tutup"), &json!({"alasan": "koin macet"})).await.ok();
    app.ask(&budi, &path, &timings).await.ok();
    let detail = app.see(&budi, &format!("{path}/rincian")).await.ok();
    let menyala = json!({"cara": "relai", "lebar_ms": 60, "jeda_ms": 150, "sense_s": 30, "pulsa": null});
    assert_eq!((&detail["menyala"], &detail["ditutup"]["oleh"]), (&menyala, &json!("Budi")));
    assert_eq!(app.audit_of("mesin.ubah").await, [timings]);
    for field in [
        json!({"nama": "Cuci 9"}),
        json!({"aktif": false}),
        json!({"cara": "pulsa"}),
        json!({"pulsa": null}),
        json!({"servis_tiap": 100, "sense_s": 40}),
        json!({"ukuran": null}),
        json!({"nilai_koin": 500}),
    ] {
        assert_eq!(app.ask(&budi, &path, &field).await.status, 403, "{field}");
    }
    app.ask(&budi, &path, &json!({"sense_s": 0})).await.expect(400, "sense_s harus 1 sampai 3600");
    app.ask(&budi, &format!("{path}/servis"), &json!({"catatan": "sabuk baru"})).await.ok();
    app.ask(&budi, &format!("{path}/buka"), &json!({})).await.ok();
    // Who may change everything changes them at any time.
    app.ops(&app.key(Scope::Supervisor(outlet)).await, &path, &json!({"sense_s": 45})).await.ok();
}

#[actix_web::test]
async fn there_is_no_technician_while_an_older_server_is_alive() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let new = json!({"nama": "Budi", "role": "teknisi", "idoutlet": outlet.idoutlet});
    app.older_server_is_alive(true).await;
    for call in ["petugas", "kunci"] {
        app.ops(&key, call, &new).await.expect(503, "layanan sedang sibuk, coba lagi");
    }
    app.ops(&key, "petugas", &json!({"nama": "Rina", "role": "kasir", "idoutlet": outlet.idoutlet})).await.ok();
    app.older_server_is_alive(false).await;
    app.ops(&key, "petugas", &new).await.ok();
    let knows: i32 = app.db.query_one("SELECT knows FROM oldest_program", &[]).await.unwrap().get(0);
    assert_eq!(knows, 20_270_111, "an older program cannot list a technician");
}
