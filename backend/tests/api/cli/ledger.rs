//! `nyala topup` and `nyala audit verify`: money from the command line.

use serde_json::{Value, json};

use super::beside;
use crate::auth::number_move::MoveShop;
use crate::support::helpers::TestApp;

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
    topup(&["--telp", "81200000001", "--nominal", "1948501"]).refused("saldo paling banyak Rp 2.000.000");
    topup(&["--telp", "81200000001", "--nominal", "1", "--quota", "1948501"]).refused("saldo paling banyak Rp 2.000.000");
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
    let output = beside(&app, &["audit", "verify"]);
    assert_eq!(output.out, format!("saldo tidak sama dengan buku besar: {}\n", epay.idcustomer));
    output.refused("1 rules of the ledger are broken");
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
    // Bypasses the triggers that keep the ledger append-only.
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    let breaks = async |sql: String, rule: &str| {
        app.db.batch_execute("BEGIN").await.unwrap();
        app.db.batch_execute(&sql).await.unwrap();
        let broken = app.db.query("SELECT aturan FROM pelanggaran", &[]).await.unwrap();
        assert!(broken.iter().any(|row| row.get::<_, &str>(0) == rule), "{rule}");
        app.db.batch_execute("ROLLBACK").await.unwrap();
    };
    let wrong = |what: &str| format!("UPDATE ledger_transfer SET {what} WHERE idoutlet = {}", outlet.idoutlet);
    let account = |kind: &str, idoutlet: i64| {
        format!("debit_akun = (SELECT idakun FROM akun WHERE jenis = '{kind}' AND idoutlet = {idoutlet} AND idcustomer IS NULL)")
    };
    breaks(wrong(&account("K", other.idoutlet.get())), "akun lawan salah").await;
    breaks(wrong(&account("R", outlet.idoutlet.get())), "akun lawan salah").await;
    breaks(wrong(&format!("id_customer_global = {}", budi.id)), "gerak milik pelanggan lain").await;
    breaks(
        format!("UPDATE pembelian_emoney SET idoutlet = {} WHERE idoutlet = {}", other.idoutlet, outlet.idoutlet),
        "gerak bukan milik pembeliannya",
    )
    .await;
}

/// Damage of payouts, moves and opening balances: what does it, what repairs it, and the rule that it breaks.
const DAMAGE: [(&str, &str, &str); 8] = [
    (
        "UPDATE ledger_transfer SET jumlah = jumlah - 1 WHERE kind = 'pindah_masuk'",
        "UPDATE ledger_transfer SET jumlah = jumlah + 1 WHERE kind = 'pindah_masuk'",
        "pindah tidak seimbang",
    ),
    (
        "UPDATE ledger_transfer SET dibayar = dibayar + 1 WHERE kind = 'pindah_masuk'",
        "UPDATE ledger_transfer SET dibayar = dibayar - 1 WHERE kind = 'pindah_masuk'",
        "pindah tidak seimbang",
    ),
    // Both sides agree, and the account never had so much that was paid for: only its replay shows that.
    (
        "UPDATE ledger_transfer SET dibayar = dibayar + 1 WHERE idpindah IS NOT NULL",
        "UPDATE ledger_transfer SET dibayar = dibayar - 1 WHERE idpindah IS NOT NULL",
        "pindah tidak seimbang",
    ),
    (
        "UPDATE saldo_awal SET jumlah = jumlah + 1 WHERE idcustomer IS NOT NULL",
        "UPDATE saldo_awal SET jumlah = jumlah - 1 WHERE idcustomer IS NOT NULL",
        "saldo awal tidak sesuai",
    ),
    (
        "UPDATE ledger_transfer SET dibayar = dibayar - 1 WHERE kind = 'saldo_awal'",
        "UPDATE ledger_transfer SET dibayar = dibayar + 1 WHERE kind = 'saldo_awal'",
        "saldo awal tidak sesuai",
    ),
    (
        "UPDATE saldo_awal SET idcustomer = (SELECT min(idcustomer) FROM customer) WHERE idcustomer IS NOT NULL",
        "UPDATE saldo_awal SET idcustomer = (SELECT idcustomer FROM ledger_transfer WHERE kind = 'saldo_awal') WHERE idcustomer IS NOT NULL",
        "saldo awal tidak sesuai",
    ),
    ("UPDATE penarikan SET hangus = hangus - 1", "UPDATE penarikan SET hangus = hangus + 1", "penarikan tidak sesuai kas"),
    (
        "UPDATE penarikan SET dibayar = dibayar + 1, hangus = hangus - 1; UPDATE kas_gerak SET nominal = nominal + 1 WHERE jenis = 'tarik';
         UPDATE ledger_transfer SET jumlah = jumlah + CASE kind WHEN 'penarikan' THEN 1 ELSE -1 END WHERE idpenarikan IS NOT NULL",
        "UPDATE penarikan SET dibayar = dibayar - 1, hangus = hangus + 1; UPDATE kas_gerak SET nominal = nominal - 1 WHERE jenis = 'tarik';
         UPDATE ledger_transfer SET jumlah = jumlah - CASE kind WHEN 'penarikan' THEN 1 ELSE -1 END WHERE idpenarikan IS NOT NULL",
        "penarikan melebihi yang dibayar",
    ),
];

