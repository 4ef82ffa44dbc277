//! The account screen: the customer's own name and password, and no other customer's data.

use nyala_identity::auth::session::authenticate;
use serde_json::{Value, json};

use crate::auth::register::{TELP, other_code};
use crate::support::helpers::{Answer, Customer, PASSWORD, TestApp};

const REQUEST: &str = "/scan/v1/akun/request_otp_password";

impl TestApp {
    pub async fn code_for(&self, who: &Customer) -> String {
        self.post(REQUEST, Some(&who.token), &Value::Null).await.expect(200, "kode dikirim lewat WhatsApp");
        self.last_code(&who.telp).await
    }

    pub async fn update_password(&self, who: &Customer, otp: &str, lama: &str, new_one: &str) -> Answer {
        let body = json!({"otp": otp, "password_lama": lama, "password_baru": new_one});
        self.post("/scan/v1/akun/update_password", Some(&who.token), &body).await
    }

    async fn account(&self, who: &Customer) -> Value {
        self.get(&format!("/scan/v1/dashboard/customer_global/{}", who.id), Some(&who.token)).await.ok()
    }
}

#[actix_web::test]
async fn a_name_is_changed_and_nothing_else() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let before = app.account(&siti).await;
    app.advance_s(3600);
    app.post("/scan/v1/akun/update_nama", Some(&siti.token), &json!({"nama": "  Siti\t Nur   Rahmawati "}))
        .await
        .expect(200, "Nama Berhasil Di Ubah");
    let after = app.account(&siti).await;
    assert_eq!((&after["nama_awal"], &after["nama_akhir"]), (&json!("Siti"), &json!("Nur Rahmawati")));
    assert_eq!(after["updated_at"], before["updated_at"], "updated_at moves only with the password");
    for bad in ["", "Siti", "  Siti  "] {
        app.post("/scan/v1/akun/update_nama", Some(&siti.token), &json!({"nama": bad}))
            .await
            .expect(422, "Nama Akun Minimal 2 Kata");
    }
    for hidden in ["Siti \u{ffa0}", "\u{3164} \u{3164}", "Siti \u{f0000}", "Siti \u{fe0f}", "Siti R\u{2060}ahma"] {
        let refused = app.post("/scan/v1/akun/update_nama", Some(&siti.token), &json!({"nama": hidden})).await;
        assert_eq!(refused.status, 400, "{hidden:?}: {refused:?}");
    }
    for (name, last) in [
        ("Siti \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"),
        ("Siti \u{645}\u{6cc}\u{200c}\u{62e}\u{648}", "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}"),
        ("Siti \u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
    ] {
        app.post("/scan/v1/akun/update_nama", Some(&siti.token), &json!({"nama": name})).await.ok();
        assert_eq!(app.account(&siti).await["nama_akhir"], last);
    }
}

#[actix_web::test]
async fn accounts_of_others_and_unknown_accounts_are_the_same_404() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    for id in [
        budi.id.to_string(),
        "4711".to_owned(),
        "0".to_owned(),
        "-1".to_owned(),
        "x".to_owned(),
        "9".repeat(40),
        "%00".to_owned(),
    ] {
        app.get(&format!("/scan/v1/dashboard/customer_global/{id}"), Some(&siti.token)).await.expect(404, "akun tidak ditemukan");
    }
}

#[actix_web::test]
async fn a_changed_password_ends_older_tokens_and_gives_a_new_one() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let code = app.code_for(&siti).await;
    let mut ended = app.state.auth.versions.subscribe();
    app.advance_s(5);
    let data = app.update_password(&siti, &code, PASSWORD, "SandiBaru1").await.ok();
    assert_eq!(ended.recv().await.unwrap().id, siti.id);
    let newer = Customer { token: data["token"].as_str().unwrap().to_owned(), ..siti.clone() };
    assert_eq!(app.account(&newer).await["updated_at"], app.now().rfc3339());
    app.post("/scan/v1/akun/update_nama", Some(&siti.token), &json!({"nama": "Siti Lama"}))
        .await
        .expect(401, "sesi tidak berlaku, silakan masuk lagi");
    app.login(TELP, PASSWORD).await.expect(401, "password is incorrect");
    app.login(TELP, "SandiBaru1").await.ok();
    app.update_password(&newer, &code, "SandiBaru1", "SandiBaru2").await.expect(422, "your otp is invalid");
}

#[actix_web::test]
async fn a_password_change_without_a_requested_code_is_422() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.update_password(&siti, "123456", PASSWORD, "SandiBaru1").await.expect(422, "your otp is invalid");
}

#[actix_web::test]
async fn the_code_is_checked_first_and_a_wrong_old_password_costs_an_attempt_but_not_the_code() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let code = app.code_for(&siti).await;
    app.update_password(&siti, &other_code(&code), "salah", "SandiBaru1").await.expect(422, "your otp is invalid");
    for _ in 0..3 {
        let refused = app.update_password(&siti, &code, "salah", "SandiBaru1").await;
        refused.expect(422, "hashedPassword is not the hash of the given password");
        app.update_password(&siti, &code, PASSWORD, "1234567").await.expect(422, "kata sandi minimal 8 karakter");
    }
    app.update_password(&siti, &code, PASSWORD, "SandiBaru1").await.ok();
}

#[actix_web::test]
async fn five_wrong_old_passwords_use_up_the_attempts() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let code = app.code_for(&siti).await;
    for _ in 0..5 {
        let refused = app.update_password(&siti, &code, "salah", "SandiBaru1").await;
        refused.expect(422, "hashedPassword is not the hash of the given password");
    }
    app.update_password(&siti, &code, PASSWORD, "SandiBaru1").await.expect(422, "your otp is invalid");
    assert!(authenticate(&app.state.auth, &siti.token).await.is_ok());
}

#[actix_web::test]
async fn of_many_changes_with_one_code_one_wins() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let code = app.code_for(&siti).await;
    let answers = futures_util::future::join_all((0..5).map(|_| app.update_password(&siti, &code, PASSWORD, "SandiBaru1"))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 1);
    let version: i32 = app.db.query_one("SELECT token_version FROM customer_global", &[]).await.unwrap().get(0);
    assert_eq!(version, 2);
}

#[actix_web::test]
async fn without_a_token_there_is_no_account() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let account = format!("/scan/v1/dashboard/customer_global/{}", siti.id);
    for token in [None, Some(""), Some("x.y.z"), Some(&siti.token[1..])] {
        assert_eq!(app.get(&account, token).await.status, 401);
        assert_eq!(app.post("/scan/v1/akun/update_nama", token, &json!({"nama": "Siti Rahma"})).await.status, 401);
        assert_eq!(app.post(REQUEST, token, &Value::Null).await.status, 401);
        let body = json!({"otp": "1", "password_lama": PASSWORD, "password_baru": "SandiBaru1"});
        assert_eq!(app.post("/scan/v1/akun/update_password", token, &body).await.status, 401);
    }
    for header in ["Basic abc", "Bearer", &siti.token] {
        let answer = app.call("GET", &account, None, &[("authorization", header)], None).await;
        assert_eq!(answer.status, 401, "{header}");
    }
    let lower = format!("bearer {}", siti.token);
    assert_eq!(app.call("GET", &account, None, &[("authorization", &lower)], None).await.status, 200);
}
