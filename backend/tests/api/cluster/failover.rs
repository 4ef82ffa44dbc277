//! A database of several hosts. While a standby waits for its promotion the sockets stay; a server that alone is cut off closes its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::time::sleep;
use embedded_postgres::SUPERUSER;
use nix::sys::signal::Signal;
use serde_json::json;
use tokio_postgres::Client;

use super::{SharedDevices, server, share};
use crate::ops::operator::Scope;
use crate::realtime::phone::{Phone, soon};
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::pair::{Pair, client};
use crate::support::shop::{PRICE, Shop, buy};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// By then a server that does not recognise a failover has closed its sockets.
const LONG_MS: i64 = 8_000;

/// A pair of databases, and its folder.
struct FailoverSite {
    pair: Pair,
    dir: PathBuf,
    devices: Arc<SharedDevices>,
}

impl FailoverSite {
    fn new() -> Self {
        Self::of(Pair::new)
    }

    fn of(pair: fn(&Path) -> Pair) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
        Self { pair: pair(&dir), dir, devices: Arc::default() }
    }

    fn server(&self, name: &'static str) -> Setup {
        server(name, &self.devices).at(self.pair.url())
    }
}

impl Drop for FailoverSite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A countdown at each of these servers, with its shop and its customer.
async fn watched<const N: usize>(apps: [&TestApp; N]) -> ([Phone; N], Shop, Customer) {
    let (shop, siti, epay) = apps[0].own_shop(1).await;
    apps[0].buy(&siti, &buy(1, shop, epay)).await.ok();
    let phones = apps.map(|app| {
        let token = &siti.token;
        async move {
            let mut phone = Phone::join(app, token).await;
            phone.subscribe(shop.idmesin).await;
            assert!(phone.tick().await.tl > 0);
            phone
        }
    });
    let phones = futures_util::future::join_all(phones).await;
    (phones.try_into().ok().expect("as many phones"), shop, siti)
}

#[actix_web::test]
async fn a_failover_drops_no_socket() {
    let site = FailoverSite::new();
    let first = site.server("n1").start().await;
    let impatient = site.server("n2").with(|config| config.cluster.failover_s = 0).start_beside(&first).await;
    share(&first, &impatient).await;
    let ([mut phone, mut sent_away], shop, siti) = watched([&first, &impatient]).await;

    site.pair.signal(Signal::SIGKILL);
    let since = phone.tick().await.tl;
    assert!(!sent_away.closed().await.is_empty(), "it counted on for a while");
    while phone.tick().await.tl > since - LONG_MS {}
    first.get("/readyz", None).await.expect(503, "basis data tidak menjawab");
    // A customer with a valid token joins in the meantime.
    let mut late = Phone::join(&first, &siti.token).await;
    assert!(late.subscribe(shop.idmesin).await["tl"].as_i64().unwrap() > 0);

    site.pair.promote().await;
    soon("it is ready", async {
        while first.get("/readyz", None).await.status != 200 {
            sleep(LOOK_EVERY).await;
        }
    })
    .await;
    let now = phone.tick().await.tl;
    while phone.tick().await.tl > now - 1_000 {}
}

#[actix_web::test]
async fn a_server_that_alone_does_not_reach_the_primary_closes_its_sockets() {
    let site = FailoverSite::new();
    let second = site.server("n2").start().await;
    // The path of a socket has at most 107 bytes.
    let folder = std::env::temp_dir().join(uuid::Uuid::new_v4().simple().to_string());
    std::os::unix::fs::symlink(site.pair.primary().socket_dir(), &folder).unwrap();
    let primary = client(&site.pair.primary().connection_string("postgres")).await;
    primary.batch_execute("CREATE ROLE alone LOGIN SUPERUSER").await.unwrap();
    let url = site.pair.url_by(&folder).replace(&format!("user={SUPERUSER}"), "user=alone");
    let first = site.server("n1").at(url).start_beside(&second).await;
    share(&second, &first).await;
    let ([mut stays, mut phone], ..) = watched([&second, &first]).await;

    std::fs::remove_file(&folder).unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'alone'";
    assert!(!primary.query(end, &[]).await.unwrap().is_empty());
    // The standby answers it, but the other server's heartbeats arrive there.
    assert!(!phone.closed().await.is_empty(), "it counted on for a while");
    assert!(stays.tick().await.tl > 0);
    second.get("/readyz", None).await.ok();
}

