//! People at tills: PINs and their locks, sessions, approvals (docs/till.md).

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::helpers::{AROUND_A_CODE, Setup, TestApp, other_digits};
use crate::till::rules::{AtTill, Till, cookie_of};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
const PIN: &str = "246810";

#[actix_web::test]
async fn a_first_pin_is_only_good_to_make_ones_own() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let till = app.till(outlet.idoutlet).await;
    let body = json!({ "nama": "Rina", "role": "kasir", "idoutlet": outlet.idoutlet });
    let hired = app.ops(&supervisor, "petugas", &body).await.ok();
    let (id, first) = (hired["id"].as_i64().unwrap(), hired["pin_awal"].as_str().unwrap().to_owned());

    app.log_in(&till, &json!({ "idpetugas": id, "pin": first })).await.expect(409, "buat PIN baru");
    for easy in ["000000", "123456", "654321", "121212", "123123"] {
        let body = json!({ "idpetugas": id, "pin": first, "pin_baru": easy });
        app.log_in(&till, &body).await.expect(422, "PIN terlalu mudah");
    }
    let same = json!({ "idpetugas": id, "pin": first, "pin_baru": first });
    app.log_in(&till, &same).await.expect(422, "PIN baru harus lain dari yang lama");
    app.log_in(&till, &json!({ "idpetugas": id, "pin": first, "pin_baru": PIN })).await.ok();
    app.log_in(&till, &json!({ "idpetugas": id, "pin": PIN })).await.ok();
    app.log_in(&till, &json!({ "idpetugas": id, "pin": first })).await.expect(401, "PIN salah, sisa 4 percobaan");

    let anew = app.ops(&supervisor, &format!("petugas/{id}/reset_pin"), &json!({})).await.ok();
    let anew = anew["pin_awal"].as_str().unwrap().to_owned();
    app.clock.advance_ms(DAY_MS);
    app.log_in(&till, &json!({ "idpetugas": id, "pin": anew, "pin_baru": PIN }))
        .await
        .expect(401, "PIN awal kedaluwarsa, minta supervisor membuat yang baru");
}

#[actix_web::test]
async fn the_fifth_wrong_pin_waits_and_the_tenth_waits_for_a_supervisor() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let (wrong, right) = (json!({ "idpetugas": rina, "pin": "975310" }), json!({ "idpetugas": rina, "pin": PIN }));
    for left in (1..=4).rev() {
        app.log_in(&till, &wrong).await.expect(401, &format!("PIN salah, sisa {left} percobaan"));
        app.log_in(&till, &right).await.ok();
    }
    assert_eq!(app.log_in(&till, &wrong).await.retry_after_s(), 15 * 60);
    assert_eq!(app.log_in(&till, &right).await.retry_after_s(), 15 * 60, "the right one waits, too");
    app.clock.advance_ms(15 * MINUTE_MS);
    app.log_in(&till, &right).await.ok();
    for _ in 0..4 {
        assert_eq!(app.log_in(&till, &wrong).await.status, 401);
    }
    app.log_in(&till, &wrong).await.expect(403, "petugas dikunci, minta supervisor membukanya");
    app.clock.advance_ms(2 * DAY_MS);
    app.log_in(&till, &right).await.expect(403, "petugas dikunci, minta supervisor membukanya");
    let here = app.call("GET", "/ops/v1/perangkat/saya", None, &[("Cookie", &till.cookie)], None).await.ok();
    assert_eq!(here["petugas"][0]["dikunci"], true);

    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&supervisor, &format!("petugas/{rina}/buka_kunci"), &json!({})).await.ok();
    app.log_in(&till, &right).await.ok();
}

#[actix_web::test]
async fn guesses_at_the_same_moment_count_each() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let guess = |n: usize| json!({ "idpetugas": rina, "pin": format!("97531{n}") });
    let guesses: Vec<_> = (0..8).map(guess).collect();
    let answers = futures_util::future::join_all(guesses.iter().map(|body| app.log_in(&till, body))).await;
    let looked_at = answers.iter().filter(|a| a.status == 401).count();
    assert_eq!(looked_at, 4, "{answers:?}");
    assert!(answers.iter().all(|a| matches!(a.status, 401 | 429)), "{answers:?}");
}

#[actix_web::test]
async fn twenty_wrong_pins_at_one_browser_wait_there() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let (till, other) = (app.till(outlet.idoutlet).await, app.till(outlet.idoutlet).await);
    let mut people = Vec::new();
    for n in 0..6 {
        people.push(app.person(&format!("Kasir {n}"), Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await);
    }
    for person in &people[..5] {
        for _ in 0..4 {
            assert_eq!(app.log_in(&till, &json!({ "idpetugas": person, "pin": "975310" })).await.status, 401);
        }
    }
    let right = json!({ "idpetugas": people[5], "pin": PIN });
    assert_eq!(app.log_in(&till, &right).await.retry_after_s(), 15 * 60);
    app.log_in(&other, &right).await.ok();
}