#[actix_web::test]
async fn audit_verify_names_wrong_payouts_moves_and_opening_balances() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, siti, new, hadi } = &shop;
    app.funded(siti, *outlet, 50_000).await;
    // Of 20,000 rupiah 15,000 were paid for.
    let moved = app.funded(new, *outlet, 20_000).await;
    app.db.execute("UPDATE pembelian_emoney SET harga_paket = 15000 WHERE idcustomer = $1", &[&moved.idcustomer]).await.unwrap();
    let body = shop.codes().await;
    shop.in_the_app(&body).await.ok();
    let pay = json!({"qr": app.code_of(siti.id), "dibayar": 65_000, "hangus": 5_000});
    app.ask(hadi, "tarik", &pay).await.ok();
    app.register_customer("81299999999", "Budi", "Santoso").await;
    let file = app.state.config.data.dir.join("saldo.csv");
    std::fs::write(&file, "telp,nama,saldo\n081299999999,Budi,30000\n081299999998,Joko,40000\n").unwrap();
    beside(app, &["import", "saldo", file.to_str().unwrap(), "--outlet", &outlet.idoutlet.to_string(), "--yes"]).ok();
    let verify = || beside(app, &["audit", "verify"]);
    assert!(verify().ok().starts_with("OK"));
    let id = async |sql: &str| app.insert(sql, &[]).await.to_string();
    let ids = [
        ("pindah tidak seimbang", id("SELECT id FROM pindah").await),
        ("saldo awal tidak sesuai", id("SELECT id FROM saldo_awal WHERE idcustomer IS NOT NULL").await),
        ("penarikan tidak sesuai kas", id("SELECT id FROM penarikan").await),
        ("penarikan melebihi yang dibayar", id("SELECT id FROM penarikan").await),
    ];
    // Bypasses the triggers that keep the ledger append-only.
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    for (damage, repair, rule) in DAMAGE {
        app.db.batch_execute(damage).await.unwrap();
        let output = verify();
        let line = format!("{rule}: {}", ids.iter().find(|(named, _)| *named == rule).unwrap().1);
        assert!(output.out.lines().any(|found| found == line), "{line} by {damage}: {output:?}");
        output.refused("rules of the ledger are broken");
        app.db.batch_execute(repair).await.unwrap();
    }
    assert!(verify().ok().starts_with("OK"));
}

/// A till's history with a row of every kind. Sales in cash and by other means, by sessions, by an API key and from before the till, each
/// also reversed; movements of cash by hand; a closed shift.
const TILL: &str = "
    UPDATE pembelian_emoney SET cara_bayar = 'tunai', idshift = 1 WHERE id IN (2, 3);
    UPDATE pembelian_emoney SET cara_bayar = 'qris', idshift = 1 WHERE id IN (4, 5);
    UPDATE pembelian_emoney SET cara_bayar = 'tunai' WHERE id IN (6, 7);
    INSERT INTO kas_gerak (idshift, jenis, nominal, idpembelian_emoney, alasan, aktor, created_at) SELECT 1, k.jenis, k.nominal, k.sale, k.alasan, 'uji', dibuka_at
    FROM shift, (VALUES ('topup', 3000, 2, NULL), ('topup', 3000, 3, NULL), ('batal', 3000, 3, 'salah'), ('masuk', 700, NULL, 'koin'),
        ('keluar', 300, NULL, 'sabun'), ('setor', 400, NULL, 'bank')) AS k (jenis, nominal, sale, alasan) WHERE shift.id = 1;
    INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, alasan, created_at)
    SELECT 'batal', credit_akun, debit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, 'uji', 'salah', created_at
    FROM ledger_transfer WHERE idpembelian_emoney IN (3, 5, 7, 8);
    UPDATE pembelian_emoney SET batal_at = created_at WHERE id IN (3, 5, 7, 8);
    UPDATE quota_emoney SET debits_posted = debits_posted + 4 * 3000;";

