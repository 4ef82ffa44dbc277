//! The backup of the private database: settings that make none, gaps, a second server, and restores that do not go through.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use actix_web::rt::task::spawn_blocking;
use actix_web::rt::time::sleep;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::clock::wall_clock;
use serde_json::json;

use super::restored::{Private, copy, lacks_programs};
use super::{LOOK_EVERY, PATIENCE, Site};

impl Private {
    /// Runs the program to its end.
    async fn output(&self, args: &[&str]) -> Output {
        let mut command = self.site.program(args);
        spawn_blocking(move || command.output()).await.unwrap().unwrap()
    }

    async fn status(&self) -> Output {
        let set = format!("backup.dir={}", self.backup.display());
        self.output(&["backup", "status", "--set", &set]).await
    }

    /// Waits until `nyala backup status` finds nothing wrong, and returns its lines.
    pub(super) async fn until_backed_up(&self) -> String {
        let since = Instant::now();
        loop {
            let status = self.status().await;
            let (text, why) = (String::from_utf8_lossy(&status.stdout), String::from_utf8_lossy(&status.stderr));
            if status.status.code() == Some(0) {
                return text.into_owned();
            }
            assert!(since.elapsed() < PATIENCE, "{text}{why}{}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until a gap was noticed and a second base backup was taken.
    async fn until_gap_is_closed(&self) {
        let since = Instant::now();
        let bases = || names(&self.backup.join("base")).iter().filter(|name| !name.ends_with(".part")).count();
        while !self.site.scrape().await.contains("nyala_backup_gaps_total 1") || bases() < 2 {
            assert!(since.elapsed() < PATIENCE, "{}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
        self.until_backed_up().await;
    }

    /// Waits until the slot has a receiver, or has none.
    async fn until_receiving(&self, is_on: bool) {
        const IS_ACTIVE: &str = "SELECT coalesce(bool_or(active), FALSE) FROM pg_replication_slots";
        let (session, since) = (self.session().await, Instant::now());
        while session.query_one(IS_ACTIVE, &[]).await.unwrap().get::<_, bool>(0) != is_on {
            assert!(since.elapsed() < PATIENCE, "{}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_scraped(&self, line: &str) {
        let since = Instant::now();
        loop {
            let text = self.site.scrape().await;
            if text.contains(line) {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{line}: {text}");
            sleep(LOOK_EVERY).await;
        }
    }

    /// Writes this many segments of the log.
    async fn fill_log(&self, segments: usize) {
        let session = self.session().await;
        for _ in 0..segments {
            session.batch_execute("SELECT pg_switch_wal(); SELECT txid_current()").await.unwrap();
        }
        session.batch_execute("CHECKPOINT").await.unwrap();
    }

    /// Restores the backup, and serves it with its backup.
    async fn restore(&mut self, to: &str) -> String {
        let backup = self.backup.display().to_string();
        let report = self.site.run(&["restore", "--to", to, &backup]).await.unwrap();
        self.serve_with_backup().await;
        report
    }

    async fn sell(&self, key: &str, telp: &serde_json::Value, idoutlet: &serde_json::Value) {
        let body = json!({"telp": telp, "idoutlet": idoutlet, "nominal": 1_000});
        self.site.ask("POST", "/ops/v1/topup", key, &body).await.unwrap().ok();
    }
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

fn gauge(scraped: &str, name: &str) -> Option<f64> {
    scraped.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// A moment that is after all that was committed, and before all that will be.
async fn moment_between() -> Timestamp {
    sleep(Duration::from_millis(20)).await;
    let moment = wall_clock();
    sleep(Duration::from_millis(20)).await;
    moment
}

#[actix_web::test]
async fn settings_that_make_no_backup_are_refused() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve().await;
    private.stop().await;
    let (data, dir) = (private.site.data.clone(), private.site.dir().to_owned());
    let refused = async |site: &Site, set: &[String]| {
        let args: Vec<&str> = ["serve"].into_iter().chain(set.iter().flat_map(|set| ["--set", set])).collect();
        site.run(&args).await.unwrap_err()
    };
    let set = |key: &str, path: &Path| format!("backup.{key}={}", path.display());
    let inside = refused(&private.site, &[set("dir", &data.join("backup"))]).await;
    assert!(inside.contains("is inside data.dir") && inside.contains("another disk"), "{inside}");
    let around = refused(&private.site, &[set("dir", &dir)]).await;
    assert!(around.contains("contains data.dir"), "{around}");
    let empty = dir.join("no programs");
    std::fs::create_dir(&empty).unwrap();
    let missing = refused(&private.site, &[set("dir", &private.backup), set("bin_dir", &empty)]).await;
    assert!(missing.contains("pg_receivewal") && missing.contains("apt-get install postgresql-client-"), "{missing}");
    let when = refused(&private.site, &["backup.base_at=2:30".to_owned()]).await;
    assert!(when.contains("backup.base_at") && when.contains("\"02:30\""), "{when}");
    // The folder of another shop.
    private.serve_with_backup().await;
    assert!(private.site.log().contains("is on the same disk as data.dir"), "{}", private.site.log());
    private.stop().await;
    private.site.data = dir.join("other shop");
    let other = refused(&private.site, &[set("dir", &private.backup)]).await;
    assert!(other.contains("holds the backup of another database (system identifier "), "{other}");
    let external = Site::new().await;
    let elsewhere = refused(&external, &[set("dir", &private.backup)]).await;
    assert!(elsewhere.contains("DATABASE_URL") && elsewhere.contains("\"A database of your own\""), "{elsewhere}");
}

#[actix_web::test]
async fn an_unreachable_backup_stops_no_sale_and_leaves_a_gap() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    let backup = private.backup.display().to_string();
    private.site.start_with(&[("NYALA__BACKUP__DIR", &backup), ("NYALA__BACKUP__MAX_SLOT_WAL_KEEP_MB", "64")]).await;
    let shop = private.site.shop(600).await;
    let status = private.until_backed_up().await;
    let keys: Vec<&str> = status.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(keys, ["received", "unreceived_bytes", "age_s", "base", "slot", "secrets"]);
    assert!(status.ends_with("verified\nslot: ok\nsecrets: copied\n"), "{status}");
    let wal = private.backup.join("wal");
    for dir in [&private.backup, &wal, &private.backup.join("base")] {
        assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700, "{}", dir.display());
    }
    let before = moment_between().await;

    // As a disk that is gone: the receiver ends and cannot start again.
    let moved = private.backup.join("away");
    std::fs::rename(&wal, &moved).unwrap();
    std::fs::write(&wal, "").unwrap();
    private.session().await.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots", &[]).await.unwrap();
    private.site.buy(&shop).await.unwrap().ok();
    private.fill_log(8).await;
    let in_gap = moment_between().await;
    let lost = "SELECT wal_status = 'lost' FROM pg_replication_slots";
    assert!(private.session().await.query_one(lost, &[]).await.unwrap().get::<_, bool>(0));
    assert_eq!(private.status().await.status.code(), Some(1));
    std::fs::remove_file(&wal).unwrap();
    std::fs::rename(&moved, &wal).unwrap();

    private.until_gap_is_closed().await;
    assert!(private.site.scrape().await.contains("nyala_backup_failures_total{step=\"receiver\"}"));
    private.lose_everything().await;
    let gap = private.site.run(&["restore", "--to", &in_gap.rfc3339(), &backup]).await.unwrap_err();
    assert!(gap.contains("this backup has the moments from ") && gap.contains(" and from "), "{gap}");
    assert!(!private.site.data.exists(), "nothing is changed");
    let report = private.restore("latest").await;
    assert!(report.contains(&format!("last purchase: {} ", shop.body["id"].as_str().unwrap())), "{report}");
    private.stop().await;
    private.site.data = private.site.dir().join("before");
    let moments = gap.split("from ").nth(1).unwrap().split_once(' ').unwrap().0;
    assert!(Timestamp::parse_rfc3339(moments).unwrap() <= before, "{gap}");
    let report = private.site.run(&["restore", "--to", moments, &backup]).await.unwrap();
    assert!(report.contains("last purchase: none"), "{report}");
}

#[actix_web::test]
async fn an_older_copy_of_the_folder_is_continued_after_a_gap() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    let older = private.site.dir().join("older copy");
    copy(&private.backup, &older);
    private.fill_log(4).await;
    private.until_received().await;
    private.stop().await;
    // As when two disks are used in turn.
    std::fs::remove_dir_all(&private.backup).unwrap();
    std::fs::rename(&older, &private.backup).unwrap();
    private.serve_with_backup().await;
    private.until_gap_is_closed().await;
    private.site.buy(&shop).await.unwrap().ok();
    private.until_received().await;
    private.lose_everything().await;
    let report = private.restore("latest").await;
    assert!(report.contains(&format!("last purchase: {} ", shop.body["id"].as_str().unwrap())), "{report}");
}

#[actix_web::test]
async fn a_backup_goes_on_after_a_restore_to_an_earlier_moment() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    let (telp, idoutlet) = (private.site.customer(&shop, "8155").await["telp"].clone(), shop.body["idoutlet"].clone());
    private.sell(&shop.key, &telp, &idoutlet).await;
    let (first, at_first) = (private.top_ups().await, moment_between().await);
    // The newest segments of the log are after the moment that is restored.
    private.fill_log(4).await;
    private.sell(&shop.key, &telp, &idoutlet).await;
    private.until_backed_up().await;
    private.lose_everything().await;

    let report = private.restore(&at_first.rfc3339()).await;
    assert!(report.contains("timeline: 1 -> 2\nids: +1000000\n"), "{report}");
    assert_eq!(private.top_ups().await, first);
    for _ in 0..3 {
        private.sell(&shop.key, &telp, &idoutlet).await;
    }
    // The first base backup of the new timeline may still be missing: what was received leads from an older one to the end.
    private.until_received().await;
    private.lose_everything().await;
    let report = private.restore("latest").await;
    assert_eq!(private.top_ups().await, first + 3, "{report}");
    private.until_backed_up().await;
    private.sell(&shop.key, &telp, &idoutlet).await;
    private.until_received().await;
    private.lose_everything().await;
    let report = private.restore("latest").await;
    assert_eq!(private.top_ups().await, first + 4, "{report}");
    assert!(report.contains("audit: 0 broken"), "{report}");
    private.until_received().await;
    private.stop().await;
    // A moment of the first timeline is still there, and gets a number that no other timeline has.
    private.site.data = private.site.dir().join("again");
    let report = private.restore(&at_first.rfc3339()).await;
    assert!(report.contains("timeline: 1 -> 5\nids: +4000000\n"), "{report}");
    assert_eq!(private.top_ups().await, first);
}

#[actix_web::test]
async fn of_two_servers_that_reach_one_folder_the_later_one_serves_and_does_not_back_up() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    private.stop().await;
    let mut other = Private::new().await;
    other.backup = private.backup.clone();
    copy(&private.site.data, &other.site.data);
    private.serve_with_backup().await;
    let since = Instant::now();
    while private.owner() != private.pid() {
        assert!(since.elapsed() < PATIENCE, "{}", private.site.log());
        sleep(LOOK_EVERY).await;
    }

    other.serve_with_backup().await;
    while !other.site.log().contains("another server backs up into this folder: this one serves without a backup") {
        assert!(since.elapsed() < PATIENCE, "{}", other.site.log());
    }
    assert_eq!(other.causes().await, ["copy"]);
    other.site.buy(&shop).await.unwrap().ok();
    assert_eq!(private.owner(), private.pid());
    private.until_backed_up().await;
}

#[actix_web::test]
async fn a_server_whose_folder_was_taken_stops_its_backup_until_it_is_free() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.until_backed_up().await;
    // As after a suspension, in which another server took the folder.
    let claim = private.backup.join("instance");
    std::fs::write(&claim, "instance = \"another\"\nboot = \"another\"\npid = 1\n").unwrap();
    private.until_receiving(false).await;
    assert_eq!(private.owner(), 1, "it leaves the folder to the other one");
    let session = private.session().await;
    session.batch_execute("CREATE TABLE more (); SELECT pg_switch_wal()").await.unwrap();
    private.until_scraped("nyala_backup_failures_total{step=\"claim\"} ").await;
    let since = Instant::now();
    while gauge(&private.site.scrape().await, "nyala_backup_age_seconds").is_none_or(|age| age < 1.0) {
        assert!(since.elapsed() < PATIENCE, "it is known that something is missing");
        sleep(LOOK_EVERY).await;
    }
    std::fs::remove_file(&claim).unwrap();
    private.until_receiving(true).await;
    private.until_backed_up().await;
    assert_eq!(private.owner(), private.pid());
}

#[actix_web::test]
async fn a_disk_that_is_away_at_the_start_keeps_no_shop_closed() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    std::fs::write(&private.backup, "").unwrap();
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.site.buy(&shop).await.unwrap().ok();
    private.until_scraped("nyala_backup_failures_total{step=\"folder\"} ").await;
    private.until_scraped("nyala_backup_age_seconds inf").await;
    assert_eq!(private.status().await.status.code(), Some(1));
    std::fs::remove_file(&private.backup).unwrap();
    let status = private.until_backed_up().await;
    assert!(status.contains("unreceived_bytes: 0\nage_s: 0\n"), "{status}");
}

/// After a restart of the machine the mount point is there, empty and writable, and its disk is not.
#[actix_web::test]
async fn a_folder_whose_disk_is_not_mounted_gets_no_new_backup() {
    if lacks_programs() {
        return;
    }
    const AWAY: &str = "has no backup, and this database has begun one in another folder or on another disk";
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    private.stop().await;
    let (disk, mount_point) = (private.site.dir().join("disk"), private.backup.clone());
    std::fs::rename(&mount_point, &disk).unwrap();
    std::fs::create_dir(&mount_point).unwrap();

    private.serve_with_backup().await;
    private.site.buy(&shop).await.unwrap().ok();
    private.until_scraped("nyala_backup_failures_total{step=\"folder\"} ").await;
    private.until_scraped("nyala_backup_age_seconds inf").await;
    assert!(private.site.log().contains(AWAY), "{}", private.site.log());
    let set = format!("backup.dir={}", mount_point.display());
    for args in [&["backup", "status", "--set", &set], &["backup", "base", "--set", &set]] {
        let out = private.output(args).await;
        let why = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && why.contains(AWAY) && why.contains("--new-folder"), "{args:?}: {why}");
    }
    assert_eq!(names(&mount_point), [""; 0], "nothing is written into it");
    // The disk is mounted: the running server goes on with it.
    std::fs::remove_dir(&mount_point).unwrap();
    std::fs::rename(&disk, &mount_point).unwrap();
    private.until_backed_up().await;
    assert!(private.site.scrape().await.contains("nyala_backup_gaps_total 0"), "nothing is missing");
    private.stop().await;

    // Another disk is meant.
    private.backup = private.site.dir().join("another disk");
    let set = format!("backup.dir={}", private.backup.display());
    let base = private.site.run(&["backup", "base", "--new-folder", "--set", &set]).await.unwrap();
    private.serve_with_backup().await;
    let status = private.until_backed_up().await;
    assert!(status.contains(&format!("base: {}", base.trim())), "{status}");
    private.lose_everything().await;
    let report = private.restore("latest").await;
    assert!(report.contains(&format!("last purchase: {} ", shop.body["id"].as_str().unwrap())), "{report}");
}

#[actix_web::test]
async fn a_backup_is_behind_since_it_was_complete_last_and_not_since_something_was_written() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.until_backed_up().await;
    let (wal, claim, since) = (private.backup.join("wal"), private.backup.join("instance"), Instant::now());
    while !std::fs::read_to_string(&claim).unwrap().contains("complete_at = ") {
        assert!(since.elapsed() < PATIENCE, "{}", private.site.log());
        sleep(LOOK_EVERY).await;
    }
    private.stop().await;
    // Nothing was written for a day, and the server was there.
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(86_400);
    for name in names(&wal) {
        std::fs::File::options().write(true).open(wal.join(name)).unwrap().set_modified(yesterday).unwrap();
    }
    let age = async |private: &Private| {
        let text = String::from_utf8_lossy(&private.status().await.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("age_s: ")).expect(&text).to_owned()
    };
    // `backup status` starts the database itself. That writes write-ahead log, which no running server receives.
    let behind: u64 = age(&private).await.parse().unwrap();
    assert!((1..3_600).contains(&behind), "{behind}");
    std::fs::remove_file(&claim).unwrap();
    assert_eq!(age(&private).await, "", "it is not known when the backup was complete");
    assert_eq!(private.status().await.status.code(), Some(1));
}

