//! `nyala seed --demo`.

use serde_json::json;

use super::beside;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn the_demo_goes_into_an_empty_database_once() {
    let app = TestApp::spawn().await;
    assert!(beside(&app, &["seed", "--demo"]).ok().contains("81234567890 / Rahasia123"));
    let before = app.footprint().await;
    assert!(beside(&app, &["seed", "--demo"]).ok().contains("nothing changed"));
    assert_eq!(app.footprint().await, before);
    let login = json!({"country_code": "62", "telp": "81234567890", "password": "Rahasia123"});
    let token = app.post("/scan/v1/auth/login", None, &login).await.ok()["token"].as_str().unwrap().to_owned();
    let accounts = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(&token)).await.ok();
    let funded = accounts.as_array().unwrap().iter().filter(|a| a["quota_emoney"]["saldo"].as_i64().unwrap() > 0);
    assert_eq!(funded.count(), 2);
    let counts = "SELECT (SELECT count(*) FROM owner_usaha), (SELECT count(*) FROM outlet), (SELECT count(*) FROM layanan WHERE durasi_s = 60)";
    let row = app.db.query_one(counts, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2)), (1, 4, 4));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_demo_never_goes_beside_other_data() {
    let app = TestApp::spawn().await;
    app.owner().await;
    let before = app.footprint().await;
    beside(&app, &["seed", "--demo"]).refused("not empty");
    assert_eq!(app.footprint().await, before);
}
