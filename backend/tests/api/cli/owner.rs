//! `nyala owner`: an owner with a link for an own browser, and `nyala perangkat pasang --petugas`.

use nyala_core::domain::id::TillId;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::{beside, program_beside};
use crate::support::helpers::TestApp;
use crate::till::rules::{Till, cookie_of};

#[actix_web::test]
async fn an_owner_pairs_an_own_browser_by_the_link_and_makes_a_pin() {
    let app = TestApp::spawn().await;
    let mut add = program_beside(&app, &["owner", "add", "--nama", "Bu Sari", "--telp", "0812-3456-7890"]);
    let printed = add.env("NYALA__HTTP__PUBLIC_URL", "https://app.laundry.example").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let made: Value = serde_json::from_str(&printed).unwrap();
    let code = made["kode"].as_str().unwrap();
    assert_eq!(made["tautan"], format!("https://app.laundry.example/kasir/pasang#{code}"));
    let until = Timestamp::parse_rfc3339(made["sampai"].as_str().unwrap()).unwrap();
    assert!((86_000_000..=86_500_000).contains(&app.now().ms_until(until)), "a day: {printed}");
    let pair = async |code: &str| {
        let body = json!({ "kode": code }).to_string().into_bytes();
        app.call("POST", "/ops/v1/pasang", None, &[], Some(body)).await
    };
    let paired = pair(code).await;
    assert_eq!(paired.data["outlet"], Value::Null, "an own browser");
    let till = Till { id: TillId::new(0), cookie: cookie_of(&paired).0 };
    let logged_in =
        app.log_in(&till, &json!({"idpetugas": made["id"], "pin": made["pin_awal"], "pin_baru": "271828"})).await.ok();
    assert_eq!(logged_in["petugas"]["role"], "owner");
    let token = logged_in["token"].as_str().unwrap();
    let me = app.call("GET", "/ops/v1/saya", Some(token), &[("Cookie", &till.cookie)], None).await.ok();
    assert_eq!((&me["idowner"], &me["outlet"]), (&made["idowner"], &json!([])));
    let list = beside(&app, &["owner", "list"]).ok();
    assert!(list.contains(&format!("{}\tBu Sari\t81234567890\t0\t", made["idowner"])), "{list}");

    // Another browser of hers, by a code alone on standard output.
    let id = made["id"].to_string();
    let code = beside(&app, &["perangkat", "pasang", "--petugas", &id]).ok();
    assert_eq!(pair(code.trim()).await.ok()["outlet"], Value::Null);
    beside(&app, &["perangkat", "pasang", "--petugas", "99"]).refused("there is no petugas 99");
    beside(&app, &["owner", "add", "--nama", "Bu Sari", "--telp", "123"]).refused("nomor");
    let both = beside(&app, &["perangkat", "pasang", "--petugas", &id, "--outlet", "1"]);
    assert_eq!(both.code, 2, "{both:?}");
}

#[actix_web::test]
async fn an_address_for_links_is_an_origin() {
    let app = TestApp::spawn().await;
    for bad in ["app.laundry.example", "https://app.laundry.example/", "https://app.laundry.example/kasir", "ftp://a.example"] {
        let set = format!("http.public_url={bad}");
        beside(&app, &["--set", &set, "owner", "list"]).refused("http.public_url");
    }
}

#[actix_web::test]
async fn the_demos_owner_pairs_a_browser_of_her_own() {
    let app = TestApp::spawn().await;
    nyala::demo::seed(&app.state.store.db, &app.state.keyring.get(), app.now()).await.unwrap();
    let first = nyala::demo::invite_owner(&app.state.store.db, app.now()).await.unwrap().unwrap();
    let code = nyala::demo::invite_owner(&app.state.store.db, app.now()).await.unwrap().unwrap();
    let pair = async |code: &str| {
        let body = json!({ "kode": code }).to_string().into_bytes();
        app.call("POST", "/ops/v1/pasang", None, &[], Some(body)).await
    };
    pair(&first).await.expect(422, "kode pasang salah atau kedaluwarsa");
    let till = Till { id: TillId::new(0), cookie: cookie_of(&pair(&code).await).0 };
    let here = app.call("GET", "/ops/v1/perangkat/saya", None, &[("Cookie", &till.cookie)], None).await.ok();
    assert_eq!((&here["petugas"][0]["nama"], &here["petugas"][0]["role"]), (&json!("Sari"), &json!("owner")));
    let body = json!({"idpetugas": here["petugas"][0]["id"], "pin": "271828"});
    let token = app.log_in(&till, &body).await.ok()["token"].as_str().unwrap().to_owned();
    let me = app.call("GET", "/ops/v1/saya", Some(&token), &[("Cookie", &till.cookie)], None).await.ok();
    assert_eq!(me["outlet"].as_array().unwrap().len(), 4);
}
