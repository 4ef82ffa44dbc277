//! One set of keys for a database: a server with other keys is refused, however it got them.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use actix_web::rt::time::sleep;
use nyala_store::db::{keys, lock};
use nyala_store::secrets::Secrets;

use super::{LOOK_EVERY, PATIENCE, Site};
use crate::support::database::Database;

const FORGET: &str = "DELETE FROM secrets_fingerprint";

impl Site {
    fn keys(&self) -> PathBuf {
        Secrets::file(&self.dir)
    }

    async fn fingerprint(&self) -> Vec<u8> {
        self.db.query_one("SELECT fingerprint FROM secrets_fingerprint", &[]).await.unwrap().get(0)
    }
}

#[actix_web::test]
async fn who_has_other_keys_is_refused() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(60).await;
    let sticker =
        ["qr", &shop.idmesin.to_string(), "--out", &site.dir.join("stiker.png").display().to_string()].map(str::to_owned);
    let sticker = sticker.each_ref().map(String::as_str);
    site.kill().await;
    let ours = std::fs::read(site.keys()).unwrap();
    let mut elsewhere = Site::new().await;
    elsewhere.start("").await;
    std::fs::copy(elsewhere.keys(), site.keys()).unwrap();
    for refused in [site.run(&["serve"]).await, site.run(&sticker).await] {
        let why = refused.unwrap_err();
        assert!(why.contains("secrets.toml has other keys than this database is served with"), "{why}");
        assert!(why.contains("NYALA__DATA__DIR"), "{why}");
    }
    std::fs::write(site.keys(), ours).unwrap();
    site.run(&sticker).await.unwrap();
    site.start("").await;
}

#[actix_web::test]
async fn a_database_from_before_takes_the_keys_of_the_server_that_starts() {
    let mut site = Site::new().await;
    site.start("").await;
    site.shop(60).await;
    site.kill().await;
    let fingerprint = site.fingerprint().await;
    site.db.execute(FORGET, &[]).await.unwrap();
    site.start("").await;
    assert_eq!(site.fingerprint().await, fingerprint);
}

#[actix_web::test]
async fn keys_that_are_gone_are_not_made_again_even_before_there_is_a_shop() {
    let mut site = Site::new().await;
    site.start("").await;
    site.kill().await;
    std::fs::remove_file(site.keys()).unwrap();
    assert!(site.run(&["serve"]).await.unwrap_err().contains("secrets.toml is gone"));
    assert!(!site.keys().exists());
}

/// Two servers start for the first time at the same moment: one opens, and the log of the other one ends with a refusal.
#[actix_web::test]
async fn of_two_first_starts_one_serves_and_the_other_leaves_no_keys() {
    let first = Site::new().await;
    let second = Site::on(first.url.clone(), first.dir.join("beside")).await;
    let start = |site: &Site, name: &str| {
        let mut command = site.program(&["serve"]);
        command.env("NYALA__CLUSTER__ENABLED", "true").env("NYALA__CLUSTER__NAME", name);
        let log = std::fs::File::create(site.dir.join("server.log")).unwrap();
        command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
    };
    let mut servers = [(start(&first, "n1"), &first), (start(&second, "n2"), &second)];
    let since = Instant::now();
    let refused = loop {
        if let Some(i) = servers.iter_mut().position(|(server, _)| server.try_wait().unwrap().is_some()) {
            break i;
        }
        assert!(since.elapsed() < PATIENCE, "{} {}", first.log(), second.log());
        sleep(LOOK_EVERY).await;
    };
    let (loser, winner) = (servers[refused].1, servers[1 - refused].1);
    assert!(loser.log().contains("secrets.toml is gone but the database has been served"), "{}", loser.log());
    assert!(!loser.keys().exists());
    let kept = Secrets::load(&winner.dir).unwrap().unwrap();
    assert_eq!(first.fingerprint().await, kept.installation().bytes());
    for (server, _) in &mut servers {
        let _ = server.kill();
        server.wait().unwrap();
    }
}

#[actix_web::test]
async fn many_first_starts_make_one_set_of_keys() {
    let database = Database::create().await;
    let dirs: Vec<_> = (0..8).map(|i| database.scratch_dir().join(i.to_string())).collect();
    let config = database.url().parse().unwrap();
    let (db, _) = lock::connect(&config).await.unwrap();
    for _ in 0..20 {
        let starts = dirs.iter().map(async |dir| {
            let (mut client, _) = lock::connect(&config).await.unwrap();
            keys::load_or_create(&mut client, dir).await.is_ok()
        });
        let made: Vec<bool> = futures_util::future::join_all(starts).await;
        let files: Vec<bool> = dirs.iter().map(|dir| Secrets::file(dir).exists()).collect();
        assert_eq!((made.iter().filter(|made| **made).count(), &made), (1, &files));
        db.execute(FORGET, &[]).await.unwrap();
        std::fs::remove_dir_all(database.scratch_dir()).unwrap();
    }
}