#[actix_web::test]
async fn of_many_peoples_guesses_at_once_twenty_are_looked_at() {
    // All of them wait for one row and few connections, so the timeouts are long enough for a busy machine.
    let patient =
        Setup::new().with(|c| (c.database.lock_ms, c.database.statement_ms, c.database.wait_ms) = (60_000, 90_000, 90_000));
    let app = patient.start().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let mut people = Vec::new();
    for n in 0..30 {
        people.push(app.person(&format!("Kasir {n}"), Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await);
    }
    let guesses: Vec<_> = people.iter().map(|person| json!({ "idpetugas": person, "pin": "975310" })).collect();
    let answers = futures_util::future::join_all(guesses.iter().map(|body| app.log_in(&till, body))).await;
    assert_eq!(answers.iter().filter(|a| a.status == 401).count(), 20, "{answers:?}");
    assert_eq!(answers.iter().filter(|a| a.status == 429).count(), 10, "{answers:?}");
}

#[actix_web::test]
async fn a_new_pin_ends_older_sessions_and_the_audit_log_has_it_and_locks() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let (till, other) = (app.till(outlet.idoutlet).await, app.till(outlet.idoutlet).await);
    let before = app.at(&other, rina).await;
    let login = app.log_in(&till, &json!({ "idpetugas": rina, "pin": PIN, "pin_baru": "864203" })).await;
    let now = AtTill { person: rina, till: till.clone(), token: login.ok()["token"].as_str().unwrap().to_owned() };
    app.see(&before, "shift").await.expect(401, "sesi berakhir");
    app.see(&now, "shift").await.ok();
    for _ in 0..2 {
        for _ in 0..5 {
            app.log_in(&till, &json!({ "idpetugas": rina, "pin": PIN })).await;
        }
        app.clock.advance_ms(15 * MINUTE_MS);
    }
    let log: Vec<_> = app.audited().await.into_iter().map(|(action, actor, _)| (action, actor)).collect();
    let changed = ("petugas.ganti_pin".to_owned(), format!("operator:{rina}"));
    assert_eq!(log, [changed, ("petugas.kunci".to_owned(), format!("perangkat:{}", till.id))]);
}

#[actix_web::test]
async fn the_cookie_that_is_renewed_is_the_browsers_own() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let (till, body) = (app.till(outlet.idoutlet).await, json!({ "idpetugas": rina, "pin": PIN }));
    let both = Till { cookie: format!("nyala_till=stale; {}", till.cookie), ..till.clone() };
    let renewed = cookie_of(&app.log_in(&both, &body).await).0;
    assert_eq!(renewed.split_once('=').unwrap().1, till.cookie.split_once('=').unwrap().1);
}

#[actix_web::test]
async fn a_session_is_good_in_its_browser_only_and_ends_by_itself() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let (till, other) = (app.till(outlet.idoutlet).await, app.till(outlet.idoutlet).await);
    let login = app.log_in(&till, &json!({ "idpetugas": rina, "pin": PIN })).await;
    assert!(cookie_of(&login).1.contains("Max-Age=34560000"), "the cookie's life begins anew");
    let token = login.ok()["token"].as_str().unwrap().to_owned();
    let ask = async |token: &str, cookie: Option<&str>| {
        let headers: Vec<_> = cookie.map(|c| ("Cookie", c)).into_iter().collect();
        app.call("POST", "/ops/v1/soket", Some(token), &headers, Some(b"{}".to_vec())).await
    };
    ask(&token, Some(&till.cookie)).await.ok();
    ask(&token, None).await.expect(401, "perangkat belum dipasang");
    ask(&token, Some(&other.cookie)).await.expect(401, "sesi berakhir");
    let wrong = if token.ends_with('0') { "1" } else { "0" };
    ask(&format!("{}{wrong}", &token[..token.len() - 1]), Some(&till.cookie)).await.expect(401, "sesi berakhir");
    app.call("POST", "/ops/v1/soket", None, &[("Cookie", &till.cookie)], Some(b"{}".to_vec()))
        .await
        .expect(401, "kunci operator tidak berlaku");

    // A session that is used every 29 minutes lasts for twelve hours.
    for _ in 0..24 {
        app.clock.advance_ms(29 * MINUTE_MS);
        ask(&token, Some(&till.cookie)).await.ok();
    }
    app.clock.advance_ms(29 * MINUTE_MS);
    ask(&token, Some(&till.cookie)).await.expect(401, "sesi berakhir");

    let idle = app.at(&till, rina).await;
    app.clock.advance_ms(30 * MINUTE_MS);
    app.see(&idle, "shift").await.expect(401, "sesi berakhir");

    let left = app.at(&till, rina).await;
    app.ask(&left, "keluar", &json!({})).await.ok();
    app.ask(&left, "soket", &json!({})).await.expect(401, "sesi berakhir");

    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let sent_away = app.at(&till, rina).await;
    app.ops(&supervisor, &format!("petugas/{rina}/cabut"), &json!({})).await.ok();
    app.ask(&sent_away, "soket", &json!({})).await.expect(401, "sesi berakhir");
    app.log_in(&till, &json!({ "idpetugas": rina, "pin": PIN })).await.expect(404, "petugas tidak ditemukan");
}

