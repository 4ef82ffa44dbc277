//! Tokens on every request (docs/contract.md §1).

use nyala_core::domain::id::CustomerId;
use nyala_identity::auth::session::{Ended, TokenEnded, authenticate};
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn a_token_is_its_customer() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let session = authenticate(&app.state.auth, &siti.token).await.unwrap();
    assert_eq!((session.id, session.version), (siti.id, 1));
    assert_eq!(app.now().ms_until(session.exp), 30 * 86_400_000);
    app.advance_s(30 * 86_400);
    assert!(authenticate(&app.state.auth, &siti.token).await.is_err());
}

#[actix_web::test]
async fn a_change_in_this_process_ends_tokens_at_once_and_is_notified() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    authenticate(&app.state.auth, &siti.token).await.unwrap();
    let mut ended = app.state.auth.versions.subscribe();
    app.db.execute("UPDATE customer_global SET token_version = 2 WHERE id = $1", &[&siti.id]).await.unwrap();
    app.state.auth.versions.changed(siti.id, 2, app.now());
    assert!(authenticate(&app.state.auth, &siti.token).await.is_err());
    assert_eq!(ended.recv().await.unwrap(), TokenEnded { id: siti.id, which: Ended::Older(2) });
}

#[actix_web::test]
async fn a_change_by_another_process_is_seen_within_30_s() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    authenticate(&app.state.auth, &siti.token).await.unwrap();
    app.db.execute("UPDATE customer_global SET token_version = 2 WHERE id = $1", &[&siti.id]).await.unwrap();
    app.advance_s(30);
    assert!(authenticate(&app.state.auth, &siti.token).await.is_err());
}

#[actix_web::test]
async fn a_token_that_another_process_made_is_good_at_once() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    authenticate(&app.state.auth, &siti.token).await.unwrap();
    app.db.execute("UPDATE customer_global SET token_version = 2 WHERE id = $1", &[&siti.id]).await.unwrap();
    let newer = app.state.auth.tokens.mint(siti.id, 2, app.now()).unwrap();
    authenticate(&app.state.auth, &newer).await.unwrap();
    assert!(authenticate(&app.state.auth, &siti.token).await.is_err());
}

#[actix_web::test]
async fn a_token_of_no_customer_is_refused() {
    let app = TestApp::spawn().await;
    let token = app.state.auth.tokens.mint(CustomerId::new(4711), 1, app.now()).unwrap();
    assert!(authenticate(&app.state.auth, &token).await.is_err());
}

/// After a restore the number of a lost customer may have been given to somebody else.
#[actix_web::test]
async fn after_a_jump_a_token_that_is_older_than_its_customer_is_worthless() {
    let app = TestApp::spawn().await;
    let lost = app.register_customer("81234567890", "Budi", "Santoso").await;
    let status = async |app: &TestApp| app.get("/scan/v1/dashboard/get_dashboard", Some(&lost.token)).await.status;
    app.advance_s(60);
    let now = app.now();
    let made_anew = "UPDATE customer_global SET created_at = $2 WHERE id = $1";
    app.db.execute(made_anew, &[&lost.id, &now]).await.unwrap();
    app.advance_s(31);
    assert_eq!(status(&app).await, 200, "without a jump a clock that went back ends nothing");
    app.db.execute("UPDATE database_state SET changed_at = $1", &[&now]).await.unwrap();
    app.advance_s(31);
    assert_eq!(status(&app).await, 401);
}

#[actix_web::test]
async fn after_a_jump_a_code_that_is_older_than_its_customer_is_foreign() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let lost = app.register_customer("81234567890", "Budi", "Santoso").await;
    let code = nyala_identity::qr::customer::make(&app.state.keyring.get(), lost.id, app.now());
    let sale = json!({"qr": code, "idoutlet": outlet.idoutlet, "nominal": 10_000});
    app.advance_s(60);
    let now = app.now();
    app.db.execute("UPDATE customer_global SET created_at = $2 WHERE id = $1", &[&lost.id, &now]).await.unwrap();
    app.ops(&key, "topup", &sale).await.expect(200, "OK");
    app.db.execute("UPDATE database_state SET changed_at = $1", &[&now]).await.unwrap();
    app.ops(&key, "topup", &sale).await.expect(422, "itu bukan kode QR pelanggan Nyala");
    let own = nyala_identity::qr::customer::make(&app.state.keyring.get(), lost.id, now);
    app.ops(&key, "topup", &json!({"qr": own, "idoutlet": outlet.idoutlet, "nominal": 10_000})).await.expect(200, "OK");
}
