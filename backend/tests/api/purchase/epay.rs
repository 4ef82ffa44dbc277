//! E-Pay accounts and the customer's code (docs/contract.md §2; docs/product.md §5).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::arrange::{column, receipt};
use crate::support::helpers::TestApp;

const ALL: &str = "/scan/v1/dashboard/get_user_epayment_by_id_customer_global";

#[actix_web::test]
async fn every_account_is_listed_with_its_outlet_and_balance() {
    let app = TestApp::spawn().await;
    let (melati, mawar) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let siti = app.register_customer("81234567890", "Siti", "Nur Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    assert_eq!(app.get(ALL, Some(&siti.token)).await.ok(), json!([]));
    let opened = app.now();
    let first = app.funded(&siti, melati, 50_000).await;
    let second = app.epay(&siti, mawar, Some(opened.plus_ms(1000))).await;
    app.funded(&budi, melati, 70_000).await;
    app.advance_s(60);
    app.hold(first, &app.machine(melati, "M1").await, &receipt(1)).await;
    let data = app.get(ALL, Some(&siti.token)).await.ok();
    assert_eq!(
        data,
        json!([
            {
                "idcustomer": first.idcustomer, "nama": "Siti Nur Rahma", "owner_idowner": melati.idowner,
                "outlet": {"idoutlet": melati.idoutlet, "nama": "Melati", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6, "created_at": opened.rfc3339()},
                "quota_emoney": {"saldo": 40_000, "jenis_emoney": 2, "masa_aktif": null, "updated_at": opened.rfc3339()}
            },
            {
                "idcustomer": second.idcustomer, "nama": "Siti Nur Rahma", "owner_idowner": mawar.idowner,
                "outlet": {"idoutlet": mawar.idoutlet, "nama": "Mawar", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6, "created_at": opened.rfc3339()},
                "quota_emoney": {"saldo": 0, "jenis_emoney": 1, "masa_aktif": opened.ms() + 1000, "updated_at": opened.rfc3339()}
            }
        ])
    );
}

#[actix_web::test]
async fn only_usable_accounts_of_that_owner_can_pay() {
    let app = TestApp::spawn().await;
    let owner = app.owner().await;
    let (a, b, c, d) = (
        app.outlet_of(owner, "A").await,
        app.outlet_of(owner, "B").await,
        app.outlet_of(owner, "C").await,
        app.outlet_of(owner, "D").await,
    );
    let foreign = app.outlet("Lain").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let endless = app.funded(&siti, a, 5_000).await;
    let expiring = app.epay(&siti, b, Some(app.now().plus_ms(60_000))).await;
    app.topup(expiring, 5_000).await;
    let expired = app.epay(&siti, c, Some(app.now().plus_ms(-1))).await;
    app.topup(expired, 5_000).await;
    app.epay(&siti, d, None).await;
    let elsewhere = app.funded(&siti, foreign, 5_000).await;
    app.funded(&budi, a, 5_000).await;
    let path = format!("/scan/v1/transaksi/get_epayment/{owner}");

    let usable = app.get(&path, Some(&siti.token)).await.ok();
    assert_eq!(column(&usable, "idcustomer"), [&json!(endless.idcustomer), &json!(expiring.idcustomer)]);
    let all = app.get(ALL, Some(&siti.token)).await.ok();
    assert_eq!(usable[0], all[0], "the same shape as the whole list");
    app.advance_s(60);
    assert_eq!(app.get(&path, Some(&siti.token)).await.ok().as_array().unwrap().len(), 2, "not earlier than now is usable");
    app.clock.advance_ms(1);
    let later = app.get(&path, Some(&siti.token)).await.ok();
    assert_eq!(column(&later, "idcustomer"), [&json!(endless.idcustomer)]);
    let others = app.get(&format!("/scan/v1/transaksi/get_epayment/{}", foreign.idowner), Some(&siti.token)).await.ok();
    assert_eq!(column(&others, "idcustomer"), [&json!(elsewhere.idcustomer)]);
    assert_eq!(app.get("/scan/v1/transaksi/get_epayment/987654", Some(&siti.token)).await.ok(), json!([]));
}

#[actix_web::test]
async fn the_code_is_a_plain_base64_picture() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let data = app.get("/scan/v1/transaksi/get_qrcode", Some(&siti.token)).await.ok();
    let picture = STANDARD.decode(data.as_str().unwrap()).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    let later = app.get("/scan/v1/transaksi/get_qrcode", Some(&siti.token)).await.ok();
    assert_eq!(data, later, "it is kept for its minute");
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    assert_ne!(data, app.get("/scan/v1/transaksi/get_qrcode", Some(&budi.token)).await.ok());
    app.advance_s(60);
    let later = app.get("/scan/v1/transaksi/get_qrcode", Some(&siti.token)).await.ok();
    assert_ne!(data, later, "the next minute's has another end");
}
