//! Read access: none without a token, and none to another customer's rows (docs/contract.md §1).

use serde_json::json;

use crate::support::arrange::receipt;
use crate::support::helpers::TestApp;

/// Customer calls with a body: reads and push subscriptions.
const READS: [(&str, &str, &str); 16] = [
    ("GET", "/scan/v1/dashboard/get_dashboard", ""),
    ("GET", "/scan/v1/dashboard/get_user_epayment_by_id_customer_global", ""),
    ("GET", "/scan/v1/transaksi/get_epayment/1", ""),
    ("GET", "/scan/v1/transaksi/get_detail_snap_transaksi/SLF261120180500001", ""),
    ("GET", "/scan/v1/transaksi/get_detail_snap_hapus/SLF261120180500001", ""),
    ("GET", "/scan/v1/transaksi/get_qrcode", ""),
    ("GET", "/scan/v1/epayment/get_epayment/1", ""),
    ("GET", "/scan/v1/epayment/get_detail_refund/SLF261120180500001", ""),
    ("GET", "/scan/v1/transaksi/terakhir", ""),
    ("GET", "/scan/v1/push/kunci", ""),
    ("POST", "/scan/v1/push/langganan", r#"{"endpoint":"x","p256dh":"x","auth":"x"}"#),
    ("POST", "/scan/v1/push/berhenti", r#"{"endpoint":"x"}"#),
    ("POST", "/scan/v1/transaksi/ambil", r#"{"id":"SLF261120180500001"}"#),
    ("POST", "/scan/v1/transaksi/masalah", r#"{"id":"SLF261120180500001","alasan":"hasil"}"#),
    ("POST", "/scan/v1/transaksi/get_layanan", r#"{"qr":"x","limit":10,"skip":0,"search":""}"#),
    ("POST", "/scan/v1/transaksi/list_history", r#"{"skip":0,"limit":20,"jenis":"","outlet":""}"#),
];

#[actix_web::test]
async fn no_token_and_a_bad_one_are_401() {
    let app = TestApp::spawn().await;
    for (method, path, body) in READS {
        for token in [None, Some("nonsense"), Some("")] {
            let answer = app.call(method, path, token, &[], (!body.is_empty()).then(|| body.as_bytes().to_vec())).await;
            assert_eq!(answer.status, 401, "{path}");
        }
    }
}

#[actix_web::test]
async fn anothers_rows_answer_like_unknown_ones() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let epay = app.epay(&siti, outlet, None).await;
    let topup = app.topup(epay, 50_000).await;
    let used = app.used(epay, &machine, &receipt(1)).await;
    app.refund(&used, 4_000).await;
    app.delete(&used, 6_000).await;
    app.assert_no_violation().await;
    let paths = |topup: &str, receipt: &str| {
        [
            format!("/scan/v1/epayment/get_epayment/{topup}"),
            format!("/scan/v1/epayment/get_detail_refund/{receipt}"),
            format!("/scan/v1/transaksi/get_detail_snap_transaksi/{receipt}"),
            format!("/scan/v1/transaksi/get_detail_snap_hapus/{receipt}"),
        ]
    };
    let own = paths(&topup.to_string(), &receipt(1));
    for (path, unknown) in own.iter().zip(paths("999999", &receipt(999))) {
        assert_eq!(app.get(path, Some(&siti.token)).await.status, 200, "{path}");
        let others = app.get(path, Some(&budi.token)).await;
        let nobodys = app.get(&unknown, Some(&budi.token)).await;
        assert_eq!((others.status, others.message), (404, nobodys.message), "{path}");
        assert_eq!(nobodys.status, 404, "{unknown}");
    }
    for bad in ["0", "-1", "abc", "99999999999999999999", "1%00", "%27%20OR%201=1", "1.0", "%F0%9F%A7%BA"] {
        for path in paths(bad, bad).iter().chain([&format!("/scan/v1/transaksi/get_epayment/{bad}")]) {
            assert_eq!(app.get(path, Some(&siti.token)).await.status, 404, "{path}");
        }
    }
}

#[actix_web::test]
async fn two_customers_may_share_a_receipt_number_and_each_reads_their_own() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    for (telp, name, machine) in [("81234567890", "Siti", "M1"), ("81234567891", "Budi", "M2")] {
        let customer = app.register_customer(telp, name, "Rahma").await;
        let machine = app.machine(outlet, machine).await;
        app.used(app.funded(&customer, outlet, 50_000).await, &machine, &receipt(1)).await;
        let detail =
            app.get(&format!("/scan/v1/transaksi/get_detail_snap_transaksi/{}", receipt(1)), Some(&customer.token)).await.ok();
        assert_eq!(detail["snap_transaksi_detail"][0]["idmesin"], json!(machine.idmesin));
    }
}