#[actix_web::test]
async fn audit_verify_names_each_broken_rule_of_the_till() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Kenanga").await);
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    // Numbers 1 and 8 are from before the till; number 8 was reversed later.
    let epay = app.funded(&siti, outlet, 3_000).await;
    for _ in 2..=8 {
        app.topup(epay, 3_000).await;
    }
    let rina = app.selling(outlet.idoutlet, 10_000).await;
    app.selling(other.idoutlet, 0).await;
    app.db.batch_execute(TILL).await.unwrap();
    app.assert_no_violation().await;
    app.advance_s(1);
    let closed = app.ask(&rina, "shift/tutup", &json!({ "dihitung": 13_000 })).await.ok();
    assert_eq!((&closed["diharapkan"], &closed["selisih"]), (&json!(13_000), &json!(0)));
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK"));

    // Bypasses the triggers that keep cash and ledger append-only.
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    let breaks = async |sql: &str, rule: &str| {
        app.db.batch_execute("BEGIN").await.unwrap();
        app.db.batch_execute(sql).await.unwrap();
        let broken = app.db.query("SELECT aturan || ': ' || kunci FROM pelanggaran", &[]).await.unwrap();
        assert!(broken.iter().any(|row| row.get::<_, &str>(0) == rule), "{rule} by {sql}");
        app.db.batch_execute("ROLLBACK").await.unwrap();
    };
    for sql in [
        "UPDATE shift SET modal = 9999 WHERE id = 1",
        "UPDATE shift SET diharapkan = 13001 WHERE id = 1",
        "DELETE FROM kas_gerak WHERE idshift = 1",
        "DELETE FROM kas_gerak WHERE idshift = 1 AND jenis = 'modal'",
        "UPDATE kas_gerak SET created_at = created_at + interval '1 h' WHERE idshift = 1 AND jenis = 'masuk'",
        "UPDATE kas_gerak SET jenis = 'keluar' WHERE idshift = 1 AND jenis = 'masuk'",
        "UPDATE kas_gerak SET nominal = 14000 WHERE idshift = 1 AND jenis = 'setor'",
    ] {
        breaks(sql, "kas tidak sesuai: 1").await;
    }
    breaks("UPDATE kas_gerak SET nominal = 0, jenis = 'setor', alasan = 'x' WHERE idshift = 2", "kas tidak sesuai: 2").await;
    for sql in [
        "DELETE FROM kas_gerak WHERE idpembelian_emoney = 2",
        "UPDATE kas_gerak SET nominal = 2999 WHERE idpembelian_emoney = 2",
        "UPDATE kas_gerak SET idshift = 2 WHERE idpembelian_emoney = 2",
        "UPDATE pembelian_emoney SET cara_bayar = 'qris' WHERE id = 2",
        "UPDATE pembelian_emoney SET idshift = NULL WHERE id = 2",
    ] {
        breaks(sql, "top-up tunai tidak sesuai kas: 2").await;
    }
    for id in [4, 6] {
        let sql = format!("UPDATE kas_gerak SET idpembelian_emoney = {id} WHERE idpembelian_emoney = 2");
        breaks(&sql, &format!("top-up tunai tidak sesuai kas: {id}")).await;
    }
    breaks(
        "UPDATE pembelian_emoney SET tanpa_izin = TRUE, harga_paket = 1000001 WHERE id = 2",
        "top-up tanpa izin di atas batas: 2",
    )
    .await;
    breaks("UPDATE shift SET topup_dilihat = 1 WHERE id = 1", "top-up yang dibuka tidak tercatat: 1").await;
    let wrong = |what: &str| format!("UPDATE ledger_transfer SET {what} WHERE kind = 'batal' AND idpembelian_emoney = 3");
    let other_account =
        |side: &str| format!("{side} = (SELECT idakun FROM akun WHERE jenis = 'K' AND idoutlet = {})", other.idoutlet);
    for sql in [
        "UPDATE pembelian_emoney SET batal_at = NULL WHERE id = 3",
        "DELETE FROM ledger_transfer WHERE kind = 'batal' AND idpembelian_emoney = 3",
        &wrong("jumlah = jumlah - 1"),
        &wrong("debit_akun = credit_akun, credit_akun = debit_akun"),
        &wrong(&other_account("debit_akun")),
        &wrong(&other_account("credit_akun")),
        &wrong("idcustomer = idcustomer + 1"),
        "DELETE FROM kas_gerak WHERE jenis = 'batal'",
        "UPDATE kas_gerak SET nominal = 2999 WHERE jenis = 'batal'",
    ] {
        breaks(sql, "pembatalan tidak sesuai: 3").await;
    }
    // Not paid in cash, sold by an API key, or from before the till: its reversal moves no cash.
    for id in [5, 7, 8] {
        let sql = format!("UPDATE kas_gerak SET idpembelian_emoney = {id} WHERE jenis = 'batal'");
        breaks(&sql, &format!("pembatalan tidak sesuai: {id}")).await;
        breaks(
            &format!("UPDATE pembelian_emoney SET batal_at = NULL WHERE id = {id}"),
            &format!("pembatalan tidak sesuai: {id}"),
        )
        .await;
    }
    breaks("UPDATE pembelian_emoney SET batal_at = created_at WHERE id = 1", "pembatalan tidak sesuai: 1").await;
    breaks("UPDATE pembelian_emoney SET idshift = 2 WHERE id = 4", "shift di outlet lain: 4").await;
    breaks("UPDATE kas_gerak SET idshift = 2 WHERE jenis = 'batal'", "shift di outlet lain: 3").await;
    breaks(
        "UPDATE pembelian_emoney SET created_at = created_at + interval '1 h' WHERE id = 4",
        "top-up sesudah shift ditutup: 4",
    )
    .await;
}
