//! A database of several hosts: the server finds the one that accepts writes, and leaves it when it is replaced.

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Instant;

use actix_web::rt::time::sleep;
use embedded_postgres::SUPERUSER;
use nix::sys::signal::Signal;
use nyala_store::db::pool;
use serde_json::{Value, json};

use super::lost_commits::{Browsers, LOST_NUMBERS, OpenTill, subscribe};
use super::{LOOK_EVERY, PATIENCE, Site};
use crate::support::database::Database;
use crate::support::pair::{Pair, client};

/// Repeats an operator's call until it succeeds.
async fn writes_again(site: &Site, key: &str) {
    let since = Instant::now();
    loop {
        let answer = site.ask("POST", "/ops/v1/owner", key, &json!({"nama": "Bu Ani"})).await;
        match &answer {
            Ok(answer) if answer.status == 200 => return,
            _ => assert!(since.elapsed() < PATIENCE, "{answer:?}: {}", site.log()),
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn continues_on_the_standby(how: Signal) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
    let pair = Pair::new(&dir);
    let mut site = Site::on(pair.url(), dir.join("site")).await;
    site.start("").await;
    let shop = site.shop(600).await;
    site.buy(&shop).await.unwrap().ok();
    pair.signal(how);
    pair.promote().await;
    writes_again(&site, &shop.key).await;
    let since = Instant::now();
    while !site.log().contains("the server's lock is held again elsewhere=true") {
        assert!(since.elapsed() < PATIENCE, "{}", site.log());
        sleep(LOOK_EVERY).await;
    }
    // The same process, with the same run in it.
    let promoted = client(&pair.standby().connection_string("postgres")).await;
    let state: String = promoted.query_one("SELECT state FROM snap_transaksi", &[]).await.unwrap().get(0);
    assert_eq!(state, "RUNNING");
    site.signal(Signal::SIGTERM);
    assert!(site.ended().await.success(), "{}", site.log());
    drop((site, pair));
    let _ = std::fs::remove_dir_all(dir);
}

#[actix_web::test]
async fn a_killed_primary_is_left_for_its_standby() {
    continues_on_the_standby(Signal::SIGKILL).await;
}

/// Its connections stay open, so a query without a timeout would never end.
#[actix_web::test]
async fn a_frozen_primary_is_left_for_its_standby() {
    continues_on_the_standby(Signal::SIGSTOP).await;
}

/// A server on a primary that does not wait for its standby.
struct LosingSite {
    site: Site,
    pair: Pair,
    dir: PathBuf,
}

impl Drop for LosingSite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl LosingSite {
    async fn start(env: &[(&str, &str)]) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
        let pair = Pair::asynchronous(&dir);
        let mut site = Site::on(pair.url(), dir.join("site")).await;
        site.start_with(env).await;
        Self { site, pair, dir }
    }

    /// Kills the primary and waits until the server writes to its standby, which lacks what was committed since [`Pair::cut`].
    async fn fail_over(&mut self, key: &str) {
        self.pair.signal(Signal::SIGKILL);
        self.pair.promote().await;
        writes_again(&self.site, key).await;
        self.site.db = client(&self.pair.standby().connection_string("postgres")).await;
        let log = self.site.log();
        let jump = log.lines().find(|line| line.contains("ids and epochs jump ahead")).expect("a jump");
        println!("{jump}");
    }
}

#[actix_web::test]
async fn a_till_goes_on_after_a_failover_and_a_lost_top_up_is_made_once() {
    let mut losing = LosingSite::start(&[]).await;
    let shop = losing.site.shop(600).await;
    let telp = Site::telp_of(&losing.site.db, &shop).await;
    let mut till = OpenTill::open(&losing.site, &shop, &telp).await;
    till.sell_what_stays(&losing.site).await;
    losing.pair.cut().await;
    till.sell_what_is_lost(&losing.site, &shop).await;
    losing.fail_over(&shop.key).await;
    till.goes_on(&losing.site, &losing.site.db).await;
}

#[actix_web::test]
async fn a_failover_repeats_no_sticker_and_revokes_none() {
    const VERSION: &str = "SELECT qr_versi FROM mesin WHERE idmesin = $1";
    const MACHINES: u32 = 10_000;
    let mut losing = LosingSite::start(&[]).await;
    let shop = losing.site.shop(600).await;
    // Each machine has an epoch, which jumps: the line that is printed says how long that takes.
    let many = json!({"idoutlet": shop.body["idoutlet"], "jumlah": MACHINES, "awalan": "Mesin", "driver": "sim"});
    losing.site.ops(&shop.key, "mesin/bulk", &many).await;
    let stays = losing.site.machine(&shop).await;
    losing.pair.cut().await;
    let lost = losing.site.machine(&shop).await;
    let version = async |losing: &LosingSite, machine: &Value| -> i32 {
        losing.site.db.query_one(VERSION, &[&machine["id"].as_i64().unwrap()]).await.unwrap().get(0)
    };
    let renew = async |losing: &LosingSite| {
        let (id, out) = (stays["id"].to_string(), losing.dir.join("sticker.png").display().to_string());
        let printed = losing.site.run(&["qr", &id, "--out", &out, "--renew"]).await.unwrap();
        json!(printed.trim().split_once(' ').unwrap().1)
    };
    let (lost_version, lost_renewal) = (version(&losing, &lost).await, renew(&losing).await);
    let status = async |losing: &LosingSite, sticker: &Value| losing.site.scan(&shop.token, sticker).await.status;
    assert_eq!(status(&losing, &lost_renewal).await, 200);
    losing.fail_over(&shop.key).await;

    assert_eq!(status(&losing, &stays["qr"]).await, 200, "its renewal is lost, so the old one is good");
    assert_eq!(status(&losing, &lost_renewal).await, 404);
    assert_eq!(status(&losing, &lost["qr"]).await, 404);
    let made = losing.site.machine(&shop).await;
    assert_ne!(made["qr"], lost["qr"]);
    assert_ne!(version(&losing, &made).await, lost_version, "a version is random, and not the machine's first");
    let renewal = renew(&losing).await;
    assert_ne!(renewal, lost_renewal);
    for (sticker, expected) in
        [(&made["qr"], 200), (&renewal, 200), (&lost_renewal, 404), (&lost["qr"], 404), (&stays["qr"], 404)]
    {
        assert_eq!(status(&losing, sticker).await, expected, "{sticker}");
    }
}

#[actix_web::test]
async fn pushes_go_on_after_a_failover_and_none_to_another_customer() {
    let browsers = Browsers::new();
    let mut losing = LosingSite::start(&Browsers::SETTINGS).await;
    let mut shop = losing.site.shop(600).await;
    browsers.subscribe_what_stays(&losing.site, &shop).await;
    losing.site.buy(&shop).await.unwrap().ok();
    losing.pair.cut().await;
    browsers.subscribe_what_is_lost(&losing.site, &shop).await;
    let (mut lost, his) = (losing.site.customers(&shop, "8130", LOST_NUMBERS).await, browsers.service.browser("budi"));
    let budi = lost.pop().unwrap();
    subscribe(&losing.site, budi["token"].as_str().unwrap(), &his).await;
    losing.fail_over(&shop.key).await;

    browsers.get_one_push_for_the_end(&losing.site, &losing.site.db, &shop).await;
    // Budi is lost. Without the jump his id would be that of one of these, and his browser would get her pushes.
    let cici = losing.site.customers(&shop, "8140", LOST_NUMBERS).await.remove(0);
    let again = losing.site.ask("POST", "/scan/v1/push/langganan", budi["token"].as_str().unwrap(), &his.body()).await;
    assert_eq!(again.unwrap().status, 401);
    let hers = browsers.service.browser("cici");
    cici["token"].as_str().unwrap().clone_into(&mut shop.token);
    subscribe(&losing.site, &shop.token, &hers).await;
    shop.body["idcustomer"] = cici["idcustomer"].clone();
    shop.body["id"] = json!("SLF261120180530124");
    losing.site.buy(&shop).await.unwrap().ok();
    losing.site.ops(&shop.key, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "uji"})).await;
    assert_eq!(hers.open(&browsers.service.until(2).await)["judul"], "Cucian selesai");
    losing.site.assert_sound().await;
    assert_eq!(browsers.service.given().len(), 2);
}

