//! Logging out on the server (docs/contract.md §7).

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use nyala_identity::auth::session::authenticate;
use nyala_store::db::prune;
use serde_json::{Value, json};

use crate::auth::register::TELP;
use crate::support::helpers::{Answer, Customer, PASSWORD, TestApp};

const DAY_S: i64 = 86_400;

impl TestApp {
    pub async fn log_out(&self, token: &str) -> Answer {
        self.call("POST", "/scan/v1/auth/logout", Some(token), &[], None).await
    }

    async fn token_of_a_new_login(&self) -> String {
        self.login(TELP, PASSWORD).await.ok()["token"].as_str().unwrap().to_owned()
    }

    async fn ended_tokens(&self) -> i64 {
        self.insert("SELECT count(*) FROM ended_token", &[]).await
    }

    async fn assert_dead(&self, token: &str) {
        for (method, path, body) in [
            ("GET", "/scan/v1/dashboard/get_dashboard", None),
            ("GET", "/scan/v1/transaksi/get_qrcode", None),
            ("POST", "/scan/v1/akun/update_nama", Some(br#"{"nama": "Siti Lama"}"#.to_vec())),
            ("POST", "/scan/v1/auth/logout", None),
        ] {
            let answer = self.call(method, path, Some(token), &[], body).await;
            answer.expect(401, "sesi tidak berlaku, silakan masuk lagi");
        }
    }

    async fn assert_alive(&self, token: &str) {
        self.get("/scan/v1/dashboard/get_dashboard", Some(token)).await.ok();
    }
}

/// A token in the older form without `jti`.
fn older_token(app: &TestApp, siti: &Customer, age_s: i64) -> String {
    let iat = app.now().ms() / 1000 - age_s;
    let claims = json!({"id_customer_global": siti.id, "ver": 1, "aud": "nyala-pelanggan", "iat": iat, "exp": iat + 30 * DAY_S});
    let header = Header { kid: Some("1".to_owned()), ..Header::new(Algorithm::HS256) };
    jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(app.state.keyring.get().tokens.in_use().key.token.bytes()))
        .unwrap()
}

#[actix_web::test]
async fn logging_out_ends_that_token_and_no_other() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    // Both logins are in the same second, since the clock is stopped.
    let (one, other) = (app.token_of_a_new_login().await, app.token_of_a_new_login().await);
    app.assert_alive(&one).await;
    app.log_out(&one).await.expect(200, "Berhasil Logout!");
    app.assert_dead(&one).await;
    app.assert_alive(&other).await;
    app.assert_alive(&app.token_of_a_new_login().await).await;
    app.log_out(&other).await.ok();
    app.assert_dead(&one).await;
    app.assert_dead(&other).await;
}

#[actix_web::test]
async fn a_token_stays_dead_until_it_runs_out_and_is_forgotten_then() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.log_out(&siti.token).await.ok();
    for _ in 0..2 {
        // The cached entry is out of date now, so it is read again.
        app.advance_s(15 * DAY_S - 1);
        prune::prune(&app.state.store).await.unwrap();
        app.assert_dead(&siti.token).await;
        assert_eq!(app.ended_tokens().await, 1);
    }
    app.advance_s(2);
    prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.ended_tokens().await, 0);
    app.assert_dead(&siti.token).await;
}

#[actix_web::test]
async fn a_logout_that_another_process_took_is_seen_within_30_s() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let session = authenticate(&app.state.auth, &siti.token).await.unwrap();
    let other = app.token_of_a_new_login().await;
    app.db
        .execute("INSERT INTO ended_token VALUES ($1, $2, $3)", &[&siti.id, &session.token.0.as_slice(), &session.exp])
        .await
        .unwrap();
    app.advance_s(30);
    app.assert_dead(&siti.token).await;
    app.assert_alive(&other).await;
}

#[actix_web::test]
async fn a_token_from_before_there_was_logging_out_ends_too() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let (older, oldest) = (older_token(&app, &siti, 10), older_token(&app, &siti, 20));
    app.assert_alive(&older).await;
    app.log_out(&older).await.ok();
    app.assert_dead(&older).await;
    app.assert_alive(&oldest).await;
    app.assert_alive(&siti.token).await;
}

#[actix_web::test]
async fn without_a_good_token_there_is_nothing_to_end() {
    let app = TestApp::spawn().await;
    for token in [None, Some("x"), Some("")] {
        let answer = app.call("POST", "/scan/v1/auth/logout", token, &[], None).await;
        answer.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    }
    assert_eq!(app.ended_tokens().await, 0);
}

#[actix_web::test]
async fn a_logout_beyond_a_thousand_in_a_month_ends_every_phones_login() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let many = "INSERT INTO ended_token SELECT $1, decode(lpad(to_hex(n), 32, '0'), 'hex'), $2 FROM generate_series(1, 999) n";
    app.db.execute(many, &[&siti.id, &app.now().plus_ms(DAY_S * 1000)]).await.unwrap();
    let [first, second, third] =
        [app.token_of_a_new_login().await, app.token_of_a_new_login().await, app.token_of_a_new_login().await];
    app.log_out(&first).await.ok();
    app.assert_alive(&third).await;
    assert_eq!(app.ended_tokens().await, 1_000);
    app.log_out(&second).await.ok();
    assert_eq!(app.ended_tokens().await, 0);
    for token in [&first, &second, &third, &siti.token] {
        app.assert_dead(token).await;
    }
    app.assert_alive(&app.token_of_a_new_login().await).await;
}

#[actix_web::test]
async fn a_logout_notifies_the_holders_of_open_sessions() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let mut ended = app.state.auth.versions.subscribe();
    let session = authenticate(&app.state.auth, &siti.token).await.unwrap();
    app.post("/scan/v1/auth/logout", Some(&siti.token), &Value::Null).await.ok();
    let ended_login = ended.recv().await.unwrap();
    assert_eq!((ended_login.id, ended_login.which), (siti.id, nyala_identity::auth::session::Ended::One(session.token)));
}
