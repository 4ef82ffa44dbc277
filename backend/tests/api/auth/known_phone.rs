//! The known phone's cookie (OWASP: device cookie).

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue};
use nyala_core::domain::id::CustomerId;
use nyala_identity::auth::known_phone::KnownPhone;
use serde_json::{Value, json};

use crate::auth::register::{TELP, login_body, otp_body, register_body};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};

const LOGIN: &str = "/scan/v1/auth/login";

impl Answer {
    /// The `Cookie` value that a browser sends after this response sets its one cookie; empty without one.
    pub fn cookie(&self) -> String {
        let cookies: Vec<_> = self.headers.get_all("set-cookie").map(|v| v.to_str().unwrap()).collect();
        assert!(cookies.len() <= 1, "{cookies:?}");
        cookies.first().map_or_else(String::new, |cookie| cookie.split(';').next().unwrap().to_owned())
    }
}

impl TestApp {
    /// The known phone that the server recognises by `cookie`.
    fn phone(&self, cookie: &str) -> Option<KnownPhone> {
        let headers: HeaderMap = [(COOKIE, HeaderValue::from_str(cookie).unwrap())].into_iter().collect();
        self.state.auth.known_phones.of_headers(&headers, self.now())
    }

    fn known_as(&self, answer: &Answer) -> Option<(CustomerId, i32)> {
        assert_eq!(answer.status, 200, "{}", answer.message);
        self.phone(&answer.cookie()).map(|phone| (phone.customer, phone.version))
    }
}

#[actix_web::test]
async fn a_customer_with_proof_has_a_known_phone_from_then_on() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let registered = app.post("/scan/v1/auth/register", None, &register_body(TELP, &code)).await;
    let (id, _) = app.known_as(&registered).unwrap();
    assert_eq!(app.known_as(&app.login(TELP, PASSWORD).await), Some((id, 1)));

    app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(TELP)).await.ok();
    let body = json!({"otp": app.last_code(TELP).await, "telp": TELP, "password": "SandiBaru1"});
    assert_eq!(app.known_as(&app.post("/scan/v1/auth/forgot_password", None, &body).await), Some((id, 2)));

    let token = app.login(TELP, "SandiBaru1").await.ok()["token"].as_str().unwrap().to_owned();
    app.post("/scan/v1/akun/request_otp_password", Some(&token), &Value::Null).await.ok();
    let body = json!({"otp": app.last_code(TELP).await, "password_lama": "SandiBaru1", "password_baru": PASSWORD});
    assert_eq!(app.known_as(&app.post("/scan/v1/akun/update_password", Some(&token), &body).await), Some((id, 3)));
}

#[actix_web::test]
async fn a_customer_without_proof_gets_no_cookie() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    for answer in [
        app.login(TELP, "salah").await,
        app.login("81234567899", PASSWORD).await,
        app.post("/scan/v1/auth/register", None, &register_body("81234567899", "123456")).await,
        app.post("/scan/v1/auth/forgot_password", None, &json!({"otp": "1", "telp": TELP, "password": PASSWORD})).await,
        app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(TELP)).await,
    ] {
        assert_eq!(answer.cookie(), "", "{}", answer.message);
    }
}

#[actix_web::test]
async fn the_cookie_is_secure_only_where_the_connection_is_encrypted() {
    let proxy = nyala_core::domain::address::Block::parse("127.0.0.1").unwrap();
    for (trusted, forwarded, secure) in [(vec![proxy], "https", true), (vec![proxy], "http", false), (vec![], "https", false)] {
        let app = Setup::new().with(|c| c.http.trusted_proxies = trusted).start().await;
        app.register_customer(TELP, "Siti", "Rahma").await;
        let body = login_body(TELP, PASSWORD).to_string().into_bytes();
        let answer = app.call("POST", LOGIN, None, &[("x-forwarded-proto", forwarded)], Some(body)).await;
        let cookie = answer.headers.get("set-cookie").unwrap().to_str().unwrap();
        assert_eq!(cookie.contains("Secure"), secure, "{cookie}");
    }
}
