//! Keys of the machines' devices (docs/contract.md §6): made by a call, checked for many logins at once, revoked.

use actix_web::rt::time::timeout;
use nyala_core::domain::id::{DeviceKeyId, MachineId};
use nyala_machines::device::mqtt::keys::{self, By, DeviceEndpoint, RequestedKey, hash};
use nyala_machines::device::mqtt::logins::{self, Claim, DeviceKey, Revocations};
use nyala_store::config::Profile;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::purchase::races::PATIENCE;
use crate::support::arrange::{Outlet, column};
use crate::support::helpers::{Setup, TestApp};

/// A machine whose device has no key.
pub async fn mqtt_machine(app: &TestApp, outlet: Outlet, name: &str) -> i64 {
    let machine = app.machine(outlet, name).await;
    app.insert("UPDATE mesin SET driver = 'mqtt' WHERE idmesin = $1 RETURNING idmesin", &[&machine.idmesin]).await
}

fn claim(issued: &Value) -> Claim {
    Claim {
        idmesin: MachineId::new(issued["idmesin"].as_i64().unwrap()),
        hash: hash(issued["secret"].as_str().unwrap().as_bytes()),
    }
}

async fn checked(app: &TestApp, issued: &[&Value]) -> Vec<Option<DeviceKey>> {
    let claims: Vec<Claim> = issued.iter().map(|issued| claim(issued)).collect();
    logins::check(&*app.state.store.get().await.unwrap(), &claims).await.unwrap()
}

/// Whether a device with this key may log in.
pub async fn counts(app: &TestApp, issued: &Value) -> bool {
    checked(app, &[issued]).await[0].is_some()
}

async fn first_used(app: &TestApp, keys: &[DeviceKeyId]) {
    let mut client = app.state.store.get().await.unwrap();
    let tx = client.transaction().await.unwrap();
    logins::first_used(&tx, keys, app.now()).await.unwrap();
    tx.commit().await.unwrap();
}

#[actix_web::test]
async fn a_call_makes_a_key_and_the_one_that_follows_it() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let id = mqtt_machine(&app, outlet, "Cuci 1").await;
    let (key, foreign) = (app.key(Scope::Supervisor(outlet.idoutlet)).await, app.key(Scope::Owner(other.idowner)).await);
    let call = format!("mesin/{id}/perangkat");
    let first = app.ops(&key, &call, &json!({})).await.ok();
    assert_eq!(
        (&first["user"], &first["idoutlet"], &first["ca"]),
        (&json!(id.to_string()), &json!(outlet.idoutlet), &Value::Null)
    );
    let lost = app.ops(&key, &call, &json!({})).await.ok();
    let next = app.ops(&key, &call, &json!({})).await.ok();
    let found = checked(&app, &[&first, &lost, &next]).await;
    assert!(
        found[0].is_some() && found[1].is_none() && found[2].is_some(),
        "two count, and one that waited is replaced: {found:?}"
    );

    let sim = app.machine(outlet, "Simulasi").await.idmesin;
    let none = "mesin ini bukan mesin mqtt, perangkatnya tidak memakai kunci";
    app.ops(&key, &format!("mesin/{sim}/perangkat"), &json!({})).await.expect(409, none);
    app.ops(&foreign, &call, &json!({})).await.expect(404, "Mesin Not found");
    app.ops(&key, "mesin/999/perangkat", &json!({})).await.expect(404, "Mesin Not found");
    let actions: Vec<String> = app.audited().await.into_iter().map(|(action, ..)| action).collect();
    assert_eq!(actions, ["kunci_mesin.buat", "kunci_mesin.buat", "kunci_mesin.cabut", "kunci_mesin.buat"]);
}

#[actix_web::test]
async fn production_makes_no_key_without_a_public_host() {
    let app = Setup::new().with(|c| c.profile = Profile::Production).start().await;
    let outlet = app.outlet("Melati").await;
    let id = mqtt_machine(&app, outlet, "Cuci 1").await;
    let key = app.key(Scope::Root).await;
    let call = format!("mesin/{id}/perangkat");
    app.ops(&key, &call, &json!({})).await.expect(422, "alamat server untuk perangkat belum diatur (mqtt.public_host)");
}

#[actix_web::test]
async fn many_logins_are_checked_at_once_and_each_is_its_own_machines() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Root).await;
    let mut issued = Vec::new();
    for name in ["Cuci 1", "Cuci 2", "Cuci 3"] {
        let id = mqtt_machine(&app, outlet, name).await;
        issued.push(app.ops(&key, &format!("mesin/{id}/perangkat"), &json!({})).await.ok());
    }
    let stolen = json!({ "idmesin": issued[0]["idmesin"], "secret": issued[1]["secret"] });
    let wrong = json!({ "idmesin": issued[0]["idmesin"], "secret": "0".repeat(32) });
    let found = checked(&app, &[&issued[2], &stolen, &issued[0], &wrong, &issued[0]]).await;
    let machines: Vec<Option<&Value>> =
        vec![Some(&issued[2]["idmesin"]), None, Some(&issued[0]["idmesin"]), None, Some(&issued[0]["idmesin"])];
    let ids: Vec<Option<Value>> = found.iter().map(|key| key.map(|key| json!(key.idmesin))).collect();
    assert_eq!(ids.iter().map(Option::as_ref).collect::<Vec<_>>(), machines);
    assert!(found.iter().flatten().all(|key| key.idoutlet == outlet.idoutlet && key.first_use), "{found:?}");
    assert!(checked(&app, &[]).await.is_empty());
}

