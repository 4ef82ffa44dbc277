//! `nyala import saldo`: balances of another system (docs/money.md).

use std::path::PathBuf;

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::{CommandOutput, beside};
use crate::auth::register::register_body;
use crate::support::arrange::Outlet;
use crate::support::helpers::{Customer, TestApp};

struct Moving {
    app: TestApp,
    outlet: Outlet,
    folder: PathBuf,
}

impl Moving {
    async fn open() -> Self {
        let app = TestApp::spawn().await;
        let outlet = app.outlet("Melati").await;
        let folder = std::env::temp_dir().join(format!("nyala-import-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        Self { app, outlet, folder }
    }

    fn import(&self, text: &str, more: &[&str]) -> CommandOutput {
        let file = self.folder.join("saldo.csv");
        std::fs::write(&file, text).unwrap();
        let outlet = self.outlet.idoutlet.to_string();
        beside(&self.app, &[&["import", "saldo", file.to_str().unwrap(), "--outlet", &outlet], more].concat())
    }

    async fn register(&self, telp: &str) -> String {
        let app = &self.app;
        let code = app.send_code(telp).await;
        app.post("/scan/v1/auth/register", None, &register_body(telp, &code)).await.ok()["token"].as_str().unwrap().to_owned()
    }

    async fn history(&self, token: &str) -> Value {
        let body = json!({"skip": 0, "limit": 20, "jenis": "pembelian_emoney", "outlet": ""});
        self.app.post("/scan/v1/transaksi/list_history", Some(token), &body).await.ok()["history_data"].clone()
    }

    async fn booked(&self) -> i64 {
        self.app.insert("SELECT count(*) FROM saldo_awal", &[]).await
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const FILE: &str = "telp,nama,saldo\n081234567890,Siti Rahma,50000\n081234567891,Budi,70000\n";

#[actix_web::test]
async fn the_registered_have_it_at_once_and_others_when_they_register() {
    let moving = Moving::open().await;
    let (app, outlet) = (&moving.app, moving.outlet);
    let siti: Customer = app.register_customer("81234567890", "Siti", "Rahma").await;
    assert_eq!(moving.import(FILE, &[]).ok(), "rows: 2 sum: 120000\n");
    assert_eq!(moving.booked().await, 0, "a dry run");
    assert_eq!(moving.import(FILE, &["--yes"]).ok(), "rows: 2 sum: 120000\n");
    let rows = moving.history(&siti.token).await;
    assert_eq!((&rows[0]["ref_type"], &rows[0]["value"], rows[1].is_null()), (&json!("saldo_awal"), &json!(50_000), true));
    let path = format!("/scan/v1/epayment/get_detail_saldo_awal/{}", rows[0]["ref_id"].as_str().unwrap());
    let detail = app.get(&path, Some(&siti.token)).await.ok();
    let expected = json!({
        "idsaldo_awal": rows[0]["ref_id"].as_str().unwrap().parse::<i64>().unwrap(), "waktu": rows[0]["date"], "jumlah": 50_000,
        "outlet": {"nama": "Melati", "kota": "Bandung"},
    });
    assert_eq!(detail, expected);

    let budi = moving.register("81234567891").await;
    let rows = moving.history(&budi).await;
    assert_eq!((&rows[0]["ref_type"], &rows[0]["value"], rows[1].is_null()), (&json!("saldo_awal"), &json!(70_000), true));
    app.get(&path, Some(&budi)).await.expect(404, "Transaksi ini tidak ditemukan");
    for unknown in ["0", "x", "999"] {
        let path = format!("/scan/v1/epayment/get_detail_saldo_awal/{unknown}");
        app.get(&path, Some(&budi)).await.expect(404, "Transaksi ini tidak ditemukan");
    }
    let none = moving.register("81234567892").await;
    assert_eq!(moving.history(&none).await, Value::Null);
    let audited = app.audit_of("saldo_awal.impor").await;
    assert_eq!((audited.len(), &audited[0]["baris"], &audited[0]["jumlah"]), (1, &json!(2), &json!(120_000)));
    assert_eq!(app.insert("SELECT idoutlet FROM audit_log WHERE aksi = 'saldo_awal.impor'", &[]).await, outlet.idoutlet.get());
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_file_is_booked_whole_once_or_not_at_all() {
    let moving = Moving::open().await;
    let app = &moving.app;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    app.funded(&siti, moving.outlet, 1_960_000).await;
    let wrong = "telp;nama;saldo\n081234567890;Siti Rahma;40001\n812;Budi;1\n081234567892;Joko;1.000\n081234567893;;5\n+6281234567893;;5\n";
    for more in [&[][..], &["--yes"]] {
        let output = moving.import(wrong, more);
        let lines: Vec<&str> = output.out.lines().collect();
        assert_eq!(lines.len(), 5, "{output:?}");
        assert_eq!(lines[0], "line 2: saldo paling banyak Rp 2.000.000");
        assert!(lines[1].starts_with("line 3: telp "), "{lines:?}");
        assert!(lines[2].starts_with("line 4: saldo harus rupiah utuh"), "{lines:?}");
        assert_eq!(lines[3..], ["line 6: nomor ini sudah ada di baris 5", "rows: 5 sum: 40011"]);
        output.refused("4 lines are wrong, nothing was booked");
    }
    assert_eq!(moving.booked().await, 0);
    let good = "telp;nama;saldo\n081234567890;Siti Rahma;40000\n081234567893;;2000000\n";
    moving.import(good, &["--yes"]).ok();
    moving.import(good, &["--yes"]).refused("this file was imported already");
    moving.import(good, &[]).refused("this file was imported already");
    // What waits for a number counts, too.
    let more = moving.import("telp,nama,saldo\n081234567893,,1\n", &["--yes"]);
    assert_eq!(more.out, "line 2: saldo paling banyak Rp 2.000.000\nrows: 1 sum: 1\n");
    moving.import("nama,saldo\n", &[]).refused("its first line is not `telp,nama,saldo`");
    beside(app, &["import", "saldo", "/nowhere.csv", "--outlet", "1"]).refused("/nowhere.csv");
    moving.import("telp,nama,saldo\n081234567894,,5\n", &[]).ok();
    let file = moving.folder.join("saldo.csv");
    beside(app, &["import", "saldo", file.to_str().unwrap(), "--outlet", "99"]).refused("there is no outlet 99");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_account_keeps_its_kind_and_one_that_has_expired_is_good_again() {
    let moving = Moving::open().await;
    let app = &moving.app;
    let (siti, budi) = (
        app.register_customer("81234567890", "Siti", "Rahma").await,
        app.register_customer("81234567891", "Budi", "Santoso").await,
    );
    let (later, past) = (app.now().plus_ms(86_400_000), app.now().plus_ms(-86_400_000));
    let (fresh, expired) = (app.epay(&siti, moving.outlet, Some(later)).await, app.epay(&budi, moving.outlet, Some(past)).await);
    app.db.execute("UPDATE outlet SET berlaku_hari = 30", &[]).await.unwrap();
    moving.import(FILE, &["--yes"]).ok();
    let until = async |idcustomer| -> nyala_core::domain::timestamp::Timestamp {
        app.insert_id("SELECT masa_aktif FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await
    };
    assert_eq!(until(fresh.idcustomer).await, later);
    // The command has the database's clock.
    let week = app.now().ms_until(until(expired.idcustomer).await) - 7 * 86_400_000;
    assert!((-60_000..60_000).contains(&week), "{week}");
    // A new account is good for as long as the outlet's others.
    moving.import("telp,nama,saldo\n081234567892,Joko,1000\n", &["--yes"]).ok();
    moving.register("81234567892").await;
    let joko = "SELECT count(*) FROM quota_emoney WHERE masa_aktif = $1";
    assert_eq!(app.insert(joko, &[&app.now().plus_ms(30 * 86_400_000)]).await, 1);
    app.assert_no_violation().await;
}

/// It was paid for, at the system from which it comes.
#[actix_web::test]
async fn what_was_brought_along_is_paid_out_whole_and_reported_apart() {
    let moving = Moving::open().await;
    let (app, outlet) = (&moving.app, moving.outlet);
    let rina = app.seller(outlet).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    moving.import(FILE, &["--yes"]).ok();
    moving.register("81234567891").await;
    let report = async || {
        let rows = app.see(&hadi, &format!("laporan/saldo?idoutlet={}", outlet.idoutlet)).await.ok()["baris"].clone();
        let of = |field: &str| rows[0][field].as_i64().unwrap();
        (of("saldo_awal"), of("topup"), of("penarikan"), of("hangus"), of("saldo_akhir"))
    };
    assert_eq!(report().await, (120_000, 0, 0, 0, 120_000));
    let qr = || app.code_of(siti.id);
    let counted = app.ask(&rina, "tarik/hitung", &json!({"qr": qr()})).await.ok();
    let amounts = ["saldo", "dibayar", "hangus"].map(|field| counted[field].clone());
    assert_eq!(amounts, [json!(50_000), json!(50_000), json!(0)]);
    let paid = app.ask(&hadi, "tarik", &json!({"qr": qr(), "dibayar": 50_000, "hangus": 0})).await.ok();
    assert_eq!((&paid["saldo_akhir"], app.drawer(&rina.till).await), (&json!(0), 50_000));
    assert_eq!(report().await, (120_000, 0, 50_000, 0, 70_000));
    app.assert_sound().await;
}

#[actix_web::test]
async fn a_file_in_another_encoding_is_refused_in_one_line() {
    let moving = Moving::open().await;
    let file = moving.folder.join("saldo.csv");
    let text = "telp,nama,saldo\n081234567890,Andr\u{e9},50000\n";
    let latin = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<_>>();
    let utf16 = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect::<Vec<_>>();
    for bytes in [latin, utf16] {
        std::fs::write(&file, bytes).unwrap();
        let outlet = moving.outlet.idoutlet.to_string();
        let output = beside(&moving.app, &["import", "saldo", file.to_str().unwrap(), "--outlet", &outlet, "--yes"]);
        assert_eq!(output.out, "");
        output.refused("saldo.csv: it is not in UTF-8");
    }
    assert_eq!(moving.booked().await, 0);
    moving.import(text, &["--yes"]).ok();
}

#[actix_web::test]
async fn nothing_is_imported_while_an_older_server_is_alive() {
    let moving = Moving::open().await;
    // The command has the database's clock.
    moving.app.older_server_is_alive(true).await;
    for more in [&[][..], &["--yes"]] {
        moving.import(FILE, more).refused("a server of the release before is alive, which cannot read such balances");
    }
    assert_eq!(moving.booked().await, 0);
    moving.app.older_server_is_alive(false).await;
    moving.import(FILE, &["--yes"]).ok();
    assert_eq!(moving.booked().await, 2);
}