#[actix_web::test]
async fn the_status_of_a_cluster_lists_its_servers_and_the_databases_standbys() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
    let pair = Pair::new(&dir);
    let mut site = Site::on(pair.url(), dir.join("site")).await;
    site.start_with(&[("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", "n1")]).await;
    site.db
        .batch_execute(
            "INSERT INTO node (name, version, started_at, alive_until, late_since)
             SELECT 'n0', '0.0.9', t, t, t FROM (SELECT clock_timestamp() - INTERVAL '1 minute' AS t) past",
        )
        .await
        .unwrap();
    let status_text = site.run(&["cluster", "status"]).await.unwrap();
    let lines: Vec<Vec<&str>> = status_text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["name", "node", "state", "shards", "devices", "beat", "took", "clock", "news", "version", "started"]);
    assert!(
        lines[1].len() == 11 && lines[1][0] == "n1" && ["lives", "late"].contains(&lines[1][2]) && lines[1][4] == "0",
        "{status_text}"
    );
    assert!(lines[1][5].ends_with(" s ago"), "{status_text}");
    for column in [6, 7] {
        let number = lines[1][column].strip_suffix(" ms").and_then(|ms| ms.parse::<f64>().ok());
        assert!(number.is_some_and(|ms| ms.abs() < 1_000.0), "{status_text}");
    }
    assert_eq!(lines[1][8], "none", "no NATS: {status_text}");
    assert_eq!((lines[2][0], lines[2][2], lines[2][9]), ("n0", "dead", "0.0.9"), "{status_text}");
    assert!(lines[3].concat().starts_with("1 live, "), "{status_text}");
    assert_eq!(lines[4], ["standby", "address", "state", "sync", "lag", "behind"]);
    assert_eq!(lines[5][1..4], ["local", "streaming", "sync"], "{status_text}");
    assert!(lines[5][5].ends_with(" B") && lines.len() == 6, "{status_text}");
    // A role with ordinary rights.
    site.db
        .batch_execute(
            "CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain",
        )
        .await
        .unwrap();
    let url = pair.url().replace(&format!("user={SUPERUSER}"), "user=plain");
    let plain = Site::on(url, dir.join("plain")).await;
    let status_text = plain.run(&["cluster", "status"]).await.unwrap();
    assert!(status_text.contains("\nstandbys: ") && status_text.contains("GRANT pg_monitor"), "{status_text}");
    site.db.batch_execute("GRANT pg_monitor TO plain").await.unwrap();
    assert!(plain.run(&["cluster", "status"]).await.unwrap().contains("\tstreaming\tsync\t"));
    drop((site, plain, pair));
    let _ = std::fs::remove_dir_all(dir);
}

