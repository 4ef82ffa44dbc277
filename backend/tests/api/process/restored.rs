//! A database that continues from an earlier moment: copied, restored from a backup, or lost.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use actix_web::rt::time::{sleep, timeout};
use futures_util::future::join_all;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_store::clock::wall_clock;
use nyala_store::db::{lock, pool};
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::{LOOK_EVERY, PATIENCE, Site};

/// A site whose servers run the private database in a folder of their own.
pub(super) struct Private {
    pub(super) site: Site,
    pub(super) backup: PathBuf,
}

impl Private {
    pub(super) async fn new() -> Self {
        let mut site = Site::new().await;
        site.url = String::new();
        site.data = site.dir().join("data");
        Self { backup: site.dir().join("backup"), site }
    }

    pub(super) async fn serve(&mut self) {
        self.site.start_with(&[]).await;
    }

    pub(super) async fn serve_with_backup(&mut self) {
        let backup = self.backup.display().to_string();
        self.site.start_with(&[("NYALA__BACKUP__DIR", &backup)]).await;
    }

    pub(super) async fn stop(&mut self) {
        self.site.signal(Signal::SIGTERM);
        assert!(self.site.ended().await.success(), "{}", self.site.log());
    }

    /// Kills the server and its database, and deletes their folder.
    pub(super) async fn lose_everything(&mut self) {
        let postgres = holder(&self.site.data, "postgres").parse().unwrap();
        self.site.kill().await;
        kill(Pid::from_raw(postgres), Signal::SIGKILL).unwrap();
        // Processes of the database may still be ending, and write into it.
        let since = Instant::now();
        while let Err(e) = std::fs::remove_dir_all(&self.site.data) {
            assert!(since.elapsed() < PATIENCE, "{e}");
            sleep(LOOK_EVERY).await;
        }
    }

    /// A session at the running database.
    pub(super) async fn session(&self) -> Client {
        let url = format!("host={} user=nyala dbname=postgres", holder(&self.site.data, "socket"));
        lock::connect(&pool::connection(&url, PATIENCE).unwrap()).await.unwrap().0
    }

