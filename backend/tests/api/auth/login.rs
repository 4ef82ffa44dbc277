//! Passwords: wrong ones, too many wrong ones, too many at once (docs/contract.md §1;
//! docs/decisions/0018-a-guess-is-refused-before-it-is-hashed.md).

use std::net::IpAddr;

use futures_util::future::join_all;
use nyala_core::domain::address::{Address, Block};
use nyala_core::domain::id::CustomerId;
use nyala_identity::auth::argon;
use nyala_identity::auth::lane::Lane;
use nyala_identity::auth::password::{self, QueuePlace};

use crate::auth::register::{TELP, login_body};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};

fn behind_proxy() -> Setup {
    Setup::new().with(|c| c.http.trusted_proxies = vec![Block::parse("127.0.0.1").unwrap()])
}

impl TestApp {
    /// A login from an address, with a cookie; empty headers are not sent.
    pub async fn login_from(&self, address: &str, cookie: &str, telp: &str, password: &str) -> Answer {
        let headers: Vec<_> =
            [("x-forwarded-for", address), ("cookie", cookie)].into_iter().filter(|h| !h.1.is_empty()).collect();
        let body = login_body(telp, password).to_string().into_bytes();
        self.call("POST", "/scan/v1/auth/login", None, &headers, Some(body)).await
    }
}

#[actix_web::test]
async fn a_wrong_password_and_an_unknown_number_have_different_answers() {
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
    app.post("/scan/v1/auth/request_otp_forgot_password", None, &crate::auth::register::otp_body(TELP)).await.ok();
    let code = app.last_code(TELP).await;
    let body = serde_json::json!({"otp": code, "telp": TELP, "password": "SandiBaru1"});
    app.post("/scan/v1/auth/forgot_password", None, &body).await.ok();
    app.login(TELP, "SandiBaru1").await.ok();
}

#[actix_web::test]
async fn a_stranger_who_guesses_locks_out_neither_the_owner_nor_other_addresses() {
    let app = behind_proxy().start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let owner = app.login_from("203.0.113.5", "", TELP, PASSWORD).await.cookie();
    // Ten guesses from each of five addresses use up the number's limit.
    for address in 1..=5 {
        for _ in 0..10 {
            let guess = app.login_from(&format!("198.51.100.{address}"), "", TELP, "salah").await;
            guess.expect(401, "password is incorrect");
        }
        assert_eq!(app.login_from(&format!("198.51.100.{address}"), "", TELP, PASSWORD).await.retry_after_s(), 900);
    }
    assert_eq!(app.login_from("198.51.100.6", "", TELP, PASSWORD).await.retry_after_s(), 900);
    // The known phone may log in from any address, even a guesser's.
    for address in ["203.0.113.5", "192.0.2.77", "198.51.100.1"] {
        assert_eq!(app.login_from(address, &owner, TELP, PASSWORD).await.status, 200);
    }
    app.advance_s(900);
    assert_eq!(app.login_from("198.51.100.6", "", TELP, PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn a_known_phone_has_its_own_ten_wrong_passwords() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let phone = app.login(TELP, PASSWORD).await.cookie();
    for _ in 0..10 {
        app.login_from("", &phone, TELP, "salah").await.expect(401, "password is incorrect");
    }
    assert_eq!(app.login_from("", &phone, TELP, PASSWORD).await.retry_after_s(), 900);
    app.login(TELP, PASSWORD).await.ok();
}

#[actix_web::test]
async fn a_cookie_of_another_customer_or_of_an_older_password_counts_as_none() {
    let app = Setup::new().with(|c| c.auth.wrong_logins_per_phone = 1).start().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.register_customer("81234567891", "Budi", "Santoso").await;
    let (own, others) = (app.login(TELP, PASSWORD).await.cookie(), app.login("81234567891", PASSWORD).await.cookie());
    app.login(TELP, "salah").await.expect(401, "password is incorrect");
    app.login_from("", &others, TELP, PASSWORD).await.retry_after_s();
    app.login_from("", &format!("{own}x"), TELP, PASSWORD).await.retry_after_s();
    app.db.execute("UPDATE customer_global SET token_version = 2 WHERE id = $1", &[&siti.id]).await.unwrap();
    app.login_from("", &own, TELP, PASSWORD).await.retry_after_s();
}

#[actix_web::test]
async fn an_address_has_twenty_wrong_logins_and_one_more_every_three_seconds() {
    let app = behind_proxy().start().await;
    for n in 0..10 {
        app.register_customer(&format!("8120000000{n}"), "Siti", "Rahma").await;
        let answer = app.login_from("2001:db8::1", "", &format!("8120000000{n}"), "salah").await;
        answer.expect(401, "password is incorrect");
    }
    // Unknown numbers cost as much, and right passwords cost nothing.
    for n in 0..10 {
        let answer = app.login_from(&format!("2001:db8::{n}"), "", &format!("8130000000{n}"), PASSWORD).await;
        answer.expect(404, "record not found");
        if n < 9 {
            assert_eq!(app.login_from("2001:db8::1", "", "81200000001", PASSWORD).await.status, 200);
        }
    }
    for (telp, password) in [("81200000001", PASSWORD), ("81200000001", "salah"), ("81300000001", PASSWORD)] {
        assert_eq!(app.login_from("2001:db8::5", "", telp, password).await.retry_after_s(), 3);
    }
    assert_eq!(app.login_from("2001:db8:0:1::1", "", "81200000001", PASSWORD).await.status, 200);
    app.advance_s(3);
    app.login_from("2001:db8::1", "", "81200000001", "salah").await.expect(401, "password is incorrect");
    app.login_from("2001:db8::1", "", "81200000001", "salah").await.retry_after_s();
}

#[actix_web::test]
async fn a_refused_login_is_not_hashed() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    for _ in 0..10 {
        app.login(TELP, "salah").await.expect(401, "password is incorrect");
    }
    // Neither the stored hash nor the password is looked at any more.
    app.db.execute("UPDATE customer_global SET password_hash = 'no hash'", &[]).await.unwrap();
    app.login(TELP, PASSWORD).await.retry_after_s();
    app.advance_s(900);
    assert_eq!(app.login(TELP, PASSWORD).await.status, 500);
}

#[actix_web::test]
async fn an_unknown_number_costs_no_hash() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let lane = Lane::Address(address("127.0.0.1"));
    let places: Vec<_> = (0..32).map(|_| password::reserve(&app.state.auth, lane).unwrap()).collect();
    app.login("81234567899", PASSWORD).await.expect(404, "record not found");
    assert_eq!(app.login(TELP, PASSWORD).await.retry_after_s(), 2);
    drop(places);
    app.login(TELP, PASSWORD).await.ok();
}