#[actix_web::test]
async fn an_api_key_is_no_person_at_a_till() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let body = json!({ "idpetugas": 1, "pin": PIN, "aksi": "batal", "objek": "1" });
    for call in ["masuk", "izin", "soket", "keluar"] {
        let answer = app.ops(&key, call, &body).await;
        answer.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    }
}

#[actix_web::test]
async fn no_person_hires_above_their_own_role() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let (supervisor, owner) = (app.key(Scope::Supervisor(outlet.idoutlet)).await, app.key(Scope::Owner(outlet.idowner)).await);
    let hire = |role: &str| json!({ "nama": "Baru", "role": role, "idoutlet": outlet.idoutlet });
    app.ops(&supervisor, "petugas", &hire("kasir")).await.ok();
    app.ops(&supervisor, "petugas", &hire("supervisor")).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    let hadi = app.ops(&owner, "petugas", &hire("supervisor")).await.ok()["id"].as_i64().unwrap();
    app.ops(&owner, "petugas", &hire("root")).await.expect(400, "role harus kasir, teknisi, supervisor atau owner");
    let above = json!({ "nama": "Baru", "role": "owner", "idowner": outlet.idowner });
    app.ops(&owner, "petugas", &above).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    for call in ["cabut", "reset_pin", "buka_kunci"] {
        app.ops(&supervisor, &format!("petugas/{hadi}/{call}"), &json!({})).await.expect(404, "petugas tidak ditemukan");
    }
    let kasir = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&kasir, "petugas", &hire("kasir")).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    let seen = app.call("GET", "/ops/v1/petugas", Some(&supervisor), &[], None).await.ok();
    assert_eq!(seen["baris"].as_array().unwrap().len(), 1, "supervisors do not see each other: {seen}");
    let first = app.call("GET", "/ops/v1/petugas?limit=1", Some(&owner), &[], None).await.ok();
    let next = format!("/ops/v1/petugas?limit=1&sebelum={}", first["lanjut"]);
    let last = app.call("GET", &next, Some(&owner), &[], None).await.ok();
    assert_eq!((&first["baris"][0]["id"], &last["lanjut"]), (&json!(hadi), &json!(null)));
    assert_eq!(last["baris"][0]["role"], "kasir");
}

#[actix_web::test]
async fn an_approval_comes_from_a_supervisor_at_the_same_till() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let tono = app.person("Tono", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864203").await;
    let hadi = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    let body = |person: i64, pin: &str| json!({ "idpetugas": person, "pin": pin, "aksi": "batal", "objek": "12" });
    app.ask(&rina, "izin", &body(tono.get(), "864203")).await.expect(403, "persetujuan hanya dari supervisor");
    app.ask(&rina, "izin", &body(hadi.get(), "135790")).await.expect(401, "PIN salah, sisa 4 percobaan");
    let izin = app.ask(&rina, "izin", &body(hadi.get(), "135791")).await.ok();
    assert!(izin["izin"].as_str().unwrap().starts_with("nyi_"));
    let bad = json!({ "idpetugas": hadi, "pin": "135791", "aksi": "stop", "objek": "12" });
    assert_eq!(app.ask(&rina, "izin", &bad).await.status, 400);
    let logged = app.audited().await;
    assert!(logged.contains(&("izin.beri".into(), format!("operator:{hadi}"), logged.last().unwrap().2.clone())), "{logged:?}");
}

#[actix_web::test]
async fn pins_are_in_no_log_and_no_row() {
    let app = Setup::new().start().await;
    let outlet = app.outlet("Melati").await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let body = json!({ "nama": "Rina", "role": "kasir", "idoutlet": outlet.idoutlet });
    let hired = app.ops(&supervisor, "petugas", &body).await.ok();
    let pin = hired["pin_awal"].as_str().unwrap();
    let row = app.db.query_one("SELECT pin_hash FROM petugas", &[]).await.unwrap();
    let hash: String = row.get(0);
    assert!(hash.starts_with("$argon2id$") && !hash.contains(pin));
    // PINs cannot be tried against the hash alone: the server's key is mixed in.
    let parsed = argon2::PasswordHash::new(&hash).unwrap();
    use argon2::PasswordVerifier as _;
    assert!(argon2::Argon2::default().verify_password(pin.as_bytes(), &parsed).is_err());
}

#[actix_web::test]
async fn a_pin_is_accepted_with_surrounding_characters_and_in_any_digits() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let around = AROUND_A_CODE.map(|(before, after)| format!("{before}{PIN}{after}"));
    for pin in around.into_iter().chain(other_digits(PIN)) {
        app.log_in(&till, &json!({ "idpetugas": rina, "pin": pin })).await.ok();
    }
    for bad in ["24681", "2468100", "24681a", ""] {
        assert_eq!(app.log_in(&till, &json!({ "idpetugas": rina, "pin": bad })).await.status, 400, "{bad}");
    }
}