    /// Why ids and fences have jumped, each time.
    pub(super) async fn causes(&self) -> Vec<String> {
        const CAUSES: &str = "SELECT isi ->> 'sebab' FROM audit_log WHERE aksi = 'basis_data.dipulihkan' ORDER BY id";
        self.session().await.query(CAUSES, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// What the audit log says of each jump.
    async fn content_of_jumps(&self) -> Vec<String> {
        const KEYS: &str = "
            SELECT (SELECT string_agg(key, ' ' ORDER BY key) FROM jsonb_object_keys(isi::JSONB) AS key)
            FROM audit_log WHERE aksi = 'basis_data.dipulihkan' ORDER BY id";
        self.session().await.query(KEYS, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Process id of the server.
    pub(super) fn pid(&self) -> u32 {
        self.site.server.as_ref().unwrap().child.id()
    }

    /// Which server writes into the backup's folder; 0 when none is known.
    pub(super) fn owner(&self) -> u32 {
        let text = std::fs::read_to_string(self.backup.join("instance")).unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix("pid = ")?.parse().ok()).unwrap_or_default()
    }

    /// Waits until the backup has all of the log that is written now.
    pub(super) async fn until_received(&self) {
        const NOW: &str = "SELECT pg_current_wal_flush_lsn()::TEXT";
        const IS_RECEIVED: &str = "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE restart_lsn >= $1::TEXT::PG_LSN)";
        let (session, since) = (self.session().await, Instant::now());
        let written: String = session.query_one(NOW, &[]).await.unwrap().get(0);
        while !session.query_one(IS_RECEIVED, &[&written]).await.unwrap().get::<_, bool>(0) {
            assert!(since.elapsed() < PATIENCE, "{}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
    }

    pub(super) async fn top_ups(&self) -> i64 {
        self.session().await.query_one("SELECT count(*) FROM pembelian_emoney", &[]).await.unwrap().get(0)
    }
}

/// A line of the lock file of a running private database.
pub(super) fn holder(data: &Path, key: &str) -> String {
    let text = std::fs::read_to_string(data.join("postgres.lock")).unwrap();
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).expect(key).to_owned()
}

/// Whether the programs for a backup are missing. A server and client programs of two versions make none together.
pub(super) fn lacks_programs() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let has_all = |bin: PathBuf| ["postgres", "initdb", "pg_receivewal"].iter().all(|program| bin.join(program).is_file());
    let lacks = !versions.map(|version| version.path().join("bin")).any(has_all);
    if lacks {
        // Written past the test runner, which hides the output of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: Debian's PostgreSQL is not installed (apt-get install postgresql), so no backup is made and restored"
        );
    }
    lacks
}

pub(super) fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

#[actix_web::test]
async fn a_copy_of_the_folder_gives_no_number_twice() {
    let mut private = Private::new().await;
    private.serve().await;
    let shop = private.site.shop(600).await;
    private.stop().await;
    let copied = private.site.dir().join("copy");
    copy(&private.site.data, &copied);
    private.serve().await;
    assert_eq!(private.causes().await, [""; 0], "its own folder is no copy");
    let (budi, lost) = (private.site.customer(&shop, "8130").await, private.site.machine(&shop).await);
    assert_eq!(private.site.status_of(&budi["token"]).await, 200);
    private.stop().await;

    private.site.data = copied;
    private.serve().await;
    assert_eq!(private.causes().await, ["copy"]);
    assert_eq!(private.content_of_jumps().await, ["dari ke sebab"]);
    let (cici, made) = (private.site.customer(&shop, "8140").await, private.site.machine(&shop).await);
    assert_eq!(private.site.status_of(&budi["token"]).await, 401, "Budi is lost");
    assert_eq!(private.site.status_of(&cici["token"]).await, 200);
    assert_eq!(private.site.status_of(&json!(shop.token)).await, 200, "who was there stays logged in");
    for (before, after) in [(&budi["idcustomer"], &cici["idcustomer"]), (&lost["id"], &made["id"])] {
        let id = |id: &Value| id.as_i64().or_else(|| id.as_str()?.parse().ok()).unwrap();
        assert!(id(after) > id(before) + 900_000, "{before} {after}");
    }
    assert_ne!(lost["qr"], made["qr"]);
    private.site.buy(&shop).await.unwrap().ok();
    private.stop().await;
    private.serve().await;
    assert_eq!(private.causes().await, ["copy"], "once");
}

#[actix_web::test]
async fn the_operators_command_lets_ids_jump_and_ends_logins() {
    let mut private = Private::new().await;
    private.serve().await;
    let shop = private.site.shop(600).await;
    let till = private.site.till(&shop).await;
    let session = private.site.log_in(&till).await.ok()["token"].as_str().unwrap().to_owned();
    let refused = private.site.run(&["restored"]).await.unwrap_err();
    assert!(refused.contains("already runs on this database"), "{refused}");
    private.stop().await;
    let report = private.site.run(&["restored"]).await.unwrap();
    for line in ["last purchase: none", "timeline: 1 -> 1", "ids: +1000000", "audit: 0 broken"] {
        assert!(report.lines().any(|output| output == line), "{line}: {report}");
    }
    private.serve().await;
    assert_eq!(private.site.status_of(&json!(shop.token)).await, 200);
    assert_eq!(private.site.is_at_till(&till, &session).await, 200);
    private.stop().await;
    private.site.run(&["restored", "--log-out"]).await.unwrap();
    private.serve().await;
    assert_eq!(private.site.status_of(&json!(shop.token)).await, 401);
    assert_eq!(private.site.is_at_till(&till, &session).await, 401);
    private.site.log_in(&till).await.ok(); // The till's cookie stays.
    let again = private.site.customer(&shop, "8150").await;
    assert_eq!(private.site.status_of(&again["token"]).await, 200, "a new login");
}

#[actix_web::test]
async fn keys_without_their_database_are_no_new_shop() {
    let mut private = Private::new().await;
    private.serve().await;
    private.stop().await;
    let data = private.site.data.clone();
    std::fs::remove_dir_all(data.join("postgres")).unwrap();
    for args in [&["serve"][..], &["migrate"], &["seed", "--demo"]] {
        let why = private.site.run(args).await.unwrap_err();
        let last = why.trim().lines().last().unwrap();
        let (keys, database) = (data.join("secrets.toml").display().to_string(), data.join("postgres").display().to_string());
        assert!(last.contains(&keys) && last.contains(&database) && last.contains("--new-database"), "{why}");
        assert!(!data.join("postgres").exists());
    }
    private.site.run(&["migrate", "--new-database"]).await.unwrap();
    // An external database without a shop, with the keys of one.
    let mut site = Site::new().await;
    site.db.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    std::fs::copy(data.join("secrets.toml"), site.dir().join("secrets.toml")).unwrap();
    let why = site.run(&["serve"]).await.unwrap_err();
    assert!(why.contains("DATABASE_URL") && why.contains("secrets.toml") && why.contains("--new-database"), "{why}");
    site.start_as(&["serve", "--new-database"], &[]).await;
}

#[actix_web::test]
async fn every_answered_receipt_is_there_after_a_restore() {
    let mut private = Private::new().await;
    if lacks_programs() {
        return;
    }
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    let (backup, set) = (private.backup.display().to_string(), format!("backup.dir={}", private.backup.display()));
    private.site.run(&["backup", "base", "--set", &set]).await.unwrap();
    let telp = private.site.customer(&shop, "8155").await["telp"].clone();
    let top_up = async |private: &Private, n: i64| {
        let body = json!({"telp": telp, "idoutlet": shop.body["idoutlet"], "nominal": n});
        private.site.ask("POST", "/ops/v1/topup", &shop.key, &body).await.unwrap().ok();
    };
    private.site.buy(&shop).await.unwrap().ok();
    join_all((0..10).map(|n| top_up(&private, 1_000 + n))).await;
    let (before, moment) = (private.top_ups().await, wall_clock());
    sleep(Duration::from_millis(20)).await;
    let lost = private.site.customer(&shop, "8160").await;
    join_all((0..10).map(|n| top_up(&private, 2_000 + n))).await;
    let all = private.top_ups().await;
    let status = private.site.run(&["backup", "status", "--set", &set]).await.unwrap();
    assert!(status.contains("slot: ok\nsecrets: copied") && status.contains(" verified\n"), "{status}");
    private.lose_everything().await;

    let report = private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap();
    let receipt = shop.body["id"].as_str().unwrap();
    assert!(report.starts_with("base: ") && report.contains(&format!("last purchase: {receipt} ")), "{report}");
    assert!(report.contains("timeline: 1 -> 2\nids: +1000000\naudit: 0 broken"), "{report}");
    private.serve_with_backup().await;
    assert_eq!((private.causes().await, private.top_ups().await), (vec!["timeline".to_owned()], all));
    private.site.buy(&shop).await.unwrap().ok();
    private.stop().await;

    private.site.data = private.site.dir().join("earlier");
    let report = private.site.run(&["restore", "--to", &moment.rfc3339(), &backup]).await.unwrap();
    assert!(report.contains("ids: +2000000"), "past the first restore: {report}");
    private.serve().await;
    assert_eq!(private.top_ups().await, before);
    assert_eq!(private.site.status_of(&lost["token"]).await, 401, "registered later");
    assert_eq!(private.site.status_of(&json!(shop.token)).await, 200);
    private.site.assert_sound().await;
    private.stop().await;

    let there = private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap_err();
    assert!(there.contains("cannot take the restore"), "{there}");
    private.site.data = private.site.dir().join("empty");
    for (args, why) in [
        (&["restore", "--to", "2020-01-01T00:00:00Z", &backup][..], "this backup has the moments from "),
        (&["restore", "--to", "2099-01-01T00:00:00Z", &backup], "this backup has the moments from "),
        (&["restore", "--to", "2026-01-01T00:00:00", &backup], "its zone"),
        (&["restore", &backup], "--to"),
        (&["restore", "--to", "latest", "/proc"], "is no backup"),
    ] {
        let output = private.site.run(args).await.unwrap_err();
        assert!(output.contains(why), "{args:?}: {output}");
        assert!(!private.site.data.join("postgres").exists());
    }
}

#[actix_web::test]
async fn rotated_keys_come_back_with_their_database() {
    let mut private = Private::new().await;
    if lacks_programs() {
        return;
    }
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    let (backup, set) = (private.backup.display().to_string(), format!("backup.dir={}", private.backup.display()));
    private.site.run(&["backup", "base", "--set", &set]).await.unwrap();
    let file = private.site.data.join("secrets.toml");
    let first = std::fs::read(&file).unwrap();
    assert_eq!(private.site.run(&["secrets", "rotate", "stickers"]).await.unwrap(), "stickers: 1 -> 2\n");
    let rotated = std::fs::read(&file).unwrap();
    let copied = async {
        while std::fs::read(private.backup.join("secrets.toml")).unwrap() != rotated {
            sleep(Duration::from_millis(20)).await;
        }
    };
    // Before it would be copied by the clock.
    timeout(Duration::from_secs(8), copied).await.expect("a copy at the change");
    let sticker = private.site.machine(&shop).await["qr"].clone();
    let status = private.site.run(&["backup", "status", "--set", &set]).await.unwrap();
    assert!(status.contains("secrets: copied"), "{status}");
    private.lose_everything().await;

    // The folder has a copy from before the rotation: the backup's is newer.
    std::fs::create_dir_all(&private.site.data).unwrap();
    std::fs::write(&file, &first).unwrap();
    private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), rotated);
    private.serve_with_backup().await;
    private.site.scan(&shop.token, &sticker).await.ok();
    private.site.run(&["secrets", "retire", "stickers", "1"]).await.unwrap();
    // A database of before the rotation takes the file that is ahead of it.
    let session = private.session().await;
    session.batch_execute("DELETE FROM secrets_kid WHERE kid = 2; UPDATE secrets_kid SET retired_at = NULL").await.unwrap();
    private.stop().await;
    private.serve_with_backup().await;
    let list = private.site.run(&["secrets", "list"]).await.unwrap();
    assert!(list.lines().any(|line| line.starts_with("stickers 2 ") && line.ends_with(" good")), "{list}");
    assert_eq!(list.lines().count(), 5, "{list}");
}
