//! Deletions and refunds (docs/contract.md §4): together never more than was paid.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::receipt;
use crate::support::helpers::TestApp;

fn refund(n: u32, nominal: i64) -> Value {
    json!({"idtransaksi": receipt(n), "nominal": nominal, "alasan": "mesin bocor"})
}

fn deletion(n: u32) -> Value {
    json!({"idtransaksi": receipt(n), "alasan": "salah mesin"})
}

#[actix_web::test]
async fn refunds_return_up_to_the_price() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 30_000).await;
    app.running(epay, &app.machine(outlet, "Mesin 1").await, 1).await;
    let first = app.ops(&key, "refund", &refund(1, 4_000)).await.ok();
    assert_eq!(
        (&first["saldo_akhir"], &first["jumlah"], &first["idcustomer"]),
        (&json!(24_000), &json!(4_000), &json!(epay.idcustomer))
    );
    assert_eq!(first["idtransaksi"], receipt(1));
    let over = app.ops(&key, "refund", &refund(1, 6_001)).await;
    assert_eq!(over.status, 422, "{}", over.message);
    assert_eq!(app.ops(&key, "refund", &refund(1, i64::MAX)).await.status, 422);
    assert_eq!(app.ops(&key, "refund", &refund(1, 6_000)).await.ok()["saldo_akhir"], 30_000);
    assert_eq!(app.ops(&key, "refund", &refund(1, 1)).await.status, 422);
    let detail = app.get(&format!("/scan/v1/epayment/get_detail_refund/{}", receipt(1)), Some(&siti.token)).await.ok();
    assert_eq!(detail["nominal_refund"], 6_000);
    assert_eq!(app.audited().await.iter().map(|(action, ..)| action.as_str()).collect::<Vec<_>>(), ["refund", "refund"]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_deletion_returns_what_refunds_left_and_happens_once() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    for n in [1, 2, 3] {
        app.used(epay, &app.machine(outlet, "Mesin").await, &receipt(n)).await;
    }
    assert_eq!(app.ops(&key, "hapus", &deletion(1)).await.ok()["jumlah"], 10_000);
    app.ops(&key, "hapus", &deletion(1)).await.expect(409, "transaksi ini sudah dihapus");
    assert_eq!(app.ops(&key, "refund", &refund(1, 1)).await.status, 422, "nothing is left to refund");
    app.ops(&key, "refund", &refund(2, 7_000)).await.ok();
    assert_eq!(app.ops(&key, "hapus", &deletion(2)).await.ok()["jumlah"], 3_000);
    app.ops(&key, "refund", &refund(3, 10_000)).await.ok();
    let empty = app.ops(&key, "hapus", &deletion(3)).await.ok();
    assert_eq!((&empty["jumlah"], &empty["saldo_akhir"]), (&json!(0), &json!(50_000)));
    let detail = app.get(&format!("/scan/v1/transaksi/get_detail_snap_hapus/{}", receipt(2)), Some(&siti.token)).await.ok();
    assert_eq!((&detail["isDelete"], &detail["grandtotal"]), (&json!(true), &json!(10_000)));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn only_a_purchase_that_runs_or_ran_can_be_refunded() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Root).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let held = app.hold(epay, &app.machine(outlet, "Mesin 1").await, &receipt(1)).await;
    for state in ["HELD", "SENT", "UNSURE"] {
        app.db.execute("UPDATE snap_transaksi SET state = $2 WHERE id = $1", &[&held.id, &state]).await.unwrap();
        for answer in [app.ops(&key, "refund", &refund(1, 1)).await, app.ops(&key, "hapus", &deletion(1)).await] {
            answer.expect(422, "mesin belum menyala, tunggu sampai berjalan");
        }
    }
    app.refused(&held).await;
    for answer in [app.ops(&key, "refund", &refund(1, 1)).await, app.ops(&key, "hapus", &deletion(1)).await] {
        answer.expect(422, "mesin tidak pernah menyala, saldo sudah dikembalikan");
    }
    let stopped = app.running(epay, &app.machine(outlet, "Mesin 2").await, 2).await;
    app.db
        .execute("UPDATE snap_transaksi SET state = 'STOPPED', finished_at = $2 WHERE id = $1", &[&stopped.id, &app.now()])
        .await
        .unwrap();
    app.ops(&key, "refund", &refund(2, 1)).await.ok();
    app.ops(&key, "hapus", &deletion(2)).await.ok();
    app.ops(&key, "hapus", &deletion(3)).await.expect(404, "transaksi tidak ditemukan");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn two_customers_with_one_receipt_need_a_name() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let root = app.key(Scope::Root).await;
    let mut accounts = Vec::new();
    for (i, outlet) in [outlet, outlet, other].into_iter().enumerate() {
        let customer = app.register_customer(&format!("8120000000{i}"), "Siti", "Rahma").await;
        let epay = app.funded(&customer, outlet, 50_000).await;
        app.running(epay, &app.machine(outlet, "Mesin").await, 1).await;
        accounts.push(epay.idcustomer);
    }
    for (call, body) in [("refund", refund(1, 100)), ("hapus", deletion(1))] {
        app.ops(&root, call, &body).await.expect(409, "nomor nota ini dipakai lebih dari satu pelanggan, sertakan idcustomer");
        let mut named = body.clone();
        named["idcustomer"] = json!(accounts[1].to_string());
        assert_eq!(app.ops(&root, call, &named).await.ok()["idcustomer"], json!(accounts[1]));
        named["idcustomer"] = json!(4711);
        app.ops(&root, call, &named).await.expect(404, "transaksi tidak ditemukan");
        let elsewhere = app.key(Scope::Supervisor(other.idoutlet)).await;
        assert_eq!(
            app.ops(&elsewhere, call, &body).await.ok()["idcustomer"],
            json!(accounts[2]),
            "a supervisor sees one of them only"
        );
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn refunds_and_deletions_at_once_never_pass_the_price() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    app.running(epay, &app.machine(outlet, "Mesin 1").await, 1).await;
    let answers = join_all((0..60).map(|_| {
        let (app, key) = (&app, &key);
        async move { app.ops(key, "refund", &refund(1, 300)).await }
    }))
    .await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 33, "33 × 300 fit into 10,000");
    assert!(answers.iter().all(|a| [200, 422].contains(&a.status)));
    let deletions = join_all((0..10).map(|_| {
        let (app, key) = (&app, &key);
        async move { app.ops(key, "hapus", &deletion(1)).await }
    }))
    .await;
    assert_eq!(deletions.iter().filter(|a| a.status == 200).count(), 1);
    assert_eq!(app.balance(epay.idcustomer).await, 50_000);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_out_of_range_is_400_and_changes_nothing() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Root).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    app.running(epay, &app.machine(outlet, "Mesin 1").await, 1).await;
    let before = app.footprint().await;
    let bad = [
        ("nominal", vec![json!(0), json!(-1), json!(i64::MIN), json!(1.5), json!("1"), Value::Null]),
        ("idtransaksi", vec![json!(""), json!("SLF1"), json!(1), json!("SLF261120180500001\u{0}"), Value::Null]),
        ("alasan", vec![json!(""), json!("  "), json!("x".repeat(501)), json!("a\u{0}"), json!(1), Value::Null]),
        ("idcustomer", vec![json!(0), json!(""), json!("x"), json!(1.5)]),
    ];
    for (field, values) in bad {
        for value in values {
            for (call, mut body) in [("refund", refund(1, 100)), ("hapus", deletion(1))] {
                if call == "hapus" && field == "nominal" {
                    continue;
                }
                body[field] = value.clone();
                let answer = app.ops(&key, call, &body).await;
                assert_eq!(answer.status, 400, "{call} {body}: {}", answer.message);
            }
        }
    }
    assert_eq!(app.footprint().await, before);
}
