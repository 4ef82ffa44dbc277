//! The details behind a history row (docs/product.md §2, History; docs/contract.md §2).

use serde_json::{Value, json};

use crate::support::arrange::receipt;
use crate::support::helpers::{Answer, Customer, TestApp};

async fn detail(app: &TestApp, siti: &Customer, call: &str, id: &str) -> Answer {
    app.get(&format!("/scan/v1/{call}/{id}"), Some(&siti.token)).await
}

#[actix_web::test]
async fn a_purchase_has_its_times_and_its_state() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let bought = app.now();
    let buy = app.hold(app.funded(&siti, outlet, 50_000).await, &machine, &receipt(1)).await;
    app.advance_s(2);
    app.started(&buy).await;
    let running = detail(&app, &siti, "transaksi/get_detail_snap_transaksi", &receipt(1)).await.ok();
    assert_eq!(running["ends_at"], json!(bought.ms() + 1_802_000));
    assert_eq!(running["server_time"], json!(app.now().ms()));
    assert_eq!(running["snap_transaksi_detail"][0]["status"], 3);
    app.advance_s(1800);
    app.finished(&buy).await;
    let finished = detail(&app, &siti, "transaksi/get_detail_snap_transaksi", &receipt(1)).await.ok();
    assert_eq!(
        finished,
        json!({
            "id": receipt(1), "grandtotal": 10_000, "created_at": bought.rfc3339(), "finished_at": app.now().rfc3339(),
            "ends_at": null, "server_time": app.now().ms(), "isDelete": false, "outlet": {"nama": "Melati", "kota": "Bandung"},
            "snap_transaksi_detail": [{
                "status": 4, "durasi": 1800, "idmesin": machine.idmesin,
                "snap_mesin": {"nama": "M1"}, "snap_layanan": {"nama": "Cuci Kilat", "durasi": 1800}
            }],
            "keluhan": null
        })
    );
}

#[actix_web::test]
async fn a_purchase_that_never_started_has_no_detail_but_its_refund_has() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let buy = app.hold(app.funded(&siti, outlet, 50_000).await, &machine, &receipt(1)).await;
    detail(&app, &siti, "epayment/get_detail_refund", &receipt(1)).await.expect(404, "Transaksi ini tidak ditemukan");
    app.advance_s(8);
    app.refused(&buy).await;
    app.assert_no_violation().await;
    detail(&app, &siti, "transaksi/get_detail_snap_transaksi", &receipt(1)).await.expect(404, "Transaksi ini gagal dibuat");
    let refund = detail(&app, &siti, "epayment/get_detail_refund", &receipt(1)).await.ok();
    assert_eq!(refund, json!({"idtransaksi": receipt(1), "waktu_refund": app.now().rfc3339(), "nominal_refund": 10_000}));
}

#[actix_web::test]
async fn a_deletion_shows_the_full_price_whatever_refunds_left() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let buy = app.used(app.funded(&siti, outlet, 50_000).await, &app.machine(outlet, "M1").await, &receipt(1)).await;
    detail(&app, &siti, "transaksi/get_detail_snap_hapus", &receipt(1)).await.expect(404, "Transaksi ini tidak ditemukan");
    app.refund(&buy, 3_000).await;
    app.delete(&buy, 7_000).await;
    app.assert_no_violation().await;
    let deleted = detail(&app, &siti, "transaksi/get_detail_snap_hapus", &receipt(1)).await.ok();
    assert_eq!((&deleted["isDelete"], &deleted["grandtotal"]), (&json!(true), &json!(10_000)));
    let mut used = detail(&app, &siti, "transaksi/get_detail_snap_transaksi", &receipt(1)).await.ok();
    assert_eq!(used["isDelete"], json!(false));
    used["isDelete"] = json!(true);
    assert_eq!(used, deleted, "otherwise the snap detail");
}

#[actix_web::test]
async fn each_of_several_refunds_can_be_read() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let machine = app.machine(outlet, "M1").await;
    let buy = app.used(epay, &machine, &receipt(1)).await;
    app.refund(&buy, 1_000).await;
    app.advance_s(60);
    app.refund(&buy, 2_000).await;
    let other = app.used(epay, &machine, &receipt(2)).await;
    app.refund(&other, 3_000).await;
    let body = json!({"skip": 0, "limit": 20, "jenis": "", "outlet": ""});
    let history = app.post("/scan/v1/transaksi/list_history", Some(&siti.token), &body).await.ok();
    let refunds: Vec<&Value> =
        history["history_data"].as_array().unwrap().iter().filter(|row| row["ref_type"] == "snap_transaksi_refund").collect();
    assert_eq!(refunds.len(), 3);
    for row in &refunds {
        let id = format!("{}?entri={}", row["ref_id"].as_str().unwrap(), row["entri"]);
        let refund = detail(&app, &siti, "epayment/get_detail_refund", &id).await.ok();
        assert_eq!(refund, json!({"idtransaksi": row["ref_id"], "waktu_refund": row["date"], "nominal_refund": row["value"]}));
    }
    let newest = detail(&app, &siti, "epayment/get_detail_refund", &receipt(1)).await.ok();
    assert_eq!(newest["nominal_refund"], 2_000);
    let mixed = format!("{}?entri={}", receipt(1), refunds[0]["entri"]);
    detail(&app, &siti, "epayment/get_detail_refund", &mixed).await.expect(404, "Transaksi ini tidak ditemukan");
    for bad in ["abc", "-1", "0", "", "1.5", "99999999999999999999"] {
        let answer = detail(&app, &siti, "epayment/get_detail_refund", &format!("{}?entri={bad}", receipt(1))).await;
        assert_eq!(answer.status, 400, "{bad}");
    }
}

#[actix_web::test]
async fn a_top_up_has_what_was_paid_and_what_was_added() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let id = app.topup(epay, 25_000).await;
    app.db.execute("UPDATE pembelian_emoney SET harga_paket = 20000, nama_paket = 'Hemat' WHERE id = $1", &[&id]).await.unwrap();
    let data = detail(&app, &siti, "epayment/get_epayment", &id.to_string()).await.ok();
    assert_eq!(
        data,
        json!({
            "idpembelian_emoney": id.to_string(), "created_at": app.now().rfc3339(), "harga_paket": 20_000, "quota": 25_000,
            "nama_paket": "Hemat", "nama_outlet": "Melati", "kota": "Bandung", "outlet": {"nama": "Melati", "kota": "Bandung"},
            "saldo_akhir": 75_000
        })
    );
}
