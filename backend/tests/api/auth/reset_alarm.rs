//! Guessed codes (docs/contract.md §1, docs/limits.md): the limits on strangers' attempts, and their effect on the customer.

use nyala_core::domain::address::Block;
use nyala_identity::auth::lane::Lane;
use nyala_identity::auth::password;
use serde_json::json;

use crate::auth::register::{TELP, other_code, otp_body, register_body};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};

const REQUEST: &str = "/scan/v1/auth/request_otp_forgot_password";
const FORGOT: &str = "/scan/v1/auth/forgot_password";
const HOUR_S: i64 = 3_600;

fn behind_proxy() -> Setup {
    Setup::new().with(|c| c.http.trusted_proxies = vec![Block::parse("127.0.0.1").unwrap()])
}

/// More than three wrong codes an hour raise an alarm, during which two codes an hour are sent.
fn soon_alarmed() -> Setup {
    behind_proxy().with(|c| {
        c.auth.reset_alarm_wrong_per_hour = 3;
        c.auth.reset_alarm_codes_per_hour = 2;
    })
}

/// A phone at an address, known by its cookie or a stranger without one.
#[derive(Debug, Clone, Default)]
struct CookiePhone {
    address: &'static str,
    cookie: String,
}

impl CookiePhone {
    fn at(address: &'static str) -> Self {
        Self { address, cookie: String::new() }
    }
}

impl TestApp {
    async fn post_from(&self, from: &CookiePhone, path: &str, body: &serde_json::Value) -> Answer {
        let headers = [("x-forwarded-for", from.address), ("cookie", from.cookie.as_str())];
        let headers: Vec<_> = headers.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        self.call("POST", path, None, &headers, Some(body.to_string().into_bytes())).await
    }

    async fn ask_from(&self, from: &CookiePhone, telp: &str) -> Answer {
        self.post_from(from, REQUEST, &otp_body(telp)).await
    }

    /// Requests a code for a forgotten password and returns it.
    async fn reset_code(&self, from: &CookiePhone, telp: &str) -> String {
        self.ask_from(from, telp).await.ok();
        self.last_code(telp).await
    }

    async fn reset(&self, from: &CookiePhone, telp: &str, otp: &str) -> Answer {
        self.post_from(from, FORGOT, &json!({"otp": otp, "telp": telp, "password": "SandiBaru1"})).await
    }

    /// Four wrong codes, each from another address.
    async fn raise_alarm(&self) {
        let siti = self.register_customer("81200009999", "Siti", "Rahma").await;
        let code = self.reset_code(&CookiePhone::at("203.0.113.99"), &siti.telp).await;
        for address in ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] {
            assert_eq!(self.metric("nyala_reset_alarm").await, 0.0);
            self.reset(&CookiePhone::at(address), &siti.telp, &other_code(&code)).await.expect(422, "your otp is invalid");
        }
        assert_eq!(self.metric("nyala_reset_alarm").await, 1.0);
        self.advance_s(1);
    }

    async fn tries(&self) -> i64 {
        self.insert("SELECT tries::BIGINT FROM kode_otp ORDER BY id DESC LIMIT 1", &[]).await
    }
}

#[actix_web::test]
async fn while_codes_are_guessed_a_strangers_code_is_good_for_one_try() {
    let app = soon_alarmed().start().await;
    let stranger = CookiePhone::at("198.51.100.7");
    for n in 1..=3 {
        app.register_customer(&format!("8120000000{n}"), "Siti", "Rahma").await;
    }
    let before = app.reset_code(&stranger, "81200000001").await;
    app.raise_alarm().await;
    // A code from before the alarm is refused: ten thousand codes requested before the first guess must not give ten thousand attempts.
    app.reset(&stranger, "81200000001", &before).await.expect(422, "your otp is invalid");
    let code = app.reset_code(&stranger, "81200000002").await;
    app.reset(&stranger, "81200000002", &other_code(&code)).await.expect(422, "your otp is invalid");
    app.reset(&stranger, "81200000002", &code).await.expect(422, "your otp is invalid");
    let code = app.reset_code(&stranger, "81200000003").await;
    app.reset(&stranger, "81200000003", &code).await.expect(200, "Sandi diperbaruhi");
    assert_eq!(app.metric("nyala_reset_codes_wrong_total").await, 5.0);
}

