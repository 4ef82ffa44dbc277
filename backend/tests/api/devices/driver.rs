//! A test's driver behind the trait `machine::device::Driver`: purchases work with only what that trait offers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Op};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use nyala_machines::device::{CommandDropped, Driver, Uplink};
use nyala_machines::machines::Location;
use nyala_machines::recovery;
use serde_json::json;
use uuid::Uuid;

use crate::ops::operator::Scope;
use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::{PRICE, Shop, buy};

/// What a device knows of its run: the start command's id, and its end.
type FakeRun = (Uuid, Timestamp);

/// Devices on a separate thread that follow docs/contract.md §6. They send no state report until they are plugged in.
#[derive(Default)]
struct Fake {
    queue: OnceLock<(Uplink, SyncSender<(Location, Command)>)>,
    /// The number of next commands that the network will lose.
    loses: AtomicUsize,
    /// Commands that reached a device.
    received: Arc<Mutex<Vec<Op>>>,
    /// Purchases that the driver was notified of when the server started.
    recalled: Mutex<Vec<(MachineId, PurchaseState)>>,
}

impl Driver for Fake {
    fn start(&self, uplink: Uplink) -> std::io::Result<()> {
        let (commands, taken) = sync_channel(16);
        let (up, received) = (uplink.clone(), self.received.clone());
        std::thread::Builder::new().spawn(move || obey(&taken, &up, &received))?;
        assert!(self.queue.set((uplink, commands)).is_ok(), "started once");
        Ok(())
    }

    fn command(&self, to: Location, cmd: Command) -> Result<(), CommandDropped> {
        if self.loses.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
            return Err(CommandDropped);
        }
        let (_, commands) = self.queue.get().ok_or(CommandDropped)?;
        commands.try_send((to, cmd)).map_err(|_| CommandDropped)
    }

    fn recall(&self, to: Location, purchase: &Purchase) {
        self.recalled.lock().unwrap().push((to.idmesin, purchase.state));
    }
}

impl Fake {
    fn report(&self, from: Location, event: DeviceEvent) {
        self.queue.get().expect("started").0.send(from, event);
    }

    fn plug_in(&self, from: Location) {
        self.report(from, DeviceEvent::state(true, None));
    }

    fn received(&self) -> Vec<Op> {
        self.received.lock().unwrap().clone()
    }
}

fn obey(commands: &Receiver<(Location, Command)>, uplink: &Uplink, received: &Mutex<Vec<Op>>) {
    let mut runs: HashMap<MachineId, FakeRun> = HashMap::new();
    while let Ok((to, cmd)) = commands.recv() {
        received.lock().unwrap().push(cmd.op);
        let now = uplink.now();
        let known = runs.get(&to.idmesin).copied().filter(|(cmd_id, _)| *cmd_id == cmd.cmd_id);
        match (cmd.op, known) {
            (Op::Start, None) if now <= cmd.exp => _ = runs.insert(to.idmesin, (cmd.cmd_id, now.plus_ms(cmd.duration_s * 1000))),
            (Op::Stop, Some(_)) => _ = runs.insert(to.idmesin, (cmd.cmd_id, now)),
            _ => {}
        }
        let run = runs.get(&to.idmesin).copied();
        let runs_now = run.filter(|(_, ends_at)| *ends_at > now);
        if cmd.op != Op::Start {
            let run = runs_now.map(|(cmd_id, ends_at)| DeviceRun::new(cmd_id, now.ms_until(ends_at)));
            uplink.send(to, DeviceEvent::state(true, run));
        }
        let result = match run.filter(|(cmd_id, _)| *cmd_id == cmd.cmd_id) {
            Some(_) if runs_now.is_some() => AckResult::Started,
            Some(_) => AckResult::Done,
            None => AckResult::Expired,
        };
        uplink.send(to, DeviceEvent::Ack { cmd_id: cmd.cmd_id, result });
    }
}

/// A server whose machines with driver `mqtt` are played by the fake, and a shop with one of them.
async fn with_fake() -> (TestApp, Arc<Fake>, Shop) {
    let fake = Arc::new(Fake::default());
    let app = Setup::new().running_clock().driver(DriverKind::Mqtt, fake.clone()).start().await;
    let shop = app.shop(600).await;
    let idmesin = app.faked(shop).await;
    (app, fake, Shop { idmesin, ..shop })
}

