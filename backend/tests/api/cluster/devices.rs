//! A device is connected to one server, and another one decides about its machine.

use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::join;
use serde_json::json;

use super::{named, two_of};
use crate::devices::Device;
use crate::helpers::{Customer, TestApp};
use crate::operator::Scope;
use crate::realtime::phone::Phone;
use crate::shop::{PRICE, Shop, buy};

/// A shop that `owner` decides about; its machine has a device at `linked`, which learnt the time there.
async fn washer(owner: &TestApp, linked: &TestApp) -> (Shop, Device, Customer, i64) {
    let (shop, siti, epay) = owner.own_shop(3).await;
    owner.db.execute("UPDATE mesin SET online = FALSE WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap();
    let given = linked.key_for(shop.idmesin).await;
    let device = Device::online(linked, &given).await;
    (shop, device, siti, epay)
}

#[actix_web::test]
async fn a_wash_whose_device_is_at_another_server() {
    let (first, second) = two_of(named).await;
    let (shop, mut device, siti, epay) = washer(&first, &second).await;
    let mut phone = Phone::join(&first, &siti.token).await;
    assert_eq!(phone.subscribe(shop.idmesin).await["tl"], json!(null));
    for (app, n) in [(&first, 1), (&second, 2)] {
        let order = buy(n, shop, epay);
        let starts = async {
            let start = device.order().await;
            assert_eq!(start["op"], "start");
            device.starts(&start).await;
        };
        join(app.buy(&siti, &order), starts).await.0.ok();
        assert!(phone.tick().await.tl > 595_000);
        let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let stops = async {
            let stop = loop {
                let told = device.command().await;
                if told["op"] == "stop" {
                    break told;
                }
                device.state().await;
            };
            device.ack(&stop, "done").await;
            device.ends("done").await;
        };
        let path = format!("mesin/{}/stop", shop.idmesin);
        let reason = json!({"alasan": "uji"});
        join(app.ops(&key, &path, &reason), stops).await.0.ok();
        while phone.tick().await.tl > 0 {}
        assert_eq!(first.states(&order.receipt).await, ["STOPPED"]);
    }
    assert_eq!(first.balance(epay).await, PRICE);
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_that_goes_to_another_server_was_never_away() {
    let (first, second) = two_of(named).await;
    let (shop, device, siti, epay) = washer(&first, &second).await;
    assert_eq!(first.scanned(shop.idmesin, &siti).await, "idle");
    // Its line breaks, and the balancer takes it to the other server; the one that it left hears of the end only later.
    let given = first.key_for(shop.idmesin).await;
    let mut moved = Device::online(&first, &given).await;
    drop(device);
    let back = "SELECT count(*) FROM mesin JOIN node ON idnode = link_node WHERE idmesin = $1 AND name = 'n1'";
    while first.insert(back, &[&shop.idmesin]).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    let order = buy(1, shop, epay);
    let starts = async {
        let start = moved.order().await;
        moved.starts(&start).await;
    };
    join(second.buy(&siti, &order), starts).await.0.ok();
    assert!(first.stored(shop.idmesin, "online").await);
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_whose_server_is_dead_and_that_comes_to_none_cannot_be_reached() {
    let (first, second) = two_of(named).await;
    let (shop, device, ..) = washer(&first, &second).await;
    let (lost, ..) = first.own_shop(1).await;
    let dead = "UPDATE mesin SET online = TRUE, link_node = -1 WHERE idmesin = $1";
    first.db.execute(dead, &[&lost.idmesin]).await.unwrap();
    first.until_stored(lost.idmesin, "online", false).await;
    assert!(first.stored(shop.idmesin, "online").await, "its server lives");
    drop(device);
}
