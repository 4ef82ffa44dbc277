//! Limits on sent codes, and on requests that reveal which numbers are customers (docs/limits.md).

use std::time::Duration;

use futures_util::future::{join_all, select};
use nyala_core::domain::address::Block;
use tokio::time::timeout;

use crate::auth::register::{TELP, login_body, otp_body};
use crate::cluster::{named, two_of};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};

const REGISTER_CODE: &str = "/scan/v1/auth/request_otp";
const RESET_CODE: &str = "/scan/v1/auth/request_otp_forgot_password";
const HOUR_S: i64 = 3_600;

fn behind_proxy(setup: Setup) -> Setup {
    setup.with(|c| c.http.trusted_proxies = vec![Block::parse("127.0.0.1").unwrap()])
}

fn number(n: usize) -> String {
    format!("8120{n:07}")
}

impl TestApp {
    async fn code_call(&self, path: &str, from: &str, cookie: &str, telp: &str) -> Answer {
        let headers = [("x-forwarded-for", from), ("cookie", cookie)];
        let headers: Vec<_> = headers.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        self.call("POST", path, None, &headers, Some(otp_body(telp).to_string().into_bytes())).await
    }

    async fn ask_register(&self, from: &str, telp: &str) -> Answer {
        self.code_call(REGISTER_CODE, from, "", telp).await
    }

    /// Registers `telp` and returns its known phone's cookie.
    async fn known_phone(&self, telp: &str) -> String {
        self.register_customer(telp, "Siti", "Rahma").await;
        self.post("/scan/v1/auth/login", None, &login_body(telp, PASSWORD)).await.cookie()
    }
}

#[actix_web::test]
async fn blocks_around_an_address_have_multiples_of_its_limit() {
    for per_address in [1, 2] {
        let app = behind_proxy(Setup::new()).with(|c| c.auth.otp_per_ip_hour = per_address).start().await;
        let mut n = 0;
        // Every address here still has codes left; the limit of the block around it decides.
        let mut sent = async |addresses: Vec<String>| {
            let mut sent = 0;
            for address in addresses {
                n += 1;
                let answer = app.ask_register(&address, &number(n)).await;
                if answer.status != 200 {
                    assert_eq!(answer.retry_after_s(), HOUR_S, "{address}");
                    continue;
                }
                sent += 1;
            }
            sent
        };
        assert_eq!(sent((0..4).map(|n| format!("2001:db8:1:1::{n}")).collect()).await, per_address, "a /64");
        assert_eq!(sent((1..8).map(|n| format!("2001:db8:2:{n}::1")).collect()).await, 2 * per_address, "a /56");
        assert_eq!(sent((1..12).map(|n| format!("2001:db8:3:{n}00::1")).collect()).await, 4 * per_address, "a /48");
        assert_eq!(sent((1..4).map(|n| format!("2001:db8:{n}0::1")).collect()).await, 3, "not more than a /48");
        assert_eq!(sent((1..25).map(|n| format!("198.51.100.{n}")).collect()).await, 10 * per_address, "a /24");
        assert_eq!(sent((1..4).map(|n| format!("203.0.{n}.1")).collect()).await, 3, "not more than a /24");
    }
}

#[actix_web::test]
async fn a_carrier_with_a_city_behind_one_24_gets_a_larger_factor() {
    let app = behind_proxy(Setup::new())
        .with(|c| {
            c.auth.otp_per_ip_hour = 1;
            c.auth.otp_factor_v4_24 = 20;
            c.auth.otp_factor_v6_56 = 3;
            c.auth.otp_factor_v6_48 = 5;
        })
        .start()
        .await;
    let v4 = (1..=21).map(|n| format!("198.51.100.{n}"));
    let of_56 = (1..=4).map(|n| format!("2001:db8:1:{n}::1"));
    let of_48 = (1..=6).map(|n| format!("2001:db8:2:{n}00::1"));
    for (addresses, allowed) in [(v4.collect::<Vec<_>>(), 20), (of_56.collect(), 3), (of_48.collect(), 5)] {
        for (n, address) in addresses.iter().enumerate() {
            let telp = number(n + allowed * 100);
            assert_eq!(app.ask_register(address, &telp).await.status, if n < allowed { 200 } else { 429 }, "{address}");
        }
    }
}

