//! A till whose browser was lost, or has forgotten its cookie, goes on in another one (docs/till.md).

use nyala::domain::role::Role;
use nyala::staff::people::WorksFor;
use serde_json::json;

use crate::helpers::{Answer, TestApp};
use crate::operator::Scope;
use crate::till::{AtTill, Till};

async fn pair(app: &TestApp, code: &serde_json::Value) -> Answer {
    app.call("POST", "/ops/v1/pasang", None, &[], Some(json!({ "kode": code }).to_string().into_bytes())).await
}

fn paired(id: i64, answer: &Answer) -> Till {
    let cookie = answer.headers.get("set-cookie").unwrap().to_str().unwrap().split(';').next().unwrap();
    Till { id, cookie: cookie.to_owned() }
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
    assert_eq!(again["id"], rina.till.id);
    let answer = pair(&app, &again["kode"]).await;
    let till = paired(rina.till.id, &answer);
    answer.ok();
    pair(&app, &again["kode"]).await.expect(422, "kode pasang salah atau kedaluwarsa");
    let here = app.at(&till, rina.person).await;
    assert_eq!(app.see(&here, "shift").await.ok()["shift"]["modal"], 70_000);
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
    pair(&app, &first["kode"]).await.expect(422, "kode pasang salah atau kedaluwarsa");
    app.clock.advance_ms(10 * 60_000 - 1);
    pair(&app, &second["kode"]).await.ok();
    app.see(&rina, "shift").await.expect(401, "perangkat belum dipasang");
}
