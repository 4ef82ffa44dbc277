//! Registering and resetting a password: their rows of the table in docs/contract.md §1.

use nyala_identity::auth::session::authenticate;
use serde_json::{Value, json};

use crate::support::helpers::{Answer, PASSWORD, TestApp};

pub const TELP: &str = "81234567890";
const REQUEST: &str = "/scan/v1/auth/request_otp";
const REGISTER: &str = "/scan/v1/auth/register";
const REQUEST_FORGOT: &str = "/scan/v1/auth/request_otp_forgot_password";
const FORGOT: &str = "/scan/v1/auth/forgot_password";

pub fn otp_body(telp: &str) -> Value {
    json!({"telp": telp, "country_code": "62"})
}

pub fn register_body(telp: &str, otp: &str) -> Value {
    json!({"otp": otp, "telp": telp, "country_code": "62", "password": PASSWORD, "nama": " Siti  Nur Rahma "})
}

pub fn login_body(telp: &str, password: &str) -> Value {
    json!({"country_code": "62", "telp": telp, "password": password})
}

/// Six digits that are not `code`.
pub fn other_code(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

impl TestApp {
    pub async fn send_code(&self, telp: &str) -> String {
        self.post(REQUEST, None, &otp_body(telp)).await.expect(200, "kode dikirim lewat WhatsApp");
        self.last_code(telp).await
    }

    async fn send_forgot_code(&self) -> String {
        self.post(REQUEST_FORGOT, None, &otp_body(TELP)).await.ok();
        self.last_code(TELP).await
    }

    pub async fn login(&self, telp: &str, password: &str) -> Answer {
        self.post("/scan/v1/auth/login", None, &login_body(telp, password)).await
    }

    async fn forgot(&self, otp: &str, password: &str) -> Answer {
        self.post(FORGOT, None, &json!({"otp": otp, "telp": format!("62{TELP}"), "password": password})).await
    }

    async fn customers(&self) -> i64 {
        self.db.query_one("SELECT count(*) FROM customer_global", &[]).await.unwrap().get(0)
    }
}

#[actix_web::test]
async fn a_code_registers_and_logs_in() {
    let app = TestApp::spawn().await;
    let code = app.send_code("+6281234567890").await;
    let data = app.post(REGISTER, None, &register_body("081234567890", &code)).await.ok();
    let token = data["token"].as_str().unwrap();
    let session = authenticate(&app.state.auth, token).await.unwrap();
    let account = app.get(&format!("/scan/v1/dashboard/customer_global/{}", session.id), Some(token)).await.ok();
    assert_eq!(
        account,
        json!({"id": session.id, "nama_awal": "Siti", "nama_akhir": "Nur Rahma", "full_telp": "6281234567890", "telp": TELP,
               "updated_at": app.now().rfc3339()})
    );
    let again = app.login("6281234567890", PASSWORD).await.ok();
    assert!(authenticate(&app.state.auth, again["token"].as_str().unwrap()).await.is_ok());
}

#[actix_web::test]
async fn a_registered_number_gets_no_code_for_registering_not_even_within_the_cooldown() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    app.post(REGISTER, None, &register_body(TELP, &code)).await.ok();
    app.post(REQUEST, None, &otp_body(TELP)).await.expect(409, "nomor sudah terdaftar");
}

#[actix_web::test]
async fn registering_refuses_wrong_and_used_codes_and_numbers_without_one() {
    let app = TestApp::spawn().await;
    app.post(REGISTER, None, &register_body(TELP, "123456")).await.expect(404, "record not found");
    let code = app.send_code(TELP).await;
    app.post(REGISTER, None, &register_body("81234567891", &code)).await.expect(404, "record not found");
    for wrong in [other_code(&code), String::new(), format!("{code}0"), format!("{code}x")] {
        app.post(REGISTER, None, &register_body(TELP, &wrong)).await.expect(422, "your otp is invalid");
    }
    assert_eq!(app.customers().await, 0);
}

#[actix_web::test]
async fn a_used_code_is_used() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    app.post(REGISTER, None, &register_body(TELP, &code)).await.ok();
    app.post(REGISTER, None, &register_body(TELP, &code)).await.expect(422, "your otp is invalid");
    assert_eq!(app.customers().await, 1);
}