#[actix_web::test]
async fn strangers_have_a_day_of_five_full_hours() {
    let app = behind_proxy(Setup::new()).with(|c| c.auth.otp_per_hour = 2).start().await;
    let mut n = 0;
    for _ in 0..5 {
        for _ in 0..2 {
            n += 1;
            app.ask_register(&format!("198.51.{n}.7"), &number(n)).await.ok();
        }
        assert_eq!(app.ask_register("203.0.113.7", &number(99)).await.retry_after_s(), if n < 10 { HOUR_S } else { 20 * HOUR_S });
        app.advance_s(HOUR_S);
    }
    assert_eq!(app.ask_register("203.0.113.7", &number(99)).await.retry_after_s(), 19 * HOUR_S);
    app.advance_s(19 * HOUR_S);
    app.ask_register("203.0.113.7", &number(99)).await.ok();
}

#[actix_web::test]
async fn known_phones_reset_codes_and_strangers_codes_use_up_only_their_own() {
    let app = behind_proxy(Setup::new())
        .with(|c| {
            c.auth.otp_per_hour = 2;
            c.auth.otp_known_per_hour = 2;
        })
        .start()
        .await;
    let phones = [app.known_phone(&number(1)).await, app.known_phone(&number(2)).await, app.known_phone(&number(3)).await];
    app.ask_register("198.51.100.7", &number(11)).await.ok();
    app.code_call(RESET_CODE, "198.51.101.7", "", &number(1)).await.ok();
    assert_eq!(app.code_call(RESET_CODE, "198.51.102.7", "", &number(1)).await.retry_after_s(), HOUR_S);
    app.code_call(RESET_CODE, "198.51.100.7", &phones[0], &number(1)).await.ok();
    app.advance_s(10);
    app.code_call(RESET_CODE, "198.51.100.7", &phones[1], &number(2)).await.ok();
    assert_eq!(app.code_call(RESET_CODE, "198.51.100.7", &phones[2], &number(3)).await.retry_after_s(), HOUR_S - 10);
    app.advance_s(HOUR_S - 10);
    app.ask_register("198.51.100.8", &number(12)).await.ok();
    app.ask_register("198.51.100.9", &number(13)).await.ok();
    app.code_call(RESET_CODE, "198.51.100.7", &phones[2], &number(3)).await.ok();
}

#[actix_web::test]
async fn all_servers_together_send_no_more_and_a_restart_forgets_none() {
    let (first, second) = two_of(|name| {
        behind_proxy(named(name)).with(|c| {
            c.auth.otp_per_ip_hour = 2;
            c.auth.otp_per_hour = 5;
        })
    })
    .await;
    for (n, app) in [&first, &second].into_iter().enumerate() {
        app.ask_register("2001:db8:1:1::1", &number(n)).await.ok();
    }
    // This address has had its two codes, one from each server.
    first.register_customer(&number(50), "Siti", "Rahma").await;
    for app in [&first, &second] {
        for telp in [number(50), number(51)] {
            assert!(app.ask_register("2001:db8:1:1::1", &telp).await.retry_after_s() > HOUR_S - 120);
            assert!(app.code_call(RESET_CODE, "2001:db8:1:1::1", "", &telp).await.retry_after_s() > HOUR_S - 120);
        }
    }
    for (n, app) in [&second, &first].into_iter().enumerate() {
        app.ask_register("2001:db8:1:2::1", &number(10 + n)).await.ok();
    }
    assert!(first.ask_register("2001:db8:1:3::1", &number(20)).await.retry_after_s() > HOUR_S - 120, "the /56 has had four");
    second.ask_register("198.51.100.7", &number(21)).await.ok();
    // All five codes are sent: every other address is refused, for any number.
    for app in [&first, &second] {
        for telp in [number(50), number(51)] {
            assert!(app.ask_register("203.0.113.7", &telp).await.retry_after_s() > HOUR_S - 120);
            assert!(app.code_call(RESET_CODE, "203.0.113.7", "", &telp).await.retry_after_s() > HOUR_S - 120);
        }
    }
}

