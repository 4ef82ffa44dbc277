//! What a start refuses, and how an outlet is set.

use nyala::app::AppState;
use nyala_core::domain::secret::Secret;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::{Setup, TestApp};

fn midtrans(keys: &str) -> Setup {
    let keys = keys.to_owned();
    Setup::new().with(|config| {
        config.qris.provider = "midtrans".to_owned();
        config.qris.midtrans_server_keys = Secret::new(keys);
    })
}

/// Why a server with these keys does not start on the database of `app`.
async fn refused(app: &TestApp, keys: &str) -> String {
    let mut config = midtrans(keys).config();
    config.data.dir.clone_from(&app.state.config.data.dir);
    let url = app.database_url();
    AppState::build(config, &url).await.err().expect("refused").to_string()
}

#[actix_web::test]
async fn one_key_for_several_owners_is_refused_and_so_is_a_missing_one() {
    let app = midtrans("rahasia").start().await;
    let outlet = app.outlet("Melati").await;
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    app.ops(&owner, &format!("outlet/{}", outlet.idoutlet), &json!({"qris": "midtrans"})).await.ok();
    // A second owner comes: one key is no longer enough.
    let second = app.outlet("Mawar").await;
    let other = app.key(Scope::Owner(second.idowner)).await;
    app.ops(&other, &format!("outlet/{}", second.idoutlet), &json!({"qris": "midtrans"})).await.expect(422, "kunci QRIS kosong");
    let why = refused(&app, "rahasia").await;
    assert!(why.contains("2 owners") && !why.contains("rahasia"), "{why}");
    let why = refused(&app, &format!("{}=rahasia", second.idowner)).await;
    assert!(why.contains(&format!("no key of owner {}", outlet.idowner)), "{why}");
}

#[actix_web::test]
async fn an_outlet_takes_qris_by_hand_until_its_owner_says_otherwise() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let path = format!("outlet/{}", outlet.idoutlet);
    let seen = async || app.get("/ops/v1/outlet", Some(&owner)).await.ok()[0]["qris"].clone();
    assert_eq!(seen().await, "manual");
    for mode in ["simulated", "off", "manual"] {
        app.ops(&owner, &path, &json!({ "qris": mode })).await.ok();
        assert_eq!(seen().await, mode);
    }
    app.ops(&owner, &path, &json!({"qris": "midtrans"})).await.expect(422, "kunci QRIS kosong");
    assert_eq!(app.ops(&owner, &path, &json!({"qris": "doku"})).await.status, 400);
    app.ops(&supervisor, &path, &json!({"qris": "off"})).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    app.ops(&owner, &path, &json!({"alamat": "Jalan Dago 1"})).await.ok();
    assert_eq!(seen().await, "manual", "what is left out stays");
    let changed = "SELECT isi FROM audit_log WHERE aksi = 'outlet.ubah' ORDER BY id LIMIT 1";
    assert_eq!(app.db.query_one(changed, &[]).await.unwrap().get::<_, Value>(0), json!({"qris": "simulated"}));
}