#[actix_web::test]
async fn one_address_fills_its_own_queue_and_no_other() {
    let app = behind_proxy().with(|c| c.auth.wrong_logins_per_address = 1_000).start().await;
    let (n, hash) = (100, argon::hash_here(PASSWORD).unwrap());
    for n in 0..n {
        app.register_customer(&format!("81200000{n:03}"), "Siti", "Rahma").await;
    }
    app.db.execute("UPDATE customer_global SET password_hash = $1", &[&hash]).await.unwrap();
    let crowd = join_all((0..n).map(async |n| app.login_from("198.51.100.7", "", &format!("81200000{n:03}"), PASSWORD).await));
    let others = async {
        // Comes after the crowd, whose queue is full by now.
        app.until_metric_is("nyala_password_queue_length", |waiting| waiting >= 20.0).await;
        app.login_from("203.0.113.5", "", "81200000001", PASSWORD).await
    };
    let (crowd, other) = futures_util::future::join(crowd, others).await;
    assert_eq!(other.status, 200, "{}", other.message);
    let (served, refused): (Vec<_>, Vec<_>) = crowd.iter().partition(|a| a.status == 200);
    assert!(served.len() >= 32 && !refused.is_empty(), "{} served", served.len());
    for answer in refused {
        assert_eq!(answer.retry_after_s(), 2);
    }
}

fn address(text: &str) -> Address {
    text.parse::<IpAddr>().unwrap().into()
}

impl TestApp {
    /// Reserves a place in each of these queues, and returns those that were granted.
    fn take_places(&self, lanes: impl Iterator<Item = Lane>) -> Vec<QueuePlace> {
        lanes.filter_map(|lane| password::reserve(&self.state.auth, lane).ok()).collect()
    }
}

