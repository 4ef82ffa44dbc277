//! A device is connected to one server, and another server owns its machine.

use nyala_core::domain::id::{NodeId, WalletId};
use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::{Either, join, select};
use nyala_cluster::membership::mark_orphans_offline;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::json;

use super::{named, two_of};
use crate::devices::{Device, NIL};
use crate::ops::operator::Scope;
use crate::realtime::phone::Phone;
use crate::support::helpers::{Customer, TestApp};
use crate::support::shop::{PRICE, Shop, buy};

/// A shop that `owner` owns. Its machine has a device at `linked`, which has received the time there.
async fn washer(owner: &TestApp, linked: &TestApp) -> (Shop, Device, Customer, WalletId) {
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
        app.buy_at(&siti, &order, &mut device).await.ok();
        assert!(phone.tick().await.tl > 595_000);
        let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let stops = async {
            let stop = device.stop_command().await;
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
async fn an_unpaid_cycle_is_in_use_at_every_server_and_stopped_by_any() {
    let (owner, other) = two_of(named).await;
    let (shop, mut device, siti, epay) = washer(&owner, &other).await;
    let path = format!("mesin/{}/stop", shop.idmesin);
    for (asked, n) in [(&other, 1), (&owner, 2)] {
        let cmd_id = format!("6f1d6c1e-0000-4000-8000-00000000000{n}");
        device.run = json!({"cmd_id": cmd_id, "sisa_s": 1_500});
        device.state().await;
        let says = "SELECT count(*) FROM mesin WHERE idmesin = $1 AND jalan_cmd_id IS NOT NULL";
        while owner.insert(says, &[&shop.idmesin]).await == 0 {
            sleep(Duration::from_millis(20)).await;
        }
        for app in [&owner, &other] {
            app.buy(&siti, &buy(n, shop, epay)).await.expect(409, "mesin sedang digunakan");
        }
        let key = asked.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let stops = async {
            let stop = device.stop_command().await;
            assert_eq!(stop["cmd_id"], cmd_id);
            device.ends("done").await;
        };
        join(asked.ops(&key, &path, &json!({"alasan": "uji"})), stops).await.0.expect(200, "mesin dihentikan");
        while owner.insert(says, &[&shop.idmesin]).await > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    }
    owner.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_that_moves_to_another_server_is_never_offline() {
    let (first, second) = two_of(named).await;
    let (shop, device, siti, epay) = washer(&first, &second).await;
    assert_eq!(first.scanned(shop.idmesin.get(), &siti).await, "idle");
    // The connection breaks, and the balancer takes the device to the other server; the previous server notices the end only later.
    let given = first.key_for(shop.idmesin).await;
    let mut moved = Device::online(&first, &given).await;
    drop(device);
    let back = "SELECT count(*) FROM mesin JOIN node ON idnode = link_node WHERE idmesin = $1 AND name = 'n1'";
    while first.insert(back, &[&shop.idmesin]).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    let order = buy(1, shop, epay);
    second.buy_at(&siti, &order, &mut moved).await.ok();
    assert!(first.stored(shop.idmesin.get(), "online").await);
    first.assert_no_violation().await;
}

/// The server has not seen that run begin, and does not own the machine.
#[actix_web::test]
async fn a_run_that_ends_early_waits_for_staff_whichever_server_its_device_has_come_to() {
    let (owner, other) = two_of(named).await;
    for ended_on_the_way in [false, true] {
        let (shop, mut device, siti, epay) = washer(&owner, &owner).await;
        owner.buy_at(&siti, &buy(1, shop, epay), &mut device).await.ok();
        let given = other.key_for(shop.idmesin).await;
        let mut moved = Device::subscribe(&other.clock, &given, "esp").await;
        (moved.conn, moved.epoch, moved.run, moved.last) = (2, device.epoch, device.run.clone(), device.last.clone());
        drop(device);
        let cmd_id = moved.run["cmd_id"].clone();
        if ended_on_the_way {
            moved.ends("done").await;
        } else {
            moved.state().await;
        }
        let asked = moved.order().await;
        assert_eq!((&asked["op"], &asked["cmd_id"]), (&json!("query"), &cmd_id));
        if ended_on_the_way {
            moved.state().await;
        } else {
            moved.ends("done").await;
        }
        owner.until_stored(shop.idmesin.get(), "perlu_petugas", true).await;
        let details = owner.audit_details("mesin.berhenti_lebih_awal").await;
        let left_s = details.last().unwrap()["sisa_s"].as_i64().unwrap();
        assert!(details.last().unwrap()["cmd_id"] == cmd_id && left_s > 500, "{details:?}");
        assert_eq!(owner.balance(epay).await, 2 * PRICE, "what becomes of the money, staff decide");
        other.asked_until_free(&mut moved).await;
        assert_eq!(owner.audit_details("mesin.berhenti_lebih_awal").await.len(), details.len());
    }
    owner.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_whose_server_is_dead_and_that_comes_to_none_cannot_be_reached() {
    let (first, second) = two_of(named).await;
    let (shop, device, ..) = washer(&first, &second).await;
    let (lost, ..) = first.own_shop(1).await;
    let dead = "UPDATE mesin SET online = TRUE, link_node = -1 WHERE idmesin = $1";
    first.db.execute(dead, &[&lost.idmesin]).await.unwrap();
    let (client, me) = (first.state.store.get().await.unwrap(), first.state.machines.ownership().node().unwrap());
    all_came_late(&first).await;
    assert_eq!(mark_orphans_offline(&client, me).await.unwrap(), 0, "its own beat came late just now: everybody's may have");
    let calm = "UPDATE node SET late_since = late_since - INTERVAL '1 hour'";
    first.db.execute(calm, &[]).await.unwrap();
    first.until_stored(lost.idmesin.get(), "online", false).await;
    assert!(first.stored(shop.idmesin.get(), "online").await, "its server lives");
    drop(device);
}

/// Sets the state in which every server's heartbeat has just been late: in that grace period no server reports lost devices.
async fn all_came_late(app: &TestApp) {
    app.db.execute("UPDATE node SET late_since = clock_timestamp()", &[]).await.unwrap();
}

/// A device whose last message is older than this is queried.
const FRESH_MS: i64 = 3_000;

/// All questions to devices, and their answers, have been deleted.
async fn no_question_is_left(app: &TestApp) {
    assert_eq!(app.insert("SELECT count(*) FROM device_question", &[]).await, 0);
}

#[actix_web::test]
async fn not_a_rupiah_is_held_for_a_mute_device_at_another_server() {
    let (first, second) = two_of(named).await;
    let (shop, mut device, siti, epay) = washer(&first, &second).await;
    for app in [&first, &second] {
        app.clock.advance_ms(FRESH_MS + 1);
    }
    let order = buy(1, shop, epay);
    first.buy(&siti, &order).await.expect(409, "mesin sedang offline");
    assert_eq!((first.balance(epay).await, first.states(&order.receipt).await), (3 * PRICE, vec![]));
    assert_eq!(device.command().await["cmd_id"], NIL);
    no_question_is_left(&first).await;
    // The device's program runs again.
    first.buy_at(&siti, &buy(2, shop, epay), &mut device).await.ok();
    no_question_is_left(&first).await;
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn a_device_whose_server_is_dead_is_not_queried_and_its_stored_state_counts() {
    let (first, second) = two_of(named).await;
    let (shop, siti, epay) = second.own_shop(1).await;
    all_came_late(&first).await;
    let dead = "UPDATE mesin SET online = TRUE, link_node = -1 WHERE idmesin = $1";
    first.db.execute(dead, &[&shop.idmesin]).await.unwrap();
    let order = buy(1, shop, epay);
    let given = second.key_for(shop.idmesin).await;
    // Its device is connecting to a server that is alive.
    let comes = async {
        while first.states(&order.receipt).await.is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        let mut device = Device::online(&second, &given).await;
        let start = device.order().await;
        device.starts(&start).await;
    };
    join(first.buy(&siti, &order), comes).await.0.ok();
    first.assert_no_violation().await;
}

/// Two causes: its server stalled until the others reported the device as lost, or the previous server noticed the disconnect late.
#[actix_web::test]
async fn a_connected_device_that_was_recorded_as_offline_is_reached_again() {
    let (first, second) = two_of(named).await;
    let (shop, mut device, siti, epay) = washer(&first, &second).await;
    let (one, other) = [&first, &second].map(|app| app.state.machines.ownership().node()).into();
    for told_by in [other, one] {
        let gone = "UPDATE mesin SET online = FALSE, link_node = $2 WHERE idmesin = $1";
        first.db.execute(gone, &[&shop.idmesin, &told_by]).await.unwrap();
        first.until_stored(shop.idmesin.get(), "online", true).await;
        let link_node = first.insert("SELECT link_node FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await;
        assert_eq!(Some(NodeId::new(link_node)), other);
    }
    first.buy_at(&siti, &buy(1, shop, epay), &mut device).await.ok();
}

#[actix_web::test]
async fn a_device_at_a_server_that_is_cut_off_is_sent_to_another_one() {
    let (first, second) = two_of(named).await;
    let (_, mut device, ..) = washer(&first, &second).await;
    second.cut_off_from_database(true).await;
    device.connection.closed().await;
    second.cut_off_from_database(false).await;
}

#[actix_web::test]
async fn every_server_knows_the_device_of_another_one() {
    let (first, second) = two_of(named).await;
    let (shop, _, _) = first.own_shop(3).await;
    first.db.execute("UPDATE mesin SET online = FALSE WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap();
    let given = second.key_for(shop.idmesin).await;
    let mut device = Device::online(&second, &given).await;
    let mut message = device.message();
    message["rssi"] = json!(-84);
    device.send("hb", &message).await;
    let key = first.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    first.until_hours(shop.idmesin, [1, 1, 0]).await;
    for app in [&first, &second] {
        let asked = app.detail(&key, shop.idmesin);
        let answers = async {
            loop {
                device.command().await;
                device.state().await;
            }
        };
        let Either::Left((seen, _)) = select(Box::pin(asked), Box::pin(answers)).await;
        let device = &seen["perangkat"];
        assert_eq!((&device["fw"], &device["boot_hari_ini"]), (&json!("uji"), &json!(1)));
        let heard = Timestamp::parse_rfc3339(device["terdengar_at"].as_str().unwrap()).unwrap();
        assert!(heard.ms_until(app.now()) < 10_000, "{device}");
    }
}

#[actix_web::test]
async fn a_test_start_through_any_server_is_one() {
    let (first, second) = two_of(named).await;
    let (shop, mut device, ..) = washer(&first, &second).await;
    for app in [&first, &second] {
        let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let runs = async {
            let start = device.order().await;
            assert_eq!((&start["op"], &start["durasi_s"]), (&json!("start"), &json!(60)));
            device.starts(&start).await;
        };
        let (tested, ()) = join(app.test_start(&key, shop.idmesin, 60), runs).await;
        let receipt = tested.ok()["idtransaksi"].as_str().unwrap().to_owned();
        let stops = async {
            let stop = device.stop_command().await;
            device.ack(&stop, "done").await;
            device.ends("done").await;
        };
        let path = format!("mesin/{}/stop", shop.idmesin);
        join(app.ops(&key, &path, &json!({"alasan": "uji"})), stops).await.0.ok();
        assert_eq!(first.states(&receipt).await, ["STOPPED"]);
    }
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn coins_of_a_board_that_moves_between_servers_are_counted_once() {
    let (first, second) = two_of(named).await;
    let (shop, mut device, ..) = washer(&first, &second).await;
    let key = first.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    device.coins = json!(10);
    device.heartbeat().await;
    first.until_series(shop.idmesin, 10).await;
    device.coins = json!(12);
    device.heartbeat().await;
    let given = first.key_for(shop.idmesin).await;
    let mut moved = Device::subscribe(&first.clock, &given, "esp").await;
    // It says the same there, perhaps before the other server has written it, and goes on.
    (moved.conn, moved.coins) = (2, json!(12));
    moved.state().await;
    first.until_coins(&key, shop.idmesin, 2).await;
    moved.coins = json!(15);
    moved.heartbeat().await;
    second.until_coins(&key, shop.idmesin, 5).await;
    drop(device);
    let counted = "SELECT SUM(jumlah)::BIGINT FROM koin_hitung WHERE idmesin = $1";
    assert_eq!(second.insert(counted, &[&shop.idmesin]).await, 5);
    first.assert_no_violation().await;
}
