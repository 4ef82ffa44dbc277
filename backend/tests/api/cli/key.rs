//! `nyala key`: keys for the operators' API calls.

use serde_json::json;

use super::beside;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn a_key_is_printed_once_and_works_until_it_is_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let id = outlet.idoutlet.to_string();
    let printed = beside(&app, &["key", "add", "--role", "supervisor", "--outlet", &id, "--nama", "Bu Ani"]).ok();
    let key = printed.trim_end();
    assert!(key.starts_with("nyk_1_") && printed.lines().count() == 1, "{printed}");
    let body = json!({"idoutlet": outlet.idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000});
    app.ops(key, "layanan", &body).await.ok();
    let list = beside(&app, &["key", "list"]).ok();
    assert!(list.contains("1\tsupervisor\t-\t1\tBu Ani\t") && !list.contains(key), "{list}");
    beside(&app, &["key", "revoke", "1"]).ok();
    beside(&app, &["key", "revoke", "1"]).ok();
    assert_eq!(app.ops(key, "layanan", &body).await.status, 401);
    beside(&app, &["key", "revoke", "99"]).refused("there is no key 99");
    let audited: Vec<String> = app.audited().await.into_iter().map(|(action, ..)| action).collect();
    assert_eq!(audited, ["kunci.buat", "layanan.buat", "kunci.cabut"]);
}

#[actix_web::test]
async fn a_key_needs_what_its_role_is_limited_to() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let add = |args: &[&str]| beside(&app, &[&["key", "add", "--nama", "x", "--role"], args].concat());
    let (mine, theirs) = (outlet.idoutlet.to_string(), other.idowner.to_string());
    add(&["root"]).ok();
    add(&["owner", "--owner", &theirs]).ok();
    add(&["kasir", "--owner", &outlet.idowner.to_string(), "--outlet", &mine]).ok();
    add(&["root", "--outlet", &mine]).refused("leave --owner and --outlet out");
    add(&["owner"]).refused("needs --owner");
    add(&["owner", "--owner", "99"]).refused("there is no owner 99");
    add(&["kasir"]).refused("needs --outlet");
    add(&["supervisor", "--outlet", "99"]).refused("there is no outlet 99");
    add(&["kasir", "--owner", &theirs, "--outlet", &mine]).refused("belongs to owner");
    beside(&app, &["key", "add", "--role", "root", "--nama", " "]).refused("--nama");
    let unknown = beside(&app, &["key", "add", "--role", "admin", "--nama", "x"]);
    assert!(unknown.code == 2 && unknown.err.contains("root, owner, supervisor or kasir"), "{unknown:?}");
}