#[actix_web::test]
async fn a_restore_that_replays_no_commit_names_the_newest_entry() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.site.shop(600).await;
    private.until_backed_up().await;
    private.stop().await;
    let set = format!("backup.dir={}", private.backup.display());
    let base = private.site.run(&["backup", "base", "--set", &set]).await.unwrap();
    private.site.data = private.site.dir().join("again");
    let backup = private.backup.display().to_string();
    let report = private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap();
    let until = report.lines().find_map(|line| line.strip_prefix("restored to: ")).unwrap();
    assert!(report.starts_with(&format!("base: {base}")) && Timestamp::parse_rfc3339(until).is_some(), "{report}");
}

/// An operator has once restored by hand. These settings are in each base backup since, and would end the next restore too early.
#[actix_web::test]
async fn settings_of_an_earlier_restore_are_cleared() {
    if lacks_programs() {
        return;
    }
    const OLD: [(&str, &str); 2] = [
        (
            "postgresql.conf",
            "recovery_target_xid = '3'\n  Recovery_Target_Inclusive off # as in 2025\nrestore_command = 'false'\n",
        ),
        ("postgresql.auto.conf", "recovery_target_time = '2025-01-01 00:00:00+00'\nrecovery_target_action = 'shutdown'\n"),
    ];
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    let cluster = |private: &Private| private.site.data.join("postgres/cluster");
    for (file, settings) in OLD {
        let path = cluster(&private).join(file);
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{before}work_mem = '5MB' # is kept\n{settings}")).unwrap();
    }
    let (backup, set) = (private.backup.display().to_string(), format!("backup.dir={}", private.backup.display()));
    private.site.run(&["backup", "base", "--set", &set]).await.unwrap();
    private.site.buy(&shop).await.unwrap().ok();
    let moment = moment_between().await;
    let (telp, idoutlet) = (private.site.customer(&shop, "8155").await["telp"].clone(), shop.body["idoutlet"].clone());
    private.sell(&shop.key, &telp, &idoutlet).await;
    let all = private.top_ups().await;
    private.until_received().await;
    private.lose_everything().await;

    for (folder, to, there) in [("at", moment.rfc3339(), all - 2), ("latest", "latest".to_owned(), all)] {
        private.site.data = private.site.dir().join(folder);
        let report = private.site.run(&["restore", "--to", &to, &backup]).await.unwrap();
        assert!(report.contains(&format!("last purchase: {} ", shop.body["id"].as_str().unwrap())), "{to}: {report}");
        for (file, _) in OLD {
            let text = std::fs::read_to_string(cluster(&private).join(file)).unwrap();
            let is_set = |line: &str| {
                let line = line.trim_start().to_ascii_lowercase();
                line.starts_with("recovery_target") || line.starts_with("restore_command")
            };
            assert!(!text.lines().any(is_set) && text.contains("work_mem = '5MB' # is kept"), "{file}: {text}");
        }
        private.serve().await;
        assert_eq!(private.top_ups().await, there, "{to}");
        private.stop().await;
    }
}

