//! The page of the simulated provider.

use serde_json::json;

use super::MINUTE_S;
use crate::support::arrange::column;
use crate::support::counter::Counter;
use crate::support::helpers::Setup;

#[actix_web::test]
async fn orders_are_listed_newest_first() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let first = counter.bill(10_000).await;
    app.advance_s(1);
    let second = counter.bill(20_000).await;
    app.pay(&first).await;
    let orders = app.get("/dev/qris", None).await.ok();
    assert_eq!(column(&orders, "order_id"), [&json!(second), &json!(first)]);
    assert_eq!(column(&orders, "status"), ["menunggu", "dibayar"]);
    assert_eq!(orders[0]["jumlah"], 20_000);
    assert_eq!(orders[0]["kedaluwarsa_at"], app.now().plus_ms(10 * MINUTE_S * 1000).rfc3339());
    app.advance_s(11 * MINUTE_S);
    assert_eq!(column(&app.get("/dev/qris", None).await.ok(), "status"), ["kedaluwarsa", "dibayar"]);
}

#[actix_web::test]
async fn a_browser_gets_a_page_whose_buttons_pay() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let id = counter.bill(10_000).await;
    let mut page =
        app.http.get(format!("{}/dev/qris", app.base_url)).insert_header(("accept", "text/html")).send().await.unwrap();
    let text = String::from_utf8(page.body().await.unwrap().to_vec()).unwrap();
    let action = format!("action=\"/dev/qris/{id}\"");
    for part in [id.as_str(), "Bayar", "Kedaluwarsa", "Terlambat", action.as_str()] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let form = app.http.post(format!("{}/dev/qris/{id}", app.base_url)).send_form(&json!({"aksi": "bayar"})).await.unwrap();
    let to = form.headers().get("location").unwrap().to_str().unwrap();
    assert_eq!((form.status().as_u16(), to), (303, "/dev/qris"));
    assert_eq!(counter.see(&id).await["status"], "dibayar");
}

#[actix_web::test]
async fn acts_that_are_no_acts_are_refused() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let id = counter.bill(10_000).await;
    app.at_provider("NYL0123456789ABCDEFGHIJ", &json!({"aksi": "bayar"})).await.expect(404, "pesanan tidak ditemukan");
    for body in [json!({}), json!({"aksi": "batal"}), json!({"aksi": "bayar", "jumlah": 0}), json!({"aksi": "bayar", "kali": 21})]
    {
        assert_eq!(app.at_provider(&id, &body).await.status, 400, "{body}");
    }
    let real = Setup::new().with(|config| config.qris.provider = String::new()).start().await;
    real.get("/dev/qris", None).await.expect(404, "pembayaran lewat penyedia sungguhan");
}
