//! Several servers on one database: any of them serves every call, one of them owns each machine.

mod devices;
mod failover;
mod files;
mod limits;
mod notifications;
mod number_moves;
mod sockets;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use nyala_cluster::Owner;
use nyala_cluster::fence::Fence;
use nyala_cluster::membership::{self, LastHeartbeat};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, NodeId, PurchaseId, WalletId};
use nyala_core::domain::shard::SHARDS;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Op, Sensor, StateReport};
use nyala_core::purchase::step::Change;
use nyala_ledger::purchase::apply;
use nyala_machines::device::record::record;
use nyala_machines::device::{CommandDropped, Driver, Uplink};
use nyala_machines::machines::Location;
use nyala_store::db::migrate;
use serde_json::json;
use uuid::Uuid;

use crate::ops::operator::Scope;
use crate::realtime::phone::Phone;
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{PRICE, Shop, buy};

/// Timeout for actions that servers finish within two seconds, long enough for a busy host.
const PATIENCE: Duration = Duration::from_secs(30);

/// Devices that every server reaches: they answer the server that sent the command, and refuse a start with an epoch below the highest seen.
#[derive(Default)]
struct SharedDevices {
    runs: Mutex<HashMap<MachineId, (Uuid, Timestamp)>>,
    epochs: Mutex<HashMap<MachineId, i64>>,
    answers: Mutex<Vec<(&'static str, Op)>>,
}

/// A server's driver for these devices.
struct SharedDriver {
    of: &'static str,
    devices: Arc<SharedDevices>,
    uplink: OnceLock<Uplink>,
}

impl Driver for SharedDriver {
    fn start(&self, uplink: Uplink) -> std::io::Result<()> {
        self.uplink.set(uplink).map_err(|_| std::io::Error::other("started twice"))
    }

