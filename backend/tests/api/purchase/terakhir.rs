//! `GET /scan/v1/transaksi/terakhir`: the last purchase's service, at its present name and price.

use serde_json::{Value, json};

use crate::support::arrange::receipt;
use crate::support::helpers::{Customer, TestApp};

async fn last(app: &TestApp, customer: &Customer) -> Value {
    app.get("/scan/v1/transaksi/terakhir", Some(&customer.token)).await.ok()
}

#[actix_web::test]
async fn the_last_purchase_has_its_present_price_and_is_null_when_the_service_is_gone() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let [siti, budi] = [
        app.register_customer("81234567890", "Siti", "Rahma").await,
        app.register_customer("81234567891", "Budi", "Santoso").await,
    ];
    assert_eq!(last(&app, &siti).await, json!(null));
    let epay = app.funded(&siti, outlet, 100_000).await;
    let (first, second) = (app.machine(outlet, "M1").await, app.machine(outlet, "M2").await);
    app.used(epay, &first, &receipt(1)).await;
    // A purchase that never ran does not count; one that runs does.
    let refused = app.hold(epay, &second, &receipt(2)).await;
    app.refused(&refused).await;
    let expected = |id: i64, name: &str, price: i64| json!({"idlayanan": id, "nama": name, "durasi": 1800, "harga": price, "idoutlet": outlet.idoutlet, "idcustomer": epay.idcustomer});
    assert_eq!(last(&app, &siti).await, expected(first.idlayanan.get(), "Cuci Kilat", 10_000));
    app.running(epay, &second, 3).await;
    let changed = "UPDATE layanan SET harga = 16000, nama = 'Cuci Reguler' WHERE idlayanan = $1";
    app.db.execute(changed, &[&second.idlayanan]).await.unwrap();
    assert_eq!(last(&app, &siti).await, expected(second.idlayanan.get(), "Cuci Reguler", 16_000));
    assert_eq!(last(&app, &budi).await, json!(null));
    app.db.execute("UPDATE layanan SET aktif = FALSE WHERE idlayanan = $1", &[&second.idlayanan]).await.unwrap();
    assert_eq!(last(&app, &siti).await, json!(null));
}
