//! Keys of connected devices: a new key replaces one without a gap, and a revocation ends one at once.

use actix_web::rt::task::spawn_blocking;
use futures_util::future::{join, join_all};
use nyala_mqtt::Refusal;

use super::{Device, knock, standing};
use crate::cli::program_beside;

#[actix_web::test]
async fn a_key_that_follows_takes_over_when_it_is_used() {
    let app = standing().start().await;
    let old = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &old).await;
    let new = app.key_for(old.idmesin).await;
    // Until then the old key is valid, also for new connections.
    device = device.again(&app.clock).await;
    device.state().await;
    device.command().await;
    let mut other = Device::subscribe(&app.clock, &new, "other").await;
    device.connection.closed().await;
    assert_eq!(app.metric("nyala_device_closed_total{reason=\"revoked\"}").await, 1.0);
    assert_eq!(knock(&old).await, Some(Refusal::Login));
    assert_eq!(knock(&new).await, None);
    other.connection.ping().await;
    assert!(app.stored(old.idmesin.get(), "online").await, "the machine was never away");
}

#[actix_web::test]
async fn a_revocation_by_another_process_closes_the_line() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let (mut device, mut stays) = (Device::online(&app, &given).await, Device::online(&app, &other).await);
    let mut second = Device::log_in(&app.clock, &given, "second").await;
    let mut command = program_beside(&app, &["device", "revoke", &given.idmesin.to_string()]);
    let revoked = spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    device.connection.closed().await;
    second.connection.closed().await;
    assert_eq!(app.metric("nyala_device_closed_total{reason=\"revoked\"}").await, 2.0);
    assert_eq!(knock(&given).await, Some(Refusal::Login));
    stays.connection.ping().await;
}

#[actix_web::test]
async fn a_login_whose_key_ends_while_it_is_judged_does_not_stay() {
    let app = standing().with(|c| c.database.lock_ms = 20_000).start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let mut here = Device::online(&app, &other).await;
    app.until_stored(other.idmesin.get(), "online", true).await;
    // The first use of a key reads the machine's row, after the key was found valid.
    let (blocker, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    blocker.batch_execute("BEGIN; LOCK TABLE mesin IN EXCLUSIVE MODE").await.unwrap();
    let ends = async {
        app.lock_waiter().await;
        app.db.execute("UPDATE device_key SET revoked_at = now(), revoked_tx = pg_current_xact_id()", &[]).await.unwrap();
        // When the other device's connection closes, the server has read the revocation.
        here.connection.closed().await;
        blocker.batch_execute("COMMIT").await.unwrap();
    };
    let (answer, ()) = join(knock(&given), ends).await;
    assert_eq!(answer, Some(Refusal::Login));
    app.until_counted("nyala_device_connections", 0.0).await;
}

#[actix_web::test]
async fn a_locked_machine_delays_only_its_own_device() {
    let app = standing().with(|c| c.database.lock_ms = 20_000).start().await;
    let outlet = app.outlet("Melati").await;
    let mut all = Vec::new();
    for n in 1..=8 {
        all.push(app.given(outlet, &format!("Cuci {n}")).await);
    }
    let held = &all[3];
    // The key of a rotation: its first use would end the previous one.
    assert_eq!(knock(held).await, None);
    let next = app.key_for(held.idmesin).await;
    let blocker = app.locked("mesin", held.idmesin).await;
    let (answer, others) = join(knock(&next), join_all(all.iter().map(knock))).await;
    assert_eq!(answer, Some(Refusal::Unavailable));
    assert!(others.iter().all(Option::is_none), "{others:?}");
    blocker.batch_execute("COMMIT").await.unwrap();
    assert_eq!((knock(held).await, knock(&next).await), (None, None));
    assert_eq!(knock(held).await, Some(Refusal::Login), "its first use is written with the login that was taken");
}