/// Each shard's owner and epoch.
async fn shards(client: &Client) -> Vec<(i32, Option<i64>, i64)> {
    let rows = client.query("SELECT idshard::INTEGER, idnode::BIGINT, epoch FROM shard ORDER BY idshard", &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

#[actix_web::test]
async fn a_promoted_standby_that_lost_commits_repeats_no_id_and_moves_no_shard() {
    const JUMP: i64 = 1_000_000;
    let site = FailoverSite::of(Pair::asynchronous);
    let mut first = site.server("n1").start().await;
    let second = site.server("n2").start_beside(&first).await;
    share(&first, &second).await;
    let (shop, siti, epay) = first.own_shop(1).await;
    first.buy(&siti, &buy(1, shop, epay)).await.ok();
    let (free, anna, anna_epay) = first.own_shop(1).await;
    site.pair.cut().await;
    let before = shards(&first.db).await;
    // What the standby never had: a customer, a machine, a shop and a purchase.
    let budi = second.register_customer("81219990001", "Budi", "Santoso").await;
    let machine = first.machine(shop.outlet, "Mesin yang hilang").await;
    let (lost_shop, lost, lost_epay) = first.own_shop(1).await;
    first.buy(&lost, &buy(2, lost_shop, lost_epay)).await.ok();
    first.get("/scan/v1/dashboard/get_dashboard", Some(&budi.token)).await.ok();
    // The device of a machine that stays has seen epochs that the standby does not know.
    let key = first.key(Scope::Root).await;
    for n in 10..13 {
        let rina = first.register_customer(&format!("812199900{n}"), "Rina", "Wati").await;
        let order = buy(n, free, first.balance_of(&rina, free, PRICE).await);
        first.buy(&rina, &order).await.ok();
        first.ops(&key, &format!("mesin/{}/stop", free.idmesin), &json!({"alasan": "uji"})).await.expect(200, "mesin dihentikan");
    }

    site.pair.signal(Signal::SIGKILL);
    site.pair.promote().await;
    soon("both are ready", async {
        for app in [&first, &second] {
            while app.get("/readyz", None).await.status != 200 {
                sleep(LOOK_EVERY).await;
            }
        }
    })
    .await;
    first.db = client(&site.pair.standby().connection_string("postgres")).await;
    let after = shards(&first.db).await;
    let jumped: Vec<_> = before.iter().map(|(shard, node, epoch)| (*shard, *node, epoch + JUMP)).collect();
    assert_eq!(after, jumped, "each shard stays where it was, with a new epoch");
    let causes = "SELECT isi ->> 'sebab' FROM audit_log WHERE aksi = 'basis_data.dipulihkan'";
    let causes: Vec<String> = first.db.query(causes, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(causes, ["timeline"], "one server has jumped for both");

    for app in [&first, &second] {
        assert_eq!(app.get("/scan/v1/dashboard/get_dashboard", Some(&budi.token)).await.status, 401, "he is lost");
    }
    let cici = first.register_customer("81219990002", "Cici", "Lestari").await;
    let made = first.machine(shop.outlet, "Mesin baru").await;
    assert!(cici.id.get() > budi.id.get() + JUMP / 2 && made.idmesin.get() > machine.idmesin.get() + JUMP / 2);
    first.get("/scan/v1/dashboard/get_dashboard", Some(&cici.token)).await.ok();
    assert_eq!(second.get("/scan/v1/dashboard/get_dashboard", Some(&budi.token)).await.status, 401);
    // Through the server that does not own the machine: the owner commits with its new epoch, and the device starts at the first attempt.
    second.buy(&anna, &buy(3, free, anna_epay)).await.ok();
    first.assert_no_violation().await;
}
