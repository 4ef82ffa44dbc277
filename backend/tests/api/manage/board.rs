//! The board and what needs a person, over HTTP.

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::Outlet;
use crate::support::helpers::TestApp;
use crate::support::shop::buy;

impl TestApp {
    /// The board, when the conditions of its machines are recorded.
    pub async fn board(&self, key: &str, outlet: Outlet) -> Value {
        self.conditions_recorded().await;
        self.ops_see(key, &format!("mesin?idoutlet={}", outlet.idoutlet)).await.ok()
    }

    /// Waits until the conditions of all machines are recorded as they are.
    pub async fn conditions_recorded(&self) {
        const MISSING: &str = "
            SELECT count(*) FROM mesin m WHERE m.aktif AND (
                (m.ditutup_sejak IS NOT NULL) <> EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = m.idmesin AND keadaan = 'ditutup' AND sampai IS NULL)
                OR m.perlu_petugas <> EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = m.idmesin AND keadaan = 'perlu_petugas' AND sampai IS NULL)
                OR NOT m.online <> EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = m.idmesin AND keadaan = 'offline' AND sampai IS NULL)
                OR (m.jalan_cmd_id IS NOT NULL) <> EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = m.idmesin AND keadaan = 'tanpa_bayar' AND sampai IS NULL)
                OR EXISTS (SELECT FROM snap_transaksi t WHERE t.idmesin = m.idmesin AND t.state = 'UNSURE')
                    <> EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = m.idmesin AND keadaan = 'belum_pasti' AND sampai IS NULL))";
        for _ in 0..2_000 {
            if self.insert(MISSING, &[]).await == 0 {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("conditions were not recorded");
    }

    pub async fn set(&self, idmesin: MachineId, change: &str) {
        self.db.execute(&format!("UPDATE mesin SET {change} WHERE idmesin = $1"), &[&idmesin]).await.unwrap();
    }
}

fn kinds(entries: &Value) -> Vec<(&str, &str)> {
    entries.as_array().unwrap().iter().map(|e| (e["jenis"].as_str().unwrap(), e["tingkat"].as_str().unwrap())).collect()
}

#[actix_web::test]
async fn a_tile_says_what_a_machine_does_and_what_can_be_done_with_it() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let ninth = app.machine(shop.outlet, "Cuci 9").await;
    let tenth = app.machine(shop.outlet, "Cuci 10").await;
    let kasir = app.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    let board = app.board(&kasir, shop.outlet).await;
    let names: Vec<&str> = board["mesin"].as_array().unwrap().iter().map(|tile| tile["nama"].as_str().unwrap()).collect();
    assert_eq!(names, ["Cuci 9", "Cuci 10", "Mesin 01"], "numbers by their size");
    let expected = json!({"idoutlet": shop.outlet.idoutlet, "nama": "Laundry Melati", "zona": "Asia/Jakarta", "tutup": null});
    assert_eq!(board["outlet"], expected);
    assert_eq!(board["server_time"], app.now().ms());
    let tile = &board["mesin"][2];
    assert_eq!(
        (&tile["keadaan"], &tile["aksi"], &tile["jenis"]),
        (&json!("siap"), &json!(["tanya", "tutup", "uji"]), &json!("cuci"))
    );

    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let tile = app.board(&kasir, shop.outlet).await["mesin"][2].clone();
    let row = app.db.query_one("SELECT started_at, ends_at FROM snap_transaksi", &[]).await.unwrap();
    let [started, ends]: [Timestamp; 2] = [row.get(0), row.get(1)];
    assert_eq!((&tile["keadaan"], &tile["aksi"]), (&json!("jalan"), &json!(["tanya", "tutup", "stop"])));
    assert_eq!((&tile["ends_at"], &tile["sejak"]), (&json!(ends.ms()), &json!(started)));
    assert_eq!((&tile["idtransaksi"], &tile["layanan"]), (&json!(buy(1, shop, epay).receipt), &json!("Cuci Kilat")));
    assert_eq!((&tile["jumlah"], &tile["kembali_at"], &tile["ditutup"]), (&Value::Null, &Value::Null, &Value::Null));

    app.ops(&kasir, &format!("mesin/{}/tutup", ninth.idmesin), &json!({"alasan": "bocor"})).await.ok();
    let closed_at = app.now();
    app.set(tenth.idmesin, "online = FALSE").await;
    let board = app.board(&kasir, shop.outlet).await;
    let closed = &board["mesin"][0];
    assert_eq!(closed["ditutup"], json!({"alasan": "bocor", "sejak": closed_at, "oleh": "uji"}));
    assert_eq!(
        (&closed["keadaan"], &closed["aksi"], &closed["sejak"]),
        (&json!("ditutup"), &json!(["tanya", "buka", "uji"]), &json!(closed_at))
    );
    assert_eq!((&board["mesin"][1]["keadaan"], &board["mesin"][1]["aksi"]), (&json!("offline"), &json!(["tanya", "tutup"])));
    assert_eq!(app.ops_see(&kasir, "mesin").await.ok()["mesin"], board["mesin"], "who sees one outlet names none");
}