#[actix_web::test]
async fn one_address_or_48_with_any_number_of_accounts_locks_out_no_other_address() {
    let app = behind_proxy().start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let known = app.login(TELP, PASSWORD).await.cookie();
    let Address::V6(whole) = address("2001:db8:1::") else { unreachable!("it is IPv6") };
    let subnets = || (0..1_000).map(|n| Address::V6(whole | n));
    let customers = || (1_000..2_000).map(|id| Lane::Customer(CustomerId::new(id), address("198.51.100.7")));
    let everything = [
        app.take_places(subnets().map(Lane::Address)),
        app.take_places(subnets().zip(1_000..).map(|(subnet, id)| Lane::Customer(CustomerId::new(id), subnet))),
        app.take_places(customers()),
    ];
    for held in &everything {
        assert_eq!(held.len(), 32);
    }
    assert_eq!(app.login_from("2001:db8:1:ffff::1", "", TELP, PASSWORD).await.retry_after_s(), 2);
    for (from, cookie) in [("203.0.113.5", ""), ("2001:db8:2::1", ""), ("203.0.113.5", &known), ("2001:db8:2::1", &known)] {
        assert_eq!(app.login_from(from, cookie, TELP, PASSWORD).await.status, 200, "{from} {cookie}");
    }
    // Strangers at the customers' own address may log in, too.
    assert_eq!(app.login_from("198.51.100.7", "", TELP, PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn strangers_everywhere_leave_known_phones_their_places_and_refusals_are_counted() {
    let app = behind_proxy().start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let known = app.login(TELP, PASSWORD).await.cookie();
    let held = app.take_places((0..200).map(|n| Lane::Address(Address::V4(n))));
    assert_eq!(held.len(), 96);
    let refused = app.metric("nyala_logins_refused_total").await;
    assert_eq!(app.login_from("203.0.113.5", "", TELP, PASSWORD).await.retry_after_s(), 2);
    assert_eq!(app.metric("nyala_logins_refused_total").await, refused + 1.0);
    assert_eq!(app.login_from("203.0.113.5", &known, TELP, PASSWORD).await.status, 200);
    drop(held);
    assert_eq!(app.login_from("203.0.113.5", "", TELP, PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn only_a_phone_that_is_known_now_waits_in_its_customers_queue() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.register_customer("81234567891", "Budi", "Santoso").await;
    let known = app.login(TELP, PASSWORD).await.cookie();
    let _full = app.take_places((0..32).map(|_| Lane::Customer(siti.id, address("127.0.0.1"))));
    assert_eq!(app.login_from("", &known, TELP, PASSWORD).await.retry_after_s(), 2);
    // A cookie of another account, or of an older password, counts as none.
    assert_eq!(app.login_from("", &known, "81234567891", PASSWORD).await.status, 200);
    app.db.execute("UPDATE customer_global SET token_version = 2 WHERE id = $1", &[&siti.id]).await.unwrap();
    assert_eq!(app.login_from("", &known, TELP, PASSWORD).await.status, 200);
}

/// `é` as one character and as two.
const COMPOSED: &str = "k\u{e9}pompong";
const DECOMPOSED: &str = "ke\u{301}pompong";

async fn stored(app: &TestApp) -> (String, i32, nyala_core::domain::timestamp::Timestamp) {
    let row = app.db.query_one("SELECT password_hash, token_version, updated_at FROM customer_global", &[]).await.unwrap();
    (row.get(0), row.get(1), row.get(2))
}

#[actix_web::test]
async fn a_password_is_the_same_in_both_forms_of_its_letters_at_all_four_places() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let mut body = crate::auth::register::register_body(TELP, &code);
    // Sent as eight characters, counted as four.
    body["password"] = "e\u{301}e\u{301}e\u{301}e\u{301}".into();
    app.post("/scan/v1/auth/register", None, &body).await.expect(422, "kata sandi minimal 8 karakter");
    body["password"] = "e\u{301}".repeat(128).into();
    app.post("/scan/v1/auth/register", None, &body).await.ok();
    app.login(TELP, &"\u{e9}".repeat(128)).await.ok();
    app.login(TELP, &"e\u{301}".repeat(128)).await.ok();

    app.post("/scan/v1/auth/request_otp_forgot_password", None, &crate::auth::register::otp_body(TELP)).await.ok();
    let code = app.last_code(TELP).await;
    let reset = serde_json::json!({"otp": code, "telp": TELP, "password": DECOMPOSED});
    app.post("/scan/v1/auth/forgot_password", None, &reset).await.ok();
    let token = app.login(TELP, COMPOSED).await.ok()["token"].as_str().unwrap().to_owned();
    let row = app.db.query_one("SELECT id FROM customer_global", &[]).await.unwrap();
    let siti = crate::support::helpers::Customer { id: row.get(0), telp: TELP.to_owned(), token };
    let code = app.code_for(&siti).await;
    app.update_password(&siti, &code, DECOMPOSED, &format!("{DECOMPOSED}2")).await.ok();
    app.login(TELP, &format!("{COMPOSED}2")).await.ok();
}

#[actix_web::test]
async fn an_older_hash_of_the_raw_form_is_replaced_and_ends_nothing() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let older = argon::hash_here(DECOMPOSED).unwrap();
    app.db.execute("UPDATE customer_global SET password_hash = $1", &[&older]).await.unwrap();
    let before = stored(&app).await;
    app.advance_s(60);
    app.login(TELP, "ke\u{301}pompon").await.expect(401, "password is incorrect");
    // This password is already in its normal form, so the server has no second form to try.
    app.login(TELP, COMPOSED).await.expect(401, "password is incorrect");
    assert_eq!(stored(&app).await, before);
    app.login(TELP, DECOMPOSED).await.ok();
    let after = stored(&app).await;
    assert_eq!((after.1, after.2), (before.1, before.2));
    assert_ne!(after.0, before.0);
    app.login(TELP, COMPOSED).await.ok();
    app.login(TELP, DECOMPOSED).await.ok();
    assert_eq!(stored(&app).await, after, "replaced once");
}

#[actix_web::test]
async fn an_older_hash_of_the_raw_form_lets_its_customer_change_the_password() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let older = argon::hash_here(DECOMPOSED).unwrap();
    app.db.execute("UPDATE customer_global SET password_hash = $1", &[&older]).await.unwrap();
    let code = app.code_for(&siti).await;
    app.update_password(&siti, &code, COMPOSED, "SandiBaru1")
        .await
        .expect(422, "hashedPassword is not the hash of the given password");
    app.update_password(&siti, &code, DECOMPOSED, "SandiBaru1").await.ok();
    app.login(TELP, "SandiBaru1").await.ok();
}
