//! Validity of codes, their attempts, and how many are sent (docs/contract.md §1, below the table).

use serde_json::{Value, json};

use crate::auth::register::{TELP, other_code, otp_body, register_body};
use crate::support::helpers::{AROUND_A_CODE, Answer, Setup, TestApp, other_digits};

const REQUEST: &str = "/scan/v1/auth/request_otp";
const REGISTER: &str = "/scan/v1/auth/register";

impl TestApp {
    async fn request_from(&self, ip: &str, telp: &str) -> Answer {
        let body = otp_body(telp).to_string().into_bytes();
        self.call("POST", REQUEST, None, &[("x-forwarded-for", ip)], Some(body)).await
    }
}

fn behind_proxy() -> Setup {
    Setup::new().with(|c| c.http.trusted_proxies = vec![nyala_core::domain::address::Block::parse("127.0.0.1").unwrap()])
}

#[actix_web::test]
async fn a_code_is_valid_for_five_minutes() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    app.advance_s(300);
    app.post(REGISTER, None, &register_body(TELP, &code)).await.expect(422, "your otp is invalid");
    let code = app.send_code(TELP).await;
    app.advance_s(299);
    app.post(REGISTER, None, &register_body(TELP, &code)).await.ok();
}

#[actix_web::test]
async fn the_fifth_try_may_be_right_and_the_sixth_may_not() {
    let app = TestApp::spawn().await;
    for (telp, wrong, status) in [("81200000001", 4, 200), ("81200000002", 5, 422)] {
        let code = app.send_code(telp).await;
        for _ in 0..wrong {
            app.post(REGISTER, None, &register_body(telp, &other_code(&code))).await.expect(422, "your otp is invalid");
        }
        assert_eq!(app.post(REGISTER, None, &register_body(telp, &code)).await.status, status);
    }
}

#[actix_web::test]
async fn parallel_guesses_get_five_tries_together() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let wrong = register_body(TELP, &other_code(&code));
    futures_util::future::join_all((0..12).map(|_| app.post(REGISTER, None, &wrong))).await;
    let tries: i16 = app.db.query_one("SELECT tries FROM kode_otp", &[]).await.unwrap().get(0);
    assert_eq!(tries, 5);
    app.post(REGISTER, None, &register_body(TELP, &code)).await.expect(422, "your otp is invalid");
}

#[actix_web::test]
async fn a_new_code_takes_the_place_of_the_old_one() {
    let app = TestApp::spawn().await;
    let old = app.send_code(TELP).await;
    app.advance_s(60);
    let new = app.send_code(TELP).await;
    if old != new {
        app.post(REGISTER, None, &register_body(TELP, &old)).await.expect(422, "your otp is invalid");
    }
    app.post(REGISTER, None, &register_body(TELP, &new)).await.ok();
}

#[actix_web::test]
async fn the_next_code_comes_after_sixty_seconds() {
    let app = TestApp::spawn().await;
    app.send_code(TELP).await;
    app.advance_s(13);
    let refused = app.post(REQUEST, None, &otp_body(TELP)).await;
    assert_eq!(refused.retry_after_s(), 47);
    refused.expect(429, "terlalu banyak percobaan, coba lagi dalam 47 detik");
    app.advance_s(47);
    app.send_code(TELP).await;
}

#[actix_web::test]
async fn a_part_of_a_second_is_rounded_up() {
    let app = TestApp::spawn().await;
    app.send_code(TELP).await;
    app.clock.advance_ms(59_001);
    assert_eq!(app.post(REQUEST, None, &otp_body(TELP)).await.retry_after_s(), 1);
}

#[actix_web::test]
async fn cooldowns_are_per_number_and_purpose() {
    let app = TestApp::spawn().await;
    app.send_code("81200000001").await;
    app.send_code("81200000002").await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(&siti.telp)).await.ok();
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(&siti.telp)).await.retry_after_s();
    app.post("/scan/v1/akun/request_otp_password", Some(&siti.token), &Value::Null).await.ok();
    app.post("/scan/v1/akun/request_otp_password", Some(&siti.token), &Value::Null).await.retry_after_s();
}

#[actix_web::test]
async fn a_number_gets_five_codes_a_day_for_one_purpose() {
    let app = TestApp::spawn().await;
    for _ in 0..5 {
        app.send_code(TELP).await;
        app.advance_s(60);
    }
    assert_eq!(app.post(REQUEST, None, &otp_body(TELP)).await.retry_after_s(), 86_400 - 300);
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(TELP)).await.ok();
    app.db.execute("DELETE FROM customer_global", &[]).await.unwrap();
    app.advance_s(86_400 - 300);
    app.send_code(TELP).await;
    app.advance_s(60);
    app.send_code(TELP).await;
}

