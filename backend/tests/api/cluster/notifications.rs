//! Several servers with a NATS server between them: changes at one reach the others at once, and nothing depends on it.

use nyala_core::domain::id::OutletId;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::time::sleep;
use embedded_postgres::die_with_parent;
use nix::sys::signal::Signal;
use nyala_loadtest::local::{free_port, installed};
use serde_json::{Value, json};

use super::{named, server, two_of};
use crate::ops::operator::Scope;
use crate::realtime::phone::{Phone, soon};
use crate::support::helpers::{PASSWORD, TestApp};
use crate::support::shop::{PRICE, buy};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A separate NATS server for the test.
struct Nats {
    port: u16,
    child: Child,
}

impl Nats {
    fn run(port: u16) -> Child {
        let mut command = Command::new(installed("nats-server").unwrap());
        command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "--user", "nyala", "--pass", "rahasia"]);
        die_with_parent(&mut command, Signal::SIGKILL);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nats-server")
    }

    /// `None` where nats-server is not installed.
    fn start() -> Option<Self> {
        if installed("nats-server").is_none() {
            // Written past the test runner, which hides the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: nats-server is not here, so servers tell each other nothing");
            return None;
        }
        let port = free_port().unwrap();
        Some(Self { port, child: Self::run(port) })
    }

    fn url(&self) -> String {
        format!("nats://nyala:rahasia@127.0.0.1:{}", self.port)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two servers that send each other change notifications.
async fn two_with(nats: &Nats) -> (TestApp, TestApp) {
    let url = nats.url();
    let with = |name| named(name).with(|config| config.cluster.nats_url = url.parse().unwrap());
    let (first, second) = two_of(with).await;
    for app in [&first, &second] {
        app.is_notified().await;
    }
    (first, second)
}

impl TestApp {
    /// Waits until a new message of another server has arrived.
    async fn is_notified(&self) {
        let metrics = &self.state.metrics.cluster.notifications;
        let before = metrics.received.get();
        soon("news", async {
            while metrics.received.get() <= before || self.state.notifier.round_trip_ms().is_none() {
                sleep(LOOK_EVERY).await;
            }
        })
        .await;
    }
}

async fn top_up(app: &TestApp, key: &str, telp: &str, idoutlet: OutletId) -> Value {
    app.ops(key, "topup", &json!({"telp": telp, "idoutlet": idoutlet, "nominal": 50_000})).await.ok()["idcustomer"].clone()
}

#[actix_web::test]
async fn a_balance_reaches_phones_at_every_server_and_again_after_nats_was_down() {
    let Some(mut nats) = Nats::start() else { return };
    let (first, second) = two_with(&nats).await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let outlet = first.outlet("Melati").await;
    let key = first.key(Scope::Supervisor(outlet.idoutlet)).await;
    let mut phones = [Phone::join(&first, &siti.token).await, Phone::join(&second, &siti.token).await];
    let account = top_up(&first, &key, &siti.telp, outlet.idoutlet).await;
    for phone in &mut phones {
        assert_eq!(phone.event().await, json!(["saldo", {"idcustomer": account, "saldo": 50_000, "sebab": "topup"}]));
    }

    nats.kill();
    soon("it is noticed", async {
        while first.state.metrics.cluster.notifications.connected.get() > 0 {
            sleep(LOOK_EVERY).await;
        }
    })
    .await;
    // The phone at the same server gets it, and no request waits for the other servers.
    top_up(&first, &key, &siti.telp, outlet.idoutlet).await;
    assert_eq!(phones[0].event().await, json!(["saldo", {"idcustomer": account, "saldo": 100_000, "sebab": "topup"}]));

    nats.child = Nats::run(nats.port);
    for app in [&first, &second] {
        app.is_notified().await;
    }
    top_up(&second, &key, &siti.telp, outlet.idoutlet).await;
    for phone in &mut phones {
        assert_eq!(phone.event().await, json!(["saldo", {"idcustomer": account, "saldo": 150_000, "sebab": "topup"}]));
    }
}

#[actix_web::test]
async fn a_purchase_continues_with_and_without_notifications() {
    let Some(mut nats) = Nats::start() else { return };
    let (url, devices) = (nats.url(), Arc::default());
    let (first, second) =
        two_of(|name| server(name, &devices).with(|config| config.cluster.nats_url = url.parse().unwrap())).await;
    second.is_notified().await;
    let (shop, siti, epay) = first.own_shop(2).await;
    let mut phone = Phone::join(&second, &siti.token).await;
    phone.subscribe(shop.idmesin).await;
    second.buy(&siti, &buy(1, shop, epay)).await.ok();
    assert!(phone.tick().await.tl > 595_000);
    assert!(first.state.metrics.cluster.notifications.received.get() > 0);
    nats.kill();
    let (other, budi, other_epay) = first.own_shop(2).await;
    second.buy(&budi, &buy(2, other, other_epay)).await.ok();
    assert_eq!([first.balance(epay).await, first.balance(other_epay).await], [PRICE, PRICE]);
    first.assert_no_violation().await;
}

#[actix_web::test]
async fn tokens_and_sessions_at_tills_end_everywhere_at_once() {
    let Some(nats) = Nats::start() else { return };
    let (first, second) = two_with(&nats).await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let other_phone = second.login(&siti.telp, PASSWORD).await.ok()["token"].as_str().unwrap().to_owned();
    let (mut left, mut stays) = (Phone::join(&second, &siti.token).await, Phone::join(&second, &other_phone).await);
    first.log_out(&siti.token).await.ok();
    left.closed().await;
    assert_eq!(stays.subscribe(4_711).await["status"], 404);
    second.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");

    let outlet = first.outlet("Melati").await;
    let rina = first.kasir(outlet.idoutlet).await;
    let ticket = first.ask(&rina, "soket", &json!({})).await.ok()["tiket"].clone();
    let mut page = Phone::dial(second.address()).await;
    page.connect(Some(&json!({ "tiket": ticket }))).await.unwrap();
    first.ask(&rina, "keluar", &json!({})).await.ok();
    page.closed().await;
}

#[actix_web::test]
async fn a_customer_has_ten_sockets_at_all_servers_together() {
    let Some(nats) = Nats::start() else { return };
    let (first, second) = two_with(&nats).await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let auth = json!({ "token": siti.token });
    let mut phones = Vec::new();
    for _ in 0..6 {
        phones.push(Phone::join(&first, &siti.token).await);
    }
    // The other server's sockets become known after a short time.
    let fit = async |n: usize| {
        loop {
            let mut here = Vec::new();
            let refused = loop {
                let mut phone = Phone::dial(second.address()).await;
                match phone.connect(Some(&auth)).await {
                    Ok(_) => here.push(phone),
                    Err(refused) => break refused,
                }
            };
            assert_eq!(refused, json!({ "message": "too many sockets" }));
            if here.len() == n {
                break;
            }
            drop(here);
            sleep(LOOK_EVERY).await;
        }
    };
    soon("four fit beside six", fit(4)).await;
    phones.truncate(3);
    soon("seven fit beside three", fit(7)).await;
}

#[actix_web::test]
async fn forged_notifications_only_make_servers_read_again() {
    let Some(nats) = Nats::start() else { return };
    let (first, second) = two_with(&nats).await;
    let (shop, siti, epay) = first.own_shop(1).await;
    let login = async_nats::ConnectOptions::with_user_and_password("nyala".to_owned(), "rahasia".to_owned());
    let stranger = login.connect(nats.url()).await.unwrap();
    let from = first.state.machines.ownership().node().unwrap();
    let lie = |notification: Value| json!({"from": from, "number": 1, "at_us": 0, "hint": notification}).to_string();
    let id = shop.idmesin;
    let lies = [
        "no JSON".to_owned(),
        lie(json!({"runs": {"id": id}})),
        lie(json!({"machine": {"id": id, "outlet": shop.outlet.idoutlet}})),
        lie(json!({"machine": {"id": i64::MAX, "outlet": shop.outlet.idoutlet}})),
        lie(json!({"words": {"shards": [-1, 7, 100_000]}})),
        lie(json!({"tokens": {"customer": siti.id}})),
        lie(json!("tills")),
        lie(json!({"sockets": {"of": [[siti.id.get() + 1, u64::MAX], [siti.id.get() + 1, u64::MAX]]}})),
        lie(json!({"balance": {"customer": siti.id, "account": epay, "cause": "topup"}})),
    ];
    let mut phone = Phone::join(&second, &siti.token).await;
    let before = second.state.metrics.cluster.notifications.unreadable.get();
    for forged in lies {
        stranger.publish("nyala.v1.mesin.1", forged.into()).await.unwrap();
    }
    // The last message has arrived when the phone receives its balance, which is the stored one.
    assert_eq!(phone.event().await, json!(["saldo", {"idcustomer": epay, "saldo": PRICE, "sebab": "topup"}]));
    assert!(second.state.metrics.cluster.notifications.unreadable.get() >= before + 2);
    assert_eq!(phone.subscribe(id).await["tl"], json!(null));
    assert_eq!(first.balance(epay).await, PRICE);
    first.assert_no_violation().await;
}

/// A client that reaches NATS cannot send in the name of a server that does not exist, or is no longer alive.
#[actix_web::test]
async fn messages_of_senders_that_are_no_living_server_are_ignored() {
    let Some(nats) = Nats::start() else { return };
    let (first, second) = two_with(&nats).await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let login = async_nats::ConnectOptions::with_user_and_password("nyala".to_owned(), "rahasia".to_owned());
    let stranger = login.connect(nats.url()).await.unwrap();
    let metrics = &second.state.metrics.cluster.notifications;
    let (ignored, missed) = (metrics.ignored.get(), metrics.missed.get());
    let full = json!({"from": 4_711, "number": 1, "at_us": 0, "hint": {"sockets": {"of": [[siti.id, 10]]}}}).to_string();
    let jump = json!({"from": 4_711, "number": 1_000_000, "at_us": 0, "hint": "pulse"}).to_string();
    for message in [full, jump] {
        stranger.publish("nyala.v1.node.4711", message.into()).await.unwrap();
    }
    soon("both have come", async {
        while metrics.ignored.get() < ignored + 2 {
            sleep(LOOK_EVERY).await;
        }
    })
    .await;
    assert_eq!(metrics.missed.get(), missed, "its numbers say nothing");
    let mut phone = Phone::dial(second.address()).await;
    phone.connect(Some(&json!({ "token": siti.token }))).await.expect("its ten sockets are not counted");
}
