//! A database of several hosts: the server finds the one that accepts writes, and leaves it when it is replaced.

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Instant;

use actix_web::rt::time::sleep;
use embedded_postgres::SUPERUSER;
use nix::sys::signal::Signal;
use nyala_store::db::pool;
use serde_json::json;

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
