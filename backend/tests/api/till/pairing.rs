//! Browsers that are paired with an outlet or a person, and those that replace a lost one (docs/till.md).

use nyala_core::domain::id::TillId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use nyala_store::config::Profile;
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::helpers::{AROUND_A_CODE, Answer, Setup, TestApp, other_digits};
use crate::till::rules::{AtTill, Till, cookie_of};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
const PIN: &str = "246810";

async fn pair(app: &TestApp, code: &str) -> Answer {
    app.call("POST", "/ops/v1/pasang", None, &[], Some(json!({ "kode": code }).to_string().into_bytes())).await
}

async fn names(app: &TestApp, till: &Till) -> Vec<String> {
    let here = app.call("GET", "/ops/v1/perangkat/saya", None, &[("Cookie", &till.cookie)], None).await.ok();
    here["petugas"].as_array().unwrap().iter().map(|p| p["nama"].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn a_code_is_traded_for_a_cookie_once_and_in_time() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let body = json!({ "nama": "Tablet depan", "idoutlet": outlet.idoutlet });
    let invited = app.ops(&supervisor, "perangkat", &body).await.ok();
    let code = invited["kode"].as_str().unwrap().to_owned();

    pair(&app, "00000000").await.expect(422, "kode pasang salah atau kedaluwarsa");
    let typed = format!("{} {}", &code[..4].to_lowercase(), &code[4..]);
    let paired = pair(&app, &typed).await;
    let (cookie, set) = cookie_of(&paired);
    for part in ["Path=/ops/v1", "Max-Age=34560000", "HttpOnly", "SameSite=Strict"] {
        assert!(set.split("; ").any(|p| p == part), "{set}");
    }
    let paired = paired.ok();
    assert_eq!(paired["perangkat"]["nama"], "Tablet depan");
    assert_eq!(paired["outlet"]["nama"], "Melati");
    pair(&app, &code).await.expect(422, "kode pasang salah atau kedaluwarsa");

    let till = Till { id: TillId::new(0), cookie };
    assert!(names(&app, &till).await.is_empty());
    let listed = app.call("GET", "/ops/v1/perangkat", Some(&supervisor), &[], None).await.ok();
    assert!(listed["baris"][0]["dipasang_at"].is_string(), "{listed}");

    let late = app.ops(&supervisor, "perangkat", &body).await.ok();
    app.clock.advance_ms(10 * MINUTE_MS);
    pair(&app, late["kode"].as_str().unwrap()).await.expect(422, "kode pasang salah atau kedaluwarsa");

    let end = format!("perangkat/{}/cabut", invited["id"]);
    app.ops(&supervisor, &end, &json!({})).await.ok();
    app.call("GET", "/ops/v1/perangkat/saya", None, &[("Cookie", &till.cookie)], None)
        .await
        .expect(401, "perangkat belum dipasang");
    app.ops(&supervisor, &end, &json!({})).await.expect(404, "perangkat tidak ditemukan");
}

#[actix_web::test]
async fn the_demos_code_is_good_for_a_day_until_there_is_another() {
    let app = TestApp::spawn().await;
    nyala::demo::seed(&app.state.store.db, &app.state.keyring.get(), app.now()).await.unwrap();
    let invite = async || nyala::demo::invite(&app.state.store.db, app.now()).await.unwrap().unwrap();
    let (first, second) = (invite().await, invite().await);
    pair(&app, &first).await.expect(422, "kode pasang salah atau kedaluwarsa");
    app.clock.advance_ms(DAY_MS - 1);
    let (cookie, _) = cookie_of(&pair(&app, &second).await);
    assert_eq!(names(&app, &Till { id: TillId::new(0), cookie }).await, ["Rina", "Hadi", "Sari"]);
    let late = invite().await;
    app.clock.advance_ms(DAY_MS);
    pair(&app, &late).await.expect(422, "kode pasang salah atau kedaluwarsa");
}

#[actix_web::test]
async fn the_cookie_is_secure_in_production_and_where_the_connection_is_encrypted() {
    let proxy = nyala_core::domain::address::Block::parse("127.0.0.1").unwrap();
    for (production, forwarded, secure) in [(false, "http", false), (false, "https", true), (true, "http", true)] {
        let setup = Setup::new().with(|c| c.http.trusted_proxies = vec![proxy]);
        let app = if production { setup.with(|c| c.profile = Profile::Production) } else { setup }.start().await;
        let (outlet, key) = (app.outlet("Melati").await, app.key(Scope::Root).await);
        let body = json!({ "nama": "Tablet", "idoutlet": outlet.idoutlet });
        let code = app.ops(&key, "perangkat", &body).await.ok()["kode"].clone();
        let body = json!({ "kode": code }).to_string().into_bytes();
        let answer = app.call("POST", "/ops/v1/pasang", None, &[("x-forwarded-proto", forwarded)], Some(body)).await;
        assert_eq!(cookie_of(&answer).1.contains("Secure"), secure, "production: {production}, over {forwarded}");
    }
}

#[actix_web::test]
async fn guesses_at_codes_are_bounded() {
    let app = TestApp::spawn().await;
    let (outlet, key) = (app.outlet("Melati").await, app.key(Scope::Root).await);
    let invited = app.ops(&key, "perangkat", &json!({ "nama": "Tablet", "idoutlet": outlet.idoutlet })).await.ok();
    let right = invited["kode"].as_str().unwrap();
    for _ in 0..20 {
        pair(&app, "00000000").await.expect(422, "kode pasang salah atau kedaluwarsa");
    }
    assert_eq!(pair(&app, "00000000").await.retry_after_s(), 15 * 60);
    assert_eq!(pair(&app, right).await.retry_after_s(), 15 * 60, "the right one waits, too");
}

#[actix_web::test]
async fn a_browser_lists_who_works_there_and_a_persons_own_that_person() {
    let app = TestApp::spawn().await;
    let (here, there) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(here.idoutlet), PIN).await;
    app.person("Hadi", Role::Supervisor, WorksFor::Outlet(here.idoutlet), PIN).await;
    app.person("Tono", Role::Kasir, WorksFor::Outlet(there.idoutlet), PIN).await;
    let owner = app.person("Bu Ani", Role::Owner, WorksFor::Owner(here.idowner), PIN).await;
    let till = app.till(here.idoutlet).await;
    assert_eq!(names(&app, &till).await, ["Rina", "Bu Ani", "Hadi"]);
    let phone = app.own_browser(owner).await;
    assert_eq!(names(&app, &phone).await, ["Bu Ani"]);
    app.log_in(&phone, &json!({ "idpetugas": rina, "pin": PIN })).await.expect(404, "petugas tidak ditemukan");

    // On the outlet's tablet an owner sees that outlet only, on her own phone all of hers.
    let (at_till, at_phone) = (app.at(&till, owner).await, app.at(&phone, owner).await);
    let elsewhere = json!({ "nama": "Baru", "role": "kasir", "idoutlet": there.idoutlet });
    app.ask(&at_till, "petugas", &elsewhere).await.expect(404, "outlet tidak ditemukan");
    let second = app.outlet_of(here.idowner, "Melati 2").await;
    let hers = json!({ "nama": "Baru", "role": "kasir", "idoutlet": second.idoutlet });
    app.ask(&at_till, "petugas", &hers).await.expect(404, "outlet tidak ditemukan");
    app.ask(&at_phone, "petugas", &hers).await.ok();
}

