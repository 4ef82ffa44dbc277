//! The owner's report, the command that compares with the provider, and the rule of the audit.

use nyala_core::figures::calendar::Calendar;
use nyala_core::prices::{ClockTime, Zone};
use serde_json::{Value, json};

use super::MINUTE_S;
use crate::cli::{beside, program_beside};
use crate::ops::operator::Scope;
use crate::server::listener::raw;
use crate::support::counter::Counter;

#[actix_web::test]
async fn the_report_has_each_bill_with_what_the_provider_reported() {
    let counter = Counter::with_bills().await;
    let Counter { app, outlet, .. } = &counter;
    let (paid, held, open) = (counter.bill(50_000).await, counter.bill(20_000).await, counter.bill(10_000).await);
    app.pay(&paid).await;
    app.at_provider(&held, &json!({"aksi": "bayar", "jumlah": 19_000})).await.ok();
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let report = app.get("/ops/v1/laporan/qris", Some(&owner)).await.ok();
    let of = |id: &str| report["baris"].as_array().unwrap().iter().find(|row| row["idtagihan"] == id).unwrap().clone();
    let topup = app.bill(&paid, "idpembelian_emoney").await;
    let now = app.now().rfc3339();
    assert_eq!(
        of(&paid),
        json!({
            "idtagihan": paid, "dibuat_at": now, "dibayar_at": now, "status": "dibayar", "nominal": 50_000, "jumlah_penyedia": 50_000,
            "ref_penyedia": format!("simulated-{paid}"), "idpembelian_emoney": topup,
        })
    );
    let (held, open) = (of(&held), of(&open));
    assert_eq!(
        (&held["status"], &held["jumlah_penyedia"], &held["idpembelian_emoney"]),
        (&json!("tertahan"), &json!(19_000), &Value::Null)
    );
    assert_eq!(
        (&open["status"], &open["dibayar_at"], &open["jumlah_penyedia"]),
        (&json!("menunggu"), &Value::Null, &Value::Null)
    );
    let answer = raw(app, "GET", "/ops/v1/laporan/qris?format=csv", &[("Authorization", &format!("Bearer {owner}"))]).await;
    let head = "\u{feff}idtagihan;dibuat_at;dibayar_at;status;nominal;jumlah_penyedia;ref_penyedia;idpembelian_emoney\r\n";
    assert!(answer.body.starts_with(head), "{}", answer.body);
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let at = calendar.written(app.now());
    let line = format!("{paid};{at};{at};dibayar;50000;50000;simulated-{paid};{}\r\n", topup.unwrap());
    assert!(answer.body.contains(&line), "{}", answer.body);
}

#[actix_web::test]
async fn the_command_prints_what_disagrees_with_the_provider() {
    let counter = Counter::with_bills().await;
    let Counter { app, outlet, .. } = &counter;
    let (paid, missed, open) = (counter.bill(50_000).await, counter.bill(20_000).await, counter.bill(10_000).await);
    app.pay(&paid).await;
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let day = calendar.day_of(app.now()).to_string();
    let check = ["qris", "check", "--date", &day];
    assert_eq!(beside(app, &check).ok(), "OK: 3 bills, 0 differences\n");
    app.at_provider(&missed, &json!({"aksi": "bayar", "diam": true})).await.ok();
    app.db.execute("UPDATE qris_simulasi SET status = 'batal', dibayar = NULL WHERE order_id = $1", &[&paid]).await.unwrap();
    let compared = program_beside(app, &check).output().unwrap();
    let text = String::from_utf8(compared.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    let mut expected = [
        format!("{paid}: dibayar 50000 here, cancelled at the provider"),
        format!("{missed}: menunggu 20000 here, paid 20000 at the provider"),
    ];
    expected.sort();
    assert_eq!((compared.status.code(), lines), (Some(1), expected.iter().map(String::as_str).collect()));
    assert!(!text.contains(&open));
    let other = app.outlet("Mawar").await.idoutlet.to_string();
    assert_eq!(beside(app, &["qris", "check", "--date", &day, "--outlet", &other]).ok(), "OK: 0 bills, 0 differences\n");
    beside(app, &["qris", "check", "--date", &day, "--outlet", "999"]).refused("there is no outlet 999");
    let wrong = program_beside(app, &["qris", "check", "--date", "kemarin"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let _ = outlet;
}

#[actix_web::test]
async fn audit_verify_finds_a_paid_bill_without_its_top_up() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let (first, second) = (counter.bill(50_000).await, counter.bill(20_000).await);
    app.pay(&first).await;
    app.pay(&second).await;
    assert!(beside(app, &["audit", "verify"]).ok().starts_with("OK"));
    for change in ["nominal = nominal + 1", "quota = quota + 1"] {
        app.db.batch_execute(&format!("BEGIN; UPDATE tagihan SET {change} WHERE id = '{first}'")).await.unwrap();
        let row = app.db.query_one("SELECT aturan, kunci FROM pelanggaran", &[]).await.unwrap();
        assert_eq!((row.get(0), row.get(1)), ("tagihan dibayar tanpa satu top-up", first.as_str()), "{change}");
        app.db.batch_execute("ROLLBACK").await.unwrap();
    }
    let twice = format!(
        "UPDATE tagihan SET idpembelian_emoney = (SELECT idpembelian_emoney FROM tagihan WHERE id = '{first}') WHERE id = '{second}'"
    );
    app.db.batch_execute(&twice).await.expect_err("a top-up has one bill");
}

#[actix_web::test]
async fn a_bill_that_no_provider_answers_for_ends_after_a_week() {
    const MAKE: &str = "
        INSERT INTO tagihan (id, id_customer_global, idowner, idoutlet, nominal, quota, nama_paket, penyedia, status, kedaluwarsa_at, tanya_at, aktor,
            created_at)
        VALUES ($1, $2, $3, $4, 4000, 4000, 'Top-Up', 'midtrans', 'menunggu', $5, $6, 'uji', $5)";
    let counter = Counter::with_bills().await;
    let Counter { app, outlet, siti, .. } = &counter;
    let day = |days: i64| app.now().plus_ms(-days * 24 * 60 * MINUTE_S * 1000);
    // The server now works with another provider.
    let [recent, old] = ["NYL00000000000000000006", "NYL00000000000000000008"];
    for (id, expired_at) in [(recent, day(6)), (old, day(8))] {
        let made = app.db.execute(MAKE, &[&id, &siti.id, &outlet.idowner, &outlet.idoutlet, &expired_at, &app.now()]).await;
        made.unwrap();
    }
    app.until_bill(old, "kedaluwarsa").await;
    assert_eq!(app.bill(old, "tanya_at").await, None);
    app.until_bill(recent, "menunggu").await;
    let sale = crate::support::counter::and(counter.sale(1_997_000), "cara_bayar", json!("transfer"));
    app.ask(&counter.supervisor().await, "topup", &sale).await.expect(422, "saldo paling banyak Rp 2.000.000");
}