#[actix_web::test]
async fn many_at_once_get_no_more_codes_than_one_after_the_other() {
    let (first, second) = two_of(|name| {
        behind_proxy(named(name)).with(|c| {
            c.auth.otp_per_ip_hour = 5;
            c.auth.wrong_logins_per_address = 1_000;
        })
    })
    .await;
    let asked = (0..40).map(|n| {
        let app = if n % 2 == 0 { &first } else { &second };
        async move { app.ask_register("198.51.100.7", &number(n)).await.status }
    });
    let statuses = join_all(asked).await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 5, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
}

#[actix_web::test]
async fn who_asks_which_numbers_are_customers_has_twenty_tries_and_one_more_every_three_seconds() {
    let app = behind_proxy(Setup::new()).start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let address = "198.51.100.7";
    // A valid request (a code for an unregistered number) costs no attempt.
    for n in 0..25 {
        app.ask_register(address, &number(n)).await.ok();
    }
    for n in 0..10 {
        app.code_call(RESET_CODE, address, "", &number(100 + n)).await.expect(404, "nomor belum terdaftar");
        app.ask_register(address, TELP).await.expect(409, "nomor sudah terdaftar");
    }
    // Both calls are refused, for any number. A login with an unknown number asks the same question.
    for telp in [TELP, &number(200)] {
        assert_eq!(app.ask_register(address, telp).await.retry_after_s(), 3);
        assert_eq!(app.code_call(RESET_CODE, address, "", telp).await.retry_after_s(), 3);
    }
    app.ask_register("198.51.100.8", TELP).await.expect(409, "nomor sudah terdaftar");
    app.advance_s(3);
    app.code_call(RESET_CODE, address, "", &number(201)).await.expect(404, "nomor belum terdaftar");
    assert_eq!(app.ask_register(address, TELP).await.retry_after_s(), 3);
    app.advance_s(6);
    for _ in 0..3 {
        app.ask_register(address, &number(202)).await;
    }
    app.ask_register(address, TELP).await.expect(409, "nomor sudah terdaftar");
}

#[actix_web::test]
async fn a_48_has_four_times_the_tries_of_an_address_and_many_at_once_no_more() {
    let app = behind_proxy(Setup::new()).start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let addresses: Vec<String> = (0..12).map(|n| format!("2001:db8:1:{n}::1")).collect();
    let asked = (0..120).map(|n| {
        let (app, address) = (&app, &addresses[n / 10]);
        async move {
            match n % 3 {
                0 => app.ask_register(address, TELP).await.status,
                1 => app.code_call(RESET_CODE, address, "", &number(n)).await.status,
                _ => app.post_login_from(address, &number(n)).await.status,
            }
        }
    });
    let statuses = join_all(asked).await;
    assert_eq!(statuses.iter().filter(|status| [404, 409].contains(*status)).count(), 80, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 40, "{statuses:?}");
    assert_eq!(app.ask_register("2001:db8:1:ffff::1", &number(1)).await.status, 429);
    app.advance_s(3);
    for n in 0..4 {
        app.ask_register(&format!("2001:db8:1:ff{n}::1"), TELP).await.expect(409, "nomor sudah terdaftar");
    }
    assert_eq!(app.ask_register("2001:db8:1:fff::1", TELP).await.retry_after_s(), 1);
    app.ask_register("2001:db8:2:1::1", TELP).await.expect(409, "nomor sudah terdaftar");
}

impl TestApp {
    async fn post_login_from(&self, from: &str, telp: &str) -> Answer {
        let body = login_body(telp, PASSWORD).to_string().into_bytes();
        self.call("POST", "/scan/v1/auth/login", None, &[("x-forwarded-for", from)], Some(body)).await
    }
}