#[actix_web::test]
async fn a_data_folder_with_other_keys_takes_no_restore_and_stays_as_it_is() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.until_backed_up().await;
    private.lose_everything().await;
    // The keys of another installation.
    let mut other = Private::new().await;
    other.serve().await;
    other.stop().await;
    std::fs::create_dir(&private.site.data).unwrap();
    let (keys, theirs) = (private.site.data.join("secrets.toml"), std::fs::read(other.site.data.join("secrets.toml")).unwrap());
    std::fs::write(&keys, &theirs).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let description = private.backup.join("backup.toml");
    let before = std::fs::read(&description).unwrap();

    let backup = private.backup.display().to_string();
    let out = private.output(&["restore", "--to", "latest", &backup]).await;
    let why = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{why}");
    assert!(why.contains("cannot take the restore: its secrets.toml has other keys than the backup"), "{why}");
    assert_eq!((names(&private.site.data), std::fs::read(&keys).unwrap()), (vec!["secrets.toml".to_owned()], theirs));
    assert_eq!(std::fs::read(&description).unwrap(), before, "no restore is counted");
    // Without them it goes through.
    std::fs::remove_file(&keys).unwrap();
    let report = private.restore("latest").await;
    assert!(report.contains("ids: +1000000\n"), "{report}");
}

