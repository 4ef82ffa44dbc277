//! Devices of a process that is killed, and of one that gets thousands of connections.

use actix_web::rt::time::timeout;
use futures_util::future::{Either, join, join_all, select};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_loadtest::local::free_port;
use nyala_store::clock::{Clock, wall_clock};
use serde_json::json;

use super::{PATIENCE, PRICE, ProcessShop, Site};
use crate::devices::{Device, Given, MqttConnection, knock};

impl Site {
    /// A shop whose machine waits for a device, which connects to `port`.
    async fn device_shop(&self, port: u16) -> (ProcessShop, Given) {
        let mut shop = self.shop(600).await;
        let idoutlet = shop.body["idoutlet"].as_i64().unwrap();
        let machine = json!({"idoutlet": idoutlet, "nama": "Mesin 2", "driver": "mqtt"});
        shop.idmesin = self.ops(&shop.key, "mesin", &machine).await["id"].as_i64().unwrap();
        shop.body["idmesin"] = json!(shop.idmesin);
        let issued = self.ops(&shop.key, &format!("mesin/{}/perangkat", shop.idmesin), &json!({})).await;
        let secret = issued["secret"].as_str().unwrap().to_owned();
        (
            shop,
            Given {
                idmesin: MachineId::new(issued["idmesin"].as_i64().unwrap()),
                idoutlet: OutletId::new(idoutlet),
                secret,
                port,
            },
        )
    }

    pub(super) async fn until_online(&self, idmesin: i64) {
        let online = async {
            while !self.db.query_one("SELECT online FROM mesin WHERE idmesin = $1", &[&idmesin]).await.unwrap().get::<_, bool>(0)
            {
                actix_web::rt::task::yield_now().await;
            }
        };
        timeout(PATIENCE, online).await.expect("it is online");
    }

    /// Resident memory of the server.
    fn resident_kb(&self) -> usize {
        let pid = self.server.as_ref().expect("a server").child.id();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}

async fn killed_between_hold_and_ack(point: &str, device_ran: bool, end: &str, balance: i64) {
    let (mut site, port) = (Site::new().await, free_port().unwrap());
    let on_port = ("NYALA__MQTT__PORT", &*port.to_string());
    site.start_with(&[on_port, ("NYALA__DEV__FAULT_POINT", point)]).await;
    let (shop, given) = site.device_shop(port).await;
    let clock = Clock::running_from(wall_clock());
    let mut device = Device::subscribe(&clock, &given, "esp").await;
    device.learn_the_time().await;
    site.until_online(given.idmesin.get()).await;
    let hears = async {
        if device_ran {
            let start = device.order().await;
            device.starts(&start).await;
        }
        device.connection.closed().await;
    };
    let (paid, ()) = join(site.buy(&shop), hears).await;
    paid.expect_err("killed under it");
    site.killed().await;
    site.start_with(&[on_port]).await;
    // The first state after the restart decides at once, without waiting for a timeout.
    let mut device = device.again(&clock).await;
    device.state().await;
    if device_ran {
        site.until(end).await;
    } else {
        let start = device.order().await;
        device.starts(&start).await;
        site.until(end).await;
    }
    assert_eq!(site.balance().await, balance);
    site.assert_sound().await;
}

#[actix_web::test]
async fn a_first_state_after_a_crash_says_that_it_runs() {
    killed_between_hold_and_ack("before_post", true, "RUNNING", 0).await;
}

#[actix_web::test]
async fn a_start_that_was_held_and_not_sent_is_sent_after_a_crash() {
    killed_between_hold_and_ack("after_hold", false, "RUNNING", 0).await;
}

#[actix_web::test]
async fn a_first_state_after_a_crash_says_that_it_was_refused() {
    let (mut site, port) = (Site::new().await, free_port().unwrap());
    let on_port = ("NYALA__MQTT__PORT", &*port.to_string());
    site.start_with(&[on_port]).await;
    let (shop, given) = site.device_shop(port).await;
    let clock = Clock::running_from(wall_clock());
    let mut device = Device::subscribe(&clock, &given, "esp").await;
    device.learn_the_time().await;
    site.until_online(given.idmesin.get()).await;
    // The server is killed when the start is in transit.
    let start = match select(Box::pin(device.order()), Box::pin(site.buy(&shop))).await {
        Either::Left((start, _)) => start,
        Either::Right((answer, _)) => panic!("{answer:?}"),
    };
    site.kill().await;
    site.start_with(&[on_port]).await;
    let mut device = device.again(&clock).await;
    device.last = json!({"cmd_id": start["cmd_id"], "result": "refused"});
    device.state().await;
    site.until("REFUSED").await;
    assert_eq!(site.balance().await, PRICE);
    site.assert_sound().await;
}

#[actix_web::test]
async fn thousands_that_come_and_go_leave_nothing_behind() {
    let (mut site, port) = (Site::new().await, free_port().unwrap());
    site.start_with(&[("NYALA__MQTT__PORT", &*port.to_string())]).await;
    let (_, given) = site.device_shop(port).await;
    let clock = Clock::running_from(wall_clock());
    let mut device = Device::subscribe(&clock, &given, "esp").await;
    let come_and_go = async |device: &mut Device| {
        for _ in 0..20 {
            let mut lines = join_all((0..100).map(|_| MqttConnection::connect(port))).await;
            for (n, line) in lines.iter_mut().enumerate() {
                line.send(&b"\x10\xf0\x07\x00\x04MQTT\x04\xc2\x00\x1e"[..n % 12]).await;
            }
            drop(lines);
            device.connection.ping().await;
        }
    };
    // Memory that the first connections need stays allocated, once.
    come_and_go(&mut device).await;
    let before = site.resident_kb();
    for _ in 0..3 {
        come_and_go(&mut device).await;
    }
    assert_eq!(knock(&given).await, None);
    let more = site.resident_kb().saturating_sub(before);
    assert!(more < 4 * 1024, "{more} KiB more");
}

#[actix_web::test]
async fn a_trouble_that_a_device_makes_again_and_again_is_one_line() {
    let (mut site, port) = (Site::new().await, free_port().unwrap());
    site.start_with(&[("NYALA__MQTT__PORT", &*port.to_string())]).await;
    let (_, given) = site.device_shop(port).await;
    let clock = Clock::running_from(wall_clock());
    let mut device = Device::subscribe(&clock, &given, "esp").await;
    device.learn_the_time().await;
    for _ in 0..50 {
        for epoch in [7, 3] {
            device.epoch = epoch;
            device.state().await;
        }
    }
    device.connection.ping().await;
    let lines = site.log().matches("a machine needs staff").count();
    assert_eq!(lines, 1, "{}", site.log());
}