#[actix_web::test]
async fn an_address_gets_its_hourly_codes_and_no_more() {
    let app = behind_proxy().with(|c| c.auth.otp_per_ip_hour = 3).start().await;
    for n in 0..3 {
        assert_eq!(app.request_from("198.51.100.7", &format!("8120000000{n}")).await.status, 200);
        app.advance_s(10);
    }
    let refused = app.request_from("198.51.100.7", "81200000003").await;
    assert_eq!(refused.retry_after_s(), 3600 - 30);
    assert_eq!(app.request_from("198.51.100.8", "81200000003").await.status, 200);
    // One /64 is one address.
    for n in 4..7 {
        assert_eq!(app.request_from(&format!("2001:db8::{n}"), &format!("8120000000{n}")).await.status, 200);
    }
    app.request_from("2001:db8::ffff", "81200000007").await.retry_after_s();
    app.advance_s(3600 - 30);
    assert_eq!(app.request_from("198.51.100.7", "81200000009").await.status, 200);
}

#[actix_web::test]
async fn an_address_that_a_proxy_names_with_its_port_is_the_same_address() {
    let app = behind_proxy().with(|c| c.auth.otp_per_ip_hour = 1).start().await;
    for (n, (first, again)) in
        [("198.51.100.7:5678", "198.51.100.7:9"), ("[2001:db8::1]:443", "2001:db8::2")].into_iter().enumerate()
    {
        assert_eq!(app.request_from(first, &format!("8120000000{n}")).await.status, 200);
        app.request_from(again, &format!("8120000001{n}")).await.retry_after_s();
    }
}

#[actix_web::test]
async fn all_addresses_together_have_an_hourly_limit() {
    let app = behind_proxy().with(|c| c.auth.otp_per_hour = 4).start().await;
    for n in 0..4 {
        assert_eq!(app.request_from(&format!("198.51.100.{n}"), &format!("8120000000{n}")).await.status, 200);
    }
    assert_eq!(app.request_from("198.51.100.9", "81200000009").await.retry_after_s(), 3600);
    app.advance_s(3600);
    assert_eq!(app.request_from("198.51.100.9", "81200000009").await.status, 200);
}

#[actix_web::test]
async fn refusals_count_against_no_limit() {
    let app = Setup::new().with(|c| c.auth.otp_per_ip_hour = 2).start().await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    for _ in 0..5 {
        app.post(REQUEST, None, &otp_body(&siti.telp)).await.expect(409, "nomor sudah terdaftar");
        app.post("/scan/v1/auth/request_otp_forgot_password", None, &otp_body(TELP)).await.expect(404, "nomor belum terdaftar");
    }
    app.send_code(TELP).await;
    for _ in 0..5 {
        app.post(REQUEST, None, &otp_body(TELP)).await.retry_after_s();
    }
    app.send_code("81200000002").await;
    assert_eq!(app.post(REQUEST, None, &otp_body("81200000003")).await.retry_after_s(), 3600);
}

#[actix_web::test]
async fn of_many_requests_at_once_one_is_sent() {
    let app = TestApp::spawn().await;
    let body = otp_body(TELP);
    let answers = futures_util::future::join_all((0..10).map(|_| app.post(REQUEST, None, &body))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 1);
    for other in answers.iter().filter(|a| a.status != 200) {
        assert_eq!(other.retry_after_s(), 60);
    }
    let sent = app.get(&format!("/dev/whatsapp?telp={TELP}"), None).await.ok();
    assert_eq!(sent.as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn the_database_does_not_know_the_code() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let row: String = app.db.query_one("SELECT to_jsonb(k)::TEXT FROM kode_otp k", &[]).await.unwrap().get(0);
    let row: Value = serde_json::from_str(&row).unwrap();
    let texts: Vec<&str> = row.as_object().unwrap().values().filter_map(Value::as_str).collect();
    assert!(!texts.iter().any(|t| *t == code), "{row}");
    assert_eq!(row["telp"], json!(TELP));
}

#[actix_web::test]
async fn a_sent_code_is_accepted_with_surrounding_characters_and_in_any_digits() {
    let app = TestApp::spawn().await;
    let mut number = 81_234_567_000_u64;
    let code_forms = |code: &str| {
        let around = AROUND_A_CODE.map(|(before, after)| format!("{before}{code}{after}"));
        around.into_iter().chain(other_digits(code)).chain([format!("{} {}", &code[..3], &code[3..])]).collect::<Vec<_>>()
    };
    for form in 0..code_forms("123456").len() {
        number += 1;
        let telp = number.to_string();
        let code = app.send_code(&telp).await;
        app.post(REGISTER, None, &register_body(&telp, &code_forms(&code)[form])).await.ok();
    }
    let code = app.send_code("81234567890").await;
    for wrong in [format!("{code}0"), code[1..].to_owned(), String::new()] {
        app.post(REGISTER, None, &register_body("81234567890", &wrong)).await.expect(422, "your otp is invalid");
    }
}