#[actix_web::test]
async fn held_money_is_on_the_tile_with_the_time_of_its_return() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let machine = app.machine(outlet, "M1").await;
    app.hold(epay, &machine, "SLF000000000000001").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    let created: Timestamp = app.insert_id("SELECT created_at FROM snap_transaksi", &[]).await;
    let tile = app.board(&key, outlet).await["mesin"][0].clone();
    let back_at = json!(created.plus_ms(15 * 60_000));
    assert_eq!((&tile["keadaan"], &tile["jumlah"], &tile["kembali_at"]), (&json!("menunggu"), &json!(10_000), &back_at));
    app.db.execute("UPDATE snap_transaksi SET state = 'UNSURE'", &[]).await.unwrap();
    let board = app.board(&key, outlet).await;
    let entry = &board["perhatian"][0];
    assert_eq!((&entry["jenis"], &entry["jumlah"], &entry["kembali_at"]), (&json!("belum_pasti"), &json!(10_000), &back_at));
    assert_eq!((&entry["idtransaksi"], &entry["nama"]), (&json!("SLF000000000000001"), &json!("M1")));
}

#[actix_web::test]
async fn what_needs_a_person_is_derived_and_goes_with_its_cause() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let other = app.machine(shop.outlet, "M2").await;
    let third = app.machine(shop.outlet, "M3").await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let entries = async || app.board(&key, shop.outlet).await["perhatian"].clone();
    assert_eq!(entries().await, json!([]));

    app.set(other.idmesin, "online = FALSE").await;
    assert_eq!(entries().await, json!([]), "two minutes first");
    app.advance_s(120);
    let seen = entries().await;
    assert_eq!(kinds(&seen), [("offline", "abu")]);
    assert_eq!(
        (&seen[0]["idmesin"], &seen[0]["nama"], &seen[0]["outlet"]),
        (&json!(other.idmesin), &json!("M2"), &json!("Laundry Melati"))
    );
    // It comes back for a moment, and is away again: the same entry, for hours.
    app.set(other.idmesin, "online = TRUE").await;
    app.conditions_recorded().await;
    app.advance_s(20);
    app.set(other.idmesin, "online = FALSE").await;
    app.conditions_recorded().await;
    app.advance_s(3 * 3_600);
    assert_eq!(entries().await[0]["sejak"], seen[0]["sejak"]);
    app.set(other.idmesin, "online = TRUE").await;
    assert_eq!(kinds(&entries().await), [("offline", "abu")], "half a minute of life first");
    app.advance_s(30);
    assert_eq!(entries().await, json!([]));

    app.set(third.idmesin, "perlu_petugas = TRUE").await;
    // Refused twice by its device.
    app.fault(shop, Mode::Refuse).await;
    for n in 1..=2 {
        app.buy(&siti, &buy(n, shop, epay)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    }
    assert_eq!(kinds(&entries().await), [("perlu_petugas", "merah"), ("ditolak", "kuning")]);
    let refused = entries().await[1].clone();
    let which = json!({"jenis": "ditolak", "idmesin": shop.idmesin, "sejak": refused["sejak"]});
    app.ops(&key, "perhatian/tangani", &which).await.ok();
    app.buy(&siti, &buy(4, shop, epay)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    assert!(entries().await[1]["ditangani"].is_object(), "one more refusal is the same entry");
    app.fault(shop, Mode::Ok).await;
    app.buy(&siti, &buy(3, shop, epay)).await.ok();
    app.set(third.idmesin, "perlu_petugas = FALSE").await;
    assert_eq!(entries().await, json!([]));

    for idmesin in [shop.idmesin, other.idmesin, third.idmesin] {
        app.set(idmesin, "online = FALSE").await;
    }
    app.conditions_recorded().await;
    app.advance_s(120);
    assert_eq!(kinds(&entries().await), [("outlet_putus", "merah")]);
    app.ops(&key, &format!("outlet/{}/tutup", shop.outlet.idoutlet), &json!({"alasan": "libur"})).await.ok();
    assert_eq!(entries().await, json!([]), "a closed outlet waits for nobody");
}

#[actix_web::test]
async fn one_person_takes_an_entry_until_its_cause_ends_or_for_half_an_hour() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let (rina, hadi) =
        (app.key(Scope::Kasir(shop.outlet.idoutlet)).await, app.key(Scope::Supervisor(shop.outlet.idoutlet)).await);
    app.set(shop.idmesin, "perlu_petugas = TRUE").await;
    let entry = app.board(&rina, shop.outlet).await["perhatian"][0].clone();
    assert_eq!(entry["ditangani"], Value::Null);
    let which = json!({"jenis": entry["jenis"], "idmesin": entry["idmesin"], "sejak": entry["sejak"]});
    let taken = app.ops(&rina, "perhatian/tangani", &which).await.ok();
    let until = app.now().plus_ms(30 * 60_000);
    assert_eq!(taken, json!({"nama": "uji", "sejak": app.now(), "sampai": until}));
    app.advance_s(60);
    assert_eq!(app.ops(&rina, "perhatian/tangani", &which).await.ok(), taken, "one's own again");
    app.ops(&hadi, "perhatian/tangani", &which).await.expect(409, "sudah ditangani orang lain");
    let list = app.ops_see(&hadi, "perhatian").await.ok();
    assert_eq!(list[0]["ditangani"], taken);
    app.advance_s(30 * 60);
    assert_eq!(app.ops_see(&hadi, "perhatian").await.ok()[0]["ditangani"], Value::Null);
    app.ops(&hadi, "perhatian/tangani", &which).await.ok();
    app.ops(&rina, "perhatian/tangani", &which).await.expect(409, "sudah ditangani orang lain");
    app.set(shop.idmesin, "perlu_petugas = FALSE").await;
    app.conditions_recorded().await;
    app.ops(&rina, "perhatian/tangani", &which).await.expect(404, "perhatian sudah selesai");
    for (bad, told) in [
        (json!({"jenis": "panas", "idmesin": 1, "sejak": "2026-11-20T00:00:00Z"}), "jenis tidak dikenal"),
        (json!({"jenis": "offline", "idmesin": 1, "sejak": "kemarin"}), "sejak harus waktu RFC 3339 dengan zona"),
    ] {
        app.ops(&rina, "perhatian/tangani", &bad).await.expect(400, told);
    }
    assert_eq!(app.audit_of("perhatian.tangani").await.len(), 2);
    app.advance_s(2 * 86_400);
    nyala_store::db::prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert("SELECT count(*) FROM perhatian_ditangani", &[]).await, 0, "kept for a day");
}