#[actix_web::test]
async fn a_restore_that_is_killed_leaves_no_database_and_can_be_repeated() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    private.until_backed_up().await;
    private.site.buy(&shop).await.unwrap().ok();
    private.until_received().await;
    private.lose_everything().await;
    let (backup, unfinished) = (private.backup.display().to_string(), private.site.data.join("postgres.restoring"));
    let began = Instant::now();
    let restoring = |private: &Private| {
        let mut command = private.site.program(&["restore", "--to", "latest", &backup]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // As soon as it has begun, while it unpacks, and while PostgreSQL replays.
    for sign in ["postgres.restoring", "postgres.restoring/cluster/restored_wal", "postgres.restoring/cluster/postmaster.pid"] {
        let mut child = restoring(&private);
        while !private.site.data.join(sign).exists() {
            assert!(began.elapsed() < PATIENCE, "{sign}");
            assert!(child.try_wait().unwrap().is_none(), "{sign}");
            sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(unfinished.exists() && !private.site.data.join("postgres").exists(), "{sign}");
        let why = private.site.run(&["serve"]).await.unwrap_err();
        assert!(why.contains("--new-database") && why.contains("nyala restore"), "{sign}: {why}");
    }
    // The database of the last one may still be shutting down.
    while std::fs::remove_dir_all(&unfinished).is_err() {
        assert!(began.elapsed() < PATIENCE);
        sleep(LOOK_EVERY).await;
    }
    let mut first = restoring(&private);
    while !unfinished.exists() {
        assert!(began.elapsed() < PATIENCE);
        sleep(Duration::from_millis(1)).await;
    }
    kill(Pid::from_raw(i32::try_from(first.id()).unwrap()), Signal::SIGSTOP).unwrap();
    let beside = private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap_err();
    assert!(beside.contains("another restore works in "), "{beside}");
    first.kill().unwrap();
    first.wait().unwrap();
    let report = private.restore("latest").await;
    assert!(report.contains("timeline: 1 -> 2\nids: +5000000\n"), "five restores were begun: {report}");
    assert_eq!(private.site.buy(&shop).await.unwrap().status, 200, "the receipt is there");
    assert!(!unfinished.exists());
}

#[actix_web::test]
async fn a_restored_database_that_breaks_a_rule_is_not_put_into_its_place() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.site.shop(600).await;
    private.until_backed_up().await;
    let session = private.session().await;
    session.batch_execute("UPDATE quota_emoney SET credits_posted = credits_posted + 1").await.unwrap();
    private.until_received().await;
    private.lose_everything().await;
    let backup = private.backup.display().to_string();
    let out = private.output(&["restore", "--to", "latest", &backup]).await;
    let (text, why) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{text}{why}");
    let broken = text.lines().find_map(|line| line.strip_prefix("audit: ")?.strip_suffix(" broken")?.parse::<u32>().ok());
    assert!(broken.is_some_and(|n| n > 0), "{text}");
    assert!(why.contains("stays in ") && why.contains("postgres.restoring"), "{why}");
    assert!(private.site.data.join("postgres.restoring/cluster").exists() && !private.site.data.join("postgres").exists());
}

#[actix_web::test]
async fn what_restore_does_not_understand_ends_with_2_and_what_it_cannot_do_with_1() {
    let private = Private::new().await;
    let dir = private.site.dir().join("nothing").display().to_string();
    for (args, code, why) in [
        (&["restore", &dir][..], 2, "--to"),
        (&["restore", "--to", "latest"], 2, "<DIR>"),
        (&["restore", "--to", "yesterday", &dir], 2, "RFC 3339"),
        (&["restore", "--to", "2026-11-25T14:30:00", &dir], 2, "its zone"),
        (&["restore", "--to", "latest", &dir], 1, "is no backup: backup.toml cannot be read"),
        (&["backup", "status"], 1, ""),
    ] {
        let out = private.output(args).await;
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(why) && out.stdout.is_empty(), "{args:?}: {text}");
        assert!(!private.site.data.join("postgres").exists());
    }
}

#[actix_web::test]
async fn one_base_backup_is_taken_at_a_time_and_what_killed_ones_left_is_deleted() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    private.until_backed_up().await;
    let left = private.backup.join("base/20260101T000000Z.part");
    std::fs::create_dir(&left).unwrap();
    let set = format!("backup.dir={}", private.backup.display());
    let args = ["backup", "base", "--set", &set];
    let (one, two) = futures_util::future::join(private.site.run(&args), private.site.run(&args)).await;
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one, two);
    let bases = names(&private.backup.join("base"));
    assert!(bases.contains(&one.trim().to_owned()) && bases.contains(&two.trim().to_owned()), "{bases:?}");
    assert!(!left.exists() && bases.len() == 3, "{bases:?}");
}