#[actix_web::test]
async fn a_person_beyond_the_lists_limit_can_still_log_in() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    const MANY: &str = "
        WITH k AS (INSERT INTO kunci_operator (nama, role, idoutlet, hash, created_at)
            SELECT 'Kasir ' || n, 'kasir', $1, sha256(n::TEXT::BYTEA), $2 FROM generate_series(1, 1000) n RETURNING id)
        INSERT INTO petugas (id_kunci, pin_hash, dihitung_sejak, created_at) SELECT id, 'none', $2, $2 FROM k";
    app.db.execute(MANY, &[&outlet.idoutlet, &app.now()]).await.unwrap();
    let till = app.till(outlet.idoutlet).await;
    let hadi = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let listed = names(&app, &till).await;
    assert_eq!((listed.len(), listed.contains(&"Hadi".to_owned())), (1000, false));
    app.log_in(&till, &json!({ "idpetugas": hadi, "pin": PIN })).await.ok();
}

#[actix_web::test]
async fn a_lost_tills_drawer_is_counted_in_the_browser_that_takes_its_place() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 70_000).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let lost = format!("perangkat/{}", rina.till.id);
    app.ops(&key, &format!("{lost}/cabut"), &json!({})).await.ok();
    app.see(&rina, "shift").await.expect(401, "perangkat belum dipasang");

    let again = app.ops(&key, &format!("{lost}/pasang"), &json!({})).await.ok();
    assert_eq!(again["id"], json!(rina.till.id));
    let code = again["kode"].as_str().unwrap();
    let till = Till { id: rina.till.id, cookie: cookie_of(&pair(&app, code).await).0 };
    pair(&app, code).await.expect(422, "kode pasang salah atau kedaluwarsa");
    let here = app.at(&till, rina.person).await;
    assert_eq!(app.see(&here, "shift").await.ok()["shift"]["petugas"], "Rina");
    app.see(&AtTill { till, ..rina.clone() }, "shift").await.expect(401, "sesi berakhir");
    app.see(&rina, "shift").await.expect(401, "perangkat belum dipasang");
    assert_eq!(app.ask(&here, "shift/tutup", &json!({ "dihitung": 70_000 })).await.ok()["selisih"], 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_browser_that_is_replaced_is_good_until_the_other_one_is_paired() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.selling(outlet.idoutlet, 70_000).await;
    let (key, kasir) = (app.key(Scope::Supervisor(outlet.idoutlet)).await, app.key(Scope::Kasir(outlet.idoutlet)).await);
    let elsewhere = app.key(Scope::Owner(app.outlet("Mawar").await.idowner)).await;
    let call = format!("perangkat/{}/pasang", rina.till.id);
    app.ops(&kasir, &call, &json!({})).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    app.ops(&elsewhere, &call, &json!({})).await.expect(404, "perangkat tidak ditemukan");
    app.ops(&key, "perangkat/4711/pasang", &json!({})).await.expect(404, "perangkat tidak ditemukan");
    let owner = app.person("Bu Ani", Role::Owner, WorksFor::Owner(outlet.idowner), "246810").await;
    let phone = format!("perangkat/{}/pasang", app.own_browser(owner).await.id);
    app.ops(&key, &phone, &json!({})).await.expect(404, "perangkat tidak ditemukan");

    let first = app.ops(&key, &call, &json!({})).await.ok();
    app.see(&rina, "shift").await.ok();
    let second = app.ops(&key, &call, &json!({})).await.ok();
    pair(&app, first["kode"].as_str().unwrap()).await.expect(422, "kode pasang salah atau kedaluwarsa");
    app.clock.advance_ms(10 * 60_000 - 1);
    pair(&app, second["kode"].as_str().unwrap()).await.ok();
    app.see(&rina, "shift").await.expect(401, "perangkat belum dipasang");
}

#[actix_web::test]
async fn a_pairing_code_is_accepted_with_surrounding_characters_and_in_any_digits() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let body = json!({ "nama": "Tablet depan", "idoutlet": outlet.idoutlet });
    let forms = |code: &str| {
        let around = AROUND_A_CODE.map(|(before, after)| format!("{before}{code}{after}"));
        around.into_iter().chain(other_digits(code)).collect::<Vec<_>>()
    };
    for form in 0..forms("").len() {
        let invited = app.ops(&supervisor, "perangkat", &body).await.ok();
        pair(&app, &forms(invited["kode"].as_str().unwrap())[form]).await.ok();
    }
}