#[actix_web::test]
async fn a_device_that_is_asked_answers_or_is_said_to_be_silent() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let key = app.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.advance_s(1);
    let path = format!("mesin/{}/tanya", shop.idmesin);
    let tile = app.ops(&key, &path, &json!({})).await.ok();
    assert_eq!((&tile["id"], &tile["keadaan"]), (&json!(shop.idmesin), &json!("jalan")));
    app.state.sim.set_mode(shop.idmesin, Mode::Silent, app.now());
    app.advance_s(1);
    app.ops(&key, &path, &json!({})).await.expect(504, "mesin belum menjawab");
    assert_eq!(app.balance(epay).await, 90_000, "no money moved");
}

#[actix_web::test]
async fn an_owner_sees_a_backup_that_is_behind_and_nobody_else_does() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let (owner, supervisor) =
        (app.key(Scope::Owner(shop.outlet.idowner)).await, app.key(Scope::Supervisor(shop.outlet.idoutlet)).await);
    let since = app.now();
    app.state.metrics.backup.health.record(false, since);
    app.advance_s(5 * 60);
    let seen = app.ops_see(&owner, "perhatian").await.ok();
    assert_eq!((kinds(&seen), &seen[0]["sejak"], &seen[0]["idmesin"]), (vec![("cadangan", "abu")], &json!(since), &Value::Null));
    assert_eq!(app.ops_see(&supervisor, "perhatian").await.ok(), json!([]));
    let second = app.outlet_of(shop.outlet.idowner, "Mawar").await;
    let at_second = app.ops_see(&owner, &format!("perhatian?idoutlet={}", second.idoutlet)).await.ok();
    assert_eq!(at_second, seen, "one entry, wherever it is asked for");
    let without = json!({"jenis": "cadangan", "sejak": since});
    app.ops(&owner, "perhatian/tangani", &without).await.expect(422, "idoutlet wajib diisi");
    let which = json!({"jenis": "cadangan", "sejak": since, "idoutlet": shop.outlet.idoutlet});
    app.ops(&supervisor, "perhatian/tangani", &which).await.expect(404, "perhatian sudah selesai");
    let taken = app.ops(&owner, "perhatian/tangani", &which).await.ok();
    assert_eq!(app.ops_see(&owner, "perhatian").await.ok()[0]["ditangani"], taken);
    app.state.metrics.backup.health.record(true, app.now());
    assert_eq!(app.ops_see(&owner, "perhatian").await.ok(), json!([]));
}