/// Each such heartbeat would keep its connection, until no connection is left.
#[actix_web::test]
async fn heartbeats_that_wait_for_a_lost_standby_keep_no_connection() {
    const BEATS: usize = 3;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
    let mut pair = Pair::new(&dir);
    let mut site = Site::on(pair.url(), dir.join("site")).await;
    site.start_with(&[("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", "n1")]).await;
    pair.lose_standby();
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query ~ '^\\s*UPDATE node'";
    let (since, mut seen) = (Instant::now(), BTreeSet::new());
    while seen.len() < BEATS {
        assert!(since.elapsed() < PATIENCE, "{seen:?}: {}", site.log());
        let now: Vec<i32> = site.db.query(waiting, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        assert!(now.len() <= 1, "sessions {now:?} wait");
        seen.extend(now);
        sleep(LOOK_EVERY).await;
    }
    drop((site, pair));
    let _ = std::fs::remove_dir_all(dir);
}

#[actix_web::test]
async fn a_host_that_takes_connections_and_says_nothing_is_passed_over() {
    let database = Database::create().await;
    let dir = database.scratch_dir();
    std::fs::create_dir_all(&dir).unwrap();
    let one = pool::connection(&database.url(), PATIENCE).unwrap();
    let port = one.get_ports().first().copied().unwrap_or(5432);
    // The path of a socket has at most 107 bytes.
    let mute = std::env::temp_dir().join(database.scratch_dir().file_name().unwrap());
    std::fs::create_dir_all(&mute).unwrap();
    let _listener = UnixListener::bind(mute.join(format!(".s.PGSQL.{port}"))).unwrap();
    let url = database.url().replacen("host=", &format!("host={},", mute.display()), 1);
    let mut site = Site::on(url, dir).await;
    site.start("").await;
    let key = site.root_key().await;
    site.outlet(&key).await;
    let _ = std::fs::remove_dir_all(mute);
}

#[actix_web::test]
async fn as_many_ports_as_hosts_or_one() {
    for (hosts, fits) in [("a,b,c port=1", true), ("a,b,c port=1,2,3", true), ("a,b,c port=1,2", false), ("a", true)] {
        assert_eq!(pool::connection(&format!("host={hosts} user=x"), PATIENCE).is_ok(), fits, "{hosts}");
    }
}