impl TestApp {
    async fn faked(&self, shop: Shop) -> MachineId {
        let key = self.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        let body = json!({"idoutlet": shop.outlet.idoutlet, "nama": "Mesin 1", "driver": "mqtt"});
        MachineId::new(self.ops(&key, "mesin", &body).await.ok()["id"].as_i64().unwrap())
    }

    async fn plugged_in(&self, fake: &Fake, shop: Shop) {
        fake.plug_in(place(shop));
        let online = "SELECT online::INT::BIGINT FROM mesin WHERE idmesin = $1";
        while self.insert(online, &[&shop.idmesin]).await == 0 {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

fn place(shop: Shop) -> Location {
    Location { idmesin: shop.idmesin, idoutlet: shop.outlet.idoutlet, driver: DriverKind::Mqtt }
}

#[actix_web::test]
async fn a_purchase_and_its_stop_go_through_whatever_drives_the_machine() {
    let (app, fake, shop) = with_fake().await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.buy(&siti, &buy(1, shop, epay)).await.expect(409, "mesin sedang offline");
    assert_eq!((fake.received(), app.state.machines.last_device_message_at(shop.idmesin)), (vec![], None));
    let before = app.now();
    app.plugged_in(&fake, shop).await;
    let order = buy(2, shop, epay);
    app.buy(&siti, &order).await.ok();
    assert_eq!((app.states(&order.receipt).await, app.balance(epay).await), (vec!["RUNNING".to_owned()], 0));
    assert!(app.state.machines.last_device_message_at(shop.idmesin).unwrap() >= before);
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    app.ops(&key, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "uji"})).await.ok();
    assert_eq!(app.states(&order.receipt).await, ["STOPPED"]);
    assert_eq!(fake.received(), [Op::Start, Op::Stop]);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_command_that_is_lost_on_its_way_is_counted_and_sent_again() {
    let (app, fake, shop) = with_fake().await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.plugged_in(&fake, shop).await;
    fake.loses.store(1, Ordering::SeqCst);
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    assert_eq!(app.state.metrics.machines.device_commands_lost.get(), 1);
    // The resent start may arrive so late that a query for the time left follows it. Only the first received command is checked.
    assert_eq!(fake.received().first(), Some(&Op::Start));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_ack_for_no_purchase_makes_no_actor_and_a_state_report_does() {
    let (app, fake, shop) = with_fake().await;
    let other = Shop { idmesin: app.faked(shop).await, ..shop };
    fake.report(place(shop), DeviceEvent::Ack { cmd_id: Uuid::new_v4(), result: AckResult::Done });
    // Device messages are delivered in order, so the ack has been processed when the state is stored.
    app.plugged_in(&fake, other).await;
    let machine = &app.state.machines;
    assert_eq!((machine.actors(), machine.last_device_message_at(shop.idmesin)), (1, None));
    assert!(machine.last_device_message_at(other.idmesin).is_some());
    assert_eq!((fake.received(), app.state.metrics.machines.device_messages_dropped.get()), (vec![], 0));
}

#[actix_web::test]
async fn a_driver_is_notified_of_open_purchases_and_of_refunded_ones_that_need_staff() {
    let (app, fake, shop) = with_fake().await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, 2 * PRICE).await;
    app.plugged_in(&fake, shop).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let recalled = async || {
        fake.recalled.lock().unwrap().clear();
        recovery::resume(&app.state.machines, None).await.unwrap();
        fake.recalled.lock().unwrap().clone()
    };
    assert_eq!(recalled().await, [(shop.idmesin, PurchaseState::Running)]);
    app.db.execute("UPDATE snap_transaksi SET state = 'EXPIRED', ends_at = NULL, finished_at = $1", &[&app.now()]).await.unwrap();
    assert_eq!(recalled().await, []);
    app.db.execute("UPDATE mesin SET perlu_petugas = TRUE", &[]).await.unwrap();
    assert_eq!(recalled().await, [(shop.idmesin, PurchaseState::Expired)]);
}
