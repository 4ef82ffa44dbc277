//! Refusals of a start, each in one line that names the fault.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::Site;
use crate::purchase::races::PATIENCE;

#[actix_web::test]
async fn a_schema_of_one_release_later_is_served_and_a_newer_one_refused() {
    let mut site = Site::new().await;
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
        SELECT max(version) + 1, 'later', '2027-01-01T00:00:00Z', '1' FROM refinery_schema_history";
    site.db.execute(newer, &[]).await.unwrap();
    site.start("").await;
    site.root_key().await;
    site.kill().await;
    site.db.execute("UPDATE oldest_program SET knows = (SELECT max(version) FROM refinery_schema_history)", &[]).await.unwrap();
    let why = site.run(&["serve"]).await.unwrap_err();
    assert!(why.contains("more than one release older; run the newer program"), "{why}");
}

#[actix_web::test]
async fn a_newer_schema_that_lacks_a_migration_of_this_program_is_refused() {
    let site = Site::new().await;
    let other = "UPDATE refinery_schema_history SET version = version + 1
        WHERE version = (SELECT max(version) FROM refinery_schema_history)";
    site.db.execute(other, &[]).await.unwrap();
    assert!(site.run(&["serve"]).await.unwrap_err().contains("run the newer program"));
}

#[actix_web::test]
async fn lost_keys_are_not_replaced_while_stickers_hang_on_machines() {
    let mut site = Site::new().await;
    site.start("").await;
    site.shop(60).await;
    site.kill().await;
    let keys = site.dir.join("secrets.toml");
    std::fs::remove_file(&keys).unwrap();
    assert!(site.run(&["serve"]).await.unwrap_err().contains("secrets.toml"));
    assert!(!keys.exists(), "new ones would end every printed sticker");
}

#[actix_web::test]
async fn an_empty_removed_setting_is_logged_once() {
    let mut site = Site::new().await;
    site.start_with(&[("NYALA__MQTT__BROKER_URL", "")]).await;
    site.kill().await;
    let log = site.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("removed setting ignored")).collect();
    assert!(lines.len() == 1 && lines[0].contains("mqtt.broker_url"), "{log}");
}

/// Gives the file the mode of a copy that was restored with another mask.
fn open_to_others(file: &Path) {
    std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
}

#[actix_web::test]
async fn keys_that_others_can_read_are_closed_to_them_with_a_warning() {
    let mut site = Site::new().await;
    site.start_with(&[("NYALA__LOG__FILTER", "warn")]).await;
    let shop = site.shop(60).await;
    site.kill().await;
    let keys = site.dir.join("secrets.toml");
    let mode = || keys.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(), site.log().contains("secrets.toml")), (0o600, false), "made closed: {}", site.log());
    let text = std::fs::read_to_string(&keys).unwrap();
    open_to_others(&keys);
    site.start_with(&[("NYALA__LOG__FILTER", "warn")]).await;
    assert_eq!(mode(), 0o600);
    assert!(site.log().contains("secrets.toml (its mode had 044"), "{}", site.log());
    assert_eq!(std::fs::read_to_string(&keys).unwrap(), text, "the same keys");
    site.kill().await;
    open_to_others(&keys);
    let sticker = site.dir.join("stiker.png").display().to_string();
    let (id, mut command) = (shop.idmesin.to_string(), site.program(&["qr"]));
    let printed = command.args([&id, "--out", &sticker]).output().unwrap();
    assert!(printed.status.success() && mode() == 0o600, "{printed:?}");
    assert!(String::from_utf8_lossy(&printed.stderr).contains("secrets.toml (its mode had 044"), "{printed:?}");
}