#[actix_web::test]
async fn while_codes_are_guessed_few_are_sent_to_strangers_and_a_known_phone_gets_its_own() {
    let app = soon_alarmed().start().await;
    for n in 1..=4 {
        app.register_customer(&format!("8120000000{n}"), "Siti", "Rahma").await;
    }
    let login = crate::auth::register::login_body("81200000004", PASSWORD);
    let known = CookiePhone { address: "", cookie: app.post("/scan/v1/auth/login", None, &login).await.cookie() };
    app.raise_alarm().await;
    app.reset_code(&CookiePhone::at("198.51.100.1"), "81200000001").await;
    app.advance_s(60);
    app.reset_code(&CookiePhone::at("198.51.100.2"), "81200000002").await;
    assert_eq!(app.ask_from(&CookiePhone::at("198.51.100.3"), "81200000003").await.retry_after_s(), HOUR_S - 60);
    assert_eq!(app.ask_from(&CookiePhone::at("198.51.100.3"), "81200000004").await.retry_after_s(), HOUR_S - 60);
    // The customer's known phone still has five attempts.
    let code = app.reset_code(&known, "81200000004").await;
    for _ in 0..4 {
        app.reset(&known, "81200000004", &other_code(&code)).await.expect(422, "your otp is invalid");
    }
    app.reset(&known, "81200000004", &code).await.expect(200, "Sandi diperbaruhi");
    // Registration is unaffected.
    let code = app.send_code(TELP).await;
    app.post("/scan/v1/auth/register", None, &register_body(TELP, &other_code(&code))).await.expect(422, "your otp is invalid");
    app.post("/scan/v1/auth/register", None, &register_body(TELP, &code)).await.ok();
    app.advance_s(HOUR_S);
    app.reset_code(&CookiePhone::at("198.51.100.3"), "81200000003").await;
}

#[actix_web::test]
async fn the_alarm_ends_a_day_after_the_guessing() {
    let app = soon_alarmed().start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.raise_alarm().await;
    let stranger = CookiePhone::at("198.51.100.7");
    app.advance_s(24 * HOUR_S - 2);
    let code = app.reset_code(&stranger, TELP).await;
    app.reset(&stranger, TELP, &other_code(&code)).await.expect(422, "your otp is invalid");
    assert_eq!(app.metric("nyala_reset_alarm").await, 1.0);
    app.advance_s(1);
    assert_eq!(app.metric("nyala_reset_alarm").await, 0.0);
    app.reset(&stranger, TELP, &code).await.expect(200, "Sandi diperbaruhi");
}

#[actix_web::test]
async fn many_guesses_at_once_do_not_outrun_the_alarm() {
    let app = soon_alarmed().with(|c| c.auth.reset_alarm_wrong_per_hour = 10).start().await;
    let mut guesses = Vec::new();
    for n in 10..40 {
        let telp = format!("812000000{n}");
        app.register_customer(&telp, "Siti", "Rahma").await;
        let code = app.reset_code(&CookiePhone::at("198.51.100.7"), &telp).await;
        guesses.extend([(telp.clone(), other_code(&code)), (telp, other_code(&code))]);
    }
    let answers = futures_util::future::join_all(guesses.iter().map(async |(telp, code)| {
        let body = json!({"otp": code, "telp": telp, "password": "SandiBaru1"});
        app.post(FORGOT, None, &body).await
    }));
    answers.await.iter().for_each(|a| assert!([422, 429].contains(&a.status), "{}", a.message));
    // Codes from before the alarm are refused: only the guesses until the alarm were counted.
    assert_eq!(app.insert("SELECT sum(tries)::BIGINT FROM kode_otp", &[]).await, 11);
}