#[actix_web::test]
async fn a_number_registered_after_its_code_was_sent_is_taken_and_the_code_stays() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    app.register_customer(TELP, "Lebih", "Dulu").await;
    app.post(REGISTER, None, &register_body(TELP, &other_code(&code))).await.expect(422, "your otp is invalid");
    for _ in 0..4 {
        app.post(REGISTER, None, &register_body(TELP, &code)).await.expect(409, "nomor sudah terdaftar");
    }
    app.post(REGISTER, None, &register_body(TELP, &code)).await.expect(422, "your otp is invalid");
}

#[actix_web::test]
async fn bad_names_and_passwords_are_refused_before_the_code_is_checked() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let with = |key: &str, value: &str| {
        let mut body = register_body(TELP, &code);
        body[key] = value.into();
        body
    };
    for _ in 0..3 {
        app.post(REGISTER, None, &with("password", "1234567")).await.expect(422, "kata sandi minimal 8 karakter");
        app.post(REGISTER, None, &with("password", &"a".repeat(129))).await.expect(422, "kata sandi minimal 8 karakter");
        app.post(REGISTER, None, &with("nama", " Siti ")).await.expect(422, "Nama Akun Minimal 2 Kata");
        for hidden in [
            "Siti \u{3164}",
            "Siti \u{2800}",
            "Siti \u{115f}",
            "Siti \u{2065}",
            "Siti \u{1d159}",
            "\u{301} Siti",
            "Siti \u{e0041}",
            "Siti \u{e000}",
            "Siti a\u{200d}",
        ] {
            let refused = app.post(REGISTER, None, &with("nama", hidden)).await;
            assert_eq!(refused.status, 400, "{hidden:?}: {refused:?}");
        }
    }
    app.post(REGISTER, None, &register_body(TELP, &code)).await.ok();
}

#[actix_web::test]
async fn of_many_registrations_with_one_code_one_wins() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let body = register_body(TELP, &code);
    let answers = futures_util::future::join_all((0..8).map(|_| app.post(REGISTER, None, &body))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 1);
    for other in answers.iter().filter(|a| a.status != 200) {
        other.expect(422, "your otp is invalid");
    }
    assert_eq!(app.customers().await, 1);
}

#[actix_web::test]
async fn a_forgotten_password_is_reset_and_ends_every_token() {
    let app = TestApp::spawn().await;
    app.post(REQUEST_FORGOT, None, &otp_body(TELP)).await.expect(404, "nomor belum terdaftar");
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.forgot("123456", "SandiBaru1").await.expect(404, "record not found");
    let code = app.send_forgot_code().await;
    app.advance_s(10);
    app.forgot(&other_code(&code), "SandiBaru1").await.expect(422, "your otp is invalid");
    app.forgot(&code, "pendek").await.expect(422, "kata sandi minimal 8 karakter");
    let mut ended = app.state.auth.versions.subscribe();
    app.forgot(&code, "SandiBaru1").await.expect(200, "Sandi diperbaruhi");
    assert_eq!(ended.recv().await.unwrap().id, siti.id);
    app.forgot(&code, "SandiBaru2").await.expect(422, "your otp is invalid");

    let account = format!("/scan/v1/dashboard/customer_global/{}", siti.id);
    app.get(&account, Some(&siti.token)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    app.login(TELP, PASSWORD).await.expect(401, "password is incorrect");
    let token = app.login(TELP, "SandiBaru1").await.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(app.get(&account, Some(&token)).await.ok()["updated_at"], app.now().rfc3339());
}

#[actix_web::test]
async fn a_code_is_good_for_its_purpose_and_number_only() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.forgot(&code, "SandiBaru1").await.expect(404, "record not found");
    let forgot = app.send_forgot_code().await;
    if forgot != code {
        app.forgot(&code, "SandiBaru1").await.expect(422, "your otp is invalid");
        app.post(REGISTER, None, &register_body(TELP, &forgot)).await.expect(422, "your otp is invalid");
    }
    app.forgot(&forgot, "SandiBaru1").await.ok();
}
