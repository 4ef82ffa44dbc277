//! Passwords: wrong ones, too many wrong ones, too many at once (contract §1; design: money, security).

use futures_util::future::join_all;

use crate::auth::{TELP, login_body};
use crate::helpers::{PASSWORD, TestApp};

#[actix_web::test]
async fn a_wrong_password_and_an_unknown_number_are_told_apart() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.login(TELP, "rahasia123").await.expect(401, "password is incorrect");
    app.login("81234567891", PASSWORD).await.expect(404, "record not found");
    for telp in [TELP, "081234567890", "6281234567890", "+6281234567890"] {
        assert!(app.login(telp, PASSWORD).await.ok()["token"].is_string());
    }
}

#[actix_web::test]
async fn after_ten_wrong_passwords_the_number_waits() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.register_customer("81234567891", "Budi", "Santoso").await;
    for _ in 0..10 {
        app.login(TELP, "salah").await.expect(401, "password is incorrect");
        app.advance_s(6);
    }
    assert_eq!(app.login(TELP, PASSWORD).await.retry_after_s(), 900 - 60);
    app.login("81234567891", PASSWORD).await.ok();
    app.advance_s(900 - 60);
    app.login(TELP, PASSWORD).await.ok();
    app.login(TELP, "salah").await.expect(401, "password is incorrect");
    assert_eq!(app.login(TELP, PASSWORD).await.retry_after_s(), 6);
}

#[actix_web::test]
async fn parallel_guesses_learn_no_more_than_ten_answers() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    for _ in 0..8 {
        app.login(TELP, "salah").await.expect(401, "password is incorrect");
    }
    let answers = join_all((0..20).map(|_| app.login(TELP, "salah"))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 401).count(), 2);
    for other in answers.iter().filter(|a| a.status != 401) {
        assert_eq!(other.retry_after_s(), 900);
    }
}

#[actix_web::test]
async fn a_reset_password_does_not_wait_for_the_wrong_ones_before() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    for _ in 0..10 {
        app.login(TELP, "salah").await;
    }
    app.login(TELP, PASSWORD).await.retry_after_s();
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &crate::auth::otp_body(TELP)).await.ok();
    let code = app.last_code(TELP).await;
    let body = serde_json::json!({"otp": code, "telp": TELP, "password": "SandiBaru1"});
    app.post("/scan/v1/auth/forgot_password", None, &body).await.ok();
    app.login(TELP, "SandiBaru1").await.ok();
}

#[actix_web::test]
async fn more_than_32_waiting_passwords_are_told_to_come_back() {
    let app = TestApp::spawn().await;
    // Unknown numbers cost a whole Argon2 each, so that the queue fills however fast the others arrive.
    let bodies: Vec<_> = (0..120).map(|n| login_body(&format!("8130000{n:04}"), PASSWORD)).collect();
    let answers = join_all(bodies.iter().map(|body| app.post("/scan/v1/auth/login", None, body))).await;
    let (worked, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|a| a.status == 404);
    assert!(worked.len() >= 33, "one at work and 32 waiting are served: {}", worked.len());
    assert!(!refused.is_empty());
    for answer in refused {
        assert!(answer.retry_after_s() >= 1);
    }
    app.login("81300009999", PASSWORD).await.expect(404, "record not found");
}
