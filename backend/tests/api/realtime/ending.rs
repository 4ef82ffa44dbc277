//! A socket session ends with its token (docs/contract.md §1, §3).

use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use crate::support::helpers::{PASSWORD, TestApp};

async fn refused(app: &TestApp, token: &str) -> Value {
    Phone::dial(app.address()).await.connect(Some(&json!({ "token": token }))).await.expect_err("refused")
}

/// The `ended` sockets have closed, their old token opens no new one, and the other sockets continue.
async fn assert_ended(app: &TestApp, ended: Vec<Phone>, old: &str, going_on: &mut [Phone]) {
    for mut phone in ended {
        assert_eq!(phone.closed().await, []);
    }
    assert_eq!(refused(app, old).await, json!({"message": "unauthorized"}));
    for phone in going_on {
        assert_eq!(phone.subscribe(4_711).await["status"], 404);
    }
}

#[actix_web::test]
async fn a_changed_password_ends_the_sockets_of_every_older_token() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut old = Vec::new();
    for _ in 0..10 {
        old.push(Phone::join(&app, &siti.token).await);
    }
    let other = Phone::join(&app, &budi.token).await;
    app.post("/scan/v1/akun/request_otp_password", Some(&siti.token), &Value::Null).await.ok();
    let code = app.last_code(&siti.telp).await;
    let body = json!({"otp": code, "password_lama": PASSWORD, "password_baru": "SandiBaru1"});
    let data = app.post("/scan/v1/akun/update_password", Some(&siti.token), &body).await.ok();
    let newer = data["token"].as_str().unwrap();
    // Their slots are free once they are gone.
    app.until_metric("nyala_sessions", 1.0).await;
    let mut going_on = vec![other];
    for _ in 0..10 {
        going_on.push(Phone::join(&app, newer).await);
    }
    assert_ended(&app, old, &siti.token, &mut going_on).await;
}

#[actix_web::test]
async fn a_reset_password_ends_them_too_and_not_those_that_logged_in_after_it() {
    let app = setup().start().await;
    let siti = app.customer(1).await;
    let old = Phone::join(&app, &siti.token).await;
    let telp = json!({"telp": siti.telp, "country_code": "62"});
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &telp).await.ok();
    let code = app.last_code(&siti.telp).await;
    let body = json!({"otp": code, "telp": siti.telp, "password": "SandiBaru1"});
    app.post("/scan/v1/auth/forgot_password", None, &body).await.ok();
    let login = app.login(&siti.telp, "SandiBaru1").await.ok();
    let newer = Phone::join(&app, login["token"].as_str().unwrap()).await;
    assert_ended(&app, vec![old], &siti.token, &mut [newer]).await;
}

#[actix_web::test]
async fn a_logout_ends_the_sockets_of_its_token_and_no_others() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let other_phone = app.login(&siti.telp, PASSWORD).await.ok();
    let other_phone = other_phone["token"].as_str().unwrap();
    let old = vec![Phone::join(&app, &siti.token).await, Phone::join(&app, &siti.token).await];
    let mut going_on = [Phone::join(&app, other_phone).await, Phone::join(&app, &budi.token).await];
    app.log_out(&siti.token).await.ok();
    assert_ended(&app, old, &siti.token, &mut going_on).await;
}

#[actix_web::test]
async fn a_token_that_runs_out_while_connected_ends_its_socket() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut old = Phone::join(&app, &siti.token).await;
    old.watch(shop.idmesin, None).await;
    app.advance_s(86_400);
    let newer = app.state.auth.tokens.mint(budi.id, 1, app.now()).unwrap();
    let newer = Phone::join(&app, &newer).await;
    // One second before its thirty days end, the token is still valid.
    app.advance_s(29 * 86_400 - 1);
    old.watch(shop.idmesin, None).await;
    app.advance_s(1);
    assert_ended(&app, vec![old], &siti.token, &mut [newer]).await;
    app.until_metric("nyala_subscriptions", 0.0).await;
}