    fn command(&self, to: Location, cmd: Command) -> Result<(), CommandDropped> {
        let uplink = self.uplink.get().ok_or(CommandDropped)?;
        self.devices.answers.lock().unwrap().push((self.of, cmd.op));
        let (now, mut runs) = (uplink.now(), self.devices.runs.lock().unwrap());
        let own = runs.get(&to.idmesin).copied().filter(|(cmd_id, _)| *cmd_id == cmd.cmd_id);
        let mut epochs = self.devices.epochs.lock().unwrap();
        let seen = epochs.entry(to.idmesin).or_default();
        let is_current = cmd.epoch >= *seen;
        *seen = cmd.epoch.max(*seen);
        match (cmd.op, own) {
            (Op::Start, None) if now <= cmd.exp && is_current => {
                runs.insert(to.idmesin, (cmd.cmd_id, now.plus_ms(cmd.duration_s * 1_000)));
            }
            (Op::Stop, Some(_)) => _ = runs.insert(to.idmesin, (cmd.cmd_id, now)),
            _ => {}
        }
        let run = runs.get(&to.idmesin).copied();
        let result = match run.filter(|(cmd_id, _)| *cmd_id == cmd.cmd_id) {
            Some((_, ends_at)) if ends_at > now => AckResult::Started,
            Some(_) => AckResult::Done,
            None => AckResult::Expired,
        };
        let run = run.filter(|(_, ends_at)| *ends_at > now);
        let run = run.map(|(cmd_id, ends_at)| DeviceRun::new(cmd_id, now.ms_until(ends_at)));
        if cmd.op != Op::Start {
            uplink.send(to, DeviceEvent::state(true, run));
        }
        uplink.send(to, DeviceEvent::Ack { cmd_id: cmd.cmd_id, result });
        Ok(())
    }
}

/// One of several servers.
pub fn named(name: &'static str) -> Setup {
    of_cluster(Setup::new(), name)
}

fn of_cluster(setup: Setup, name: &str) -> Setup {
    setup.running_clock().with(|config| {
        config.cluster.enabled = true;
        config.cluster.name = name.to_owned();
    })
}

/// The same with its driver for the devices.
fn server(name: &'static str, devices: &Arc<SharedDevices>) -> Setup {
    let driver = SharedDriver { of: name, devices: devices.clone(), uplink: OnceLock::new() };
    named(name).driver(DriverKind::Mqtt, Arc::new(driver))
}

/// Two servers that share all shards, and devices that both reach.
async fn two() -> (TestApp, TestApp, Arc<SharedDevices>) {
    let devices = Arc::new(SharedDevices::default());
    let (first, second) = two_of(|name| server(name, &devices)).await;
    (first, second, devices)
}

/// Two servers that share all shards.
pub async fn two_of(server: impl Fn(&'static str) -> Setup) -> (TestApp, TestApp) {
    let first = server("n1").start().await;
    let second = server("n2").start_beside(&first).await;
    share(&first, &second).await;
    (first, second)
}

async fn share(first: &TestApp, second: &TestApp) {
    let shared = async {
        while [first, second].iter().any(|app| app.owned() != SHARDS / 2) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, shared).await.expect("each owns its share");
}

impl TestApp {
    fn owned(&self) -> i32 {
        i32::try_from(self.state.machines.ownership().shards().unwrap().len()).unwrap()
    }

    fn owns(&self, shop: Shop) -> bool {
        self.state.machines.ownership().owns(shop.outlet.idoutlet)
    }

    /// A shop that `self` owns, whose machine every server reaches, and a customer who can pay `times`.
    async fn own_shop(&self, times: i64) -> (Shop, Customer, WalletId) {
        loop {
            let shop = self.shop(600).await;
            if self.owns(shop) {
                // The device is connected to a server that is alive; others would soon be recorded as unreachable.
                let reached = "UPDATE mesin SET driver = 'mqtt', online = TRUE, link_node = $2 WHERE idmesin = $1";
                self.db.execute(reached, &[&shop.idmesin, &self.state.machines.ownership().node()]).await.unwrap();
                let siti = self.register_customer(&format!("8121111{:04}", shop.idmesin), "Siti", "Rahmawati").await;
                let epay = self.balance_of(&siti, shop, times * PRICE).await;
                return (shop, siti, epay);
            }
        }
    }
}

#[actix_web::test]
async fn a_purchase_through_any_server_is_one_and_its_owner_starts_the_machine() {
    let (first, second, devices) = two().await;
    let (shop, siti, epay) = first.own_shop(3).await;
    // The phone, its countdown and its payment are at the server that does not own the machine.
    let mut phone = Phone::join(&second, &siti.token).await;
    assert_eq!(phone.subscribe(shop.idmesin).await["tl"], json!(null));
    let order = buy(1, shop, epay);
    second.buy(&siti, &order).await.ok();
    // The owner did not send the first start itself, so it queries the remaining time.
    assert_eq!(*devices.answers.lock().unwrap(), [("n1", Op::Start), ("n1", Op::Query)], "one server speaks with it, once");
    assert_eq!(second.balance(epay).await, 2 * PRICE);
    let tick = phone.tick().await;
    assert!(tick.tl > 595_000, "{tick:?}");
    // A phone that joins later gets the stored state.
    let mut later = Phone::join(&second, &siti.token).await;
    assert!(later.subscribe(shop.idmesin).await["tl"].as_i64().unwrap() > 590_000);
    // The same receipt again, at any server, is the same purchase.
    for app in [&first, &second] {
        app.buy(&siti, &order).await.ok();
    }
    let other = buy(2, shop, epay);
    for app in [&first, &second] {
        app.buy(&siti, &other).await.expect(409, "mesin sedang digunakan");
    }
    // It is stopped through the other server, too, and there the countdown ends.
    let key = second.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    second.ops(&key, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "uji"})).await.ok();
    let end = async { while phone.tick().await.tl > 0 {} };
    timeout(PATIENCE, end).await.expect("the last tick");
    assert_eq!(first.states(&order.receipt).await, ["STOPPED"]);
    assert_eq!(second.balance(epay).await, 2 * PRICE);
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn of_all_who_press_pay_at_all_servers_one_wins() {
    let (first, second, devices) = two().await;
    let (shop, siti, epay) = first.own_shop(20).await;
    let orders: Vec<_> = (1..=16).map(|n| buy(n, shop, epay)).collect();
    let pressed =
        orders.iter().enumerate().map(|(n, order)| if n % 2 == 0 { first.buy(&siti, order) } else { second.buy(&siti, order) });
    let answers = futures_util::future::join_all(pressed).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.status == 200 || answer.message == "mesin sedang digunakan"), "{answers:?}");
    assert_eq!(first.balance(epay).await, 19 * PRICE);
    assert_eq!(devices.answers.lock().unwrap().iter().filter(|(_, op)| *op == Op::Start).count(), 1);
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn a_commit_of_an_owner_that_is_none_any_more_changes_nothing() {
    let (first, second, _) = two().await;
    let (shop, ..) = first.own_shop(1).await;
    let siti = first.register_customer("81299999999", "Budi", "Santoso").await;
    let epay = first.funded(&siti, shop.outlet, PRICE).await;
    let Owner::Here(fence) = first.state.machines.ownership().of(shop.outlet.idoutlet) else { panic!("it owns it") };
    let machine = first.machine(shop.outlet, "Mesin 2").await;
    let held = first.hold(epay, &machine, "SLF000000000000099").await;
    let client = second.state.store.get().await.unwrap();
    let (now, id) = (first.now(), held.id);
    let run = Change::Run { started_at: now, ends_at: now.plus_ms(1_000), added_s: 0 };
    let Fence { node, epoch, .. } = fence;
    let shard = second.state.machines.ownership().shards().unwrap()[0];
    for stale in
        [Fence { epoch: epoch - 1, ..fence }, Fence { node: NodeId::new(node.get() + 1), ..fence }, Fence { shard, ..fence }]
    {
        for change in [Change::MarkSent, Change::MarkUnsure, run, Change::Expire, Change::GiveUp] {
            assert_eq!(
                apply(&client, PurchaseId::new(id), change, now, Some(&stale)).await.unwrap(),
                None,
                "{change:?} behind {stale:?}"
            );
        }
    }
    // A device message that an owner received before it stalled is outdated.
    let flagged = "UPDATE mesin SET perlu_petugas = TRUE WHERE idmesin = $1";
    first.db.execute(flagged, &[&machine.idmesin]).await.unwrap();
    let idle = StateReport { online: true, run: None, sensor: Sensor::default() };
    let waits = async || first.stored(machine.idmesin.get(), "perlu_petugas").await;
    record(&client, machine.idmesin, idle, false, now, Some(&Fence { epoch: epoch - 1, ..fence })).await.unwrap();
    assert!(waits().await);
    record(&client, machine.idmesin, idle, false, now, Some(&fence)).await.unwrap();
    assert!(!waits().await);
    assert!(apply(&client, PurchaseId::new(id), run, now, Some(&fence)).await.unwrap().is_some());
    for change in [Change::Sooner { started_at: now, ends_at: now, added_s: 0 }, Change::Stop { ends_at: now }] {
        assert_eq!(
            apply(&client, PurchaseId::new(id), change, now, Some(&Fence { epoch: epoch + 1, ..fence })).await.unwrap(),
            None
        );
        assert!(apply(&client, PurchaseId::new(id), change, now, Some(&fence)).await.unwrap().is_some());
    }
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn a_heartbeat_returns_when_the_first_lease_of_the_others_expires() {
    let app = TestApp::spawn().await;
    let client = app.state.store.get().await.unwrap();
    let good = app.state.keyring.get().good_kids();
    let [me, second, third] = ["n1", "n2", "n3"].map(|name| membership::join(&client, name, "1", &good));
    let (me, second, third) = (me.await.unwrap(), second.await.unwrap(), third.await.unwrap());
    let set_lease_end = async |node: NodeId, left: &str| {
        let live = "UPDATE node SET alive_until = clock_timestamp() + $2::TEXT::INTERVAL WHERE idnode = $1";
        client.execute(live, &[&node, &left]).await.unwrap();
    };
    let first_end_s = async || {
        let heartbeat = membership::heartbeat(&client, me, LastHeartbeat::default(), &good).await.unwrap();
        heartbeat.first_end.map(|end| end.as_secs())
    };
    set_lease_end(second, "1 hour").await;
    set_lease_end(third, "1 minute").await;
    assert!(first_end_s().await.is_some_and(|s| s <= 60));
    set_lease_end(third, "-1 minute").await;
    assert!(first_end_s().await.is_some_and(|s| s > 60));
    set_lease_end(second, "-1 minute").await;
    assert_eq!(first_end_s().await, None, "its own life is none of the others'");
}

/// What an older program cannot read is written only when this says that none is left.
#[actix_web::test]
async fn the_oldest_live_release_is_that_of_the_server_that_knows_the_fewest_migrations() {
    let app = TestApp::spawn().await;
    let client = app.state.store.get().await.unwrap();
    let newest = migrate::newest_known();
    let oldest =
        async || membership::oldest_live_release(&***client).await.unwrap().map(|it| (it.name.clone(), it.can_read(newest)));
    assert_eq!(oldest().await, None, "a single server has no row");
    membership::join(&client, "n1", "2", &app.state.keyring.get().good_kids()).await.unwrap();
    client.execute("UPDATE node SET alive_until = 'infinity'", &[]).await.unwrap();
    assert_eq!(oldest().await, Some(("n1".to_owned(), true)));
    // As the releases before `node.knows` join, and one of after it that knows less.
    let join = "INSERT INTO node (name, version, started_at, alive_until, late_since) VALUES ($1, '1', now(), 'infinity', now())";
    client.execute(join, &[&"n2"]).await.unwrap();
    assert_eq!(oldest().await, Some(("n2".to_owned(), false)));
    client.execute("UPDATE node SET knows = $1 - 1 WHERE name = 'n2'", &[&newest]).await.unwrap();
    assert_eq!(oldest().await, Some(("n2".to_owned(), false)));
    client.execute("UPDATE node SET alive_until = clock_timestamp() - INTERVAL '1 ms' WHERE name = 'n2'", &[]).await.unwrap();
    assert_eq!(oldest().await, Some(("n1".to_owned(), true)), "a server whose lease has expired is not alive");
}