/// As after a dump was restored into another PostgreSQL.
#[actix_web::test]
async fn a_database_in_another_cluster_lets_its_ids_jump_once() {
    let mut site = Site::new().await;
    site.start("").await;
    site.kill().await;
    let other = "UPDATE database_state SET system_identifier = system_identifier + 1";
    assert_eq!(site.db.execute(other, &[]).await.unwrap(), 1);
    for _ in 0..2 {
        site.start("").await;
        site.kill().await;
    }
    let causes = "SELECT isi ->> 'sebab' FROM audit_log WHERE aksi = 'basis_data.dipulihkan'";
    let causes: Vec<String> = site.db.query(causes, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(causes, ["identifier"]);
}

#[actix_web::test]
async fn a_service_manager_hears_when_calls_are_answered() {
    let mut site = Site::new().await;
    // Socket paths are short.
    let socket = std::env::temp_dir().join(format!("nyala-{}-notify", std::process::id()));
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_nonblocking(true).unwrap();
    site.start_with(&[("NOTIFY_SOCKET", socket.to_str().unwrap())]).await;
    let mut received = [0; 64];
    let message = async {
        loop {
            match manager.recv(&mut received) {
                Ok(n) => break received[..n].to_vec(),
                Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    assert_eq!(timeout(PATIENCE, message).await.unwrap(), b"READY=1");
    assert_eq!(site.ask("GET", "/readyz", "", &Value::Null).await.unwrap().status, 200);
    std::fs::remove_file(&socket).unwrap();
}

#[actix_web::test]
async fn a_taken_port_names_the_setting() {
    let site = Site::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let printed = site.run(&["serve", "--port", &port]).await.unwrap_err();
    assert!(printed.contains(&port) && printed.contains("NYALA__HTTP__PORT"), "{printed}");
}

/// Other settings that production needs.
const PRODUCTION: [&str; 4] =
    ["profile=production", "whatsapp.meta_phone_number_id=1", "whatsapp.meta_access_token=x", "whatsapp.meta_template=kode"];

/// The error of a command that the production profile refuses.
async fn refused_in_production(site: &Site, command: &[&str]) -> String {
    let args: Vec<&str> = command.iter().copied().chain(PRODUCTION.into_iter().flat_map(|set| ["--set", set])).collect();
    site.run(&args).await.unwrap_err()
}

#[actix_web::test]
async fn production_sells_no_runs_of_simulated_machines() {
    let mut site = Site::new().await;
    site.start("").await;
    site.outlet(&site.root_key().await).await;
    site.kill().await;
    let printed = refused_in_production(&site, &["serve"]).await;
    assert!(printed.contains("simulated machines (driver sim)"), "{printed}");
}

#[actix_web::test]
async fn production_refuses_a_database_with_public_passwords() {
    let mut site = Site::new().await;
    site.start("").await;
    site.shop(60).await;
    site.kill().await;
    for (command, reason) in
        [(&["serve"][..], "it has demo or load-test customers"), (&["seed", "--demo"], "the production profile refuses the demo")]
    {
        let printed = refused_in_production(&site, command).await;
        assert!(printed.contains(reason), "{printed}");
    }
}

#[actix_web::test]
async fn a_database_that_was_in_production_is_refused_in_development() {
    let mut site = Site::new().await;
    let production = PRODUCTION.map(|set| {
        let (key, value) = set.split_once('=').unwrap();
        (format!("NYALA__{}", key.to_uppercase().replace('.', "__")), value)
    });
    let production: Vec<(&str, &str)> = production.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    site.start("").await;
    site.kill().await;
    site.start_with(&production).await;
    site.kill().await;
    for command in [&["serve"][..], &["seed", "--demo"]] {
        let printed = site.run(command).await.unwrap_err();
        assert!(printed.contains("it was served in production") && printed.contains("NYALA__PROFILE=production"), "{printed}");
    }
    site.assert_sound().await;
    site.start_with(&production).await;
    site.kill().await;
    site.db.execute(WAY_BACK, &[]).await.unwrap();
    site.start("").await;
}

/// The statement that docs/operations.md gives for a copy on a test machine.
const WAY_BACK: &str = "DELETE FROM served_in_production";

#[actix_web::test]
async fn the_manual_has_the_way_back() {
    assert!(include_str!("../../../../docs/operations.md").contains(WAY_BACK));
}

/// All customers behind such a proxy count as one: its operator must be warned, and no stranger may flood the log with it.
#[actix_web::test]
async fn an_untrusted_proxy_is_logged_once_with_the_name_of_the_setting() {
    let mut site = Site::new().await;
    site.start_with(&[("NYALA__LOG__FILTER", "warn")]).await;
    site.handshake(&[]).await;
    assert_eq!(site.log().matches("http.trusted_proxies").count(), 0, "{}", site.log());
    for _ in 0..3 {
        site.handshake(&[("x-forwarded-for", "198.51.100.7")]).await;
    }
    // The log is written behind the answers, and complete when the server has ended.
    site.signal(Signal::SIGTERM);
    assert!(site.ended().await.success());
    assert_eq!(site.log().matches("http.trusted_proxies").count(), 1, "{}", site.log());
    site.start_with(&[("NYALA__LOG__FILTER", "warn"), ("NYALA__HTTP__TRUSTED_PROXIES", "127.0.0.1")]).await;
    site.handshake(&[("x-forwarded-for", "198.51.100.7")]).await;
    site.signal(Signal::SIGTERM);
    assert!(site.ended().await.success());
    assert_eq!(site.log().matches("http.trusted_proxies").count(), 0, "{}", site.log());
}
