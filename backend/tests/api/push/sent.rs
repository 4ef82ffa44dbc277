//! Content and form of the pushes.

use nyala_core::purchase::step::Change;
use nyala_machines::device::sim::Mode;
use nyala_store::secrets::What;
use serde_json::json;

use super::service::{CONTACT, PushService};
use super::{TELP, Wash, commit};
use crate::ops::operator::Scope;
use crate::support::arrange::receipt;
use crate::support::shop::{PRICE, buy};

#[actix_web::test]
async fn the_end_of_a_wash_is_pushed_signed_encrypted_and_without_a_name() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, phone, .. } = &wash;
    let key = app.push_key(siti).await;
    let order = wash.begun(1).await;
    assert!(service.given().is_empty());
    app.advance_s(601);
    let given = service.until(1).await;
    assert_eq!(given.path, "/phone");
    let notification = phone.open(&given);
    let tag = notification["tanda"].as_str().unwrap().to_owned();
    assert_eq!(
        notification,
        json!({"judul": "Cucian selesai", "isi": "Mesin 01 di Laundry Melati", "tuju": "/dashboard", "tanda": tag})
    );
    assert!(tag.len() <= 32 && !order.receipt.contains(&tag), "{tag}");
    assert_eq!((given.header("ttl"), given.header("urgency"), given.header("topic")), ("600", "high", tag.as_str()));
    let claims = app.claims(&given, &key);
    let left_s = claims["exp"].as_i64().unwrap() - app.now().ms() / 1000;
    assert!((1..=24 * 3600).contains(&left_s), "{left_s} s");
    assert_eq!((claims["aud"].as_str(), claims["sub"].as_str()), (Some(service.origin.as_str()), Some(CONTACT)));
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    let page = wash.counted().await;
    assert!(page.contains("nyala_pushes_total{result=\"sent\"} 1") && page.contains("nyala_pushes_waiting 0"), "{page}");
}

#[actix_web::test]
async fn each_browser_is_notified_and_a_customer_without_one_queues_nothing() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, .. } = &wash;
    let tablet = service.browser("tablet");
    app.subscribe(siti, &tablet).await.ok();
    wash.run(1).await;
    app.all_pushed().await;
    let mut paths: Vec<_> = service.given().into_iter().map(|given| given.path).collect();
    paths.sort();
    assert_eq!(paths, ["/phone", "/tablet"]);
    app.post("/scan/v1/push/berhenti", Some(&siti.token), &json!({"endpoint": tablet.endpoint})).await.ok();
    app.post("/scan/v1/push/berhenti", Some(&siti.token), &json!({"endpoint": wash.phone.endpoint})).await.ok();
    wash.run(2).await;
    app.all_pushed().await;
    assert_eq!((service.given().len(), wash.queued("menunggu").await), (2, 0), "nobody is reminded of the first, either");
}

#[actix_web::test]
async fn a_machine_that_did_not_start_and_a_stop_are_pushed() {
    let wash = Wash::open().await;
    let Wash { app, shop, siti, epay, .. } = &wash;
    app.fault(*shop, Mode::Refuse).await;
    let order = buy(1, *shop, *epay);
    app.buy(siti, &order).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    let given = wash.service.until(1).await;
    let notification = wash.phone.open(&given);
    assert_eq!((&notification["judul"], &notification["isi"]), (&json!("Mesin tidak menyala"), &json!("Saldo sudah kembali")));
    app.fault(*shop, Mode::Ok).await;
    let stopped = wash.begun(2).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "pintu terbuka"})).await.ok();
    app.until(&stopped.receipt, "STOPPED").await;
    assert_eq!(wash.sent_titles().await, ["Mesin tidak menyala", "Cucian selesai"]);
}

/// Refunds that come after the customer's call has returned.
#[actix_web::test]
async fn an_expired_purchase_is_pushed_and_one_that_ran_after_all_is_pushed_as_ended() {
    let wash = Wash::open().await;
    let (app, own) = (&wash.app, wash.account().await);
    let (now, later) = (app.now(), app.now().plus_ms(900_000));
    let mut held = Vec::new();
    for n in 1..=2 {
        let machine = app.machine(own.outlet, &format!("Mesin {n}")).await;
        held.push(app.hold(own, &machine, &receipt(n)).await.id);
    }
    assert!(commit(app, held[0], Change::GiveUp, later).await);
    assert!(commit(app, held[1], Change::RunAndFinish { started_at: now, ends_at: now.plus_ms(60_000) }, later).await);
    app.advance_s(900);
    assert_eq!(wash.sent_titles().await.len(), 2);
    let mut titles = wash.titles();
    titles.sort();
    assert_eq!(titles, ["Cucian selesai", "Mesin tidak menyala"]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_reversed_top_up_is_pushed() {
    let service = PushService::start();
    let app = service.setup().start().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
    let phone = service.browser("phone");
    app.subscribe(&siti, &phone).await.ok();
    let sold = app.ops(&key, "topup", &json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": PRICE})).await.ok();
    let reversal = format!("topup/{}/batal", sold["idpembelian_emoney"].as_str().unwrap());
    app.ops(&key, &reversal, &json!({"alasan": "salah orang"})).await.ok();
    app.ops(&key, &reversal, &json!({"alasan": "salah orang"})).await.expect(409, "top-up sudah dibatalkan");
    let notification = phone.open(&service.until(1).await);
    assert_eq!(
        (&notification["judul"], &notification["isi"], &notification["tuju"]),
        (&json!("Isi saldo dibatalkan kasir"), &json!("Lihat Riwayat"), &json!("/riwayatPage"))
    );
    app.all_pushed().await;
    assert_eq!(service.given().len(), 1);
}

#[actix_web::test]
async fn a_push_is_signed_with_the_key_that_its_browser_has_subscribed_with() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, .. } = &wash;
    let (now, mut secrets) = (app.now(), app.state.keyring.get().as_ref().clone());
    let old = app.push_key(siti).await;
    secrets.rotate(What::Pushes, now, now);
    app.state.keyring.replace(secrets.clone());
    let new = app.push_key(siti).await;
    assert_ne!(old, new);
    app.subscribe(siti, &service.browser("tablet")).await.ok();
    app.subscribe(siti, &wash.phone).await.ok();
    wash.run(1).await;
    app.all_pushed().await;
    let given = service.given();
    assert_eq!(given.len(), 2);
    for given in &given {
        app.claims(given, if given.path == "/phone" { &old } else { &new });
    }
    secrets.retire(What::Pushes, "1", now).unwrap();
    app.state.keyring.replace(secrets);
    wash.run(2).await;
    app.all_pushed().await;
    assert_eq!((service.given().len(), &*service.given()[2].path), (3, "/tablet"));
    // The app has started again, and subscribes the phone again.
    app.subscribe(siti, &wash.phone).await.ok();
    wash.run(3).await;
    app.all_pushed().await;
    service.given()[3..].iter().for_each(|given| _ = app.claims(given, &new));
    assert_eq!(service.given().len(), 5);
}