#[actix_web::test]
async fn an_address_without_codes_left_gets_429_for_any_number() {
    let app = behind_proxy(Setup::new()).with(|c| c.auth.otp_per_ip_hour = 1).start().await;
    let own = app.known_phone(TELP).await;
    app.register_customer(&number(1), "Budi", "Santoso").await;
    app.ask_register("198.51.100.7", &number(90)).await.ok();
    for telp in [TELP, &number(1), &number(2)] {
        assert_eq!(app.ask_register("198.51.100.7", telp).await.retry_after_s(), HOUR_S);
        assert_eq!(app.code_call(RESET_CODE, "198.51.100.7", "", telp).await.retry_after_s(), HOUR_S);
    }
    // A cookie for one number does not count for another.
    for telp in [number(1), number(2)] {
        assert_eq!(app.code_call(RESET_CODE, "198.51.100.7", &own, &telp).await.retry_after_s(), HOUR_S);
    }
    app.code_call(RESET_CODE, "198.51.100.7", &own, TELP).await.ok();
}

#[actix_web::test]
async fn a_refused_request_does_not_wait_and_waiting_ones_hold_no_connection() {
    // The lock that the program takes before it counts codes.
    const LOCK: &str = "SELECT pg_advisory_lock(86145254575873)";
    let app = behind_proxy(Setup::new())
        .with(|c| {
            c.auth.otp_per_ip_hour = 1;
            c.database.lock_ms = 60_000;
            c.database.statement_ms = 60_000;
        })
        .start()
        .await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    app.ask_register("198.51.100.7", &number(1)).await.ok();
    app.db.execute(LOCK, &[]).await.unwrap();
    let waiting = join_all((0..48).map(|n| {
        let app = &app;
        async move { app.ask_register(&format!("203.0.{n}.7"), &number(100 + n)).await.status }
    }));
    let others = async {
        // A login needs a connection, and a refused request does not need the lock.
        let soon = Duration::from_secs(20);
        while app.waiting_for_a_lock().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        timeout(soon, app.login(TELP, PASSWORD)).await.expect("a connection is free").ok();
        for telp in [number(1), number(2)] {
            let refused = timeout(soon, app.ask_register("198.51.100.7", &telp)).await.expect("an address is refused at once");
            assert_eq!(refused.retry_after_s(), HOUR_S);
        }
        assert!(app.waiting_for_a_lock().await <= 2, "few are in the lock at once");
        app.db.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();
    };
    let (waiting, others) = (Box::pin(waiting), Box::pin(others));
    match select(waiting, others).await {
        futures_util::future::Either::Left((statuses, _)) => panic!("they did not wait: {statuses:?}"),
        futures_util::future::Either::Right(((), waiting)) => {
            let statuses = waiting.await;
            assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        }
    }
}

impl TestApp {
    async fn waiting_for_a_lock(&self) -> i64 {
        const WAIT: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        self.db.query_one(WAIT, &[]).await.unwrap().get(0)
    }
}

#[actix_web::test]
async fn the_used_share_of_the_limits_is_a_metric() {
    let app = behind_proxy(Setup::new())
        .with(|c| {
            c.auth.otp_per_hour = 4;
            c.auth.otp_known_per_hour = 2;
        })
        .start()
        .await;
    let used = async |pot: &str| app.metric(&format!("nyala_codes_used_ratio{{pot=\"{pot}\"}}")).await;
    assert_eq!((used("strangers_hour").await, used("strangers_day").await, used("known_hour").await), (0.0, 0.0, 0.0));
    let phone = app.known_phone(TELP).await;
    app.code_call(RESET_CODE, "198.51.100.7", &phone, TELP).await.ok();
    app.ask_register("198.51.100.7", &number(1)).await.ok();
    app.advance_s(10);
    app.ask_register("198.51.100.8", &number(2)).await.ok();
    assert_eq!((used("strangers_hour").await, used("strangers_day").await, used("known_hour").await), (0.5, 0.1, 0.5));
    app.advance_s(HOUR_S - 10);
    assert_eq!((used("strangers_hour").await, used("strangers_day").await, used("known_hour").await), (0.25, 0.1, 0.0));
    app.advance_s(10);
    assert_eq!((used("strangers_hour").await, used("strangers_day").await), (0.0, 0.1));
}