#[actix_web::test]
async fn an_address_and_a_48_have_their_failed_tries() {
    let app =
        behind_proxy().with(|c| (c.auth.wrong_codes_per_address_hour, c.auth.wrong_codes_per_site_hour) = (2, 3)).start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let login = crate::auth::register::login_body(TELP, PASSWORD);
    let cookie = app.post("/scan/v1/auth/login", None, &login).await.cookie();
    let code = app.reset_code(&CookiePhone::at("203.0.113.9"), TELP).await;
    let first = CookiePhone::at("2001:db8:1:1::1");
    app.reset(&first, TELP, &other_code(&code)).await.expect(422, "your otp is invalid");
    // An attempt at a number without a code counts, too.
    app.reset(&CookiePhone::at("2001:db8:1:1::2"), "81200000009", &code).await.expect(404, "record not found");
    app.advance_s(10);
    assert_eq!(app.reset(&first, TELP, &code).await.retry_after_s(), HOUR_S - 10);
    let second = CookiePhone::at("2001:db8:1:2::1");
    app.reset(&second, TELP, &other_code(&code)).await.expect(422, "your otp is invalid");
    let third = CookiePhone::at("2001:db8:1:3::1");
    assert_eq!(app.reset(&third, TELP, &code).await.retry_after_s(), HOUR_S - 10);
    assert_eq!(app.post_from(&third, "/scan/v1/auth/register", &register_body(TELP, "1")).await.retry_after_s(), HOUR_S - 10);
    // The customer's known phone is not limited by its address.
    let own = CookiePhone { cookie, ..first };
    app.reset(&own, TELP, &other_code(&code)).await.expect(422, "your otp is invalid");
    app.reset(&own, TELP, &code).await.expect(200, "Sandi diperbaruhi");
}

#[actix_web::test]
async fn a_full_queue_costs_no_attempt() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let from = CookiePhone::default();
    let code = app.reset_code(&from, TELP).await;
    let lane = Lane::Address("127.0.0.1".parse::<std::net::IpAddr>().unwrap().into());
    let places: Vec<_> = (0..32).map(|_| password::reserve(&app.state.auth, lane).unwrap()).collect();
    assert_eq!(app.reset(&from, TELP, &code).await.retry_after_s(), 2);
    assert_eq!(app.tries().await, 0);
    drop(places);
    app.reset(&from, TELP, &code).await.expect(200, "Sandi diperbaruhi");
}

#[actix_web::test]
async fn strangers_use_up_the_codes_of_a_number_and_not_those_of_its_known_phone() {
    let app = behind_proxy().with(|c| c.auth.otp_per_ip_hour = 6).start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.register_customer("81200000001", "Budi", "Santoso").await;
    let login = crate::auth::register::login_body(TELP, PASSWORD);
    let cookie = app.post("/scan/v1/auth/login", None, &login).await.cookie();
    let stranger = CookiePhone::at("198.51.100.7");
    app.ask_from(&stranger, "81200000001").await.ok();
    for _ in 0..5 {
        app.advance_s(60);
        app.ask_from(&stranger, TELP).await.ok();
    }
    assert_eq!(app.ask_from(&CookiePhone::at("203.0.113.9"), TELP).await.retry_after_s(), 24 * HOUR_S - 240);
    assert_eq!(app.ask_from(&stranger, "81200000001").await.retry_after_s(), HOUR_S - 300);
    // A known phone has its own one-minute cooldown and its own five codes a day, apart from what strangers requested.
    let known = CookiePhone { cookie, ..stranger };
    for wait_s in [60, 60, 60, 60, 24 * HOUR_S - 240] {
        app.ask_from(&known, TELP).await.ok();
        assert_eq!(app.ask_from(&known, TELP).await.retry_after_s(), wait_s);
        app.advance_s(60);
    }
    assert_eq!(app.ask_from(&known, TELP).await.retry_after_s(), 24 * HOUR_S - 300);
    assert_eq!(app.ask_from(&known, "81200000001").await.status, 429, "it is known as nobody else");
}