#[actix_web::test]
async fn the_old_key_counts_until_the_new_one_was_used() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let id = mqtt_machine(&app, outlet, "Cuci 1").await;
    let key = app.key(Scope::Root).await;
    let call = format!("mesin/{id}/perangkat");
    let old = app.ops(&key, &call, &json!({})).await.ok();
    let in_use = checked(&app, &[&old]).await[0].unwrap();
    first_used(&app, &[in_use.id]).await;
    assert!(!checked(&app, &[&old]).await[0].unwrap().first_use);

    let new = app.ops(&key, &call, &json!({})).await.ok();
    let found = checked(&app, &[&old, &new]).await;
    assert!(found[0] == Some(DeviceKey { first_use: false, ..in_use }) && found[1].is_some_and(|key| key.first_use), "{found:?}");
    let mut revocations = Revocations::begin(&*app.state.store.get().await.unwrap()).await.unwrap();
    // The old key is used again at the same moment, and is revoked nevertheless.
    first_used(&app, &[in_use.id, found[1].unwrap().id]).await;
    assert!(!counts(&app, &old).await && counts(&app, &new).await);
    let issued = revocations.next(&*app.state.store.get().await.unwrap()).await.unwrap();
    assert_eq!(issued, [in_use.id]);
    let (action, actor, object) = app.audited().await.pop().unwrap();
    assert_eq!((action.as_str(), actor.as_str(), object), ("kunci_mesin.cabut", "sistem", format!("mesin:{id}")));

    let third = app.ops(&key, &call, &json!({})).await.ok();
    assert!(counts(&app, &new).await && counts(&app, &third).await, "its place is free again");
}

#[actix_web::test]
async fn a_revocation_committed_after_later_ones_is_still_reported() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let endpoint = DeviceEndpoint::of(&app.state.config, None).unwrap();
    let by = By { principal: "uji", now: app.now() };
    app.state.store.db.widen(3);
    let (mut slow, mut quick) = (app.state.store.get().await.unwrap(), app.state.store.get().await.unwrap());
    let reader = app.state.store.get().await.unwrap();
    let machines = [mqtt_machine(&app, outlet, "Cuci 1").await, mqtt_machine(&app, outlet, "Cuci 2").await];
    for id in machines {
        let tx = quick.transaction().await.unwrap();
        keys::make(&tx, (MachineId::new(id), nyala_core::domain::scope::Scope::default()), RequestedKey::First, &endpoint, by)
            .await
            .unwrap();
        tx.commit().await.unwrap();
    }
    let mut revocations = Revocations::begin(&*reader).await.unwrap();
    assert!(revocations.next(&*reader).await.unwrap().is_empty());
    let waits = slow.transaction().await.unwrap();
    keys::revoke(&waits, MachineId::new(machines[0]), by).await.unwrap();
    let tx = quick.transaction().await.unwrap();
    keys::revoke(&tx, MachineId::new(machines[1]), by).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(revocations.next(&*reader).await.unwrap(), [DeviceKeyId::new(2)]);
    waits.commit().await.unwrap();
    let mut issued = revocations.next(&*reader).await.unwrap();
    issued.sort_unstable();
    assert_eq!(issued, [1, 2].map(DeviceKeyId::new), "the one that was told may come again");
    // Revocations are repeated while an older transaction is open anywhere in the PostgreSQL cluster, even another test's.
    let silent = async { while !revocations.next(&*reader).await.unwrap().is_empty() {} };
    timeout(PATIENCE, silent).await.expect("they are told no more");
}

#[actix_web::test]
async fn an_outlets_keys_are_made_at_once_for_machines_whose_key_was_never_used() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let [first, second, retired] = ["Cuci 1", "Cuci 2", "Cuci 3"].map(|name| mqtt_machine(&app, outlet, name));
    let (first, second, retired) = (first.await, second.await, retired.await);
    app.machine(outlet, "Simulasi").await;
    app.db.execute("UPDATE mesin SET aktif = FALSE WHERE idmesin = $1", &[&retired]).await.unwrap();
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let path = format!("outlet/{}/kunci_mesin", outlet.idoutlet);
    let made = app.ops(&owner, &path, &json!({})).await.ok();
    assert_eq!(column(&made["kunci"], "idmesin"), [&json!(first), &json!(second)]);
    let one = &made["kunci"][0];
    let single = app.ops(&owner, &format!("mesin/{first}/perangkat"), &json!({})).await.ok();
    let fields = |login: &Value| login.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(one), fields(&single), "each as one machine's key is given");
    // The first machine's device logs in, so its key stays. The other's is given again, as another one.
    app.db.execute("UPDATE device_key SET first_used_at = created_at WHERE idmesin = $1", &[&first]).await.unwrap();
    let again = app.ops(&owner, &path, &json!({})).await.ok();
    assert_eq!(column(&again["kunci"], "idmesin"), [&json!(second)]);
    assert_ne!(again["kunci"][0]["secret"], made["kunci"][1]["secret"]);
    let good = "SELECT count(*) FROM device_key WHERE idmesin = $1 AND revoked_at IS NULL";
    assert_eq!(app.insert(good, &[&second]).await, 1);
    app.ops(&owner, "outlet/4711/kunci_mesin", &json!({})).await.expect(404, "outlet tidak ditemukan");
}
