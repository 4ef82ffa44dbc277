//! `nyala topup` and `nyala audit verify`: money at this machine.

use serde_json::{Value, json};

use super::beside;
use crate::helpers::TestApp;

#[actix_web::test]
async fn a_top_up_at_this_machine_is_one_at_the_cashier() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    app.register_customer("81200000001", "Siti", "Rahma").await;
    let id = outlet.idoutlet.to_string();
    let topup = |args: &[&str]| beside(&app, &[&["topup", "--outlet", &id], args].concat());
    let made: Value = serde_json::from_str(&topup(&["--telp", "+6281200000001", "--nominal", "50000"]).ok()).unwrap();
    assert_eq!((&made["idpembelian_emoney"], &made["saldo_akhir"]), (&json!("1"), &json!(50_000)));
    topup(&["--telp", "081200000001", "--nominal", "1000", "--quota", "1500", "--nama-paket", "Hemat"]).ok();
    assert_eq!(app.balance(made["idcustomer"].as_i64().unwrap()).await, 51_500);
    topup(&["--telp", "81299999999", "--nominal", "1"]).refused("nomor belum terdaftar");
    topup(&["--telp", "x", "--nominal", "1"]).refused("telp");
    topup(&["--telp", "81200000001", "--nominal", "0"]).refused("nominal");
    topup(&["--telp", "81200000001", "--nominal", "1", "--jenis-emoney", "1", "--masa-aktif", "1"]).refused("masa depan");
    beside(&app, &["topup", "--outlet", "99", "--telp", "81200000001", "--nominal", "1"]).refused("there is no outlet 99");
    assert_eq!(app.audited().await[1].1, "cli");
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK: 1 rekening, 2 gerak, 0 pemakaian, 2 top-up"));
}

#[actix_web::test]
async fn audit_verify_prints_what_is_broken() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 20_000).await;
    app.db.execute("UPDATE quota_emoney SET credits_posted = credits_posted + 1", &[]).await.unwrap();
    let said = beside(&app, &["audit", "verify"]);
    assert_eq!(said.out, format!("saldo tidak sama dengan buku besar: {}\n", epay.idcustomer));
    said.refused("1 rules of the ledger are broken");
}

#[actix_web::test]
async fn audit_verify_knows_both_accounts_and_the_owner_of_a_movement() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Kenanga").await);
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    app.funded(&siti, outlet, 20_000).await;
    app.funded(&budi, other, 10_000).await;
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK"));
    // Past the triggers that keep the ledger append-only.
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    let breaks = async |sql: String, told: &str| {
        app.db.batch_execute("BEGIN").await.unwrap();
        app.db.batch_execute(&sql).await.unwrap();
        let broken = app.db.query("SELECT aturan FROM pelanggaran", &[]).await.unwrap();
        assert!(broken.iter().any(|row| row.get::<_, &str>(0) == told), "{told}");
        app.db.batch_execute("ROLLBACK").await.unwrap();
    };
    let wrong = |what: &str| format!("UPDATE ledger_transfer SET {what} WHERE idoutlet = {}", outlet.idoutlet);
    let account = |kind: &str, idoutlet: i64| {
        format!("debit_akun = (SELECT idakun FROM akun WHERE jenis = '{kind}' AND idoutlet = {idoutlet} AND idcustomer IS NULL)")
    };
    breaks(wrong(&account("K", other.idoutlet)), "akun lawan salah").await;
    breaks(wrong(&account("R", outlet.idoutlet)), "akun lawan salah").await;
    breaks(wrong(&format!("id_customer_global = {}", budi.id)), "gerak milik pelanggan lain").await;
    breaks(
        format!("UPDATE pembelian_emoney SET idoutlet = {} WHERE idoutlet = {}", other.idoutlet, outlet.idoutlet),
        "gerak bukan milik pembeliannya",
    )
    .await;
}
